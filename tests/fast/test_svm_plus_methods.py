"""The kernel trainer of SVM+: methods in turn, what is kept of each, and what is said of the result."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import _naive_svm_plus as naive
import numpy as np
import pytest

from fast.errors import InvalidParameterError
from fast.svm_plus import factored
from fast.svm_plus import kernel_trainer as trainer
from fast.svm_plus.correction import Correction
from fast.svm_plus.data import Bound
from fast.svm_plus.kernel_losses import Hinge, KernelModel, SquaredHinge
from fast.svm_plus.kernel_newton import interior_point

C, LAM = 1.5, 0.7


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
    turn.others()
    assert not turn.interrupted
    assert asked == ([(0.0, 100 - turn.state.n_iter)] if case == "open" else [])
    assert bool(turn.state.history) == (case != "over")
    assert {line["gap"] <= 1e-5 for line in turn.state.history} >= (
        {True} if case == "settled" else set()
    )


@pytest.mark.parametrize(("near", "cheap"), [(True, 1), (True, 1000), (False, 1), (False, 1000)])
def test_a_large_problem_may_end_in_rounding(near, cheap, rng, monkeypatch):
    """Newton has ended, above tol: with more multipliers than are cheap a gap of 1e-3 will do."""
    turn = methods(rng, 0.0, nonneg=False)
    u = interior_point(turn.loss.qp(), 1e-7 if near else 0.5)
    monkeypatch.setattr(trainer, "CHEAP", cheap)
    monkeypatch.setattr(trainer.kernel_newton, "newton", lambda *_: True)
    budgets = []

    def path(budget, tol):
        budgets.append((budget, tol))
        return u, turn.nothing

    path.rough = 0.0
    turn.active_set(path)
    assert turn.state.gap > 0.0
    assert (turn.state.gap <= 1e-3) == near
    assert turn.over == (near and cheap == 1)
    assert budgets == [(140, 0.0)]
    monkeypatch.setattr(trainer.kernel_newton, "newton", lambda *_: False)
    budgets.clear()
    turn.active_set(path)
    assert [budget for budget, _ in budgets] == [140, 280, 560, 1120]


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
        run = trainer.TrainingRun(lambda state: True)
        assert run.ask(state)
        found = trainer.finished(loss, state, kept, 20, run)
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
