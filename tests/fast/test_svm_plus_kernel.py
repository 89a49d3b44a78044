"""SVM+ on kernel matrices: against the printed problems, certificates recomputed, identities."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from _naive_svm_plus import instance, objectives, solve
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from fast.errors import InvalidTypeError
from fast.models import svm_plus_hinge, svm_plus_squared_hinge
from fast.svm_plus.correction import Correction
from fast.svm_plus.deformed_kernel import deformed_kernel
from fast.svm_plus.kernel_trainer import SVMPlusKernelResult

PLAIN: dict[str, Any] = {"nonneg_slack": False}


def train(squared: bool, *arguments: Any, **settings: Any) -> Any:
    """Either loss."""
    module = svm_plus_squared_hinge if squared else svm_plus_hinge
    return module.train_kernel(*arguments, **settings)


def linear(result: SVMPlusKernelResult, X: np.ndarray, Z: np.ndarray) -> SimpleNamespace:
    """The result as the linear model it stands for."""
    assert result.correction_coef is not None
    w, v = X.T @ result.coef, Z.T @ result.correction_coef
    return SimpleNamespace(
        w=w, b=result.b, v=v, rho=result.rho, alpha=result.alpha, beta=result.beta
    )


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("delta", [0.0, 0.4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("C", "lam"), [(1.0, 1.0), (30.0, 0.2)])
def test_optimum_and_certificate(
    squared: bool, nonneg: bool, delta: float, weighted: bool, C: float, lam: float
) -> None:
    """P and D are the certificate's and enclose the optimum; n > d + s makes both matrices singular."""
    rng = np.random.default_rng([squared, nonneg, weighted, int(C)])
    X, y, Z = instance(rng, 24, 3, 2)
    weight = None
    if weighted:
        weight = rng.uniform(0.2, 2.0, 24)
        weight[[3, 7]] = 0.0
    options = {"nonneg_slack": nonneg, "free_slack": delta, "sample_weight": weight}
    same = {"squared": squared, "nonneg": nonneg, "delta": delta, "weight": weight}
    on = slice(None) if weight is None else weight > 0.0
    optimum, w = solve(X, y, Z, C, lam, **same)
    for tol in (1e-3, 1e-8):
        for space in ({"Z": Z}, {"Kz": Z @ Z.T}):
            found = train(squared, X @ X.T, y, C, lam, tol=tol, **space, **options)
            model = linear(found, X, Z)
            P, D, violated = objectives(model, X, y, Z, C, lam, **same)
            size = max(abs(P), abs(D))
            assert violated <= 1e-9
            assert abs(P - found.primal) <= 1e-9 * size
            assert abs(D - found.dual) <= 1e-9 * size
            assert found.gap == pytest.approx(max(P - D, 0.0) / size, abs=1e-9)
            assert found.gap <= tol
            assert D - 1e-8 * size <= optimum <= P + 1e-8 * size
            assert np.linalg.norm(model.w - w) <= np.sqrt(2.0 * (P - D) + 1e-7 * size)
            np.testing.assert_allclose(found.slack[on], (Z @ model.v + model.rho)[on], atol=1e-8)


