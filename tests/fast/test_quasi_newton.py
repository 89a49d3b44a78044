"""Quasi-Newton steps with a homotopy in C, against dense linear algebra and at the size they are for."""

import numpy as np
import pytest
import scipy.sparse as sp
from _multiclass import ENTROPY, SMOOTH, made, objectives
from scipy.special import softmax

from fast import datasets
from fast.data import rows
from fast.families import named
from fast.families.entropies import Piece
from fast.models.multiclass_erm import choose_solver, train
from fast.solvers import quasi_newton
from fast.solvers.block_sums import FEW
from fast.solvers.curvature_pairs import MEMORY
from fast.solvers.initial_hessian import FLOOR
from fast.solvers.multiclass_bounds import bounds_of_weights, claims, sums_of_weights
from fast.solvers.passes import Passes
from fast.solvers.quasi_newton import EXACT, QuasiNewtonSolver
from fast.solvers.state import TrainingState

SOFTMAX = named("softmax")
N, M, D = 4000, 100, 100


@pytest.fixture(scope="module")
def features():
    return datasets.make_deep_features(N, M, D, random_state=0)


def at(loss=ENTROPY, form=np.asarray, **sizes):
    """A trainer somewhere, and what a pass finds there."""
    trainer, X, y, r = made(QuasiNewtonSolver, loss, form=form, **sizes)
    trainer.start_at(np.random.default_rng(1).standard_normal(trainer.W.shape))
    trainer._decompose()
    return trainer, trainer._at(trainer.W, True), X, y, r


@pytest.mark.parametrize(
    "loss", [ENTROPY, SMOOTH, SOFTMAX], ids=["beta", "smooth hinge", "softmax"]
)
def test_the_first_matrix_is_a_mean_hessian_and_a_gram_matrix(loss):
    trainer, point, X, _, r = at(loss)
    (m, d), w = trainer.W.shape, r / r.max()
    rows = loss.rows(trainer.y, w, m)
    rows.evaluate(X @ trainer.W.T, np.empty((len(X), m)))
    if loss is SMOOTH:
        bends = np.eye(m) * rows.curvatures().sum() / w.sum()
    else:
        columns = []
        for j in range(m):
            V = np.zeros((len(X), m))
            V[:, j] = 1.0
            rows.curve(V, np.arange(len(X)))
            columns.append(V.sum(axis=0) / w.sum())
        values, U = np.linalg.eigh(np.array(columns).T)
        bends = (U * np.maximum(values, FLOOR * values.mean())) @ U.T
    matrix = np.eye(m * d) + 2.0 * np.kron(bends, (X * w[:, None]).T @ X)
    V = np.random.default_rng(2).standard_normal((m, d))
    expected = np.linalg.solve(matrix, V.ravel()).reshape(m, d)
    np.testing.assert_allclose(trainer.first.solved(V, 2.0, point), expected, rtol=1e-5)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("scale", [0.0, 3.0])
def test_an_intercept_has_the_curvature_that_the_weights_of_its_class_leave(form, scale):
    n, m, d, c, C, rng = 400, FEW + 6, 5, 2.0, 1.7, np.random.default_rng(3)
    y, r = rng.integers(0, m - 1, n), rng.uniform(0.0, 2.0, n)  # one class has no example
    Z = 0.3 + rng.standard_normal((m, d))[y] + 0.3 * rng.standard_normal((n, d))
    trainer = QuasiNewtonSolver(form(np.c_[Z, np.full(n, c)]), y, r, m, SOFTMAX, 0)
    trainer.start_at(scale * rng.standard_normal((m, d + 1)))
    trainer._decompose()
    trainer.first.look(trainer._seen)
    point = trainer._at(trainer.W, True)
    w = r / r.max()
    z = w @ Z / w.sum()
    means = np.array([w[y == j] @ Z[y == j] / max(w[y == j].sum(), 1e-300) - z for j in range(m)])
    means[m - 1] = 0.0
    p = softmax(np.c_[Z, np.full(n, c)] @ trainer.W.T, axis=1)
    curvature = w[:, None] * p * (1.0 - p)
    kappa = np.vdot(curvature, (Z - z) @ means.T) / (curvature.sum(axis=0) @ (means**2).sum(axis=1))
    assert kappa == pytest.approx(0.0, abs=1e-12) if scale == 0.0 else 0.05 < kappa < 1.0
    centred = (Z - z).T @ (w[:, None] * (Z - z))
    if form is not np.asarray:  # the diagonal, not centred
        centred = np.diag(w @ Z**2)
    V = rng.standard_normal((m, d + 1))
    found = trainer.first.solved(V, C, point)
    for j in range(m):
        a = np.r_[z + kappa * means[j], c]
        matrix = np.eye(d + 1)
        matrix[:d, :d] += C * point.bend * centred
        matrix += C * point.bend * w.sum() * np.outer(a, a)
        np.testing.assert_allclose(found[j], np.linalg.solve(matrix, V[j]), rtol=1e-9)
    if scale == 0.0 and form is np.asarray:  # without what classes tell, the mean Hessian
        X = np.c_[Z, np.full(n, c)]
        whole = np.eye(d + 1) + C * point.bend * X.T @ (w[:, None] * X)
        np.testing.assert_allclose(found, np.linalg.solve(whole, V.T).T, rtol=1e-9)


