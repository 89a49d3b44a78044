"""The consistent top-k hinges against certificates, naive twins and exact arithmetic; wrong ones are refused."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

import fast
import refsolve
from fast.errors import InvalidParameterError
from fast.losses.consistent_topk_hinge import ConsistentTopKHinge
from fast.losses.smooth_consistent_topk_hinge import SmoothConsistentTopKHinge
from fast.models.multiclass_erm import train
from fast.solvers.active_face_newton import FIXED
from fast.solvers.augmented_lagrangian import AugmentedLagrangianSolver, hessian
from fast.solvers.face_ascent import TIED, FaceAscentSolver, faces, to_tangent
from fast.solvers.multiclass_bounds import claims
from fast.solvers.state import TrainingState
from refsolve import certificates
from refsolve.generators import Point
from refsolve.generators.top_sum import TopSum
from refsolve.proofs import rationals
from refsolve.proofs.domain import Domain
from verification.certificates.model import erm

NAMES = "consistent_topk_hinge", "smooth_consistent_topk_hinge"
SIMPLEX = Domain("topk_simplex_alpha", {"k": 1, "r": Fraction(1)})


def naive(u, y, k, gamma=0.0):
    """The loss at scores, from the set of those above tau; smooth: from q and p, each by bisection."""
    order = np.sort(u)[::-1]
    if not gamma:
        tau = max((order[:n].sum() - k) / n for n in range(1, len(u) + 1))
        return 1 + max(order[0] - 1, tau) - u[y]
    q = clipped(u, k, 1.0)
    p = clipped((u - q) / gamma, 1.0, np.inf)
    return u @ p - np.sort(p)[::-1][:k].sum() + 1 - gamma / 2 * (p @ p - 1) - u[y]


def clipped(a, total, cap):
    low, high = a.min() - total - 1, a.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(a - middle, 0, cap).sum() > total else (low, middle)
    return np.clip(a - low, 0, cap)


def drawn(rng, size):
    m = int(rng.choice([2, 3, 4, 6, 12]))
    f = rng.normal(size=m) * size
    given = {"k": int(rng.integers(1, m))}
    name = NAMES[int(rng.integers(2))]
    if name == NAMES[1]:
        given["gamma"] = float(10.0 ** rng.uniform(-2, 1))
    return name, np.round(f * 2) / 2 if rng.random() < 0.4 else f, int(rng.integers(m)), given


def test_every_operation_is_certified(rng):
    for _ in range(25):
        name, f, y, given = drawn(rng, 10.0 ** rng.uniform(-2, 2))
        loss, costs = getattr(fast.losses, name), rng.integers(0, 3, len(f)) / 2
        costs[y] = 0.0
        own, t = np.delete(costs, y), float(10.0 ** rng.uniform(-2, 2))
        k_ii, x = float(rng.choice([0.0, t])), rng.dirichlet(np.ones(len(f)))[1:]
        u, a = loss.prox(f[1:], t=t, costs=own, **given), {"k_ii": k_ii, "C": 0.7}
        for proof in (
            certificates.loss_value(name, loss.value(f, y, costs=costs, **given), f, y, costs=costs, **given),
            certificates.gradient(name, loss.gradient(f, y, costs=costs, **given), f, y, costs=costs, **given),
            certificates.prox(name, u, f[1:], t=t, costs=own, **given),
            certificates.sdca_update(name, loss.sdca_update(f, y, **a, **given), f, y, **a, **given),
            certificates.conjugate(name, float(loss.conjugate(x, **given)), x, **given),
        ):  # fmt: skip
            assert proof.gap <= 1e-13 * proof.scale
            assert proof.violation <= 1e-14


def test_a_prox_with_the_truth_barely_among_those_above():
    """Newton's first steps end beside 0, where no other class is inside of the interval."""
    u = fast.losses.consistent_topk_hinge.prox([1.0, 1.0, 1.0], k=3, t=0.25)
    np.testing.assert_allclose(u, np.full(3, 15 / 16), rtol=1e-15)


def test_a_prox_of_mass_below_one_is_not_that_of_mass_one():
    """With k = 3 of four classes S_k is 1 where an entry is 0: x minimises t/2 x^2 - v x alone."""
    v = np.array([0.05, -5.0, -5.0])
    u = fast.losses.consistent_topk_hinge.prox(v, k=3, t=0.1)
    np.testing.assert_allclose(v - u, [0.05, 0.0, 0.0], rtol=0, atol=1e-16)


