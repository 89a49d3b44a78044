"""Linear SVM+: optima, certificates and identities against the problems as printed."""

import itertools
from types import ModuleType
from typing import Any

import _naive_svm_plus as naive
import numpy as np
import pytest
import scipy.sparse as sp

from fast.models import svm_plus_hinge, svm_plus_squared_hinge

LOSSES = {"squared_hinge": svm_plus_squared_hinge, "hinge": svm_plus_hinge}
VARIANTS = [
    pytest.param(loss, nonneg, delta, weighted, id=f"{loss}-{nonneg}-{delta}-{weighted}")
    for loss, nonneg, delta, weighted in itertools.product(
        LOSSES, (True, False), (0.0, 0.5), (False, True)
    )
]


def check(
    result: Any, X: Any, y: Any, Z: Any, C: float, lam: float, loss: str, nonneg: bool,
    delta: float = 0.0, weight: Any = None, tol: float = 1e-7,
) -> None:  # fmt: skip
    """The result is feasible, its P and D are those of the formulas, and they meet."""
    primal, dual = naive.bounds(result, X, y, Z, C, lam, loss, nonneg, delta=delta, weight=weight)
    assert result.primal == pytest.approx(primal, rel=1e-9)
    assert result.dual == pytest.approx(dual, rel=1e-9)
    assert dual <= primal + 1e-9 * abs(primal)
    assert result.gap <= tol
    assert primal - dual <= tol * max(abs(primal), abs(dual)) + 1e-12


@pytest.mark.parametrize(("loss", "nonneg", "delta", "weighted"), VARIANTS)
def test_optimum_of_the_printed_problem(
    loss: str, nonneg: bool, delta: float, weighted: bool
) -> None:
    squared = loss == "squared_hinge"
    cases = [
        (40, 3, 2, True, 1.0, 1.0),  # n > d + s
        (12, 30, 3, True, 100.0, 0.1),  # systems of the size of the working set
        (12, 3, 40, False, 0.1, 10.0),  # more privileged features than rows
    ]
    for seed, (n, d, s, informative, C, lam) in enumerate(cases):
        rng = np.random.default_rng(seed)
        X, y, Z = naive.instance(rng, n, d, s, informative)
        weight = rng.choice([0.0, 0.5, 1.0, 3.0], n) if weighted else None
        result = LOSSES[loss].train(
            X, y, Z, C, lam, sample_weight=weight, nonneg_slack=nonneg, free_slack=delta, tol=1e-7
        )
        check(result, X, y, Z, C, lam, loss, nonneg, delta, weight)
        on = np.ones(n, bool) if weight is None else weight > 0.0
        assert not result.alpha[~on].any()
        assert not result.beta[~on].any()
        value, w = naive.solve(
            X, y, Z, C, lam, squared=squared, nonneg=nonneg, delta=delta, weight=weight
        )  # fmt: skip
        assert result.primal == pytest.approx(value, rel=1e-6, abs=1e-9)
        # 1-strong convexity in w: both are within their own gaps of the optimum
        room = 2.0 * np.sqrt(2.0 * (result.primal - result.dual) + 2e-8 * abs(value))
        assert np.linalg.norm(result.w - w) <= room


@pytest.mark.parametrize("informative", [True, False])
@pytest.mark.parametrize("delta", [0.0, 0.3])
@pytest.mark.parametrize("loss", LOSSES)
def test_working_set_of_few_rows_finds_the_optimum_of_all(
    loss: str, delta: float, informative: bool
) -> None:
    X, y, Z = naive.instance(np.random.default_rng(3), 900, 4, 3, informative)
    result = LOSSES[loss].train(X, y, Z, 2.0, 0.5, free_slack=delta, tol=1e-8)
    check(result, X, y, Z, 2.0, 0.5, loss, loss == "hinge", delta)
    assert result.n_iter == len(result.history)
    if not delta:
        assert result.history[-1]["rows"] < 900
    gaps = [line["gap"] for line in result.history]
    assert (np.diff(gaps) <= 1e-15).all()


def test_identities_of_the_squared_hinge() -> None:
    X, y, Z = naive.instance(np.random.default_rng(5), 120, 4, 3)
    Z[:, 0] = np.maximum(0.0, 1.0 - y * (X @ np.linalg.lstsq(X, y, rcond=None)[0]))
    C, lam = 3.0, 0.7
    result = svm_plus_squared_hinge.train(X, y, Z, C, lam, tol=1e-12)
    assert not result.collapsed
    Zt = np.hstack([Z, np.ones((120, 1))])
    Q = Zt @ np.linalg.solve(lam * np.eye(4) + C * Zt.T @ Zt, Zt.T)
    xi = Z @ result.v + result.rho
    np.testing.assert_allclose(xi, Q @ result.alpha, atol=1e-5)
    assert result.primal == pytest.approx(0.5 * result.alpha.sum(), rel=1e-8)
    np.testing.assert_allclose(result.w, X.T @ (result.alpha * y), atol=1e-5)
    support = result.alpha > 1e-3 * result.alpha.max()
    assert support[y > 0].any()
    assert support[y < 0].any()
    offsets = y * (1.0 - Q @ result.alpha) - X @ X.T @ (result.alpha * y)
    np.testing.assert_allclose(offsets[support], result.b, atol=1e-5)
    H = X @ X.T * np.outer(y, y) + Q
    g = H @ result.alpha
    m = 0.5 * (g[y > 0].min() + g[y < 0].min())
    assert 1.0 - (result.alpha.sum() * m / (result.alpha @ g)) ** 2 <= 1e-5  # root of the gap
    in_each_class = result.alpha[y > 0].sum(), result.alpha[y < 0].sum()
    assert in_each_class[0] == pytest.approx(in_each_class[1], rel=1e-12)
    assert max(in_each_class) <= 0.5 * (C * 120 + lam) * (1 + 1e-12)  # the inactive box


