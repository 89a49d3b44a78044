"""The model certificate of the entropies, one-vs-all and multilabel losses, kernels and large C."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from verification import InvalidArgumentError, NoDualPointError, certificates
from verification.certificates import erm

C = 0.4
SMOOTH = ["softmax", "topk_entropy_alpha", "topk_entropy_beta", "ova_logistic"]
SMOOTH += ["ova_smooth_hinge", "multilabel_entropy", "multilabel_smooth_hinge"]
HINGES = ["ova_hinge", "multilabel_hinge"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 3))
    X[2] = 0.0
    labels = (rng.random((20, 4)) < 0.5).astype(int)
    labels[:, 0] |= 1 - labels.max(axis=1)
    return X, rng.integers(0, 4, 20), labels, rng.uniform(0, 2, 20) * (rng.random(20) > 0.1)


def given(loss, data):
    X, y, labels, weight = data
    params = {"loss": loss, "C": C, "sample_weight": weight}
    if "topk" in loss:
        params["k"] = 2
    if "smooth" in loss:
        params["gamma"] = 0.5
    return X, labels if loss.startswith("multilabel") else y, params


def example(loss, f, y):
    """Loss of one row of scores by its definition, and its gradient."""
    m = f.size
    if loss == "softmax":
        p = np.exp(f - logsumexp(f))
        return logsumexp(f) - f[y], p - np.eye(m)[y]
    if loss.startswith("ova"):
        sign = np.where(np.arange(m) == y, -1.0, 1.0)
        z = sign * f
        if loss == "ova_logistic":
            return np.logaddexp(0, z).sum(), sign * expit(z)
        x = np.clip((z + 1) / 0.5, 0, 1) if "smooth" in loss else (z > -1) * 1.0
        return ((z + 1) * x - 0.25 * x * x * ("smooth" in loss)).sum(), sign * x
    if loss == "multilabel_entropy":
        t = y / y.sum()
        return logsumexp(f) - t @ f, np.exp(f - logsumexp(f)) - t
    raise AssertionError(loss)


@pytest.mark.parametrize(
    "loss", ["softmax", "ova_logistic", "ova_smooth_hinge", "multilabel_entropy"]
)
def test_the_optimum_by_definition(loss, data):
    """W from L-BFGS on the definition: its gap closes, P is the definition's, A its gradients."""
    X, y, params = given(loss, data)
    weight = params["sample_weight"]

    def objective(flat):
        W = flat.reshape(4, 3)
        value, slope = 0.5 * (W * W).sum(), W.copy()
        for x, label, w in zip(X, y, weight, strict=True):
            loss_value, g = example(loss, W @ x, label)
            value += C * w * loss_value
            slope += C * w * np.outer(g, x)
        return value, slope.ravel()

    start = erm(np.zeros((4, 3)), X, y, **params)
    assert start.primal == pytest.approx(objective(np.zeros(12))[0], rel=1e-12)
    found = minimize(objective, np.zeros(12), jac=True, method="L-BFGS-B", tol=1e-15)
    W = found.x.reshape(4, 3)
    A = np.stack(
        [-C * w * example(loss, W @ x, label)[1] for x, label, w in zip(X, y, weight, strict=True)]
    )
    for dual in (None, A):
        proof = erm(W, X, y, dual=dual, **params)
        assert proof.primal == pytest.approx(found.fun, rel=1e-12)
        assert 0 <= proof.relative_gap < 1e-8
        assert proof.moved < 1e-14
        assert start.dual <= proof.primal
        assert proof.dual <= start.primal