def test_a_smooth_loss_is_not_0_short_of_its_margin():
    f = np.array([0.0, -0.2, -9.0, -9.0])
    value = fast.losses.smooth_consistent_topk_hinge.value(f, 0, k=3, gamma=0.5)
    assert abs(value - naive(f, 0, 3, 0.5)) < 1e-12
    assert value > 0.01


@pytest.mark.parametrize("others", [9, 59, 99])
def test_a_prox_where_all_tie_with_the_truth_though_little_is_curved(others, rng):
    """All of p is 1/m where scores differ by less than their weight; the search begins an ulp beside its end."""
    for _ in range(20):
        v, k = 1e-5 * rng.normal(size=others), int(rng.integers(2, others))
        x = (v - fast.losses.consistent_topk_hinge.prox(v, t=2e-4, k=k)) / 2e-4
        assert abs(x - 1 / (others + 1)).max() < 1e-9


def test_values_are_those_of_the_definition_and_rows_do_not_depend_on_each_other(rng):
    for _ in range(100):
        name, f, y, given = drawn(rng, 2.0)
        loss = getattr(fast.losses, name)
        value = loss.value(f, y, **given)
        assert abs(value - naive(f, y, **given)) < 1e-10
        both = loss.value(np.stack([f[::-1], f]), [0, y], **given)
        assert both[1] == value
        assert value >= 0
        hinge = fast.losses.consistent_topk_hinge.value(f, y, k=given["k"])
        most = given.get("gamma", 0.0) / 2 * (1 - 1 / len(f))
        assert hinge - 1e-12 <= value <= hinge + most + 1e-12


def test_the_loss_is_0_at_a_margin_and_bounds_no_error():
    loss = fast.losses.consistent_topk_hinge
    for k in (1, 2, 3):
        equal = np.zeros((4, 4))
        np.testing.assert_allclose(loss.value(equal, range(4), k=k), 1 - k / 4, rtol=0, atol=1e-15)
        sure = np.array([0.0, 0.0, -1.0, -1.0, -2.0]) if k > 1 else np.array([0.0, *[-1.0] * 4])
        assert loss.value(sure, 0, k=k) == 0.0


def test_long_rows_and_large_numbers(rng):
    loss = fast.losses.smooth_consistent_topk_hinge
    for m, k in ((1000, 5), (1000, 40), (300, 250)):
        f = rng.normal(size=m) * 5
        proof = certificates.gradient(
            NAMES[1], loss.gradient(f, 7, k=k, gamma=0.5), f, 7, k=k, gamma=0.5
        )
        assert proof.gap <= 1e-12 * proof.scale
        a = loss.sdca_update(f, 7, 1e9, k=k, gamma=0.5)
        assert certificates.sdca_update(NAMES[1], a, f, 7, 1e9, k=k, gamma=0.5).distance < 1e-16 * m
    assert np.isfinite(loss.prox([1e200, -1e200, 3.0], t=1e100, k=2)).all()


def rational(rng, d):
    return np.array([Fraction(int(v), 4) for v in rng.integers(-8, 9, d)], dtype=object)


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 3)])
def test_the_generator_solves_its_problems_exactly(gamma, rng):
    for _ in range(60):
        d = int(rng.integers(1, 6))
        h, b = TopSum(int(rng.integers(1, d + 1)), gamma), rational(rng, d)
        for beta, coupled in ((0, False), (Fraction(3, 2), True), (Fraction(2, 3), False)):
            if beta:  # x is optimal iff it attains the loss at the scores less its own part
                point, rho, _ = h.reduced(b, beta, coupled)
                x = rationals.project(SIMPLEX, point, rho)
                z = b - beta * (x + coupled * x.sum())
            else:
                z, x = b, rationals.loss(h, SIMPLEX, b)[1]
            value, _ = rationals.loss(h, SIMPLEX, z)
            assert value == (z * x).sum() - h.number(x)
            best = Point(x)
            assert h.gap(SIMPLEX, z, x, best) == 0
            other = rationals.vector(SIMPLEX.repair(x + rational(rng, d) / 8))
            short = value - (z * other).sum() + h.number(other)
            assert 0 <= short <= h.gap(SIMPLEX, z, other, best)
        point = SIMPLEX.repair(abs(rational(rng, d)))
        z = h.gradient(point)
        assert rationals.loss(h, SIMPLEX, z)[0] == (z * point).sum() - h.number(point)


