"""Quasi-Newton steps with a homotopy in C, against dense linear algebra and at the size they are for."""

import numpy as np
import pytest
from _multiclass import objectives
from scipy.special import softmax

from fast import datasets
from fast.data import rows
from fast.families import named
from fast.families.entropies import Piece
from fast.models.multiclass_erm import choose_solver, train
from fast.solvers import quasi_newton
from fast.solvers.block_sums import FEW
from fast.solvers.multiclass_bounds import bounds_of_weights, claims, sums_of_weights
from fast.solvers.passes import Passes
from fast.solvers.quasi_newton import QuasiNewtonSolver
from fast.solvers.state import TrainingState

SOFTMAX = named("softmax")
N, M, D = 4000, 100, 100


@pytest.fixture(scope="module")
def features():
    return datasets.make_deep_features(N, M, D, random_state=0)


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
    trainer.finalize(state)
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
