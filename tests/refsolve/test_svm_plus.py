"""SVM+ with both losses: primal against dual over all variants, certificates, recovery."""

import itertools

import _privileged as naive
import numpy as np
import pytest
import scipy.sparse
from _draw import certified
from _privileged import draw

from refsolve import models

MODELS = ("svm_plus_hinge", "svm_plus_squared_hinge")
FLAGS = ("nonneg_slack", "label_signed", "penalize_bias")
VARIANTS = [
    (object_name, dict(zip(FLAGS, flags, strict=True)), delta)
    for object_name in MODELS
    for flags in itertools.product((False, True), repeat=3)
    for delta in (0.0, 0.3)
    if (object_name, *flags[:2]) != ("svm_plus_hinge", False, True)  # unbounded, see the bad input
]


def _module(object_name):
    return getattr(models, object_name)


@pytest.mark.parametrize(("object_name", "flags", "delta"), VARIANTS)
def test_primal_meets_dual_and_naive_formulas(object_name, flags, delta):
    squared = object_name == "svm_plus_squared_hinge"
    signed = flags["label_signed"]
    rng = np.random.default_rng(7)
    X, y, Z = draw(10, 2, 2, 1)
    if signed:  # feasible: (x, z) separates, z nearly alone
        Z[:, 1] = y * (1 + rng.exponential(size=10))
    weight = rng.exponential(size=10) + 0.1
    given = {"X": X, "y": y, "Z": Z, "C": 1.5, "lam": 0.4, **flags}
    given |= {"free_slack": delta, "sample_weight": weight}
    upper, lower = (
        certified(f"{object_name}.primal", **given),
        certified(f"{object_name}.dual", **given),
    )
    assert abs(upper.value - lower.value) <= 1e-7 * abs(upper.value)
    proof = upper.certificate
    np.testing.assert_allclose(proof.gap, proof.primal - proof.dual, atol=1e-12 * proof.scale)
    model = proof.model
    own = model.xi - naive.slacks(Z, model.v, model.rho, y, signed=signed)
    assert delta or abs(own).max() < 1e-12
    value, worst = naive.primal(
        squared, X, y, Z, 1.5, 0.4, model.w, model.b, model.v, model.rho, weight,
        eta=own if delta else None, delta=delta, **flags,
    )  # fmt: skip
    assert worst <= 1e-12
    np.testing.assert_allclose(value, proof.primal, rtol=1e-12)
    np.testing.assert_array_equal(upper.x, model.w)
    np.testing.assert_allclose(lower.certificate.model.w, model.w, atol=1e-5)
    pair = {"alpha": lower.x}
    if flags["nonneg_slack"]:
        pair["beta"] = lower.certificate.beta
    assert _module(object_name).certificate(**given, **pair).relative_gap <= 1e-8
    np.testing.assert_allclose(_module(object_name).dual(**given, **pair), lower.value, rtol=1e-9)


@pytest.mark.parametrize("object_name", MODELS)
@pytest.mark.parametrize("delta", [0.0, 0.5])
def test_kernels_give_the_same_model(object_name, delta):
    X, y, Z = draw(11, 2, 3, 4)
    shared = {"y": y, "C": 2.0, "lam": 0.5, "free_slack": delta}
    plain = certified(f"{object_name}.primal", X=X, Z=Z, **shared).certificate
    sparse = {"X": scipy.sparse.csr_array(X), "Z": scipy.sparse.csr_array(Z)}
    for given in ({"K": X @ X.T, "Kz": Z @ Z.T}, {"K": X @ X.T, "Z": Z}, sparse):
        for operation in ("primal", "dual"):
            proof = certified(f"{object_name}.{operation}", **given, **shared).certificate
            np.testing.assert_allclose(proof.primal, plain.primal, rtol=1e-7)
            w = X.T @ proof.model.w if "K" in given else proof.model.w
            v = Z.T @ proof.model.v if "Kz" in given else proof.model.v
            np.testing.assert_allclose(w, plain.model.w, atol=1e-5)
            np.testing.assert_allclose(v, plain.model.v, atol=1e-4)
            np.testing.assert_allclose(proof.model.xi, plain.model.xi, atol=1e-4)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    Kz = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    upper = certified(f"{object_name}.primal", K=K, Kz=Kz, **shared)
    coef, proof = upper.x, upper.certificate
    expansion = {"coef": coef, "correction_coef": proof.model.v, "b": proof.model.b}
    given = {"K": K, "Kz": Kz, "rho": proof.model.rho, "beta": proof.beta, **shared, **expansion}
    if object_name == "svm_plus_squared_hinge":
        given.pop("beta")
    again = _module(object_name).certificate(**given, alpha=upper.dual)
    assert again.gap <= 1e-8 * again.scale
    value = coef @ K @ coef / 2 + 0.25 * proof.model.v @ Kz @ proof.model.v
    assert value <= proof.primal