def test_dropping_nonnegative_slacks_changes_the_optimum() -> None:
    X, y, Z = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), np.array([[2.0], [-4.0]])
    free = svm_plus_squared_hinge.train(X, y, Z, 1.0, 20.0, tol=1e-10)
    kept = svm_plus_squared_hinge.train(X, y, Z, 1.0, 20.0, tol=1e-10, nonneg_slack=True)
    assert free.primal == pytest.approx(0.46895075, abs=5e-9)
    assert kept.primal == pytest.approx(0.46896552, abs=5e-9)
    np.testing.assert_allclose(Z @ free.v + free.rho, [-0.00214, 0.12634], atol=5e-6)
    assert (Z @ kept.v + kept.rho).min() >= -1e-12


@pytest.mark.parametrize("loss", LOSSES)
def test_collapse_is_told_and_own_slacks_cure_it(loss: str) -> None:
    X, y, Z = np.arange(4.0)[:, None], np.array([-1.0, 1.0, -1.0, 1.0]), np.zeros((4, 1))
    result = LOSSES[loss].train(X, y, Z, 1.0, 1.0, tol=1e-9)
    assert result.collapsed
    np.testing.assert_allclose([result.w[0], result.b, result.rho], [0.0, 0.0, 1.0], atol=1e-6)
    cured = LOSSES[loss].train(X, y, Z, 1.0, 1.0, tol=1e-9, free_slack=1.0)
    assert not cured.collapsed
    assert cured.w[0] > 0.2
    check(cured, X, y, Z, 1.0, 1.0, loss, loss == "hinge", 1.0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [1e-12, 1e-2, 1.0, 1e6])
def test_collapse_is_neither_missed_nor_invented(loss: str, C: float) -> None:
    rng = np.random.default_rng(8)
    X, y, Z = naive.instance(rng, 400, 4, 3)
    noise = LOSSES[loss].train(X, y, rng.standard_normal((400, 3)), C, 1.0)
    assert noise.collapsed
    X[:, 0] += 2.0 * y
    X[:, 0] *= np.where(rng.random(400) < 0.1, -1.0, 1.0)
    Z = np.maximum(0.0, 1.0 - (y * X[:, 0]))[:, None]
    told = LOSSES[loss].train(X, y, Z, C, 1e-3 * min(C, 1.0))
    assert not told.collapsed
    assert told.w[0] > 0.0


@pytest.mark.parametrize("loss", LOSSES)
def test_contradictory_duplicates_are_feasible(loss: str) -> None:
    X = np.ones((6, 2))
    X[4:] = [[0.0, 1.0], [1.0, 0.0]]
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    Z = np.random.default_rng(0).standard_normal((6, 1))
    result = LOSSES[loss].train(X, y, Z, 1.0, 1.0, tol=1e-9)
    check(result, X, y, Z, 1.0, 1.0, loss, loss == "hinge", tol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_integer_weights_are_repetitions_and_weight_zero_is_absence(loss: str) -> None:
    rng = np.random.default_rng(11)
    X, y, Z = naive.instance(rng, 60, 3, 2)
    weight = rng.integers(0, 4, 60)
    weighted = LOSSES[loss].train(X, y, Z, 1.0, 0.3, sample_weight=weight, tol=1e-10)
    which = np.repeat(np.arange(60), weight)
    repeated = LOSSES[loss].train(X[which], y[which], Z[which], 1.0, 0.3, tol=1e-10)
    assert weighted.primal == pytest.approx(repeated.primal, rel=1e-8)
    np.testing.assert_allclose(weighted.w, repeated.w, atol=2e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n", "d", "s"), [(400, 5, 3), (30, 80, 60), (40, 300, 4)])
def test_csr_and_float32_are_the_same_problem(loss: str, n: int, d: int, s: int) -> None:
    rng = np.random.default_rng(2)
    X, y, Z = naive.instance(rng, n, d, s)
    X[rng.random((n, d)) < 0.6] = 0.0
    Z[rng.random((n, s)) < 0.6] = 0.0
    X, Z = X.astype(np.float32), Z.astype(np.float32)
    train = LOSSES[loss].train
    dense = train(X.astype(np.float64), y, Z.astype(np.float64), 1.0, 0.5, tol=1e-9)
    for A, B in ((sp.csr_array(X), sp.csr_array(Z)), (X, Z), (sp.csr_matrix(X), Z)):
        other = train(A, y, B, 1.0, 0.5, tol=1e-9)
        assert other.gap <= 1e-7  # certified in float64
        assert other.primal == pytest.approx(dense.primal, rel=1e-7)
        np.testing.assert_allclose(other.w, dense.w, atol=1e-3 * np.abs(dense.w).max() + 1e-12)


@pytest.mark.parametrize("module", LOSSES.values(), ids=LOSSES)
def test_inputs_are_not_changed_and_runs_repeat(module: ModuleType) -> None:
    given = naive.instance(np.random.default_rng(4), 300, 3, 2)
    weight = np.random.default_rng(4).random(300)
    copies = [a.copy() for a in (*given, weight)]
    first, second = (module.train(*given, 1.0, 1.0, sample_weight=weight) for _ in range(2))
    for a, copy in zip((*given, weight), copies, strict=True):
        np.testing.assert_array_equal(a, copy)
    np.testing.assert_array_equal(first.w, second.w)
    np.testing.assert_array_equal(first.alpha, second.alpha)
