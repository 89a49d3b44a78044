"""The problems of SVM+ as printed, on features and on kernel matrices: optima, certificates, identities."""

import functools
import itertools
from types import ModuleType, SimpleNamespace
from typing import Any

import _naive_svm_plus as naive
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from fast.errors import InvalidTypeError
from fast.models import svm_plus_hinge, svm_plus_squared_hinge
from fast.svm_plus.correction import Correction
from fast.svm_plus.deformed_kernel import deformed_kernel

LOSSES = {"squared_hinge": svm_plus_squared_hinge, "hinge": svm_plus_hinge}
losses = pytest.mark.parametrize("loss", LOSSES)
spaces = pytest.mark.parametrize("space", ["features", "Z", "Kz"])
VARIANTS = [
    pytest.param(loss, nonneg, delta, weighted, id=f"{loss}-{nonneg}-{delta}-{weighted}")
    for loss, nonneg, delta, weighted in itertools.product(
        LOSSES, (True, False), (0.0, 0.5), (False, True)
    )
]
CASES = [
    (40, 3, 2, True, 1.0, 1.0),  # n > d + s: both kernel matrices are singular
    (12, 30, 3, True, 100.0, 0.1),  # systems of the size of the working set
    (12, 3, 40, False, 0.1, 10.0),  # more privileged features than rows
]


def train(
    space: str, loss: str, X: Any, y: Any, Z: Any, C: float, lam: float, **options: Any
) -> Any:
    """What a trainer finds, with the linear model that it stands for."""
    if space == "features":
        return LOSSES[loss].train(X, y, Z, C, lam, **options)
    given = {"Z": Z} if space == "Z" else {"Kz": Z @ Z.T}
    found = LOSSES[loss].train_kernel(X @ X.T, y, C, lam, **given, **options)
    w, v = X.T @ found.coef, Z.T @ found.correction_coef
    np.testing.assert_allclose(
        (Z @ v + found.rho)[found.alpha + found.beta > 0],
        found.slack[found.alpha + found.beta > 0],
        atol=1e-8,
    )
    return SimpleNamespace(**vars(found) | {"w": w, "v": v, "gap": found.gap})


def train_kernel(squared: bool, *arguments: Any, **options: Any) -> Any:
    """Either loss on kernel matrices."""
    module = svm_plus_squared_hinge if squared else svm_plus_hinge
    return module.train_kernel(*arguments, **options)


def check(
    result: Any, X: Any, y: Any, Z: Any, C: float, lam: float, loss: str, nonneg: bool,
    delta: float = 0.0, weight: Any = None, tol: float = 1e-7,
) -> tuple[float, float]:  # fmt: skip
    """The result is feasible, its P and D are those of the formulas, and they meet."""
    primal, dual = naive.bounds(result, X, y, Z, C, lam, loss, nonneg, delta=delta, weight=weight)
    size = max(abs(primal), abs(dual))
    assert result.primal == pytest.approx(primal, abs=1e-9 * size)
    assert result.dual == pytest.approx(dual, abs=1e-9 * size)
    assert dual <= primal + 1e-9 * abs(primal)
    assert result.gap == pytest.approx(max(primal - dual, 0.0) / size, abs=1e-9)
    assert result.gap <= tol
    return primal, dual


@functools.cache
def instance(seed: int, weighted: bool) -> tuple[Any, ...]:
    """A case, and the weights of its examples."""
    n, d, s, informative, _, _ = CASES[seed]
    rng = np.random.default_rng(seed)
    data = naive.instance(rng, n, d, s, informative)
    return *data, rng.choice([0.0, 0.5, 1.0, 3.0], n) if weighted else None


@functools.cache
def optimum(seed: int, weighted: bool, squared: bool, nonneg: bool, delta: float) -> Any:
    """Its optimal value and w."""
    *data, weight = instance(seed, weighted)
    more = {"squared": squared, "nonneg": nonneg, "delta": delta, "weight": weight}
    return naive.solve(*data, *CASES[seed][4:], **more)


@spaces
@pytest.mark.parametrize(("loss", "nonneg", "delta", "weighted"), VARIANTS)
def test_optimum_of_the_printed_problem(
    space: str, loss: str, nonneg: bool, delta: float, weighted: bool
) -> None:
    for seed, (*_, C, lam) in enumerate(CASES):
        X, y, Z, weight = instance(seed, weighted)
        value, w = optimum(seed, weighted, loss == "squared_hinge", nonneg, delta)
        for tol in (1e-3, 1e-7):
            result = train(
                space, loss, X, y, Z, C, lam, sample_weight=weight, nonneg_slack=nonneg,
                free_slack=delta, tol=tol,
            )  # fmt: skip
            P, D = check(result, X, y, Z, C, lam, loss, nonneg, delta, weight, tol)
            assert D - 1e-6 * abs(value) - 1e-9 <= value <= P + 1e-6 * abs(value) + 1e-9
            # 1-strong convexity in w: both are within their own gaps of the optimum
            room = 2.0 * np.sqrt(2.0 * (result.primal - result.dual) + 2e-8 * abs(value))
            assert np.linalg.norm(result.w - w) <= room
            on = np.ones(len(y), bool) if weight is None else weight > 0.0
            assert not result.alpha[~on].any()
            assert not result.beta[~on].any()


