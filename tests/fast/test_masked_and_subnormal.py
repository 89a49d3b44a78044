"""Masks are never ignored, and divisors without their digits are refused."""

import numpy as np
import pytest

import fast.losses.ova_smooth_hinge as ova
import fast.losses.smooth_topk_hinge_alpha as alpha
import refsolve
from fast import APSVM, SVMPlusClassifier, TopKLogisticRegression, TopKSVC
from fast.errors import InvalidParameterError
from fast.losses import (
    average_precision,
    multilabel_smooth_hinge,
    smooth_topk_hinge_beta,
    topk_hinge_alpha,
)
from fast.metrics import topk_accuracy
from fast.sets import simplex
from refsolve.errors import InvalidParameterError as RefusedParameterError
from verification.errors import InvalidArgumentError
from verification.instances.instance import Instance

SMALLEST = float(np.finfo(float).tiny)
F = np.array([1.0, 0.5, -0.25, 2.0])


def masked(array, where=1):
    mask = np.zeros(np.shape(array), bool)
    mask.flat[where] = True
    return np.ma.array(array, mask=mask)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("a", lambda: simplex.project(masked(F))),
        ("a", lambda: simplex.project(masked(np.stack([F, F])))),
        ("r", lambda: simplex.project(np.stack([F, F]), r=masked([1.0, 2.0]))),
        ("scores", lambda: topk_hinge_alpha.value(masked(F), 1, k=2)),
        ("y", lambda: topk_hinge_alpha.value(np.stack([F, F]), masked([0, 1]), k=2)),
        ("scores", lambda: average_precision.value(masked(F), [0, 1, 0, 1])),
        ("y", lambda: average_precision.value(F, masked([0, 1, 0, 1]))),
        ("y_true", lambda: topk_accuracy(masked([0, 1]), np.stack([F, F]), k=1)),
    ],
)
def test_functions_refuse_masked_entries(name, call):
    with pytest.raises(InvalidParameterError, match=rf"{name}: a masked array .*filled"):
        call()


def test_a_mask_without_masked_entries_is_an_array():
    whole = np.ma.array(F, mask=[False] * 4)
    np.testing.assert_array_equal(simplex.project(whole), simplex.project(F))


@pytest.mark.parametrize(
    "call",
    [
        lambda: refsolve.solve("simplex.projection", a=masked(F)),
        lambda: refsolve.certificates.projection("simplex", np.full(4, 0.25), masked(F)),
        lambda: refsolve.solve("multilabel_hinge.value", scores=F, y=masked([1, 0, 0, 1])),
    ],
)
def test_the_oracle_refuses_masked_entries(call):
    with pytest.raises(RefusedParameterError, match="masked"):
        call()


def test_instances_refuse_masked_entries():
    with pytest.raises(InvalidArgumentError, match="masked"):
        Instance.of("simplex.projection", a=masked(F), r=1.0)


@pytest.mark.parametrize(
    "model", [TopKSVC(), TopKLogisticRegression(), APSVM(), SVMPlusClassifier()], ids=repr
)
def test_estimators_refuse_masked_entries(model):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), np.arange(20) % 2
    for data in ((masked(X), y), (X, masked(y))):
        with pytest.raises(InvalidParameterError, match="a masked array with 1 masked entry"):
            model.fit(*data)
    if not isinstance(model, APSVM):
        with pytest.raises(InvalidParameterError, match="sample_weight: a masked array"):
            model.fit(X, y, sample_weight=masked(np.ones(20)))
    with pytest.raises(InvalidParameterError, match="X: a masked array"):
        model.fit(np.ma.array(X), y).predict(masked(X))
    if isinstance(model, SVMPlusClassifier):
        with pytest.raises(InvalidParameterError, match="Z: a masked array"):
            model.fit(X, y, masked(X))


@pytest.mark.parametrize("gamma", [5e-324, 1e-310, np.nextafter(SMALLEST, 0.0)])
def test_subnormal_smoothing_is_refused(gamma):
    for call in (
        lambda: alpha.value(F, 1, k=2, gamma=gamma),
        lambda: smooth_topk_hinge_beta.gradient(F, 1, k=2, gamma=gamma),
        lambda: ova.value(F, 1, gamma=gamma),
        lambda: multilabel_smooth_hinge.value(F, [1, 0, 0, 1], gamma=gamma),
    ):
        with pytest.raises(InvalidParameterError, match=r"gamma: .* lose their digits"):
            call()
    for object_name in ("smooth_topk_hinge_alpha", "smooth_topk_hinge_beta"):
        with pytest.raises(RefusedParameterError, match="gamma"):
            refsolve.solve(f"{object_name}.value", scores=F, y=1, k=2, gamma=gamma)


@pytest.mark.parametrize("gamma", [SMALLEST, 1e-300, 1e-150])
def test_the_least_smoothing_gives_the_hinge(gamma):
    for smooth in (alpha, smooth_topk_hinge_beta):
        assert smooth.value(F, 1, k=2, gamma=gamma) == topk_hinge_alpha.value(F, 1, k=2)
    assert ova.value(F, 1, gamma=gamma) == 2.0 + 0.5 + 0.75 + 3.0


def test_smooth_updates_refuse_a_subnormal_C():
    with pytest.raises(InvalidParameterError, match=r"C: 1e-310; .* lose their digits"):
        alpha.sdca_update(F, 1, k_ii=1.0, C=1e-310, k=2, gamma=1.0)
    assert alpha.sdca_update(F, 1, k_ii=1.0, C=1e-300, k=2, gamma=1.0)[1] == pytest.approx(1e-300)
    # without smoothing nothing is divided by C
    assert topk_hinge_alpha.sdca_update(F, 1, k_ii=1.0, C=1e-310, k=2)[1] == pytest.approx(1e-310)
