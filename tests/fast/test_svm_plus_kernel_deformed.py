"""The deformed kernel of SVM2+ against exact rational arithmetic, from tiny to huge C/lam."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fast.errors import InvalidParameterError
from fast.svm_plus.correction import Correction
from fast.svm_plus.deformed_kernel import (
    Inverse,
    deformed_kernel,
    extremes,
    from_features,
    from_inverse,
)

RATIOS = [1e-16, 1e-8, 1e-3, 1.0, 1e3, 1e6, 1e10]


def exact_solve(A: list[list[Fraction]], B: list[list[Fraction]]) -> list[list[Fraction]]:
    """A^-1 B by elimination."""
    n = len(A)
    rows = [a[:] + b[:] for a, b in zip(A, B, strict=True)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if rows[r][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(n):
            if r != i and rows[r][i] != 0:
                rows[r] = [x - rows[r][i] * z for x, z in zip(rows[r], rows[i], strict=True)]
    return [row[n:] for row in rows]


def exact_kernel(Z: np.ndarray) -> list[list[Fraction]]:
    """ZZ'."""
    rows = [[Fraction(float(x)) for x in row] for row in Z]
    return [
        [sum((x * z for x, z in zip(a, b, strict=True)), Fraction(0)) for b in rows] for a in rows
    ]


def exact(
    Kz: list[list[Fraction]], C: float, lam: float, omega: np.ndarray, delta: float
) -> list[list[Fraction]]:
    """Q = (lam I + C Kt Omega)^-1 Kt."""
    n = len(Kz)
    weights = [Fraction(C) * Fraction(float(w)) for w in omega]
    own = [Fraction(delta) / Fraction(float(w)) if w else 0 for w in omega]
    Kt = [[Kz[i][j] + 1 + (own[i] if i == j else 0) for j in range(n)] for i in range(n)]
    A = [
        [Kt[i][j] * weights[j] + (Fraction(lam) if i == j else 0) for j in range(n)]
        for i in range(n)
    ]
    return exact_solve(A, Kt)


def error(Q: np.ndarray, wanted: list[list[Fraction]]) -> float:
    """Largest error over largest entry."""
    top = max(abs(x) for row in wanted for x in row)
    pairs = zip(Q.ravel(), (x for row in wanted for x in row), strict=True)
    return float(max(abs(Fraction(float(q)) - x) for q, x in pairs) / top)


def printed(Kt: np.ndarray, C: float, lam: float) -> np.ndarray:
    """Formula (5) as it stands in the paper."""
    n = len(Kt)
    return (Kt - Kt @ np.linalg.solve(lam / C * np.eye(n) + Kt, Kt)) / lam


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize(("n", "s"), [(9, 2), (6, 9), (5, 4)])
@pytest.mark.parametrize("delta", [0.0, 0.25])
def test_linear_q_keeps_its_digits(ratio: float, n: int, s: int, delta: float) -> None:
    rng = np.random.default_rng(n + s)
    Z = rng.standard_normal((n, s))
    omega = rng.uniform(0.5, 2.0, n)
    for lam in (1.0, 0.01):
        C = ratio * lam
        Q = deformed_kernel(C, lam, Z=Z, sample_weight=omega, free_slack=delta)
        assert error(Q, exact(exact_kernel(Z), C, lam, omega, delta)) <= 1e-12
        assert np.array_equal(Q, Q.T) or np.abs(Q - Q.T).max() <= 1e-15 * np.abs(Q).max()


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("weights", [[1.0] * 5, [1.0, 2.0, 0.5, 1e-5, 1e4]])
def test_kernel_q_keeps_its_digits(
    ratio: float, weights: list[float], rng: np.random.Generator
) -> None:
    """A kernel of distinct points, with its values taken as exact."""
    Z = rng.standard_normal((5, 3))
    Kz = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2))
    omega = np.array(weights)
    rows = [[Fraction(float(x)) for x in row] for row in Kz]
    for delta in (0.0, 2.0):
        Q = deformed_kernel(ratio, 1.0, Kz=Kz, sample_weight=omega, free_slack=delta)
        assert error(Q, exact(rows, ratio, 1.0, omega, delta)) <= 1e-12