@spaces
def test_identities_of_the_squared_hinge(space: str) -> None:
    """The slacks are Q alpha, every support vector has the same b, the optimum is sum(alpha)/2."""
    X, y, Z = naive.instance(np.random.default_rng(5), 120, 4, 3)
    Z[:, 0] = np.maximum(0.0, 1.0 - y * (X @ np.linalg.lstsq(X, y, rcond=None)[0]))
    C, lam = 3.0, 0.7
    result = train(space, "squared_hinge", X, y, Z, C, lam, tol=1e-12)
    assert not result.collapsed
    Zt = np.hstack([Z, np.ones((120, 1))])
    Q = Zt @ np.linalg.solve(lam * np.eye(4) + C * Zt.T @ Zt, Zt.T)
    np.testing.assert_allclose(Z @ result.v + result.rho, Q @ result.alpha, atol=1e-5)
    assert result.primal == pytest.approx(0.5 * result.alpha.sum(), rel=1e-8)
    np.testing.assert_allclose(result.w, X.T @ (result.alpha * y), atol=1e-5)
    support = result.alpha > 1e-3 * result.alpha.max()
    offsets = y * (1.0 - Q @ result.alpha) - X @ X.T @ (result.alpha * y)
    np.testing.assert_allclose(offsets[support], result.b, atol=1e-5)
    assert np.ptp(offsets) > 1e-2  # averaged over all points it would be something else
    g = (X @ X.T * np.outer(y, y) + Q) @ result.alpha
    m = 0.5 * (g[y > 0].min() + g[y < 0].min())
    assert 1.0 - (result.alpha.sum() * m / (result.alpha @ g)) ** 2 <= 1e-5  # root of the gap
    in_each_class = result.alpha[y > 0].sum(), result.alpha[y < 0].sum()
    assert in_each_class[0] == pytest.approx(in_each_class[1], rel=1e-12)
    assert max(in_each_class) <= 0.5 * (C * 120 + lam) * (1 + 1e-12)  # the inactive box


@spaces
def test_dropping_nonnegative_slacks_changes_the_optimum(space: str) -> None:
    X, y, Z = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), np.array([[2.0], [-4.0]])
    given = "squared_hinge", X, y, Z, 1.0, 20.0
    free = train(space, *given, tol=1e-12)
    kept = train(space, *given, tol=1e-10, nonneg_slack=True)
    assert free.primal == pytest.approx(0.46895075, abs=8e-9)
    assert kept.primal == pytest.approx(0.46896552, abs=8e-9)
    np.testing.assert_allclose(Z @ free.v + free.rho, [-0.00214, 0.12634], atol=8e-6)
    assert (Z @ kept.v + kept.rho).min() >= -1e-9


@spaces
@losses
def test_collapse_is_told_and_own_slacks_cure_it(space: str, loss: str) -> None:
    X, y, Z = np.arange(4.0)[:, None], np.array([-1.0, 1.0, -1.0, 1.0]), np.zeros((4, 1))
    result = train(space, loss, X, y, Z, 1.0, 1.0, tol=1e-9)
    assert result.collapsed
    assert abs(result.w[0]) <= 1e-6
    assert result.rho == pytest.approx(1.0, abs=1e-4)
    cured = train(space, loss, X, y, Z, 1.0, 1.0, tol=1e-9, free_slack=1.0)
    assert not cured.collapsed
    assert cured.w[0] > 0.2
    check(cured, X, y, Z, 1.0, 1.0, loss, loss == "hinge", 1.0)


@spaces
@losses
def test_contradictory_duplicates_are_feasible(space: str, loss: str) -> None:
    X, y, Z = naive.instance(np.random.default_rng(0), 12, 2, 2)
    X, Z, y = np.vstack([X, X]), np.vstack([Z, Z]), np.concatenate([y, -y])
    found = train(space, loss, X, y, Z, 1.0, 1.0, tol=1e-9, nonneg_slack=True)
    check(found, X, y, Z, 1.0, 1.0, loss, True, tol=1e-8)
    assert found.collapsed


# ---- features -------------------------------------------------------------------------------


@pytest.mark.parametrize("informative", [True, False])
@pytest.mark.parametrize("delta", [0.0, 0.3])
@losses
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