@pytest.mark.parametrize("delta", [0.0, 1.0])
@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("space", ["Z", "Kz", "rbf"])
def test_separable_classes_at_high_costs(delta: float, C: float, space: str) -> None:
    """The optimum is that without slack, a millionth of sum C omega: g must not drown it in noise."""
    rng = np.random.default_rng(5)
    X, y, Z = instance(rng, 30, 60, 2)
    weight = rng.choice([1.0, 100.0], 30)
    space_of = {"Z": {"Z": Z}, "Kz": {"Kz": Z @ Z.T}, "rbf": {"Kz": rbf_kernel(Z, gamma=0.1)}}
    found = train(
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


def test_identities_of_the_squared_hinge(rng: np.random.Generator) -> None:
    """The slacks are Q alpha, every support vector has the same b, the optimum is sum(alpha)/2."""
    X, y, Z = instance(rng, 40, 4, 3)
    K, Kz = rbf_kernel(X, gamma=0.2), rbf_kernel(Z, gamma=0.3)
    Q = deformed_kernel(5.0, 0.5, Kz=Kz)
    found = train(True, K, y, 5.0, 0.5, Kz=Kz, tol=1e-12)
    np.testing.assert_allclose(found.slack, Q @ found.alpha, atol=1e-8)
    b = y * (1.0 - found.slack) - K @ (found.alpha * y)
    support = found.alpha > 1e-9
    np.testing.assert_allclose(b[support], found.b, atol=1e-7)
    assert np.ptp(b) > 1e-2  # averaged over all points it would be something else
    assert found.primal == pytest.approx(0.5 * found.alpha.sum(), rel=1e-9)


@pytest.mark.parametrize("squared", [True, False])
def test_the_correcting_function_extends_to_new_points(
    squared: bool, rng: np.random.Generator
) -> None:
    """Coefficients c and rho give on other z what v gives, through explicit features too."""
    X, y, Z = instance(rng, 30, 3, 2)
    new = rng.standard_normal((7, 2))
    by_features = train(squared, X @ X.T, y, 2.0, 0.7, Z=Z, tol=1e-10)
    by_kernel = train(squared, X @ X.T, y, 2.0, 0.7, Kz=Z @ Z.T, tol=1e-10)
    g = new @ by_features.v + by_features.rho
    np.testing.assert_allclose(new @ Z.T @ by_kernel.correction_coef + by_kernel.rho, g, atol=1e-4)
    assert by_kernel.v is None
    np.testing.assert_allclose(Z @ by_features.v + by_features.rho, by_features.slack, atol=1e-10)


def test_libsvm_agrees_if_its_box_cannot_bind() -> None:
    """With the box (Cn + lam)/2 it solves the same problem, with the box C another one."""
    rng = np.random.default_rng(8)
    n, C, lam = 30, 0.05, 0.05
    X, y, Z = instance(rng, n, 3, 2)
    X *= 0.3
    K, Q = X @ X.T, deformed_kernel(C, lam, Z=Z)
    ours = train(True, K, y, C, lam, Z=Z, tol=1e-9)
    M = K + Q * y * y[:, None]
    w = X.T @ ours.coef
    errors = []
    for box in (0.5 * (C * n + lam), C):
        peer = SVC(kernel="precomputed", C=box, tol=1e-6, max_iter=200_000).fit(M, y)
        a = np.zeros(n)
        a[peer.support_] = peer.dual_coef_[0]
        errors.append(float(np.linalg.norm(X.T @ a - w) / np.linalg.norm(w)))
        dual = (a * y).sum() - 0.5 * a @ M @ a
        assert dual <= ours.dual * (1.0 + 1e-8)
    assert ours.alpha.max() <= 0.5 * (C * n + lam) * (1 + 1e-12)
    assert errors[0] < 1e-3
    assert errors[1] > 0.1


def test_columns_share_matrices_and_change_nothing(rng: np.random.Generator) -> None:
    X, _, _ = instance(rng, 45, 5, 2)
    label = np.repeat([0, 1, 2], 15)
    X[np.arange(45), label] += 2.0
    Z = rng.standard_normal((3, 6))[label]  # one description per class
    Y = np.where(label[:, None] == np.arange(3), 1.0, -1.0)
    K = X @ X.T
    for squared in (True, False):
        together = train(squared, K, Y, 1.0, 1.0, Z=Z, tol=1e-9)
        for y, result in zip(Y.T, together, strict=True):
            alone = train(squared, K, y, 1.0, 1.0, Kz=Z @ Z.T, tol=1e-9)
            assert result.gap <= 1e-9
            assert result.primal == pytest.approx(alone.primal, rel=1e-8)
            np.testing.assert_allclose(K @ result.coef, K @ alone.coef, atol=1e-3)
    Q = deformed_kernel(1.0, 1.0, Z=Z)
    for result, known in zip(
        train(True, K, Y, 1.0, 1.0, Z=Z, tol=1e-9),
        train(True, K, Y, 1.0, 1.0, Q=Q, tol=1e-9),
        strict=True,
    ):
        assert known.correction_coef is None
        assert known.primal == pytest.approx(result.primal, rel=1e-8)
        np.testing.assert_allclose(known.slack, result.slack, atol=1e-3)


def test_a_float32_inverse_spoils_nothing(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Directions from a rough Q end at the exact certificate, and where it stalls Q is made."""
    X, y, Z = instance(rng, 90, 4, 3)
    K, Kz = rbf_kernel(X, gamma=0.5), rbf_kernel(Z, gamma=0.4)
    exact = train(True, K, y, 20.0, 1.0, Kz=Kz, tol=1e-8)
    used = []
    rough = Correction.rough
    monkeypatch.setattr("fast.svm_plus.correction.WORTH", 1)

    def spied(self: Correction) -> Any:
        used.append(rough(self))
        return used[-1]

    monkeypatch.setattr(Correction, "rough", spied)
    for delta in (0.0, 0.3):
        found = train(True, K, y, 20.0, 1.0, Kz=Kz, tol=1e-8, free_slack=delta)
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
    assert train(True, K, y, 20.0, 1.0, Kz=Kz, tol=1e-8).gap <= 1e-8


def test_the_dropped_constraint_matters() -> None:
    """Two examples for which xi >= 0 changes the optimum."""
    K, Z, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[2.0], [-4.0]]), np.array([1.0, -1.0])
    free = train(True, K, y, 1.0, 20.0, Z=Z, tol=1e-13)
    kept = train(True, K, y, 1.0, 20.0, Z=Z, tol=1e-10, nonneg_slack=True)
    assert free.primal == pytest.approx(0.46895075, abs=1e-8)
    np.testing.assert_allclose(free.slack, [-0.00214, 0.12634], atol=1e-5)
    assert kept.primal == pytest.approx(0.46896552, abs=1e-8)
    assert kept.slack.min() >= -1e-9


@pytest.mark.parametrize("squared", [True, False])
def test_collapse_is_seen_and_cured(squared: bool) -> None:
    x, y = np.arange(4.0)[:, None], np.array([-1.0, 1.0, -1.0, 1.0])
    lost = train(squared, x @ x.T, y, 1.0, 1.0, Z=np.zeros((4, 1)), tol=1e-9)
    assert lost.collapsed
    assert abs(x[:, 0] @ lost.coef) <= 1e-6
    np.testing.assert_allclose(lost.slack, 1.0, atol=1e-4)
    cured = train(squared, x @ x.T, y, 1.0, 1.0, Z=np.zeros((4, 1)), tol=1e-9, free_slack=1.0)
    assert not cured.collapsed
    assert abs(x[:, 0] @ cured.coef) > 0.1


@pytest.mark.parametrize("squared", [True, False])
def test_contradictory_duplicates_are_feasible(squared: bool, rng: np.random.Generator) -> None:
    X, y, Z = instance(rng, 12, 2, 2)
    X, Z, y = np.vstack([X, X]), np.vstack([Z, Z]), np.concatenate([y, -y])
    found = train(squared, X @ X.T, y, 1.0, 1.0, Z=Z, tol=1e-8)
    assert found.gap <= 1e-8
    assert found.collapsed


def test_large_slack_prices_with_a_hard_margin(rng: np.random.Generator) -> None:
    """Separable data and C/lam = 1e6."""
    X = rng.standard_normal((60, 5))
    y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    X[:, 0] += 0.2 * y
    found = train(
        True, rbf_kernel(X, gamma=0.1), y, 1e4, 1e-2, Z=rng.standard_normal((60, 2)), tol=1e-9
    )
    assert found.gap <= 1e-9
    assert (np.diff([line["gap"] for line in found.history]) <= 1e-15).all()


def test_a_sparse_kernel_matrix_is_named_with_its_cure() -> None:
    X, y, Z = instance(np.random.default_rng(6), 10, 3, 2)
    with pytest.raises(InvalidTypeError, match=r"K: csr_array .*Fix: pass K\.toarray\(\)"):
        train(True, sp.csr_array(X @ X.T), y, 1.0, 1.0, Z=Z)


@pytest.mark.parametrize(("space", "delta"), [("Kz", 0.0), ("Kz", 10.0), ("Z", 0.0), ("Z", 10.0)])
@pytest.mark.parametrize("squared", [True, False])
def test_prices_whose_rounding_exceeds_the_slack(squared: bool, delta: float, space: str) -> None:
    """C/lam = 1e10: (alpha + beta - C omega)/lam has an error of 1e-6, and takes it to every xi."""
    rng = np.random.default_rng(1)
    ended = set()
    for _ in range(4):
        X, y, Z = instance(rng, 16, 3, 2)
        spaces = {"Kz": rbf_kernel(Z), "Z": np.hstack([Z, Z**2])}
        options: dict[str, Any] = {"free_slack": delta, space: spaces[space]}
        K = rbf_kernel(X)
        found = train(squared, K, y, 10.0, 1e-9, tol=1e-7, **options)
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