@pytest.mark.parametrize("m", [5, FEW + 6])
@pytest.mark.parametrize(("d", "weak"), [(3, False), (3, True), (900, False)])
def test_a_last_feature_of_zeros_is_no_intercept(d, weak, m):
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((400, d)), rng.integers(0, m, 400)
    X[:, -1] = 0.0
    C = 1e-6 if weak else 1.0
    trainer = QuasiNewtonSolver(X, y, np.full(400, C), m, SOFTMAX, 0)
    trainer._decompose()
    trainer.first.look(trainer._seen)
    V = rng.standard_normal((m, d))
    found = trainer.first.solved(V, C, trainer._at(trainer.W, True))
    np.testing.assert_allclose(found[:, -1], V[:, -1], rtol=1e-12)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("C", [10.0, 1e3])
def test_an_intercept_takes_few_passes_more(features, C, monkeypatch):
    passes = []
    one = QuasiNewtonSolver._at
    monkeypatch.setattr(QuasiNewtonSolver, "_at", lambda *given: passes.append(0) or one(*given))
    X, y = features
    needed = []
    for Z in (X, np.c_[X, np.ones(N)]):
        passes.clear()
        assert train(Z, y, C, M, SOFTMAX, tol=1e-5, solver="lbfgs").gap <= 1e-5
        needed.append(len(passes))
    assert needed[1] <= 1.75 * needed[0] + 2


def test_steep_problems_have_pairs_in_float64(features):
    X, y = features
    for scale, kind in ((1.0, np.float32), (1e3, np.float64)):
        trainer = QuasiNewtonSolver(scale * X, y, np.ones(N), M, SOFTMAX, 0)
        trainer.pairs.add(*np.random.default_rng(1).standard_normal((2, M, D)))
        before = trainer.pairs.U[0].copy()
        trainer._decompose()
        assert trainer.pairs.U.dtype == trainer.pairs.S.dtype == kind
        np.testing.assert_array_equal(trainer.pairs.U[0], before)


@pytest.mark.parametrize(("form", "d"), [(np.asarray, 50), (sp.csr_array, 3)])
def test_wide_and_sparse_data_have_the_diagonal(form, d):
    trainer, point, X, _, r = at(named("sparsemax"), form, d=d)
    sizes = (r / r.max()) @ X**2
    bend = (1 - 1 / 4) / 4
    expected = trainer.W / (1.0 + 3.0 * bend * sizes)
    np.testing.assert_allclose(trainer.first.solved(trainer.W, 3.0, point), expected, rtol=1e-13)