def test_the_conjugate_is_the_supremum(rng):
    for _ in range(6):
        name, f, _, given = drawn(rng, 1.0)
        x = rng.dirichlet(np.ones(len(f)))
        u = cp.Variable(len(f))
        module = __import__(f"refsolve.losses.{name}", fromlist=["value"])
        best = cp.Problem(
            cp.Maximize(x[1:] @ (u[1:] - u[0]) - module.value(u[1:] - u[0], **given)),
            [cp.abs(u) <= 50],
        ).solve(solver="CLARABEL")
        assert abs(getattr(fast.losses, name).conjugate(x[1:], **given) - best) < 1e-5
    assert np.isposinf(fast.losses.consistent_topk_hinge.conjugate([0.6, 0.6], k=1))


@pytest.mark.parametrize("wrong", ["k + 1", "no margin", "no cap", "linear at ties"])
def test_wrong_variants_are_refused(wrong, rng):
    loss, refused = fast.losses.consistent_topk_hinge, 0
    for _ in range(40):
        f, y, k = np.round(rng.normal(size=6), 2), int(rng.integers(6)), 2
        if wrong == "linear at ties":  # all of the mass on one of the scores above tau
            g = 1.0 * (np.arange(6) == np.argmax(f)) - (np.arange(6) == y)
            proof = certificates.gradient(NAMES[0], g, f, y, k=k)
        else:
            value = {
                "k + 1": loss.value(f, y, k=k + 1),
                "no margin": naive(f, y, k) - 1,
                "no cap": 1 + max((np.sort(f)[::-1][:n].sum() - k) / n for n in range(1, 7)) - f[y],
            }[wrong]
            proof = certificates.loss_value(NAMES[0], value, f, y, k=k)
        refused += proof.gap > 1e-3
    assert refused > 8


def test_parameters_are_checked():
    for given, said in (({"k": 3}, "k: 3"), ({"k": 0}, "k: 0")):
        with pytest.raises(InvalidParameterError, match=said):
            fast.losses.consistent_topk_hinge.value([0.0, 1.0, 2.0], 0, **given)
    with pytest.raises(InvalidParameterError, match="gamma"):
        fast.losses.smooth_consistent_topk_hinge.value([0.0, 1.0, 2.0], 0, gamma=0.0)


X, Y = load_digits(return_X_y=True)
X, Y = X[:500] / 16, Y[:500]


@pytest.mark.parametrize("gamma", [0.0, 0.5])
@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, "rbf"], ids=["dense", "sparse", "kernel"]
)
def test_a_trained_model_is_certified_and_claims_no_more(form, gamma):
    weight = np.linspace(0, 2, len(Y))
    model = fast.TopKSVC(k=2, variant="consistent", gamma=gamma, C=0.1, tol=1e-4)
    if form == "rbf":
        model.kernel = "rbf"
        model.fit(X, Y, sample_weight=weight)
    else:
        model.fit_intercept = True
        model.fit(form(X), Y, sample_weight=weight)
    assert 0 <= model.dual_gap_ <= 1e-4
    if form == "rbf":
        K, A = model._map.between(X, X), model.dual_coef_
        given = {
            "loss": NAMES[gamma > 0],
            "k": 2,
            "gamma": gamma or None,
            "C": 0.1,
            "sample_weight": weight,
        }
        judged = erm(A.toarray(), y=Y, K=K, dual=A, **given)
        assert judged.primal <= model.primal_objective_ * (1 + 1e-9)
        assert judged.gap <= 1.001e-4 * judged.primal
        return
    W, A = np.column_stack([model.coef_, model.intercept_]), model.dual_coef_.toarray()
    f, r = X @ model.coef_.T + model.intercept_, 0.1 * weight
    losses = np.array([naive(u, y, 2, gamma) for u, y in zip(f, Y, strict=True)])
    primal = np.square(W).sum() / 2 + r @ losses
    p = np.eye(10)[Y] - A / np.where(r > 0, r, 1)[:, None]
    conjugates = (
        np.sort(p, axis=1)[:, -2:].sum(axis=1) - 1 + gamma / 2 * (np.square(p).sum(axis=1) - 1)
    )
    dual = -r @ conjugates - np.square(A.T @ np.column_stack([X, np.ones(len(X))])).sum() / 2
    assert primal - 1e-9 <= model.primal_objective_ <= primal * (1 + 1e-9)
    assert dual * (1 - 1e-9) <= model.dual_objective_ <= dual + 1e-9