@pytest.mark.parametrize("object_name", MODELS)
def test_weights_are_copies_and_zero_weights_are_no_examples(object_name):
    X, y, Z = draw(8, 2, 2, 3)
    counts = np.array([1, 2, 0, 1, 3, 1, 0, 1])
    rows = np.repeat(np.arange(8), counts)
    copies = certified(
        f"{object_name}.primal", X=X[rows], y=y[rows], Z=Z[rows], C=0.7, lam=0.9
    ).certificate
    for given in ({"X": X, "Z": Z}, {"K": X @ X.T, "Kz": Z @ Z.T}):
        proof = certified(
            f"{object_name}.primal", **given, y=y, sample_weight=counts, C=0.7, lam=0.9
        ).certificate
        np.testing.assert_allclose(proof.primal, copies.primal, rtol=1e-7)
        assert not proof.alpha[counts == 0].any()
        assert not proof.beta[counts == 0].any()
        np.testing.assert_allclose(proof.model.xi[rows], copies.model.xi, atol=1e-4)
        left = Z @ copies.model.v + copies.model.rho  # the slack function is there for all rows
        np.testing.assert_allclose(proof.model.xi, left, atol=1e-4)


@pytest.mark.parametrize("object_name", MODELS)
def test_recovery_and_what_is_not_feasible(object_name):
    module, squared = _module(object_name), object_name == "svm_plus_squared_hinge"
    X, y, Z = draw(12, 2, 2, 8)
    shared = {"X": X, "y": y, "Z": Z, "C": 1.0, "lam": 0.5}
    found = certified(f"{object_name}.primal", **shared)
    proof = found.certificate
    alpha, extra = proof.alpha, {} if squared else {"beta": proof.beta}
    model = module.recover(alpha, X, y, Z, C=1.0, lam=0.5, **extra)
    for name in ("w", "v", "xi"):
        np.testing.assert_allclose(getattr(model, name), getattr(proof.model, name), atol=1e-4)
    right = {"w": model.w, "b": model.b, "v": model.v, "rho": model.rho}
    assert module.certificate(**shared, alpha=alpha, **extra, **right).relative_gap < 1e-8
    short = module.certificate(**{**shared, "alpha": alpha, **extra, **right, "w": 0.9 * model.w})
    assert short.violation > 1e-2  # repaired, but said so
    assert np.isinf(module.primal(**shared, **{**right, "rho": model.rho - 0.1}))
    assert np.isneginf(module.dual(**shared, alpha=alpha + 0.1 * (y > 0), **extra))


def test_the_gap_of_multipliers_alone_is_free_of_their_scale():
    """Its value for any multipliers is that of `verification`'s, by exact arithmetic."""
    module = models.svm_plus_squared_hinge
    X, y, Z = draw(14, 3, 2, 6)
    given = {"X": X, "y": y, "Z": Z, "C": 1.2, "lam": 0.7}
    found = certified("svm_plus_squared_hinge.dual", **given)
    best = found.x
    assert np.isinf(module.relative_gap(0 * best, **given))
    H = (X @ X.T) * np.outer(y, y) + naive.printed_kernel(Z @ Z.T, 1.2, 0.7)
    other = best + 0.01 * np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum())
    for alpha, least, most in ((best, 0, 1e-8), (other, 1e-5, 0.5)):
        gap = module.relative_gap(alpha, **given)
        assert least <= gap <= most
        lower = alpha.sum() ** 2 / (2 * alpha @ H @ alpha)  # the dual value of the best multiple
        assert lower <= found.value * (1 + 1e-9)
        assert found.value <= lower / (1 - gap) * (1 + 1e-9)
        np.testing.assert_allclose(
            module.relative_gap(5 * alpha, **given), gap, rtol=1e-9, atol=1e-12
        )
