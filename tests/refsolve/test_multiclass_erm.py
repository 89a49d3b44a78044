"""Strong duality, maps and certificates of the multiclass risk, linear and with a Gram matrix."""

import numpy as np
import pytest
import scipy.sparse
from _draw import CONVEX, certified, example

import refsolve
from refsolve.errors import InvalidParameterError
from refsolve.models import multiclass_erm as erm
from refsolve.proofs import domain


def _problem(object_name, rng, *, gram, weights=True):
    n, m, d = int(rng.integers(2, 9)), int(rng.integers(2, 5)), 2
    X = rng.normal(size=(n, d))
    cases = [example(object_name, rng, m) for _ in range(n)]
    y = np.array([case.y for case in cases])
    costs = np.array([case.costs for case in cases])
    weight = rng.uniform(0, 3, size=n)
    weight[0] = 0
    given = {"K": X @ X.T + 0.1 * np.eye(n)} if gram else {"X": X}
    given |= {"lam": float(10 ** rng.uniform(-2, 1)), "n_classes": m}
    if weights:
        given |= {"costs": costs, "sample_weight": weight}
    return y, given | cases[0].params


@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("object_name", CONVEX)
def test_strong_duality_with_costs_and_weights(object_name, gram):
    rng = np.random.default_rng(61)
    for _ in range(3):
        y, given = _problem(object_name, rng, gram=gram)
        p = certified("multiclass_erm.primal", loss=object_name, y=y, **given)
        d = certified("multiclass_erm.dual", loss=object_name, y=y, **given)
        assert p.value == pytest.approx(d.value, abs=1e-7)
        model = {"B" if gram else "W": p.x}
        both = erm.certificate(object_name, y, A=d.x, **model, **given)
        assert both.gap <= 1e-6 * max(1, p.value)
        assert both.primal - both.dual == pytest.approx(both.gap, abs=1e-12)
        assert erm.primal(object_name, y, **model, **given) == pytest.approx(both.primal, abs=1e-14)
        assert erm.dual(object_name, y, A=d.x, **given) == pytest.approx(both.dual, abs=1e-14)
        assert (d.x[0] == 0).all()  # the example of weight 0


@pytest.mark.parametrize("object_name", CONVEX)
def test_the_linear_kernel_gives_the_linear_model(object_name):
    rng = np.random.default_rng(62)
    y, given = _problem(object_name, rng, gram=False)
    X = given.pop("X")
    linear = refsolve.solve("multiclass_erm.primal", loss=object_name, y=y, X=X, **given)
    kernel = refsolve.solve("multiclass_erm.primal", loss=object_name, y=y, K=X @ X.T, **given)
    assert linear.value == pytest.approx(kernel.value, abs=1e-8)
    # both weights are at most their certified distance from the one minimiser
    gram_weights = kernel.x.T @ X
    apart = np.linalg.norm(linear.x - gram_weights)
    rounding = 1e-14 * np.linalg.norm(gram_weights)
    assert apart <= linear.certificate.distance + kernel.certificate.distance + rounding


def test_erratum_e1_changes_the_optimum():
    # n = 2, x = (1, 1), y = (0, 1), m = 3, k = 2, lambda = .1: 8/15 as printed, 2/15 over the others
    given = {"X": [[1.0], [1.0]], "y": [0, 1], "n_classes": 3, "lam": 0.1, "k": 2}
    optimum = {
        object_name: refsolve.solve("multiclass_erm.primal", loss=object_name, **given).value
        for object_name in ("topk_hinge_alpha", "topk_hinge_alpha_printed", "topk_hinge_beta")
    }
    assert optimum["topk_hinge_alpha"] == pytest.approx(2 / 15, abs=1e-9)
    assert optimum["topk_hinge_alpha_printed"] == pytest.approx(8 / 15, abs=1e-9)
    assert optimum["topk_hinge_beta"] == pytest.approx(8 / 15, abs=1e-9)
    dual = refsolve.solve("multiclass_erm.dual", loss="topk_hinge_alpha", **given).value
    assert dual == pytest.approx(2 / 15, abs=1e-9)


def test_costs_of_one_row_serve_all_examples():
    rng = np.random.default_rng(65)
    X, y, W = rng.normal(size=(4, 2)), np.array([0, 1, 2, 1]), rng.normal(size=(3, 2))
    row = np.array([0.5, 1.0, 2.0])
    full = np.tile(row, (4, 1))
    full[np.arange(4), y] = 0
    both = [erm.primal("topk_hinge_beta", y, W=W, X=X, C=1, k=2, costs=c) for c in (row, full)]
    assert both[0] == pytest.approx(both[1], rel=1e-14)


def test_sparse_rows_are_the_same_examples():
    rng = np.random.default_rng(66)
    X, y = rng.normal(size=(5, 3)) * (rng.random((5, 3)) < 0.5), np.array([0, 1, 2, 1, 0])
    W, A = rng.normal(size=(3, 3)), rng.normal(size=(5, 3)) * 0.1
    dense = erm.certificate("topk_hinge_alpha", y, W=W, A=A, X=X, C=0.5, k=2)
    sparse = erm.certificate(
        "topk_hinge_alpha", y, W=W, A=A, X=scipy.sparse.csr_matrix(X), C=0.5, k=2
    )
    assert sparse.gap == pytest.approx(dense.gap, rel=1e-12)


def test_large_data_take_the_float64_path(monkeypatch):
    rng = np.random.default_rng(67)
    X, y = rng.normal(size=(40, 5)), rng.integers(0, 4, size=40)
    W = rng.normal(size=(4, 5))
    precise = erm.certificate("smooth_topk_hinge_alpha", y, W=W, X=X, C=0.1, k=2, gamma=0.5)
    monkeypatch.setattr("refsolve.proofs.erm.EXTENDED", 0)
    monkeypatch.setattr(domain, "LARGE", 0)
    quick = erm.certificate("smooth_topk_hinge_alpha", y, W=W, X=X, C=0.1, k=2, gamma=0.5)
    assert quick.gap == pytest.approx(precise.gap, rel=1e-12)


def test_a_zero_gram_matrix_and_zero_weights_are_valid():
    given = {"loss": "topk_hinge_beta", "y": [0, 1], "n_classes": 3, "C": 1.0, "k": 1}
    result = refsolve.solve("multiclass_erm.primal", K=np.zeros((2, 2)), **given)
    assert result.value == pytest.approx(1.0)
    result = refsolve.solve("multiclass_erm.primal", X=np.eye(2), sample_weight=[0, 0], **given)
    assert result.value == pytest.approx(0.0, abs=1e-9)


def test_a_row_without_labels_has_no_cross_entropy_but_a_hinge():
    given = {"X": np.eye(2), "y": [[0, 0], [1, 0]], "C": 1.0}
    with pytest.raises(InvalidParameterError, match="at least one positive"):
        refsolve.solve("multiclass_erm.primal", loss="multilabel_entropy", **given)
    result = certified("multiclass_erm.dual", loss="multilabel_hinge", **given)
    assert abs(result.x[0]).max() <= 1e-15


def test_sparse_indicators_are_the_same_labels():
    Y = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 1]])
    W = np.random.default_rng(69).normal(size=(3, 2))
    X = np.random.default_rng(70).normal(size=(3, 2))
    dense = erm.certificate("multilabel_entropy", Y, W=W, X=X, C=0.5)
    sparse = erm.certificate("multilabel_entropy", scipy.sparse.csr_matrix(Y), W=W, X=X, C=0.5)
    assert sparse.gap == dense.gap > 0