def test_the_printed_formula_loses_everything(rng: np.random.Generator) -> None:
    """(5) is a difference of nearly equal matrices."""
    Z = rng.standard_normal((12, 4))
    Kt = Z @ Z.T + 1.0
    wanted = exact(exact_kernel(Z), 1e6, 1.0, np.ones(12), 0.0)
    assert error(printed(Kt, 1.0, 1.0), exact(exact_kernel(Z), 1.0, 1.0, np.ones(12), 0.0)) < 1e-12
    assert error(printed(Kt, 1e6, 1.0), wanted) > 1e-10
    wanted = exact(exact_kernel(Z), 1e10, 1.0, np.ones(12), 0.0)
    assert error(printed(Kt, 1e10, 1.0), wanted) > 1e-5
    assert error(deformed_kernel(1e10, 1.0, Z=Z), wanted) <= 1e-12


@pytest.mark.parametrize("ratio", [1e-6, 1.0, 1e6])
def test_low_rank_kernel_matrix_is_as_good_as_its_features(
    ratio: float, rng: np.random.Generator
) -> None:
    Z = np.round(4.0 * rng.standard_normal((14, 3)))  # Kz is exact
    Q = deformed_kernel(ratio, 1.0, Kz=Z @ Z.T)
    assert error(Q, exact(exact_kernel(Z), ratio, 1.0, np.ones(14), 0.0)) <= 1e-12


@pytest.mark.parametrize("ratio", [1e-4, 1.0, 1e8])
def test_every_way_leads_to_the_same_matrix(ratio: float, rng: np.random.Generator) -> None:
    for shape in ((20, 3), (8, 30)):
        Z = rng.standard_normal(shape)
        omega = rng.uniform(0.1, 3.0, len(Z))
        Q = deformed_kernel(ratio, 2.0, Z=Z, sample_weight=omega, free_slack=0.5)
        top = np.abs(Q).max()
        for given in (Z.astype(np.float32).astype(np.float64), sp.csr_array(Z)):
            same = deformed_kernel(ratio, 2.0, Z=given, sample_weight=omega, free_slack=0.5)
            slack = 1e-6 if isinstance(given, np.ndarray) else 1e-9
            assert np.abs(Q - same).max() <= slack * top


def test_zero_weights_are_a_limit(rng: np.random.Generator) -> None:
    Z = rng.standard_normal((7, 2))
    Kz = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2))
    omega = np.array([1.0, 0.0, 2.0, 1.0, 0.0, 1.0, 1.0])
    rows = [[Fraction(float(x)) for x in row] for row in Kz]
    Q = deformed_kernel(3.0, 1.0, Kz=Kz, sample_weight=omega)
    assert error(Q, exact(rows, 3.0, 1.0, omega, 0.0)) <= 1e-12
    Q = deformed_kernel(3.0, 1.0, Z=Z, sample_weight=omega)
    assert error(Q, exact(exact_kernel(Z), 3.0, 1.0, omega, 0.0)) <= 1e-12


def test_equal_rows_count_once(rng: np.random.Generator) -> None:
    """P Qu P' with summed costs is the Q of all rows."""
    Z = rng.standard_normal((4, 6))[rng.integers(0, 4, 30)]
    cost = rng.uniform(0.1, 3.0, 30)
    for delta in (0.0, 0.7):
        correction = Correction(Z, True, cost, 0.3, delta / cost)
        assert correction.group is not None
        Q = deformed_kernel(1.0, 0.3, Z=Z, sample_weight=cost, free_slack=delta)
        np.testing.assert_allclose(correction.Q, Q, rtol=0, atol=1e-13 * np.abs(Q).max())
        gamma = rng.standard_normal(30)
        np.testing.assert_allclose(correction.deformed_product(gamma), Q @ gamma, atol=1e-12)
        np.testing.assert_allclose(correction.product(gamma), Z @ (Z.T @ gamma), atol=1e-11)


def test_the_rough_inverse_is_as_rough_as_it_says(rng: np.random.Generator) -> None:
    Z = rng.standard_normal((60, 3))
    Kz = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2))
    cost = rng.uniform(5.0, 20.0, 60)
    inverse = Inverse(Kz, cost, 1.0)
    Q = deformed_kernel(1.0, 1.0, Kz=Kz, sample_weight=cost)
    condition = 1.0 + inverse.trace
    assert np.abs(inverse.matrix() - Q).max() <= 1e-13 * condition * np.abs(Q).max()
    away = np.abs(inverse.rough() - Q).max() / np.abs(Q).max()
    assert 1e-9 < away <= 6e-8 * condition
    gamma = rng.standard_normal(60)
    np.testing.assert_allclose(inverse.product(gamma), Q @ gamma, atol=1e-11)


