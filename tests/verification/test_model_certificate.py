"""The model certificate of every family of losses: bounds for any weights, kernels, large C, and what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp

import fast
from verification import InvalidArgumentError, NoDualPointError
from verification.certificates import erm

C, N, D, M = 0.4, 20, 3, 4
SMOOTH = ["softmax", "topk_entropy_alpha", "topk_entropy_beta", "ova_logistic", "ova_smooth_hinge"]
SMOOTH += [
    "multilabel_entropy",
    "multilabel_smooth_hinge",
    "smooth_topk_hinge_alpha",
    "smooth_topk_hinge_beta",
]
HINGES = ["ova_hinge", "multilabel_hinge", "topk_hinge_alpha", "topk_hinge_beta"]
ZERO = np.zeros((M, D))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, D))
    X[2] = 0.0
    labels = (rng.random((N, M)) < 0.5).astype(int)
    labels[:, 0] |= 1 - labels.max(axis=1)
    return X, rng.integers(0, M, N), labels, rng.uniform(0, 2, N) * (rng.random(N) > 0.1)


def given(loss, data):
    X, y, labels, weight = data
    params = {"loss": loss, "C": C, "sample_weight": weight}
    params |= {"k": 2} if "topk" in loss else {}
    params |= {"gamma": 0.5} if "smooth" in loss else {}
    return X, labels if loss.startswith("multilabel") else y, params


@pytest.mark.parametrize("loss", SMOOTH + HINGES)
def test_any_weights_with_any_dual_point_bound_the_optimum(loss, data):
    X, y, params = given(loss, data)
    rng = np.random.default_rng(2)
    proofs = [
        erm(rng.normal(size=(M, D)) * s, X, y, dual=rng.normal(size=(N, M)) * s, **params)
        for s in (0.03, 0.1, 1.0, 30.0)
    ]
    assert all(p.moved > 0 for p in proofs)
    assert all(p.gap >= p.primal - p.dual - 1e-12 * p.primal for p in proofs)
    zero = erm(ZERO, X, y, dual=np.zeros((N, M)), **params)
    assert max(p.dual for p in proofs) <= min(zero.primal, *(p.primal for p in proofs))
    if loss in HINGES:
        with pytest.raises(NoDualPointError, match="dual_coef_"):
            erm(ZERO, X, y, **params)
    else:
        assert erm(ZERO, X, y, **params).dual <= min(p.primal for p in proofs)


@pytest.mark.parametrize("loss", SMOOTH)
def test_a_gram_matrix_is_a_linear_model(loss, data):
    X, y, params = given(loss, data)
    B = np.random.default_rng(3).normal(size=(N, M))
    direct = erm(B.T @ X, X, y, **params)
    kernel = erm(B, y=y, K=X @ X.T, **params)
    assert kernel.primal == pytest.approx(direct.primal, rel=1e-12)
    assert kernel.gap == pytest.approx(direct.gap, rel=1e-9)
    zero = erm(0 * B, y=y, K=X @ X.T, **params)
    assert zero.primal == pytest.approx(erm(ZERO, X, y, **params).primal, rel=1e-13)


@pytest.mark.parametrize("loss", SMOOTH + HINGES)
def test_rounding_is_excused_little_even_at_large_c(loss, data):
    X, y, params = given(loss, data)
    W = np.random.default_rng(5).normal(size=(M, D))
    proof = erm(W, X, y, dual=np.zeros((N, M)), **{**params, "C": 1e8})
    if np.finfo(np.longdouble).eps < np.finfo(float).eps:
        assert proof.error <= 1e-15 * proof.primal


def test_kept_classes(data):
    """Softmax on some classes: the definition on the kept ones, all kept is softmax itself."""
    X, y, params = given("softmax", data)
    rng = np.random.default_rng(4)
    kept = rng.random((N, M)) < 0.6
    kept[np.arange(N), y] = True
    W = rng.normal(size=(M, D))
    losses = [
        logsumexp((W @ x)[mask]) - (W @ x)[label] for x, label, mask in zip(X, y, kept, strict=True)
    ]
    value = 0.5 * (W * W).sum() + C * params["sample_weight"] @ losses
    assert erm(W, X, y, kept=kept, **params).primal == pytest.approx(value, rel=1e-12)
    full = erm(W, X, y, kept=np.ones((N, M), bool), **params)
    assert full == erm(W, X, y, **params)
    spill = erm(W, X, y, kept=kept, dual=rng.normal(size=(N, M)), **params)
    assert spill.moved > 0
    assert spill.gap >= spill.primal - value


def test_a_false_claim_is_seen_in_every_layout(data, monkeypatch):
    """Weights that do not belong to the dual point, and a dual point of another C."""
    X, y, _, _ = data
    model = fast.TopKSVC(k=2, variant="beta", C=C, tol=1e-9).fit(X, y)
    W, A = model.coef_, model.dual_coef_.toarray()
    claim = {"loss": "topk_hinge_beta", "k": 2, "dual": A}
    honest = erm(W, X, y, C=C, **claim)
    assert honest.relative_gap < 1e-8
    assert erm(W * 1.01, X, y, C=C, **claim).gap > honest.gap
    assert erm(W, X, y, C=2 * C, **claim).relative_gap > 1e-3
    assert erm(W, X, y, C=C / 2, **claim).moved > 0.01
    far = erm(1.5 * W, X, y, C=C, **claim)
    assert erm(1.5 * W, sp.csr_array(X), y, C=C, **claim).gap == pytest.approx(far.gap, rel=1e-10)
    single = erm((1.5 * W).astype(np.float32), X, y, C=C, **claim)
    assert single.gap == pytest.approx(far.gap, abs=1e-4)
    monkeypatch.setattr("refsolve.proofs.erm.ROWS_AT_ONCE", 5)
    assert erm(1.5 * W, X, y, C=C, **claim).gap == pytest.approx(far.gap, rel=1e-10)
    monkeypatch.setattr("refsolve.proofs.erm.EXTENDED", 0)  # where products are long
    plain = erm(1.5 * W, X, y, C=C, **claim)
    assert plain.gap == pytest.approx(far.gap, rel=1e-12)
    assert far.error < plain.error < 1e-12 * plain.primal


@pytest.mark.parametrize(
    "change",
    [
        {"coef": np.zeros(M)}, {"coef": np.zeros((1, D))}, {"coef": np.full((M, D), np.nan)},
        {"X": np.zeros((N, 2))}, {"y": np.full(N, M)}, {"y": np.zeros(N - 1, int)}, {"y": np.zeros(N)},
        {"C": 0.0}, {"sample_weight": -np.ones(N)}, {"dual": np.zeros((N, M - 1))},
        {"loss": "topk_hinge"}, {"k": None},
        {"loss": "multilabel_entropy", "k": None}, {"loss": "truncated_topk_entropy"},
        {"loss": "multilabel_smooth_hinge", "k": None, "y": np.ones((N, M), int)},
        {"loss": "multilabel_entropy", "k": None, "y": np.full((N, M), 2)},
        {"loss": "softmax", "k": None, "kept": np.ones((3, M), bool)},
        {"loss": "ova_logistic", "k": None, "kept": np.ones((N, M), bool)},
    ],
)  # fmt: skip
def test_bad_arguments(data, change):
    good = {
        "coef": ZERO,
        "X": data[0],
        "y": data[1],
        "loss": "topk_hinge_beta",
        "k": 2,
        "dual": np.zeros((N, M)),
    }
    given = good | change
    with pytest.raises(InvalidArgumentError):
        erm(given.pop("coef"), given.pop("X"), given.pop("y"), **given)
