"""A model or a claim that is nan or infinite is refused, or fails: no comparison lets it pass."""

import copy
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from fast import (
    APSVM,
    OneVsAllClassifier,
    RecallAtK,
    SVM2KClassifier,
    SVMPlusClassifier,
    TopKSVC,
    TopPush,
)
from refsolve.models import svm
from refsolve.proofs.certificate import Real
from refsolve.proofs.model import Proof
from verification.certificates import judge_claims
from verification.errors import InvalidArgumentError

rng = np.random.default_rng(4)
X, Z = rng.standard_normal((12, 3)), rng.standard_normal((12, 2))
BINARY = np.where(np.arange(12) % 2, 1, -1)
MODELS = {
    "plus": (SVMPlusClassifier(), (X, BINARY), {"Z": Z}),
    "plain": (SVMPlusClassifier(loss="hinge"), (X, BINARY), {}),
    "two views": (SVM2KClassifier(), (X, BINARY), {"Z": Z}),
    "classes": (TopKSVC(fit_intercept=True), (X, np.arange(12) % 3), {}),
    "one against all": (OneVsAllClassifier(loss="logistic"), (X, np.arange(12) % 3), {}),
    "ap": (APSVM(), (X, BINARY), {}),
    "recall": (RecallAtK(k=6), (X, BINARY), {}),
    "top": (TopPush(), (X, BINARY), {}),
}
CLAIMS = ("dual_gap_", "dual_gaps_", "primal_objective_", "dual_objective_")
PARTS = ("coef_", "intercept_", "dual_coef_", "correction_coef_", "correction_intercept_")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", MODELS)
def test_no_attribute_may_be_no_number(name, value):
    estimator, data, more = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = estimator.fit(*data, **more)
    assert judge_claims(fitted, *data, **more).ok
    for attribute in (*CLAIMS, *PARTS):
        given = getattr(fitted, attribute, None)
        if given is None or (name in ("ap", "recall", "top") and attribute == "intercept_"):
            continue
        weaker = np.inf if "gap" in attribute or "primal" in attribute else -np.inf
        if attribute in CLAIMS and value == weaker:
            continue  # claims nothing
        wrong = copy.deepcopy(fitted)
        broken = np.asarray(given.toarray() if hasattr(given, "toarray") else given, float) * 0
        setattr(wrong, attribute, broken + value if broken.ndim else value)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                judgement = judge_claims(wrong, *data, **more)
            except InvalidArgumentError:
                continue
        assert not judgement.ok, attribute


def test_the_lower_bound_is_below_an_optimum_that_is_known():
    """Two points +-s: the optimum is 1/(2 s^2), exactly."""
    for s in (*np.geomspace(1e-3, 10, 40), 0.1, 0.3, 0.7):
        found = svm.certificate(
            [[s], [-s]], [1, -1], C=1e9, alpha=[1 / (2 * s * s)] * 2, w=[1 / s], b=0.0
        )
        optimum = 1 / (2 * Fraction(float(s)) ** 2)
        assert Fraction(found.dual) <= optimum <= Fraction(found.primal)


@pytest.mark.parametrize("primal", [1.0, -3.0, 1e-300, 7.3e250, 0.0])
def test_bounds_are_rounded_outwards(primal):
    one, none = Real(primal), Real(0)
    bounds = Proof(one, one, np.zeros(1, Real), none, {}, none).bounds()
    assert bounds.dual <= primal <= bounds.primal
    unknown = Proof(one, one, np.array([np.nan], Real), none, {}, none).bounds()
    assert unknown.gap == np.inf
    assert unknown.dual == -np.inf
