"""SVM+ on kernel matrices in pieces: losses, Newton's method on the active set, the way by features."""

import itertools

import _naive_svm_plus as naive
import numpy as np
import pytest

from fast.svm_plus import factored, working_set
from fast.svm_plus.correction import Correction
from fast.svm_plus.data import Model
from fast.svm_plus.hinge import HingeData
from fast.svm_plus.kernel_losses import Hinge, SquaredHinge
from fast.svm_plus.kernel_newton import KernelQP, interior_point, newton
from fast.svm_plus.squared_hinge import SquaredHingeData
from fast.svm_plus.working_set import WorkingSetState

C, LAM = 1.5, 0.7


LOSSES = list(itertools.product((Hinge, SquaredHinge), (True, False), (0.0, 0.4), ("Z", "Kz")))


@pytest.mark.parametrize(("kind", "nonneg", "delta", "space"), LOSSES)
def test_multipliers_lead_to_bounds_and_feasible_models_on_kernels(kind, nonneg, delta, space, rng):
    X, y, Z = naive.instance(rng, 10, 3, 2)
    omega = rng.uniform(0.3, 2.0, 10)
    matrix = Z if space == "Z" else Z @ Z.T
    loss = kind(X @ X.T, y, Correction(matrix, space == "Z", C * omega, LAM, delta / omega), nonneg)
    squared = kind is SquaredHinge
    best = naive.solve(X, y, Z, C, LAM, squared=squared, nonneg=nonneg, delta=delta, weight=omega)[
        0
    ]
    qp = loss.qp()
    for i in range(12):
        alpha, beta = rng.exponential(size=(2, 10)) * (rng.random((2, 10)) < 0.7)
        alpha[:3] += 0.1
        beta = beta if nonneg else 0.0 * beta
        bound, seen = loss.look(alpha, beta)
        coef, c = rng.standard_normal((2, 10))
        if i % 2:
            coef = np.linalg.lstsq(X @ X.T, 3.0 * y, rcond=None)[0]
        own = loss.own_slack(bound.alpha, bound.beta)
        other = loss.of_functions(coef, 0.1 * c, 0.3, own)
        for model in (seen, other, loss.bare(seen)):
            plain = Model(X.T @ model.coef, model.b, Z.T @ model.c, model.rho, model.primal)
            P, D, violated = naive.judged(
                squared, plain, bound, (X, y, Z, omega), C, LAM, nonneg, delta
            )
            assert violated <= 1e-9
            assert model.primal == pytest.approx(P, rel=1e-9)
            assert bound.dual == pytest.approx(D, rel=1e-9, abs=1e-12)
            assert D <= best * (1 + 1e-7) <= P * (1 + 2e-7)
            assert model.square == pytest.approx(plain.w @ plain.w, rel=1e-9, abs=1e-12)
            np.testing.assert_allclose(model.g, Z @ plain.v + plain.rho, atol=1e-9)
        if squared:
            t = bound.alpha.sum() / loss.balanced(alpha).sum()
            np.testing.assert_allclose(bound.beta, t * beta, rtol=1e-9)
        gamma = bound.alpha + bound.beta
        rest = gamma - C * omega
        price = omega * LAM / delta if delta else np.inf
        wanted = gamma / (C * omega + price) if squared else rest / price
        np.testing.assert_allclose(own, wanted if delta else np.zeros(10), atol=1e-12)
        u = np.append(bound.alpha, bound.beta) if nonneg else bound.alpha
        value = qp.h @ u - 0.5 * u @ qp.product(u)
        if not squared:
            value -= 0.5 * (C * omega) @ loss.correction.centred @ (C * omega)
        assert value == pytest.approx(bound.dual, rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(qp.F.T @ u, qp.c, atol=1e-9)


@pytest.mark.parametrize(("kind", "nonneg", "delta", "space"), LOSSES)
@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_at_the_optimum_bound_and_model_meet(kind, nonneg, delta, space, scale, rng):
    X, y, Z = naive.instance(rng, 12, 3, 2)
    X, cost = scale * X, C * rng.uniform(0.3, 2.0, 12)
    matrix = Z if space == "Z" else Z @ Z.T
    loss = kind(X @ X.T, y, Correction(matrix, space == "Z", cost, LAM, delta), nonneg)
    u = interior_point(loss.qp(), 1e-13)
    beta = u[12:] if nonneg else np.zeros(12)
    bound, model = loss.look(u[:12], beta)
    assert model.primal - bound.dual <= 1e-6 * abs(model.primal)
    np.testing.assert_allclose(Z @ (Z.T @ model.c) + model.rho, model.g, atol=1e-9)
    none, trivial = loss.look(np.zeros(12), np.zeros(12))
    assert trivial.primal >= model.primal - 1e-9
    if kind is SquaredHinge:
        assert none.dual == 0.0
    else:
        assert (none.alpha + none.beta).sum() == pytest.approx(cost.sum())
        uniform = loss.uniform(cost.sum())
        share = none.alpha.sum() / cost.sum()
        np.testing.assert_allclose(none.alpha, share * uniform, rtol=1e-12)
        assert nonneg or share == pytest.approx(1.0)


@pytest.mark.parametrize("nonneg", [True, False])
def test_a_multiple_on_kernels_keeps_its_margins_tight(nonneg, rng):
    """Where own slacks are too bad to be used, both classes have a margin of exactly 1."""
    y, cost = np.resize([1.0, -1.0, 1.0], 11), C * rng.uniform(0.3, 2.0, 11)
    X, Z = rng.standard_normal((11, 3)) + 3.0 * y[:, None], rng.standard_normal((11, 2))
    K, theta, seen = X @ X.T, LAM / (LAM + 0.4 * cost), 0
    loss = SquaredHinge(K, y, Correction(Z, True, cost, LAM, 0.4), nonneg)
    for _ in range(20):
        coef, c, own = y * rng.random(11), 0.05 * rng.standard_normal(11), rng.standard_normal(11)
        model = loss.of_functions(0.01 * coef, c, 0.3, 100.0 * own)
        if model.coef.any() and not np.array_equal(model.coef, 0.01 * coef):
            seen += 1
            margins = y * (K @ model.coef + model.b) + theta * model.g
            assert margins[y > 0].min() == pytest.approx(1.0, rel=1e-9)
            assert margins[y < 0].min() == pytest.approx(1.0, rel=1e-9)
    assert seen


@pytest.mark.parametrize("nonneg", [True, False])
def test_a_deformed_kernel_alone_gives_slacks_at_the_examples(nonneg, rng):
    X, y, Z = naive.instance(rng, 10, 12, 2)
    omega = rng.uniform(0.3, 2.0, 10)
    Kt = Z @ Z.T + 1.0
    Q = np.linalg.solve(LAM * np.eye(10) + Kt * (C * omega), Kt)
    correction = Correction(None, False, C * omega, LAM, 0.0)
    correction.take(Q)
    loss = SquaredHinge(X @ X.T, y, correction, nonneg)
    seen = 0
    for _ in range(20):
        alpha = rng.exponential(size=10)
        bound, model = loss.look(alpha, np.zeros(10))
        a, gamma = bound.alpha * y, bound.alpha + bound.beta
        assert bound.alpha[y > 0].sum() == pytest.approx(bound.alpha[y < 0].sum())
        D = bound.alpha.sum() - 0.5 * a @ X @ X.T @ a - 0.5 * gamma @ Q @ gamma
        assert bound.dual == pytest.approx(D, rel=1e-9)
        g, margins = Q @ gamma, y * (X @ X.T @ a) + Q @ gamma
        good = margins[y > 0].min() + margins[y < 0].min() > 0.0 and (not nonneg or g.min() >= 0.0)
        assert np.isfinite(model.primal) == good
        if good:
            seen += 1
            w, margins = X.T @ model.coef, y * (X @ X.T @ model.coef + model.b)
            assert (margins + model.g).min() >= 1.0 - 1e-9
            assert not nonneg or model.g.min() >= -1e-12
            scale = model.coef @ a / (a @ a)
            rest = scale**2 * gamma @ Q @ gamma
            np.testing.assert_allclose(model.g, scale * Q @ gamma, atol=1e-9)
            assert model.primal == pytest.approx(0.5 * (w @ w + rest), rel=1e-9)
            assert model.square == pytest.approx(w @ w, rel=1e-9)
            assert model.primal >= bound.dual
        else:
            assert model.square == model.b == model.rho == 0.0
            assert not model.coef.any()
    assert seen


# ---- Newton's method on the active set ------------------------------------------------------
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("total", [None, 7.0])
def test_newton_needs_few_rounds(paired, total, rng):
    """One from the right rows, and not many from others; every round solves its rows exactly."""
    ended = 0
    for _ in range(12):
        n = 12
        A, B = rng.standard_normal((2, n, n))
        y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
        h = np.append(np.ones(n), 0.1 * rng.random(n)) if paired else np.ones(n)
        qp = KernelQP(A @ A.T / n, B @ B.T / n + 0.1, y, h, total)
        exact = interior_point(qp, 1e-13)
        support = np.where(exact > 1e-5 * exact.max(), exact, 0.0)
        seen = []

        def accept(u, iteration, seen=seen):
            seen.append((iteration, u))
            return False

        assert newton(qp, support, accept)
        assert [iteration for iteration, _ in seen] == [1]
        np.testing.assert_allclose(seen[0][1], exact, atol=1e-6 * exact.max())
        seen.clear()
        start = support.copy()
        start[rng.permutation(len(start))[:2]] = 0.0
        start[rng.permutation(len(start))[:2]] = 0.1
        if newton(qp, start, accept):
            ended += 1
            assert [iteration for iteration, _ in seen] == list(range(1, len(seen) + 1))
            np.testing.assert_allclose(seen[-1][1], exact, atol=1e-6 * exact.max())
        assert len(seen) <= 8
        assert min(u.min() for _, u in seen) >= 0.0
        assert newton(qp, start, lambda u, iteration: True)
        assert not newton(qp, 0.0 * start, accept)
        rounds = []
        newton(
            qp,
            start,
            lambda u, iteration, rounds=rounds: rounds.append(iteration) or iteration == 2,
        )
        assert len(rounds) <= 2
    assert ended >= 9


@pytest.mark.parametrize("kind", [HingeData, SquaredHingeData])
@pytest.mark.parametrize("nonneg", [True, False])
def test_rough_multipliers_are_polished(kind, nonneg, rng):
    polished = 0
    for _ in range(6):
        X, y, Z = naive.instance(rng, 14, 3, 2)
        data = kind(X, y, Z, np.ones(14), C, LAM, nonneg, 0.0)
        state = WorkingSetState(started=0.0)
        state.take(*data.trivial())
        state.first = np.arange(14)
        state.second = state.first if nonneg else state.first[:0]
        working_set.solve_and_look(data, state, 1e-5)
        before, seen, view = state.gap, [], data.view

        def noted(u, free, seen=seen, view=view, state=state):
            seen.append(state.gap)
            return view(u, free)

        data.view = noted
        factored.polish(data, state, 1e-9)
        assert state.gap <= before
        assert len(seen) <= 8
        assert min(seen[1:], default=1.0) > 1e-9  # it ends when it is good enough
        assert state.gap <= 1e-9
        polished += before > 1e-9
    assert polished >= 2


@pytest.mark.parametrize("kind", [Hinge, SquaredHinge])
@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("delta", [0.0, 0.4])
def test_features_are_the_same_problem(kind, nonneg, delta, rng):
    X, y, Z = naive.instance(rng, 14, 3, 2)
    omega = rng.uniform(0.3, 2.0, 14)
    loss = kind(X @ X.T, y, Correction(Z, True, C * omega, LAM, delta / omega), nonneg)
    found, interrupted = factored.train(loss, 1e-8, 100)
    assert not interrupted
    dual, primal = max(b.dual for b, _ in found), min(m.primal for _, m in found)
    best = naive.solve(
        X, y, Z, C, LAM, squared=kind is SquaredHinge, nonneg=nonneg, delta=delta, weight=omega
    )[0]
    assert abs(primal - dual) <= 1e-7 * abs(best)
    assert primal == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("case", ["good enough", "not yet", "interrupted"])
def test_polish_where_it_is_needed(case, rng, monkeypatch):
    X, y, Z = naive.instance(rng, 14, 3, 2)
    loss = SquaredHinge(X @ X.T, y, Correction(Z, True, np.ones(14), LAM, 0.0), False)
    train, asked, polished = working_set.train, [], []

    def rough(data, tol, max_iter):
        asked.append((tol, max_iter))
        state, run = train(data, 1e-2 if case != "good enough" else tol, 1)
        run.interrupted = case == "interrupted"
        return state, run

    monkeypatch.setattr(factored.working_set, "train", rough)
    monkeypatch.setattr(factored, "polish", lambda data, state, tol: polished.append(tol))
    tol = 1e-12 if case != "good enough" else 1e-1
    assert factored.train(loss, tol, 7)[1] == (case == "interrupted")
    assert asked == [(pytest.approx(0.1 * tol), 7)]
    assert polished == ([pytest.approx(0.1 * tol)] if case == "not yet" else [])