def test_claims_hold_for_dual_variables_outside_of_the_domain(rng):
    for loss in ConsistentTopKHinge(3), SmoothConsistentTopKHinge(3, 0.5):
        r = np.full(len(Y), 0.1)
        sharp = train(X, Y, r, 10, loss, tol=1e-6, max_iter=5000)
        x = sp.csr_array(sharp.dual_variables).toarray() * 1.0002 + 1e-7 * rng.normal(
            size=(len(Y), 10)
        )
        x[np.arange(len(Y)), Y] = 0
        for real in (np.float64, np.longdouble):
            P, D = claims(
                X.astype(real), None, sharp.W, x, Y, r, loss, (sharp.primal, sharp.primal), 1e-3
            )
            assert sharp.primal * (1 - 1e-14) <= P <= sharp.primal * (1 + 1e-10)
            assert 0.5 * sharp.primal < D <= sharp.primal


def test_faces_their_slopes_and_their_tangent_spaces(rng):
    """Against S_k itself on both sides of p, and the projection from a basis of the constraints."""
    for _ in range(60):
        m, C = int(rng.integers(2, 9)), float(rng.uniform(0.1, 10))
        k, y = int(rng.integers(1, m)), int(rng.integers(m))
        p = rng.integers(0, 4, m).astype(float)
        p[y] += not p.any()
        p /= p.sum()
        block = C * (np.eye(m)[y] - p)[None]
        kinds, slopes, size = np.empty((1, m), np.int8), np.empty((1, m)), np.empty(1)
        faces(block, np.array([y]), np.array([C]), k, kinds, slopes, size, np.empty((2, m)))
        tied, zero = np.flatnonzero(kinds[0] == TIED), np.eye(m)[kinds[0] == FIXED]
        np.testing.assert_array_equal(kinds[0] == FIXED, p == 0)
        equal = np.eye(m)[tied[1:]] - np.eye(m)[tied[:1]] if len(tied) else np.empty((0, m))
        B = np.concatenate([np.ones((1, m)), zero, equal])
        v = rng.normal(size=(1, m))
        d = v - v @ np.linalg.pinv(B) @ B
        to_tangent(v, kinds)
        np.testing.assert_allclose(v, d, rtol=0, atol=1e-14)
        assert size[0] == m - np.linalg.matrix_rank(B)
        for t in (1e-4, -1e-4):  # no kink on the face
            q = p + t * d[0]
            change = np.sort(q)[::-1][:k].sum() - np.sort(p)[::-1][:k].sum()
            assert abs(change - t * d[0] @ slopes[0]) < 1e-14


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_step_gains_what_it_says(form):
    loss, r = ConsistentTopKHinge(3), np.linspace(0, 2, len(Y))
    solver = FaceAscentSolver(form(X), Y, r, 10, loss, 0)
    gains = 0
    for _ in range(6):
        solver.epoch()
        before = solver.check()[1]
        gain, spent = solver.step(np.flatnonzero(r > 0))
        after = solver.check()[1]
        assert gain >= 0 < spent
        assert abs(after - before - gain) < 1e-10 * after
        gains += gain > 0
    p = np.eye(10)[Y] - solver.blocks / np.where(r > 0, r, 1)[:, None]
    assert gains >= 4
    assert p.min() > -1e-15
    assert abs(p.sum(axis=1) - 1).max() < 1e-14


def test_steps_end_what_passes_alone_do_not(monkeypatch):
    def gap(rounds):
        solver, state = FaceAscentSolver(X, Y, np.ones(len(Y)), 10, loss, 0), TrainingState()
        solver.run(state, 1e-9, rounds, lambda state: False)
        return state.gap

    loss = ConsistentTopKHinge(3)
    assert gap(60) <= 1e-9
    monkeypatch.setattr(FaceAscentSolver, "step", lambda self, examples: (0.0, 0.0))
    assert gap(60) > 1e-6


def test_numbers_that_overflow_are_not_taken():
    given = X[:60] * 1e160, Y[:60], np.ones(60), 10, ConsistentTopKHinge(2), 0
    large, other = FaceAscentSolver(*given), AugmentedLagrangianSolver(*given)
    with np.errstate(all="ignore"):
        large.epoch()
        assert large.step(np.arange(60))[0] == 0.0
        other._round(np.arange(60))
    assert np.isfinite(other.blocks).all()
    assert np.isfinite(other.V).all()


