import numpy as np
import pytest
import scipy.sparse as sp
from _references import hinge_value, others

from verification import InvalidArgumentError, NoDualPointError
from verification.certificates import erm
from verification.reference_solvers import projections

LOSSES = {
    "topk_hinge_alpha": (projections.alpha, 0.0),
    "topk_hinge_beta": (projections.beta, 0.0),
    "smooth_topk_hinge_alpha": (projections.alpha, 0.7),
    "smooth_topk_hinge_beta": (projections.beta, 0.7),
}
C, K = 0.3, 2


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 4))
    X[3] = 0.0
    return X, rng.integers(0, 5, 24), rng.uniform(0, 2, 24) * (rng.random(24) > 0.1)


def train(loss, data, epochs):
    """Dual coordinate ascent in its plainest form."""
    project, gamma = LOSSES[loss]
    X, y, weight = data
    A, W = np.zeros((len(X), 5)), np.zeros((5, 4))
    for _ in range(epochs):
        for i, x in enumerate(X):
            q = W @ x - (x @ x) * A[i]
            block = projections.update(project, q, y[i], x @ x, C, K, gamma, None, weight[i])
            W += np.outer(block - A[i], x)
            A[i] = block
    return W, A


def objective(loss, W, data):
    """P(W) from the definition of the loss, by subsets; smooth: by its maximiser."""
    project, gamma = LOSSES[loss]
    X, y, weight = data
    total = 0.5 * (W * W).sum()
    for x, label, w in zip(X, y, weight, strict=True):
        z = others(W @ x, label, None)
        if gamma:
            p = project(z / gamma, K, 1.0, 0.0)
            total += C * w * (z @ p - gamma / 2 * (p @ p))
        else:
            total += C * w * hinge_value(z, K, loss.rpartition("_")[2])
    return total


def dual_objective(loss, A, data):
    """D(A) from the conjugate, A feasible."""
    X, y, weight = data
    gamma = LOSSES[loss][1]
    total = -0.5 * ((A.T @ X) ** 2).sum()
    for a, label, w in zip(A, y, weight, strict=True):
        x = -np.delete(a, label)
        total += x.sum() - (gamma / (2 * C * w) * (x @ x) if w else 0.0)
    return total


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("epochs", [0, 1, 5, 300])
def test_primal_dual_and_gap(loss, data, epochs):
    X, y, weight = data
    gamma = LOSSES[loss][1] or None
    W, A = train(loss, data, epochs)
    found = erm(W, X, y, loss=loss, C=C, k=K, gamma=gamma, dual=A, sample_weight=weight)
    primal, dual = objective(loss, W, data), dual_objective(loss, A, data)
    assert found.primal == pytest.approx(primal, rel=1e-12)
    assert found.dual == pytest.approx(dual, rel=1e-11, abs=1e-11)
    assert found.gap >= found.primal - found.dual - 1e-15 * found.primal
    assert found.error < 1e-10
    assert found.moved < 1e-12
    if epochs == 300:
        assert found.relative_gap < (1e-11 if gamma else 1e-2)


@pytest.mark.parametrize("loss", LOSSES)
def test_any_weights_with_any_dual_point_bound_the_optimum(loss, data):
    X, y, weight = data
    gamma = LOSSES[loss][1] or None
    given = {"loss": loss, "C": C, "k": K, "gamma": gamma, "sample_weight": weight}
    trained, dual = train(loss, data, 300)
    best = erm(trained, X, y, dual=dual, **given)
    rng = np.random.default_rng(1)
    for _ in range(20):
        W, A = rng.normal(size=(5, 4)), rng.normal(size=(len(X), 5))
        found = erm(W, X, y, dual=A, **given)
        assert found.dual <= best.primal
        assert found.primal >= best.dual
        assert found.gap >= found.primal - best.primal - 1e-12
        assert found.moved > 0


def test_a_smooth_loss_needs_no_dual_point(data):
    X, y, weight = data
    W, A = train("smooth_topk_hinge_beta", data, 300)
    given = {"loss": "smooth_topk_hinge_beta", "C": C, "k": K, "gamma": 0.7}
    given["sample_weight"] = weight
    assert erm(W, X, y, **given).relative_gap < 1e-11
    assert erm(W, X, y, dual=A, **given).relative_gap < 1e-11
    assert erm(W + 1e-3, X, y, **given).relative_gap > 1e-8


def test_a_hinge_says_that_it_needs_one(data):
    with pytest.raises(NoDualPointError, match="dual_coef_"):
        erm(np.zeros((5, 4)), data[0], data[1], loss="topk_hinge_alpha", k=2)


def test_a_false_claim_is_seen(data):
    """Weights that do not belong to the dual point, and a dual point of another C."""
    X, y, weight = data
    W, A = train("topk_hinge_alpha", data, 300)
    given = {"loss": "topk_hinge_alpha", "k": K, "sample_weight": weight}
    honest = erm(W, X, y, dual=A, C=C, **given)
    assert erm(W * 1.01, X, y, dual=A, C=C, **given).gap > honest.gap
    assert erm(W, X, y, dual=A, C=2 * C, **given).relative_gap > 10 * honest.relative_gap
    assert erm(W, X, y, dual=A, C=C / 2, **given).moved > 0.01


def test_sparse_and_single_precision_and_chunks(data, monkeypatch):
    X, y, weight = data
    W, A = train("topk_hinge_beta", data, 20)
    given = {"loss": "topk_hinge_beta", "C": C, "k": K, "dual": A, "sample_weight": weight}
    dense = erm(W, X, y, **given)
    assert erm(W, sp.csr_array(X), y, **given).gap == pytest.approx(dense.gap, rel=1e-10)
    single = erm(W.astype(np.float32), X, y, **given)
    assert dense.gap < single.gap < dense.gap + 1e-4
    monkeypatch.setattr("refsolve.proofs.erm.ROWS_AT_ONCE", 5)
    assert erm(W, X, y, **given).gap == pytest.approx(dense.gap, rel=1e-10)


@pytest.mark.parametrize(
    "change",
    [
        {"coef": np.zeros(4)},
        {"coef": np.zeros((1, 4))},
        {"coef": np.full((5, 4), np.nan)},
        {"X": np.zeros((24, 3))},
        {"y": np.full(24, 5)},
        {"y": np.zeros(23, int)},
        {"y": np.zeros(24)},
        {"C": 0.0},
        {"sample_weight": -np.ones(24)},
        {"dual": np.zeros((24, 4))},
        {"loss": "topk_hinge"},
        {"k": None},
    ],
)
def test_bad_arguments(data, change):
    given = {
        "coef": np.zeros((5, 4)), "X": data[0], "y": data[1], "loss": "topk_hinge_beta",
        "k": 2, "dual": np.zeros((24, 5)), **change,
    }  # fmt: skip
    with pytest.raises(InvalidArgumentError):
        erm(given.pop("coef"), given.pop("X"), given.pop("y"), **given)
