"""SVM+ where the usual ways end: polished multipliers, features of kernels, deformed kernels of rounded matrices."""

import _naive_svm_plus as naive
import numpy as np
import pytest

from fast.svm_plus import factored, working_set
from fast.svm_plus import kernel_trainer as trainer
from fast.svm_plus.correction import Correction
from fast.svm_plus.deformed_kernel import from_kernel
from fast.svm_plus.hinge import HingeData
from fast.svm_plus.kernel_losses import SquaredHinge
from fast.svm_plus.squared_hinge import SquaredHingeData
from fast.svm_plus.working_set import WorkingSetState

C, LAM, N = 1.5, 0.7, 14


@pytest.mark.parametrize("kind", [HingeData, SquaredHingeData])
@pytest.mark.parametrize("nonneg", [True, False])
def test_rough_multipliers_are_polished(kind, nonneg, rng):
    """To a gap that is proven by the bounds and models of the data."""
    rounds = []
    for _ in range(6):
        X, y, Z = naive.instance(rng, N, 3, 2)
        data = kind(X, y, Z, np.ones(N), C, LAM, nonneg, 0.0)
        state = WorkingSetState(started=0.0)
        state.take(*data.trivial())
        state.first = np.arange(N)
        state.second = state.first if nonneg else state.first[:0]
        working_set.solve_and_look(data, state, 1e-5)
        before, view, seen = state.gap, data.view, []
        data.view = lambda u, free, view=view, seen=seen: (seen.append(0), view(u, free))[1]
        factored.polish(data, state, 1e-9)
        assert state.gap <= min(before, 1e-9)
        rounds.append(len(seen))
    assert max(rounds) > nonneg


@pytest.mark.parametrize("space", ["features", "one feature", "equal features", "kernel"])
def test_a_factor_of_the_correcting_space_is_one(space, rng):
    """Kz = ZZ' with as many columns as its rank, and B'Z = I."""
    Z = rng.standard_normal((9, 3))
    rank = 3 if space in ("features", "kernel") else 1
    if rank == 1:
        Z = np.repeat(Z[:, :1], 1 + (space == "equal features"), axis=1)
    linear = space != "kernel"
    correction = Correction(Z if linear else Z @ Z.T, linear, np.ones(9), LAM, 0.0)
    factor, back = factored.factor_of(correction, 9)
    assert factor.shape == back.shape == (9, rank)
    np.testing.assert_allclose(factor @ factor.T, Z @ Z.T, rtol=0, atol=1e-13)
    np.testing.assert_allclose(back.T @ factor, np.eye(rank), rtol=0, atol=1e-13)


def test_a_matrix_that_rounding_made_indefinite_counts_as_the_nearest_that_is_not(rng):
    """Q = B (lam I + B)^-1 of B = Kz + 1 without its negative part."""
    values, lam = np.array([3.0, 2.0, 1.0, 0.5, -1e-8]), 1e-9
    V = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    found = from_kernel((V * values) @ V.T - 1.0, np.ones(5), lam, short=False)
    kept = np.maximum(values, 0.0)
    np.testing.assert_allclose(found, (V * (kept / (lam + kept))) @ V.T, rtol=0, atol=1e-12)


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


def test_a_deformed_kernel_alone_ends_where_features_would_come(rng):
    """A gap of 0 is out of reach, and of Q alone no features are known that could be tried last."""
    X, y, Z = naive.instance(rng, N, 3, 2)
    correction = Correction(None, False, np.ones(N), LAM, 0.0)
    correction.take(Correction(Z, True, np.ones(N), LAM, 0.0).Q)
    loss = SquaredHinge(X @ X.T, y, correction, True)
    run = trainer.Methods(loss, trainer.KernelState(started=0.0), 0.0, 100, None)
    run.others()
    assert 0.0 <= run.state.gap <= 1e-9


def test_the_guess_of_the_mean_multiplier_is_exact_at_the_optimum(rng):
    X, y, Z = naive.instance(rng, N, 3, 2)
    data = SquaredHingeData(X, y, Z, np.ones(N), C, LAM, False, 0.0)
    state, _ = working_set.train(data, 1e-10, 100)
    mean = state.bound.alpha.sum() / N
    assert data.price(state.primal, state.dual, N) == pytest.approx(mean, rel=1e-4)
    assert data.price(state.primal, 0.0, N) is None  # a bound of 0 says nothing
