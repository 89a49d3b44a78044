"""SMO, alternating SMO, Newton on the active set and interior point, each by itself; bad input."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from fast.errors import InvalidParameterError
from fast.models.svm_plus_hinge import train_kernel as train_hinge
from fast.models.svm_plus_squared_hinge import train_kernel
from fast.svm_plus import smo


def problem(
    rng: np.random.Generator, n: int, rank: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """H >= 0 of this rank (1 in its range, so that margins exist) and labels."""
    A = rng.standard_normal((n, n if rank is None else rank - 1))
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    return (A @ A.T) * y * y[:, None] / n + 0.1, y


def dual(H: np.ndarray, y: np.ndarray) -> float:
    """Max 1'alpha - 1/2 alpha'H alpha by a general solver."""
    alpha = cp.Variable(len(y))
    objective = cp.sum(alpha) - 0.5 * cp.quad_form(alpha, cp.psd_wrap(H))
    program = cp.Problem(cp.Maximize(objective), [alpha >= 0, y @ alpha == 0])
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return float(program.value)


@pytest.mark.parametrize("rank", [None, 4])
@pytest.mark.parametrize("n", [2, 3, 17, 150])
def test_smo_against_a_general_solver(n: int, rank: int | None) -> None:
    rng = np.random.default_rng(n)
    H, y = problem(rng, n, rank)
    before = H.copy()
    found = smo.solve(H, y, 1e-7, max_iter=20_000 * n)
    alpha, g = found.alpha, H @ found.alpha
    assert found.gap <= 1e-7
    assert alpha.min() >= 0.0
    assert abs(alpha @ y) <= 1e-12 * alpha.sum()
    D = alpha.sum() - 0.5 * alpha @ g
    m = 0.5 * (g[y > 0].min() + g[y < 0].min())
    P = 0.5 * (alpha @ g) / m**2
    assert found.gap == pytest.approx(1.0 - D / P, abs=1e-12)
    assert D <= dual(H, y) * (1.0 + 1e-7) <= P * (1.0 + 2e-7)
    assert np.array_equal(H, before)


def test_report_stops_and_interruption_keeps_the_best() -> None:
    rng = np.random.default_rng(4)
    X, Z = rng.standard_normal((30, 2)), rng.standard_normal((30, 2))
    y = np.where(X[:, 0] + rng.standard_normal(30) > 0, 1.0, -1.0)
    Y = np.stack([y, -y], axis=1)
    for train in (train_kernel, train_hinge):
        found = train(X @ X.T, Y, 50.0, 0.1, Z=Z, tol=0.0, report=lambda state: True)
        assert len(found) == 1
        assert found[0].stopped
        assert not found[0].interrupted

        def interrupt(state: Any) -> bool:
            raise KeyboardInterrupt

        result = train(X @ X.T, y, 50.0, 0.1, Z=Z, tol=0.0, report=interrupt)
        assert result.interrupted
        assert result.dual <= result.primal < np.inf
        assert train(X @ X.T, y, 50.0, 0.1, Z=Z, tol=0.0, max_iter=1).n_iter == 1


def test_inputs_stay_and_float32_is_taken() -> None:
    rng = np.random.default_rng(5)
    X, Z = rng.standard_normal((20, 3)), rng.standard_normal((20, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    K, weight = (X @ X.T).astype(np.float32), np.ones(20)
    Q = np.eye(20)
    given = [K, y, Z, weight, Q]
    copies = [array.copy() for array in given]
    single = train_kernel(K, y, 1.0, 1.0, Z=Z, sample_weight=weight, tol=1e-6)
    train_kernel(K, y, 1.0, 1.0, Q=Q)
    train_hinge(K, y, 1.0, 1.0, Z=Z)
    train_kernel(K, y, 1.0, 1.0, Kz=K, free_slack=1.0)
    for array, copy in zip(given, copies, strict=True):
        assert np.array_equal(array, copy)
    wanted = train_kernel(K.astype(np.float64), y, 1.0, 1.0, Z=Z, tol=1e-6)
    assert single.primal == pytest.approx(wanted.primal, rel=1e-6)


GOOD: dict[str, Any] = {
    "K": np.eye(4), "y": [1.0, -1.0, 1.0, -1.0], "C": 1.0, "lam": 1.0, "Z": np.ones((4, 1)),
}  # fmt: skip
INDEFINITE = np.eye(4) - 0.9 * (np.ones((4, 4)) - np.eye(4))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"K": np.eye(3)}, r"K: shape \(3, 3\)"),
        ({"K": np.triu(np.ones((4, 4)))}, "not symmetric"),
        ({"K": INDEFINITE}, "K: .*positive semidefinite"),
        ({"K": np.full((4, 4), np.inf)}, "inf"),
        ({"Z": None, "Kz": INDEFINITE}, "Kz: .*positive semidefinite"),
        ({"Z": None}, "neither"),
        ({"Kz": np.eye(4)}, "both"),
        ({"Z": np.ones((3, 1))}, "Z: 3 rows"),
        ({"y": [1.0, 1.0, 1.0, 1.0]}, "only label"),
        ({"y": [1.0, 0.0, 1.0, -1.0]}, "label 0"),
        ({"y": np.array([[1.0, 1.0], [-1, 1], [1, 1], [-1, 1]])}, "only label"),
        ({"sample_weight": [1.0, 0.0, 1.0, 0.0]}, "positive weight"),
        ({"C": 0.0}, "C: 0"),
        ({"lam": 0.0}, "lam: 0"),
        ({"free_slack": -1.0}, "free_slack"),
    ],
)
@pytest.mark.parametrize("train", [train_kernel, train_hinge])
def test_bad_input_is_named(train: Any, changed: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidParameterError, match=says):
        train(**{**GOOD, **changed})


def test_a_deformed_kernel_of_something_else_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"Q: .*does not solve"):
        train_kernel(**GOOD, Q=np.eye(4))
    with pytest.raises(InvalidParameterError, match=r"Q: .*positive semidefinite"):
        train_kernel(**{**GOOD, "Z": None}, Q=INDEFINITE)


def test_kernels_known_to_be_definite_are_not_factorised(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    X, Z = rng.standard_normal((25, 3)), rng.standard_normal((25, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    K, Kz = X @ X.T, np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2))
    wanted = [train(K, y, 3.0, 1.0, Kz=Kz, tol=1e-8) for train in (train_kernel, train_hinge)]

    def refuse(name: str, K: np.ndarray) -> bool:
        raise AssertionError(name)

    monkeypatch.setattr("fast.svm_plus.kernel_trainer.check_definite", refuse)
    for train, known in zip((train_kernel, train_hinge), wanted, strict=True):
        found = train(K, y, 3.0, 1.0, Kz=Kz, tol=1e-8, check_definite=False)
        assert found.gap <= 1e-8
        assert found.primal == pytest.approx(known.primal, rel=1e-7)
        with pytest.raises(AssertionError, match="K"):
            train(K, y, 3.0, 1.0, Kz=Kz)


def test_newton_finds_b_beside_a_centred_kernel() -> None:
    """R is singular along the costs: rho's multiplier is 1e13 times as loose as that of b."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8))
    Z = X[:, :4] + rng.standard_normal((40, 4))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0.0, 1.0, -1.0)
    K, Kz = (np.exp(-((A[:, None] - A) ** 2).sum(-1) / A.shape[1]) for A in (X, Z))
    found = train_hinge(K, y, 10.0, 1.0, Kz=Kz, tol=1e-9)
    assert found.solver == "newton"  # the interior point method need not come to its help
    assert found.gap <= 1e-9