def test_curvature_is_that_of_the_tangent_spaces(rng):
    n, m, d = 20, 6, 3
    kinds, weight = rng.integers(0, 3, (n, m)).astype(np.int8), rng.uniform(1, 2, n)
    rows = rng.normal(size=(n, d))
    kinds[kinds == TIED + 1] = FIXED
    H = hessian(rows, kinds, weight).reshape(m, d, m, d)
    naive_sum = np.zeros((m, m, d, d))
    naive_sum[np.arange(m), np.arange(m)] = np.eye(d)
    for x, kind, w in zip(rows, kinds, weight, strict=True):
        T = np.eye(m)
        to_tangent(T, np.repeat(kind[None], m, axis=0))
        naive_sum += w * T[:, :, None, None] * np.outer(x, x)
    upper = np.triu_indices(m)
    np.testing.assert_allclose(H.swapaxes(1, 2)[upper], naive_sum[upper], rtol=0, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_rounds_of_the_augmented_lagrangian_end_where_the_gap_is_small(weighted, rng):
    """Many examples beside few weights, for which it is taken; the certificate is recomputed."""
    y = np.arange(600) % 5
    x = rng.normal(size=(5, 4))[y] + rng.normal(size=(600, 4))
    r = 10 * (np.arange(600) % 3 if weighted else np.ones(600))
    loss = ConsistentTopKHinge(2)
    assert AugmentedLagrangianSolver.pays(x, r, 5)
    found = train(x, y, r, 5, loss, tol=1e-9, max_iter=60)
    assert found.gap <= 1e-9
    f, dual = x @ found.W.T, found.dual_variables.toarray()
    primal = np.square(found.W).sum() / 2 + r @ [naive(u, j, 2) for u, j in zip(f, y, strict=True)]
    A = -dual
    A[np.arange(600), y] = dual.sum(axis=1)
    p = np.eye(5)[y] - A / np.where(r > 0, r, 1)[:, None]
    assert p.min() > -1e-14
    value = -r @ (np.sort(p, axis=1)[:, -2:].sum(axis=1) - 1) - np.square(A.T @ x).sum() / 2
    assert abs(found.primal - primal) < 1e-12 * primal
    assert abs(found.dual - value) < 1e-12 * primal
    with_face_steps = FaceAscentSolver(x, y, r, 5, loss, 0)
    state = TrainingState()
    with_face_steps.run(state, 1e-2, 50, lambda state: False)
    assert state.dual <= primal
    assert state.primal >= value


def test_examples_that_come_and_go_do_not_hold_the_rounds_up():
    given, state = (X, Y, np.full(len(Y), 10.0), 10, ConsistentTopKHinge(5), 0), TrainingState()
    solver = AugmentedLagrangianSolver(*given)
    solver.run(state, 1e-7, 40, lambda state: False)
    assert state.gap <= 1e-7


def test_the_oracle_has_the_same_optimum():
    few = {"X": X[::25], "y": Y[::25] % 4}
    for gamma in (0.0, 0.5):
        name, own = (NAMES[1], {"gamma": gamma}) if gamma else (NAMES[0], {})
        small = fast.TopKSVC(k=2, variant="consistent", gamma=gamma, tol=1e-6).fit(
            few["X"], few["y"]
        )
        for side in ("primal", "dual"):
            best = refsolve.solve(f"multiclass_erm.{side}", **few, C=1.0, loss=name, k=2, **own)
            assert best.certificate.relative_gap < 1e-6
            assert small.dual_objective_ <= best.certificate.primal * len(few["y"]) * (1 + 1e-9)
            assert small.primal_objective_ >= best.certificate.dual * len(few["y"]) * (1 - 1e-9)


def test_the_estimator_refuses_what_does_not_fit_and_starts_warm():
    for given, said in (
        ({"variant": "constant"}, "variant: 'constant'"),
        ({"solver": "active"}, "solver: 'active' for consistent_topk_hinge"),
        ({"k": 10}, "k: 10"),
    ):
        with pytest.raises(InvalidParameterError, match=said):
            fast.TopKSVC(**{"variant": "consistent", **given}).fit(X, Y)
    model = fast.TopKSVC(variant="consistent", C=0.1, warm_start=True, k=3).fit(X, Y)
    cold = model.n_iter_
    assert model.fit(X, Y).n_iter_ < cold