def bad(**changed: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {"C": 1.0, "lam": 1.0, "Z": np.ones((3, 2))} | changed
    return arguments


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (bad(C=0.0), "C: 0"),
        (bad(lam=-1.0), "lam: -1"),
        (bad(free_slack=-0.1), "free_slack"),
        (bad(Kz=np.eye(3)), "both"),
        (bad(Z=None), "neither"),
        (bad(Z=None, Kz=np.ones((3, 2))), "square"),
        (bad(Z=None, Kz=np.array([[1.0, 2.0], [0.0, 1.0]])), "symmetric"),
        (bad(Z=None, Kz=np.array([[1.0, 2.0], [2.0, 1.0]])), "positive semidefinite"),
        (bad(Z=None, Kz=-np.eye(3)), "positive semidefinite"),
        (bad(Z=None, Kz=np.full((3, 3), np.nan)), "nan"),
        (bad(Z=np.array([[1.0], [np.inf], [0.0]])), "inf"),
        (bad(sample_weight=[1.0, 2.0]), "sample_weight"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidParameterError, match=says):
        deformed_kernel(arguments.pop("C"), arguments.pop("lam"), **arguments)


LAM = 0.7


@pytest.mark.parametrize("wrong", ["scaled", "other cost", "shifted", "nan"])
@pytest.mark.parametrize("delta", [0.0, 0.4])
def test_a_deformed_kernel_that_does_not_belong_is_refused(wrong, delta, rng):
    def Q_of(Kt, cost):
        return np.linalg.solve(LAM * np.eye(9) + Kt * cost, Kt)

    Z, cost = rng.standard_normal((9, 2)), rng.uniform(0.5, 2.0, 9)
    Kt = Z @ Z.T + 1.0 + delta * np.eye(9)
    Q = {
        "scaled": Q_of(Kt, cost) * (1.0 + 1e-4),
        "other cost": Q_of(Kt, cost * (1.0 + 1e-4)),
        "shifted": Q_of(Kt + 1e-4 * np.eye(9), cost),
        "nan": np.full((9, 9), np.nan),
    }[wrong]
    with pytest.raises(InvalidParameterError, match="Q"):
        Correction(Z, True, cost, LAM, delta).take(Q)
    Correction(Z, True, cost, LAM, delta).take(Q_of(Kt, cost))
    unknown = Correction(None, False, cost, LAM, delta)
    unknown.take(Q)
    assert unknown.Q is Q


def test_sparse_features_keep_their_digits(rng):
    """Few columns are not squared; many are, where nothing else would do."""
    Z = rng.standard_normal((12, 2))
    dense, sparse = (from_features(z, np.full(12, 1e10), 1.0) for z in (Z, sp.csr_array(Z)))
    np.testing.assert_allclose(sparse, dense, rtol=0, atol=1e-13 * np.abs(dense).max())


@pytest.mark.parametrize("n", [3, 64, 65, 130])
def test_tiles_cover_a_matrix_once(n, rng):
    K = 0.01 * rng.standard_normal((n, n))
    top, skew, total = extremes(K)
    assert (top, skew) == (np.abs(K).max(), np.abs(K - K.T).max())
    assert total == pytest.approx(np.abs(K).sum() + np.abs(K.diagonal()).sum(), rel=1e-12)
    for i, j in ((0, n - 1), (n - 1, 0), (n - 1, n - 1), (n // 2, 0)):
        bad = K.copy()
        bad[i, j] = np.nan
        assert np.isnan(extremes(bad)[2])
        bad[i, j] = -99.0
        assert extremes(bad)[0] == 99.0
    root, inverse = rng.uniform(0.5, 2.0, n), np.triu(K)
    wanted = np.triu(K) + np.triu(K, 1).T
    from_inverse(inverse, root, LAM)
    np.testing.assert_allclose(
        inverse, (np.eye(n) - LAM * wanted) / np.outer(root, root), rtol=1e-12
    )
