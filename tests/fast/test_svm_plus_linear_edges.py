"""Linear SVM+ where it is hard or forbidden: extreme parameters, bad input, interruption, solvers."""

from typing import Any

import _naive_svm_plus as naive
import numpy as np
import pytest
import scipy.sparse as sp

from fast.errors import InvalidParameterError, InvalidTypeError
from fast.models import svm_plus_hinge, svm_plus_squared_hinge
from fast.solvers.rows import expanded
from fast.svm_plus import problem
from fast.svm_plus.squared_hinge import SquaredHingeData

LOSSES = {"squared_hinge": svm_plus_squared_hinge, "hinge": svm_plus_hinge}
losses = pytest.mark.parametrize("loss", LOSSES)


def data(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return naive.instance(np.random.default_rng(seed), n, 4, 3)


@losses
@pytest.mark.parametrize(
    ("C", "lam"),
    [(1e-16, 1.0), (1e-8, 1.0), (1e5, 1.0), (1e10, 1.0), (1.0, 1e-10), (1.0, 1e10), (1e5, 1e-5)],
)
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_extreme_parameters_are_certified(loss: str, C: float, lam: float, delta: float) -> None:
    result = LOSSES[loss].train(*data(), C, lam, free_slack=delta, tol=1e-6)
    assert result.gap <= 1e-6
    primal, _ = naive.bounds(result, *data(), C, lam, loss, delta=delta)
    assert primal == pytest.approx(result.primal, rel=1e-7)


@losses
@pytest.mark.parametrize("scale_x", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("scale_z", [1e-6, 1.0, 1e6])
def test_scales_of_the_features_do_not_matter(loss: str, scale_x: float, scale_z: float) -> None:
    X, y, Z = data()
    result = LOSSES[loss].train(scale_x * X, y, scale_z * Z, 1.0, 1.0, tol=1e-6)
    assert result.gap <= 1e-6


@losses
def test_a_common_shift_of_x_moves_b_alone(loss: str) -> None:
    X, y, Z = data()
    shift = np.array([1e4, -1e3, 0.0, 5.0])
    here = LOSSES[loss].train(X, y, Z, 1.0, 1.0, tol=1e-9)
    there = LOSSES[loss].train(X + shift, y, Z, 1.0, 1.0, tol=1e-9)
    assert there.primal == pytest.approx(here.primal, rel=1e-7)
    np.testing.assert_allclose(there.w, here.w, atol=1e-3)
    assert there.b + there.w @ shift == pytest.approx(here.b, abs=1e-2)


@losses
def test_two_rows_constant_columns_and_empty_features(loss: str) -> None:
    two = LOSSES[loss].train([[1.0], [-1.0]], [1, -1], [[0.0], [0.0]], 1.0, 20.0, tol=1e-9)
    if loss == "squared_hinge":  # w = m, xi = 1 - m: m^2/2 + (2 C + lam)/2 (1 - m)^2
        assert two.w[0] == pytest.approx(22.0 / 23.0, rel=1e-8)
    else:
        assert two.w[0] == pytest.approx(1.0, rel=1e-8)
    X, y, Z = data()
    X[:, 1], Z[:, 2] = 7.0, 100.0
    constant = LOSSES[loss].train(X, y, Z, 1.0, 1.0, tol=1e-8)
    assert constant.gap <= 1e-7
    assert abs(constant.w[1]) <= 1e-9
    nothing = LOSSES[loss].train(np.zeros_like(X), y, np.zeros_like(Z), 1.0, 1.0)
    assert nothing.collapsed
    assert not nothing.w.any()
    assert nothing.gap <= 1e-9


@losses
@pytest.mark.parametrize("rounds", [1, 2])
def test_interruption_keeps_the_best_certified_model(loss: str, rounds: int) -> None:
    X, y, Z = naive.instance(np.random.default_rng(1), 1200, 5, 3)
    seen: list[float] = []

    def interrupt(state: Any) -> bool:
        seen.append(state.gap)
        if len(seen) == rounds:
            raise KeyboardInterrupt
        return False

    result = LOSSES[loss].train(X, y, Z, 1.0, 1e-2, tol=0.0, report=interrupt)
    assert result.interrupted
    assert result.stopped
    assert len(seen) == rounds == result.n_iter
    assert result.gap <= seen[-1] + 1e-12
    primal, dual = naive.bounds(result, X, y, Z, 1.0, 1e-2, loss)
    assert primal == pytest.approx(result.primal, rel=1e-9)
    assert dual == pytest.approx(result.dual, rel=1e-6, abs=1e-6 * primal)


@losses
@pytest.mark.parametrize("nonneg", [True, False])
def test_interrupted_before_the_first_round(
    loss: str, nonneg: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fast.svm_plus.working_set.solve_and_look", interrupt)
    X, y, Z = data()
    result = LOSSES[loss].train(X, y, Z, 1.0, 1.0, nonneg_slack=nonneg)
    primal, dual = naive.bounds(result, X, y, Z, 1.0, 1.0, loss, nonneg)
    assert result.interrupted
    assert len(result.history) == 1
    assert (primal, dual) == pytest.approx((result.primal, result.dual), rel=1e-9, abs=1e-12)


@losses
def test_report_stops_and_max_iter_bounds_the_rounds(loss: str) -> None:
    X, y, Z = naive.instance(np.random.default_rng(1), 1200, 5, 3)
    stopped = LOSSES[loss].train(X, y, Z, 1.0, 1e-2, tol=0.0, report=lambda state: True)
    assert stopped.stopped
    assert not stopped.interrupted
    assert stopped.n_iter == 1
    bounded = LOSSES[loss].train(X, y, Z, 1.0, 1e-2, tol=0.0, max_iter=2)
    assert bounded.n_iter == 2
    assert not bounded.stopped


def good() -> dict[str, Any]:
    X, y, Z = data(20)
    return {"X": X, "y": y, "Z": Z, "C": 1.0, "lam": 1.0}


BAD = {
    "one class": ({"y": np.ones(20)}, "y"),
    "one class has weight": ({"sample_weight": np.where(data(20)[1] > 0, 1.0, 0.0)}, "y"),
    "labels 0, 1": ({"y": np.arange(20) % 2}, "y"),
    "short y": ({"y": np.ones(3)}, "y"),
    "short Z": ({"Z": np.ones((3, 2))}, "Z"),
    "flat Z": ({"Z": np.ones(20)}, "Z"),
    "no column": ({"Z": sp.csr_array((20, 0))}, "Z"),
    "nan": ({"X": np.full((20, 2), np.nan)}, "X"),
    "inf in CSR": ({"Z": sp.csr_array(np.full((20, 2), np.inf))}, "Z"),
    "huge": ({"X": np.full((20, 2), 1e200)}, "X"),
    "C": ({"C": 0.0}, "C"),
    "lam": ({"lam": -1.0}, "lam"),
    "negative weight": ({"sample_weight": -np.ones(20)}, "sample_weight"),
    "free_slack": ({"free_slack": -1.0}, "free_slack"),
    "tol": ({"tol": np.nan}, "tol"),
    "C whose products overflow": ({"C": 1e200}, "C"),
    "lam whose products underflow": ({"lam": 1e-200}, "lam"),
    "no rounds": ({"max_iter": 0}, "max_iter"),
    "fewer than no rounds": ({"max_iter": -3}, "max_iter"),
}


@losses
@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(loss: str, case: str) -> None:
    change, argument = BAD[case]
    with pytest.raises(InvalidParameterError) as caught:
        LOSSES[loss].train(**(good() | change))
    assert caught.value.argument == argument
    assert caught.value.fix


@losses
@pytest.mark.parametrize("value", ["text", [[1.0, 2.0], [1.0]], np.ones((20, 2), complex)])
def test_wrong_types_are_named(loss: str, value: Any) -> None:
    with pytest.raises(InvalidTypeError, match="Z:"):
        LOSSES[loss].train(**(good() | {"Z": value}))


@losses
@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("delta", [0.0, 3e-4, 7.0])
def test_uneven_weights_and_repeated_rows_in_several_rounds(
    loss: str, nonneg: bool, delta: float
) -> None:
    rng = np.random.default_rng(12)
    X, y, Z = naive.instance(rng, 500, 3, 4)
    X = X[rng.integers(125, size=500)]
    weight = rng.exponential(size=500)
    for C, lam in ((800.0, 2.0), (0.05, 0.01)):
        result = LOSSES[loss].train(
            X, y, Z, C, lam, sample_weight=weight, nonneg_slack=nonneg, free_slack=delta, tol=1e-6
        )
        primal, dual = naive.bounds(
            result, X, y, Z, C, lam, loss, nonneg, delta=delta, weight=weight
        )
        assert result.gap <= 1e-6
        assert primal == pytest.approx(result.primal, rel=1e-8)
        assert dual == pytest.approx(result.dual, rel=1e-8)


@losses
def test_separable_data_with_large_c_need_no_slack(loss: str) -> None:
    """C sum(omega) is 10^7 times the optimum: an error in xi must not cost that much."""
    rng = np.random.default_rng(3)
    y = np.where(rng.random(60) < 0.3, 1.0, -1.0)
    X = np.maximum(rng.standard_normal((60, 240)) + 0.1 * y[:, None], 0.0)
    Z = np.maximum(rng.standard_normal((60, 120)), 0.0)
    result = LOSSES[loss].train(X, y, Z, 100.0, 0.01, nonneg_slack=True, tol=1e-6)
    assert result.gap <= 1e-6
    assert result.primal < 1.0


@losses
@pytest.mark.parametrize("seed", range(6))
def test_separable_data_of_uneven_scales(loss: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y, Z = naive.instance(rng, 6, 36, 3)
    X *= 10.0 ** rng.uniform(-3.0, 3.0, 36)
    Z *= 10.0 ** rng.uniform(-3.0, 3.0, 3)
    result = LOSSES[loss].train(X, y, Z, 4000.0, 0.1, nonneg_slack=True, tol=1e-6)
    assert result.gap <= 1e-6
    primal, dual = naive.bounds(result, X, y, Z, 4000.0, 0.1, loss, nonneg=True)
    assert (primal, dual) == pytest.approx((result.primal, result.dual), rel=1e-6)


def test_a_collapsed_problem_is_not_solved_again_and_again() -> None:
    """Here w = 0 and the gap stays between 1e-9, which is tried for then, and tol."""
    X = np.array([[0.0, 0.0], [1.0, -2.0], [0.0, 0.0], [0.0, 0.0]])
    Z = np.array([[0.0], [1.0], [1.0], [0.0]])
    y = np.array([1.0, -1.0, -1.0, -1.0])
    result = svm_plus_squared_hinge.train(X, y, Z, 100.0, 1.0, tol=1e-6)
    assert result.gap <= 1e-6
    assert result.n_iter <= 10


def test_own_slacks_that_cost_next_to_nothing() -> None:
    """lam/delta = 1e-10: the multipliers of own slacks, C delta/lam, are 1e11 times P."""
    X, y, Z = naive.instance(np.random.default_rng(2), 12, 5, 1)
    for other in (X, sp.csr_array(X)):
        found = svm_plus_hinge.train(other, y, 1e-4 * Z, 10.0, 1e-9, free_slack=10.0, tol=1e-8)
        assert found.gap <= 1e-8
        P, D = naive.bounds(found, X, y, 1e-4 * Z, 10.0, 1e-9, "hinge", delta=10.0)
        assert P - D <= 2e-8 * P


def test_what_trainers_are_given(rng):
    X, y, Z = naive.instance(rng, 8, 3, 2)
    weight = np.array([1.0, 0.0, 2.0, 1.0, 0.0, 0.5, 1.0, 3.0])
    y[[0, 2]] = 1.0, -1.0
    given = problem.check_input(X, y, Z, 2, 3, weight, 0, 1e-3)
    kept = np.flatnonzero(weight)
    np.testing.assert_array_equal(given.kept, kept)
    for found, whole in ((given.X, X), (given.y, y), (given.Z, Z), (given.omega, weight)):
        np.testing.assert_array_equal(found, whole[kept])
    assert (given.C, given.lam, given.free_slack, given.tol, given.n) == (2.0, 3.0, 0.0, 1e-3, 8)
    np.testing.assert_array_equal(expanded(np.ones(6), given.kept, 8), weight > 0.0)
    plain = problem.check_input(X, y, Z, 2, 3, None, 1.0, 0.0)
    np.testing.assert_array_equal(plain.omega, np.ones(8))
    np.testing.assert_array_equal(plain.kept, np.arange(8))
    assert plain.X is X
    for form, kind in ((int, np.float64), (bool, np.float64), (np.float32, np.float32)):
        found = problem.check_matrix("Z", sp.csr_array(np.eye(3).astype(form)))
        assert found.dtype == kind
        np.testing.assert_array_equal(found.toarray(), np.eye(3))
    for bad in (np.nan, np.inf, -1.1e100, 1.1e100):
        matrix = np.eye(3)
        matrix[1, 2] = bad
        for made in (matrix, sp.csr_array(matrix)):
            with pytest.raises(InvalidParameterError, match="Z"):
                problem.check_matrix("Z", made)
    for labels, says in (([1.0, -1.0], "2,"), ([1.0, -1.0, 1.5], "1.5"), ([1.0, -1.0, 0.0], "0")):
        with pytest.raises(InvalidParameterError, match=says):
            problem.check_labels(labels, 3)
    for labels, says in (
        ([1.0, 1.0], r"only label \+1"),
        ([-1.0], "only label -1"),
        ([], "no rows"),
    ):
        with pytest.raises(InvalidParameterError, match=says):
            problem.check_two_classes(np.array(labels), True)


def test_a_factor_of_moments_beyond_float64_is_as_near_as_rounding_allows(rng):
    y, Z = np.resize([1.0, -1.0], 8), np.ones((8, 3))  # of rank 1 beside lam
    data = SquaredHingeData(rng.standard_normal((8, 2)), y, Z, np.ones(8), 1e30, 1.0, False, 0.0)
    M = np.full((4, 4), 8e30)
    L = np.tril(data.L)
    assert np.isfinite(L).all()
    np.testing.assert_allclose(L @ L.T, M, rtol=1e-9)


C, LAM = 1.5, 0.7


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("delta", [0.0, 0.4])
def test_a_multiple_of_a_squared_hinge_model_keeps_its_margins_tight(nonneg, delta, rng):
    y, omega = np.resize([1.0, -1.0, 1.0], 11), rng.uniform(0.3, 2.0, 11)
    X, Z = rng.standard_normal((11, 3)) + 3.0 * y[:, None], rng.standard_normal((11, 2))
    data = SquaredHingeData(X, y, Z, omega, C, LAM, nonneg, delta)
    theta = LAM / (LAM + delta * C * omega)
    seen = 0
    for _ in range(20):
        w, v, rho = rng.random(3), 0.2 * rng.standard_normal(2), rng.standard_normal()
        found = data._rescaled(w, v, rho, X @ w, Z @ v + rho)
        g = Z @ found.v + found.rho
        margins = y * (X @ found.w + found.b) + theta * g
        assert found.primal <= data.constant().primal
        reduced = C * omega * theta
        P = found.w @ found.w + reduced @ g**2 + LAM * (found.v @ found.v + found.rho**2)
        assert found.primal == pytest.approx(0.5 * P, rel=1e-9)
        if found.w.any():
            seen += 1
            assert margins[y > 0].min() == pytest.approx(1.0, rel=1e-9)
            assert margins[y < 0].min() == pytest.approx(1.0, rel=1e-9)
    assert seen
