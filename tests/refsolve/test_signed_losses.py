"""One-vs-all and multilabel declarations: definitions in the scores, the papers' forms, reductions."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from _draw import certified

import refsolve
from refsolve.errors import InvalidParameterError


def _value(object_name, scores, y, **params):
    result = certified(f"{object_name}.value", scores=scores, y=y, **params)
    return result.value


def _scores(rng):
    return rng.normal(size=5), np.round(rng.normal(size=5) * 2), 30 * rng.normal(size=5)


def test_one_label_is_the_multiclass_loss():
    rng = np.random.default_rng(65)
    for f, label in itertools.product(_scores(rng), (0, 4)):
        y = np.eye(5, dtype=int)[label]
        for multi, single in (
            ("multilabel_hinge", "multiclass_hinge"),
            ("multilabel_entropy", "softmax"),
        ):
            size = 1e-7 * max(1, abs(f).max())
            assert _value(multi, f, y) == pytest.approx(_value(single, f, label), abs=size)
        update = {"q": f, "k_ii": 0.8, "C": 1.3}
        block = refsolve.solve("multilabel_hinge.sdca_update", y=y, **update)
        same = refsolve.solve("multiclass_hinge.sdca_update", y=label, **update)
        apart = block.certificate.distance + same.certificate.distance
        assert np.linalg.norm(block.x - same.x) <= apart + 1e-14


@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1]])
def test_a_side_without_labels(y):
    f = [1.0, -2.0, 0.5]
    for object_name, params in (
        ("multilabel_hinge", {}),
        ("multilabel_smooth_hinge", {"gamma": 1.0}),
    ):
        given = {"scores": f, "y": y, **params}
        assert refsolve.solve(f"{object_name}.value", **given).value == pytest.approx(0, abs=1e-9)
        assert not refsolve.solve(f"{object_name}.gradient", **given).x.any()
        prox = refsolve.solve(f"{object_name}.prox", v=f, y=y, **params)
        np.testing.assert_allclose(prox.x, f, atol=prox.certificate.distance + 1e-15)
    if not any(y):
        with pytest.raises(InvalidParameterError, match="at least one positive"):
            refsolve.solve("multilabel_entropy.value", scores=f, y=y)


def test_one_vs_all_risk_separates_into_binary_ones():
    """The sum over the classes, with one C: m binary problems, here each by itself in CVXPY."""
    rng = np.random.default_rng(66)
    X, y, C = rng.normal(size=(12, 3)), rng.integers(0, 4, 12), 0.7
    losses = {
        "ova_hinge": (lambda a: cp.sum(cp.pos(1 - a)), {}),
        "ova_logistic": (lambda a: cp.sum(cp.logistic(-a)), {}),
        "ova_smooth_hinge": (lambda a: cp.sum(cp.huber(cp.pos(1 - a), 0.5)), {"gamma": 0.5}),
    }
    for object_name, (loss, params) in losses.items():
        total = 0.0
        for j in range(4):
            w = cp.Variable(3)
            margins = cp.multiply(np.where(y == j, 1.0, -1.0), X @ w)
            problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * loss(margins)))
            total += problem.solve(solver="CLARABEL")
        joint = certified("multiclass_erm.primal", loss=object_name, X=X, y=y, C=C, **params)
        # P is divided by lambda = 1/(C n) there
        assert joint.value * C * 12 == pytest.approx(total, rel=1e-6)