@losses
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


@losses
def test_integer_weights_are_repetitions_and_weight_zero_is_absence(loss: str) -> None:
    rng = np.random.default_rng(11)
    X, y, Z = naive.instance(rng, 60, 3, 2)
    weight = rng.integers(0, 4, 60)
    weighted = LOSSES[loss].train(X, y, Z, 1.0, 0.3, sample_weight=weight, tol=1e-10)
    which = np.repeat(np.arange(60), weight)
    repeated = LOSSES[loss].train(X[which], y[which], Z[which], 1.0, 0.3, tol=1e-10)
    assert weighted.primal == pytest.approx(repeated.primal, rel=1e-8)
    np.testing.assert_allclose(weighted.w, repeated.w, atol=2e-4)


@losses
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


# ---- kernel matrices ------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0.0, 1.0])
@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("space", ["Z", "Kz", "rbf"])
def test_separable_classes_at_high_costs(delta: float, C: float, space: str) -> None:
    """The optimum is that without slack, a millionth of sum C omega: g must not drown it in noise."""
    rng = np.random.default_rng(5)
    X, y, Z = naive.instance(rng, 30, 60, 2)
    weight = rng.choice([1.0, 100.0], 30)
    space_of = {"Z": {"Z": Z}, "Kz": {"Kz": Z @ Z.T}, "rbf": {"Kz": rbf_kernel(Z, gamma=0.1)}}
    found = train_kernel(
        False, X @ X.T, y, C, 0.1, tol=1e-8, sample_weight=weight, free_slack=delta,
        **space_of[space],
    )  # fmt: skip
    assert found.gap <= 1e-8
    hard = SVC(C=1e9, kernel="linear", tol=1e-8).fit(X, y).coef_[0]
    assert found.primal == pytest.approx(0.5 * hard @ hard, rel=1e-5)
    w = X.T @ found.coef
    rest = found.alpha + found.beta - C * weight
    Kz = space_of[space].get("Kz", Z @ Z.T) + delta * np.eye(30)
    w_dual = X.T @ (found.alpha * y)
    D = found.alpha.sum() - 0.5 * w_dual @ w_dual - 0.5 / 0.1 * rest @ Kz @ rest
    assert abs(rest.sum()) <= 1e-12 * C * weight.sum()
    assert abs(found.alpha @ y) <= 1e-12 * found.alpha.sum()
    assert min(found.alpha.min(), found.beta.min()) >= 0.0
    assert (y * (X @ w + found.b) + found.slack).min() >= 1.0 - 1e-9
    assert (1.0 - 1e-6) * 0.5 * w @ w <= D


@pytest.mark.parametrize("squared", [True, False])
def test_the_correcting_function_extends_to_new_points(
    squared: bool, rng: np.random.Generator
) -> None:
    """Coefficients c and rho give on other z what v gives, through explicit features too."""
    X, y, Z = naive.instance(rng, 30, 3, 2)
    new = rng.standard_normal((7, 2))
    by_features = train_kernel(squared, X @ X.T, y, 2.0, 0.7, Z=Z, tol=1e-10)
    by_kernel = train_kernel(squared, X @ X.T, y, 2.0, 0.7, Kz=Z @ Z.T, tol=1e-10)
    g = new @ by_features.v + by_features.rho
    np.testing.assert_allclose(new @ Z.T @ by_kernel.correction_coef + by_kernel.rho, g, atol=1e-4)
    assert by_kernel.v is None
    np.testing.assert_allclose(Z @ by_features.v + by_features.rho, by_features.slack, atol=1e-10)


def test_columns_share_matrices_and_change_nothing(rng: np.random.Generator) -> None:
    X, _, _ = naive.instance(rng, 45, 5, 2)
    label = np.repeat([0, 1, 2], 15)
    X[np.arange(45), label] += 2.0
    Z = rng.standard_normal((3, 6))[label]  # one description per class
    Y = np.where(label[:, None] == np.arange(3), 1.0, -1.0)
    K = X @ X.T
    for squared in (True, False):
        together = train_kernel(squared, K, Y, 1.0, 1.0, Z=Z, tol=1e-9)
        for y, result in zip(Y.T, together, strict=True):
            alone = train_kernel(squared, K, y, 1.0, 1.0, Kz=Z @ Z.T, tol=1e-9)
            assert result.gap <= 1e-9
            assert result.primal == pytest.approx(alone.primal, rel=1e-8)
            np.testing.assert_allclose(K @ result.coef, K @ alone.coef, atol=1e-3)
    Q = deformed_kernel(1.0, 1.0, Z=Z)
    for result, known in zip(
        train_kernel(True, K, Y, 1.0, 1.0, Z=Z, tol=1e-9),
        train_kernel(True, K, Y, 1.0, 1.0, Q=Q, tol=1e-9),
        strict=True,
    ):
        assert known.correction_coef is None
        assert known.primal == pytest.approx(result.primal, rel=1e-8)
        np.testing.assert_allclose(known.slack, result.slack, atol=1e-3)