@pytest.mark.parametrize("steps", [0, 3, MEMORY, MEMORY + 4])
def test_a_direction_is_that_of_the_updated_matrix(steps):
    trainer, point, *_ = at()
    shape, C, rng = trainer.W.shape, 1.7, np.random.default_rng(3)
    size, pairs = trainer.W.size, []
    H = np.array([trainer.first.solved(e.reshape(shape), C, point).ravel() for e in np.eye(size)])
    for _ in range(steps):
        s = rng.standard_normal(size)
        u = 0.5 * s + 0.1 * rng.standard_normal(size)
        trainer.pairs.add(s.reshape(shape), u.reshape(shape))
        pairs = [*pairs, (s, s + C * u)][-MEMORY:]
    if steps:
        s, c = pairs[-1]
        H *= (s @ c) / (c @ H @ c)
    for s, c in pairs:
        V = np.eye(size) - np.outer(c, s) / (s @ c)
        H = V.T @ H @ V + np.outer(s, s) / (s @ c)
    G = rng.standard_normal(shape)
    found = trainer.pairs.direction(G, C, lambda V: trainer.first.solved(V, C, point))
    np.testing.assert_allclose(found.ravel(), H @ G.ravel(), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("C", [0.01, 1.0, 1e3])
def test_the_size_grows_while_the_gap_allows(C):
    trainer, point, *_ = at(C=C)
    trainer.W *= 0.0
    point = trainer._at(trainer.W, True)
    first = trainer._first_size(point)
    raised, moved, primal, gradient, gap = trainer._raised(first, point)
    assert 0.0 < first <= raised <= trainer.C
    assert moved == (raised > first)
    assert primal == pytest.approx(raised * point.risk)
    np.testing.assert_allclose(gradient, raised * point.slopes)
    assert gap == pytest.approx(0.5 * (gradient**2).sum())
    assert raised == trainer.C or gap > 0.3 * primal


def test_the_length_of_a_step_is_that_of_all_rows_where_all_are_measured():
    trainer, point, *_ = at(C=30.0)
    C = trainer.C
    gradient = trainer.W + C * point.slopes
    z = 0.01 * gradient
    t = trainer._length(z, C, float(np.vdot(gradient, z)))

    def slope(t):
        W = trainer.W - t * z
        return float(np.vdot(W + C * trainer._at(W, True).slopes, z))

    assert abs(slope(t)) <= 1.2 * EXACT * slope(0.0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("m", [4, FEW + 6])
@pytest.mark.parametrize(
    "loss", [SOFTMAX, named("topk_entropy_alpha", k=3)], ids=["softmax", "alpha"]
)
def test_zero_weights_need_no_pass(loss, m, form):
    rng = np.random.default_rng(3)
    y = rng.integers(0, m - 1, 200)  # one class has no example
    trainer = QuasiNewtonSolver(
        form(rng.standard_normal((200, 5))), y, rng.uniform(0.0, 2.0, 200), m, loss, 0
    )
    short, long = trainer._at_zero(), trainer._at(np.zeros((m, 5)), True)
    assert short.risk == pytest.approx(long.risk)
    assert short.bend == pytest.approx(long.bend)
    np.testing.assert_allclose(short.slopes, long.slopes, atol=1e-12)
    assert (short.bends is None) == (long.bends is None) == (m > FEW)
    if short.bends is not None:
        np.testing.assert_allclose(short.bends, long.bends, atol=1e-7)  # of float32 entries


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_claims_of_weights_are_those_of_their_masses(features, dtype):
    X, y = features
    W = train(X, y, 1.0, M, SOFTMAX, tol=1e-3, solver="lbfgs").W
    dual_variables = np.empty((N, M), dtype)
    sums = Passes(rows(X), y, np.ones(N), SOFTMAX, M).total(sums_of_weights, W, 1.0, dual_variables)
    P, D = bounds_of_weights(W, N, SOFTMAX, sums)
    primal, dual = objectives(SOFTMAX, X, y, np.ones(N), W, dual_variables.astype(np.float64))
    again = claims(X, None, W, dual_variables, y, np.ones(N), SOFTMAX, (primal, dual), 1e-3)
    assert (pytest.approx(again[0], rel=1e-12), pytest.approx(again[1], rel=1e-9)) == (P, D)
    assert D <= dual <= D + 1e-9 * P
    assert primal <= P <= primal + 1e-9 * P


@pytest.mark.parametrize("tol", [1e-3, 1e-5, 1e-9])
@pytest.mark.parametrize("C", [1.0, 1e3])
@pytest.mark.parametrize(
    "loss", [SOFTMAX, named("topk_entropy_alpha", k=3)], ids=["softmax", "alpha"]
)
def test_few_passes_suffice_and_no_more_is_done_than_asked(features, loss, C, tol, monkeypatch):
    passes = []
    one = QuasiNewtonSolver._at
    monkeypatch.setattr(
        QuasiNewtonSolver, "_at", lambda *given: passes.append(given[2]) or one(*given)
    )
    X, y = features
    r = np.full(N, C)
    r[::7] = 0.0
    assert choose_solver("auto", X, r, loss, M) == "lbfgs"
    found = train(X, y, r, M, loss, tol=tol)
    assert found.solver == "lbfgs"
    assert tol / 30 < found.gap <= tol
    assert len(passes) <= (50 if tol > 1e-6 else 90)
    assert sum(passes) <= 4 + (len(passes) // 20) + (60 if tol < 1e-6 else 0)
    primal, dual = objectives(loss, X, y, r, found.W, found.dual_variables.astype(np.float64))
    assert found.primal == pytest.approx(primal, rel=1e-11)  # rounded outwards
    assert found.dual == pytest.approx(dual, rel=1e-9)


def test_an_interrupted_run_certifies_where_it_is(features):
    X, y = features
    trainer = QuasiNewtonSolver(X, y, np.ones(N), M, SOFTMAX, 0)
    state = TrainingState()
    state.record(0, N * np.log(M), 0.0, trainer.W)

    def stop(*_):
        raise KeyboardInterrupt

    one, left = trainer._at, iter(range(4))
    trainer._at = lambda W, double: one(W, double) if next(left, None) is not None else stop()
    with pytest.raises(KeyboardInterrupt):
        trainer.run(state, 1e-6, 100, stop)
    del trainer._at
    assert state.n_iter == 0
    trainer.settle(state)
    assert state.n_iter == trainer.reached > 1
    assert 0.0 < state.gap < 0.9
    primal, dual = objectives(SOFTMAX, X, y, np.ones(N), state.W, trainer.dual_variables())
    assert (state.primal, state.dual) == (pytest.approx(primal), pytest.approx(dual))


def test_a_warm_start_goes_on_from_there(features):
    X, y = features
    first = train(X, y, 1.0, M, SOFTMAX, tol=1e-6, solver="lbfgs")
    again = train(X, y, 1.0, M, SOFTMAX, tol=1e-6, solver="lbfgs", weights=first.W)
    assert again.n_iter <= 2 < first.n_iter
    trainer = QuasiNewtonSolver(X, y, np.ones(N), M, SOFTMAX, 0)
    trainer.start_warm(first.dual_variables)
    # both are within the gap of the optimum, where P grows by half the squared distance
    assert np.linalg.norm(trainer.W - first.W) <= 2.0 * np.sqrt(2.0 * (first.primal - first.dual))


def test_a_start_that_is_near_enough_keeps_the_largest_size_that_its_gap_allows():
    trainer, _, X, y, r = at(SOFTMAX, C=100.0)
    trainer.W = train(X, y, r / 10.0, 4, SOFTMAX, tol=1e-9).W
    point = trainer._at(trainer.W, True)
    first = trainer._first_size(point)
    ready, primal, _, gap = trainer._measured(first, point)
    assert ready == (gap <= 0.3 * primal)
    assert ready
    assert first >= trainer.C / 16


def test_classes_that_are_dropped_stay_out_of_gradients_and_of_the_dual():
    X, y = datasets.make_deep_features(600, 20, 120, random_state=0)
    dropped = (y[:, None] + np.array([1, 5])) % 20
    loss, ones = Piece(dropped), np.ones(600)
    found = train(X, y, 10.0, 20, loss, tol=1e-6)
    assert found.solver == "lbfgs"
    f = X @ found.W.T
    np.put_along_axis(f, dropped, -np.inf, axis=1)
    p = softmax(f, axis=1)
    primal = 0.5 * (found.W**2).sum() + 10.0 * -np.log(p[np.arange(600), y]).sum()
    p[np.arange(600), y] -= 1.0
    gradient = found.W + 10.0 * p.T @ X
    assert 0.5 * (gradient**2).sum() <= 1e-6 * primal
    assert found.primal == pytest.approx(primal)
    dual_variables = found.dual_variables + 1e-3  # also where no mass can be
    P, D = claims(X, None, found.W, dual_variables, y, 10.0 * ones, loss, (primal, primal), 1e-6)
    assert D < primal <= P


def test_steps_that_rounding_swallows_end_a_run(monkeypatch):
    """Every step is measured, as of many rows and classes: a trust of 0 was divided by."""
    monkeypatch.setattr(quasi_newton, "CHEAP", 0)
    monkeypatch.setattr(quasi_newton, "FEW", 1)
    rng = np.random.default_rng(20)
    n, d = int(rng.integers(50, 800)), int(rng.integers(3, 30))
    X = np.column_stack([10.0 ** rng.uniform(4, 8, (n, d)), np.full(n, 2.0**34)])
    y = rng.integers(0, 2, n)
    r = np.where(rng.random(n) < 0.02, 1e6, 1.0)
    W = rng.standard_normal((2, d + 1)) * 10.0 ** rng.uniform(-10, 1)
    found = train(X, y, r, 2, SOFTMAX, tol=1e-3, max_iter=4000, solver="lbfgs", weights=W)
    assert found.n_iter < 4000
    assert np.isfinite(found.primal)