@pytest.mark.parametrize("loss", SMOOTH + HINGES)
def test_any_weights_with_any_dual_point_bound_the_optimum(loss, data):
    X, y, params = given(loss, data)
    rng = np.random.default_rng(2)
    proofs = [
        erm(rng.normal(size=(4, 3)) * s, X, y, dual=rng.normal(size=(20, 4)) * s, **params)
        for s in (0.03, 0.1, 1.0, 30.0)
    ]
    assert all(p.moved > 0 for p in proofs)
    assert max(p.dual for p in proofs) <= min(p.primal for p in proofs)
    zero = erm(np.zeros((4, 3)), X, y, dual=np.zeros((20, 4)), **params)
    assert max(p.dual for p in proofs) <= zero.primal
    if loss in HINGES:
        with pytest.raises(NoDualPointError):
            erm(np.zeros((4, 3)), X, y, **params)


@pytest.mark.parametrize("loss", SMOOTH)
def test_a_gram_matrix_is_a_linear_model(loss, data):
    X, y, params = given(loss, data)
    B = np.random.default_rng(3).normal(size=(20, 4))
    direct = erm(B.T @ X, X, y, **params)
    kernel = erm(B, y=y, K=X @ X.T, **params)
    assert kernel.primal == pytest.approx(direct.primal, rel=1e-12)
    assert kernel.gap == pytest.approx(direct.gap, rel=1e-9)
    zero = erm(np.zeros((20, 4)), y=y, K=X @ X.T, **params)
    assert zero.primal == pytest.approx(erm(np.zeros((4, 3)), X, y, **params).primal, rel=1e-13)


def test_kept_classes(data):
    """Softmax on some classes: the definition on the kept ones, all kept is softmax itself."""
    X, y, params = given("softmax", data)
    rng = np.random.default_rng(4)
    kept = rng.random((20, 4)) < 0.6
    kept[np.arange(20), y] = True
    W = rng.normal(size=(4, 3))
    losses = [
        logsumexp((W @ x)[mask]) - (W @ x)[label] for x, label, mask in zip(X, y, kept, strict=True)
    ]
    value = 0.5 * (W * W).sum() + C * params["sample_weight"] @ losses
    assert erm(W, X, y, kept=kept, **params).primal == pytest.approx(value, rel=1e-12)
    full = erm(W, X, y, kept=np.ones((20, 4), bool), **params)
    assert full == erm(W, X, y, **params)
    spill = erm(W, X, y, kept=kept, dual=rng.normal(size=(20, 4)), **params)
    assert spill.moved > 0
    assert spill.gap >= spill.primal - value
    with pytest.raises(InvalidArgumentError, match="kept"):
        erm(W, X, y, kept=kept[:3], **params)
    with pytest.raises(InvalidArgumentError, match="kept"):
        erm(W, X, y, loss="ova_logistic", kept=kept)


@pytest.mark.parametrize("loss", SMOOTH + HINGES)
def test_rounding_is_excused_little_even_at_large_c(loss, data):
    X, y, params = given(loss, data)
    W = np.random.default_rng(5).normal(size=(4, 3))
    proof = erm(W, X, y, dual=np.zeros((20, 4)), **{**params, "C": 1e8})
    if np.finfo(np.longdouble).eps < np.finfo(float).eps:
        assert proof.error <= 1e-15 * proof.primal


def test_double_precision_where_products_are_long(data, monkeypatch):
    X, y, params = given("softmax", data)
    W = np.random.default_rng(6).normal(size=(4, 3))
    precise = erm(W, X, y, **params)
    monkeypatch.setattr("refsolve.proofs.erm.EXTENDED", 0)
    plain = erm(W, X, y, **params)
    assert plain.gap == pytest.approx(precise.gap, rel=1e-12)
    assert precise.error < plain.error < 1e-12 * plain.primal


@pytest.mark.parametrize(
    "change",
    [
        {"y": np.zeros(20, int)},
        {"y": np.full((20, 4), 2)},
        {"loss": "truncated_topk_entropy", "k": 2},
        {"loss": "multilabel_smooth_hinge"},
    ],
)
def test_bad_arguments(data, change):
    arguments = {"y": data[2], "loss": "multilabel_entropy", **change}
    with pytest.raises(InvalidArgumentError):
        certificates.erm(np.zeros((4, 3)), data[0], **arguments)