def test_a_float32_inverse_spoils_nothing(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Directions from a rough Q end at the exact certificate, and where it stalls Q is made."""
    X, y, Z = naive.instance(rng, 90, 4, 3)
    K, Kz = rbf_kernel(X, gamma=0.5), rbf_kernel(Z, gamma=0.4)
    exact = train_kernel(True, K, y, 20.0, 1.0, Kz=Kz, tol=1e-8)
    used = []
    rough = Correction.rough
    monkeypatch.setattr("fast.svm_plus.correction.WORTH", 1)

    def spied(self: Correction) -> Any:
        used.append(rough(self))
        return used[-1]

    monkeypatch.setattr(Correction, "rough", spied)
    for delta in (0.0, 0.3):
        found = train_kernel(True, K, y, 20.0, 1.0, Kz=Kz, tol=1e-8, free_slack=delta)
        assert used[-1] is not None
        assert used[-1][0].dtype == np.float32
        assert found.gap <= 1e-8
        if not delta:
            assert found.primal == pytest.approx(exact.primal, rel=1e-7)

    def wrong(self: Correction) -> Any:
        found = rough(self)
        assert found is not None
        return 1.5 * found[0], found[1]

    monkeypatch.setattr(Correction, "rough", wrong)
    assert train_kernel(True, K, y, 20.0, 1.0, Kz=Kz, tol=1e-8).gap <= 1e-8


def test_large_slack_prices_with_a_hard_margin(rng: np.random.Generator) -> None:
    """Separable data and C/lam = 1e6."""
    X = rng.standard_normal((60, 5))
    y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    X[:, 0] += 0.2 * y
    found = train_kernel(
        True, rbf_kernel(X, gamma=0.1), y, 1e4, 1e-2, Z=rng.standard_normal((60, 2)), tol=1e-9
    )
    assert found.gap <= 1e-9
    assert (np.diff([line["gap"] for line in found.history]) <= 1e-15).all()


def test_a_sparse_kernel_matrix_is_named_with_its_cure() -> None:
    X, y, Z = naive.instance(np.random.default_rng(6), 10, 3, 2)
    with pytest.raises(InvalidTypeError, match=r"K: csr_array .*Fix: pass K\.toarray\(\)"):
        train_kernel(True, sp.csr_array(X @ X.T), y, 1.0, 1.0, Z=Z)


@pytest.mark.parametrize(("space", "delta"), [("Kz", 0.0), ("Kz", 10.0), ("Z", 0.0), ("Z", 10.0)])
@pytest.mark.parametrize("squared", [True, False])
def test_prices_whose_rounding_exceeds_the_slack(squared: bool, delta: float, space: str) -> None:
    """C/lam = 1e10: (alpha + beta - C omega)/lam has an error of 1e-6, and takes it to every xi."""
    rng = np.random.default_rng(1)
    ended = set()
    for _ in range(4):
        X, y, Z = naive.instance(rng, 16, 3, 2)
        spaces = {"Kz": rbf_kernel(Z), "Z": np.hstack([Z, Z**2])}
        options: dict[str, Any] = {"free_slack": delta, space: spaces[space]}
        K = rbf_kernel(X)
        found = train_kernel(squared, K, y, 10.0, 1e-9, tol=1e-7, **options)
        assert found.gap <= 1e-7
        ended.add(found.solver)
        # P anew, from the coefficients alone
        gram = options.get("Kz", Z @ Z.T) if space == "Kz" else spaces["Z"] @ spaces["Z"].T
        c, f = found.correction_coef, K @ found.coef + found.b
        g = gram @ c + found.rho
        xi, kappa = g, 1e-9 / delta if delta else 0.0
        if delta:
            best = g * kappa / (kappa + 10.0) if squared else np.maximum(g - 10.0 / kappa, 0.0)
            xi = np.maximum(best, 1.0 - y * f)
        loss = 5.0 * float(xi @ xi) if squared else 10.0 * float(xi.sum())
        norm = float(c @ gram @ c) + (found.rho**2 if squared else 0.0)
        P = 0.5 * float(found.coef @ K @ found.coef) + loss + 0.5e-9 * norm
        P += 0.5 * kappa * float(((xi - g) ** 2).sum())
        assert pytest.approx(P, rel=1e-8) == found.primal
        assert (y * f + xi).min() >= 1.0 - 1e-9
        assert squared or xi.min() >= -1e-9
    assert delta or space == "Z" or "features" in ended
