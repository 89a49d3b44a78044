"""SVM+ on kernel matrices in pieces: losses, Newton's method on the active set, the way by features."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import _naive_svm_plus as naive
import numpy as np
import pytest

from fast.errors import InvalidParameterError
from fast.svm_plus import factored, working_set
from fast.svm_plus import kernel_trainer as trainer
from fast.svm_plus.correction import Correction
from fast.svm_plus.data import Bound, Model
from fast.svm_plus.hinge import HingeData
from fast.svm_plus.kernel_losses import Hinge, KernelModel, SquaredHinge
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
    loss = kind(X @ X.T, y, Correction(matrix, space == "Z", C * omega, LAM, delta), nonneg)
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
        wanted = gamma / (C * omega + LAM / delta) if squared and delta else rest * delta / LAM
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
        if np.isfinite(model.primal):
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
    loss = kind(X @ X.T, y, Correction(Z, True, C * omega, LAM, delta), nonneg)
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
        state, _, _ = train(data, 1e-2 if case != "good enough" else tol, 1)
        return state, case == "interrupted", False

    monkeypatch.setattr(factored.working_set, "train", rough)
    monkeypatch.setattr(factored, "polish", lambda data, state, tol: polished.append(tol))
    tol = 1e-12 if case != "good enough" else 1e-1
    assert factored.train(loss, tol, 7)[1] == (case == "interrupted")
    assert asked == [(pytest.approx(0.1 * tol), 7)]
    assert polished == ([pytest.approx(0.1 * tol)] if case == "not yet" else [])


# ---- methods in turn ------------------------------------------------------------------------
def methods(rng, tol, nonneg=True, known=True, max_iter=100):
    X, y, Z = naive.instance(rng, 14, 3, 2)
    correction = Correction(Z if known else None, known, np.ones(14), LAM, 0.0)
    if not known:
        correction.take(Correction(Z, True, np.ones(14), LAM, 0.0).Q)
    loss = SquaredHinge(X @ X.T, y, correction, nonneg)
    return trainer.Methods(loss, trainer.KernelState(started=0.0), tol, max_iter, None)


@pytest.mark.parametrize("case", ["settled", "open", "unknown", "over", "rounds"])
def test_features_come_last(case, rng, monkeypatch):
    asked = []
    monkeypatch.setattr(
        factored, "train", lambda loss, tol, rounds: (asked.append((tol, rounds)), ([], False))[1]
    )
    turn = methods(
        rng,
        1e-5 if case == "settled" else 0.0,
        known=case != "unknown",
        max_iter=1 if case == "rounds" else 100,
    )
    turn.over = case == "over"
    assert turn.others() is False
    assert asked == ([(0.0, 100 - turn.state.n_iter)] if case == "open" else [])
    assert bool(turn.state.history) == (case != "over")
    assert {line["gap"] <= 1e-5 for line in turn.state.history} >= (
        {True} if case == "settled" else set()
    )


def test_the_better_of_two_points_is_kept(rng):
    state = trainer.KernelState(started=0.0)
    model = KernelModel(np.ones(2), 0.0, np.zeros(2), 0.0, np.zeros(2), 5.0, 1.0)
    worse = replace(model, primal=6.0, coef=np.zeros(2))
    low, high = Bound(np.ones(2), np.ones(2), 1.0), Bound(np.ones(2), np.ones(2), 4.0)
    assert state.keep(low, model, "smo") == pytest.approx(0.8)
    assert (state.model, state.bound, state.n_iter, state.solver) == (model, low, 1, "smo")
    assert state.keep(low, worse, "newton") == pytest.approx(0.8)
    assert (state.model, state.bound, state.n_iter, state.solver) == (model, low, 2, "smo")
    assert state.keep(high, worse, "newton") == pytest.approx(0.2)
    assert (state.model, state.bound, state.n_iter, state.solver) == (model, high, 3, "newton")
    better = replace(model, primal=4.5)
    assert state.keep(low, better, "features") == pytest.approx(0.5 / 4.5)
    assert (state.model, state.bound, state.n_iter, state.solver) == (better, high, 4, "features")
    assert [line["iteration"] for line in state.history] == [1, 2, 3, 4]
    first = trainer.KernelState(started=0.0)
    first.keep(Bound(np.ones(2), np.ones(2), -np.inf), replace(model, primal=np.inf), "smo")
    assert first.model is not None
    assert first.bound is not None


def test_smo_goes_on_where_it_was(rng):
    for kind, nonneg in itertools.product((Hinge, SquaredHinge), (True, False)):
        X, y, Z = naive.instance(rng, 14, 3, 2)
        loss = kind(X @ X.T, y, Correction(Z, True, np.ones(14), LAM, 0.0), nonneg)
        path = trainer.first_method(loss, True)
        assert path.rough == 0.0
        duals = [loss.look(*path(15, 1e-9))[0].dual for _ in range(12)]
        assert (np.diff(duals) >= -1e-9 * abs(duals[-1])).all() or not isinstance(
            loss, SquaredHinge
        )
        best = loss.look(interior_point(loss.qp(), 1e-13)[:14], np.zeros(14))[0].dual
        if not nonneg:
            assert duals[-1] == pytest.approx(best, rel=1e-3)


def test_a_result_on_all_rows_says_whether_it_collapsed(rng):
    X, y, Z = naive.instance(rng, 14, 3, 2)
    kept, cost = np.arange(20)[3:17], np.ones(14)
    for scale in (0.0, 1.0):
        loss = SquaredHinge(scale * X @ X.T, y, Correction(Z, True, cost, LAM, 0.0), False)
        bound, model = loss.look(interior_point(loss.qp(), 1e-13), np.zeros(14))
        state = trainer.KernelState(started=0.0)
        state.keep(bound, model, "smo")
        found = trainer.finished(loss, state, kept, 20, False, True)
        for name, own in (("coef", model.coef), ("alpha", bound.alpha), ("beta", bound.beta)):
            values = getattr(found, name)
            assert values.shape == (20,)
            assert not values[:3].any()
            assert not values[17:].any()
            if scale or name != "coef":
                np.testing.assert_array_equal(values[kept], own)
        assert found.collapsed == (scale == 0.0)
        assert found.coef.any() == (scale > 0.0)
        assert (found.interrupted, found.stopped, found.solver) == (False, True, "smo")
        assert found.primal - found.dual <= 1e-6
        assert found.gap == pytest.approx((found.primal - found.dual) / found.primal, abs=1e-15)
        assert found.history[-1]["gap"] == found.gap
        np.testing.assert_allclose(
            found.slack[kept], Z @ (Z.T @ found.correction_coef[kept]) + found.rho
        )


def test_what_has_collapsed():
    """w = 0 is as good (to 1e-5), and w is small against the multipliers times the spread."""
    K = np.diag([4.0, 4.0])  # spread: (4 - 2)^(1/2)
    loss = SimpleNamespace(K=K)
    model = KernelModel(np.ones(2), 0.0, np.zeros(2), 0.0, np.zeros(2), 5.0, 0.0)
    bare, bound = replace(model, primal=5.0), Bound(np.array([3.0, 5.0]), np.zeros(2), 5.0)
    most = 1e-3 * 0.5 * 8.0 * 2.0**0.5
    for size, primal, wanted in (
        (0.0, 5.0, True), (0.0, 9.0, True), (0.999 * most, 5.0, True), (1.001 * most, 5.0, False),
        (0.999 * most, 5.0 + 4.9e-5, True), (0.999 * most, 5.0 + 5.1e-5, False),
    ):  # fmt: skip
        found = replace(model, square=size**2)
        assert trainer.collapsed(loss, found, replace(bare, primal=primal), bound) == wanted
        negative = replace(found, primal=-5.0), replace(bound, dual=-5.0)
        assert (
            trainer.collapsed(loss, negative[0], replace(bare, primal=primal - 10.0), negative[1])
            == wanted
        )
    assert not trainer.collapsed(loss, model, None, bound)


def test_a_kernel_that_may_have_few_columns(rng):
    K, full = np.eye(4), np.eye(4) + 0.1
    low = np.ones((4, 4))
    omega = np.array([1.0, 2.0, 0.5, 0.5])  # trace 4 * 2 = 8, or 4 * 2.1
    for matrix, linear, C, definite, wanted in (
        (None, False, 1.0, True, True), (low, True, 1.0, True, True), (low, True, 1e9, False, True),
        (low, False, 1.0, True, True), (full, False, 1.0, True, False), (full, False, 1e9, True, False),
        (K, False, 1.24e5, False, False), (K, False, 1.26e5, False, True),
    ):  # fmt: skip
        found = trainer.factored_kernel(matrix, linear, None, K, C, 1.0, omega, definite)
        assert found == wanted
        if not definite and not linear and matrix is not None:
            assert (
                trainer.factored_kernel(matrix, linear, None, K, 2.0 * C, 2.0, omega, definite)
                == wanted
            )
    bad = np.array([[1.0, 2.0], [2.0, 1.0]])
    for given in (
        (None, False, None, bad),
        (None, False, bad, np.eye(2)),
        (bad, False, None, np.eye(2)),
    ):
        with pytest.raises(InvalidParameterError, match="semidefinite"):
            trainer.factored_kernel(*given, 1.0, 1.0, np.ones(2), True)
    assert trainer.factored_kernel(None, False, bad, bad, 1.0, 1.0, np.ones(2), False)
