"""Scikit-learn estimators as trained models: what they scale, and how their parts are read."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import SVC, LinearSVC

from verification import InvalidArgumentError, verify
from verification.adapters import trained
from verification.adapters.estimators import class_rows, support_values
from verification.checks import trained as check

ERM = "multiclass_erm.primal"
TIGHT = {"tol": 1e-9, "max_iter": 100_000}


@pytest.fixture(autouse=True)
def _few_instances(monkeypatch):
    monkeypatch.setitem(check.COUNTS, "quick", 2)


def logistic(C, m):
    return LogisticRegression(C=C if m > 2 else 2 * C, fit_intercept=False, **TIGHT)


def report(candidate, problem=ERM, **fixed):
    return verify(candidate, problem, checks=["trained"], shrink=False, fixed=fixed)


def test_logistic_regression_is_the_softmax_risk():
    found = report(trained(logistic, ERM), loss="softmax")
    assert found.ok, found
    assert found.checked >= 10


def test_two_classes_have_half_the_penalty():
    """The mistake that everybody makes once."""
    make = lambda C: LogisticRegression(C=C, fit_intercept=False, **TIGHT)  # noqa: E731
    found = report(trained(make, ERM), loss="softmax")
    bad = [r for r in found.failures if r.instance is not None]
    assert bad
    assert {int(r.instance["y"].max()) for r in bad} == {1}


def test_weights_are_passed_on():
    mine = trained(logistic, ERM, weights=True)
    assert list(inspect.signature(mine).parameters) == ["X", "y", "C", "sample_weight"]
    found = report(mine, loss="softmax")
    assert found.ok, found
    ignored = report(trained(logistic, ERM), loss="softmax")
    assert ignored.counts["skipped"] > found.counts["skipped"]


def test_a_lambda_that_is_one_over_c_n():
    mine = trained(lambda C: Ridge(C), ERM, scale={"C": "1/(C n)"})
    X, y = np.eye(4)[:, :2], np.array([0, 1, 0, 1])
    assert mine(X=X, y=y, C=2.0)["W"].tolist() == [[-1 / 16, 0], [1 / 16, 0]]


class Ridge:
    """Its only row is lambda in the first feature."""

    def __init__(self, lam):
        self.lam = lam

    def fit(self, X, y):
        self.coef_ = np.array([[self.lam, 0.0]])


def test_multipliers_of_a_support_vector_machine():
    mine = trained(lambda C: SVC(C=C, kernel="linear"), "svm.dual")
    found = report(mine, "svm.dual", loss="hinge", tol=1e-3)
    assert found.ok, found


def test_gram_matrices():
    mine = trained(lambda C: SVC(C=C, kernel="precomputed"), "svm.dual", data="K")
    found = report(mine, "svm.dual", loss="hinge", tol=1e-3)
    assert found.ok, found
    assert all(r.instance["X"] is None for r in found.results if r.verdict == "pass")


def test_rows_of_classes():
    two = LinearSVC(fit_intercept=False).fit([[1.0], [-1.0]], [1, 0])
    assert class_rows(two).tolist() == [[-two.coef_[0, 0] / 2], [two.coef_[0, 0] / 2]]
    assert class_rows(two, 1.0).tolist() == [[-two.coef_[0, 0]], [two.coef_[0, 0]]]
    three = LinearSVC(fit_intercept=False).fit([[1.0], [-1.0], [3.0]], [0, 1, 2])
    assert np.array_equal(class_rows(three), three.coef_)


def test_multipliers_stand_where_their_examples_do():
    model = SVC(kernel="linear", C=10).fit([[9.0], [1.0], [-1.0]], [1, 1, -1])
    assert support_values(model, 3) == pytest.approx([0.0, 0.5, 0.5])


def test_warnings_about_convergence_are_the_callers_choice():
    make = lambda C: SGDClassifier(max_iter=1, tol=None, random_state=0)  # noqa: E731
    hasty = lambda C: LinearSVC(C=C, max_iter=1, fit_intercept=False)  # noqa: E731
    given = {"X": np.eye(3), "y": np.arange(3), "C": 1.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trained(make, ERM)(**given)
        trained(hasty, ERM)(**given)
        with pytest.raises(ConvergenceWarning):
            trained(hasty, ERM, quiet=False)(**given)


def test_errors_come_at_once():
    with pytest.raises(InvalidArgumentError, match="an estimator solves a trained model"):
        trained(logistic, "softmax.value")
    with pytest.raises(InvalidArgumentError, match="ask for lam: multiclass_erm"):
        trained(lambda lam: None, ERM)
    with pytest.raises(InvalidArgumentError, match="nothing is known to read A from"):
        trained(logistic, "multiclass_erm.dual")


def test_a_hint_is_given_only_where_it_tells_two_problems_apart():
    """A hard margin has no C: a model short of it is not one of another C."""
    from verification.instances.instance import Instance
    from verification.models import load
    from verification.verdicts import verify_model
    from verification.verdicts.verdict import Candidate

    model = load("multiclass_erm")
    X, y = np.array([[4.0], [-4.0]]), np.array([0, 1])
    given = {**model.defaults, "X": X, "y": y, "tol": 1e-3}
    W = np.array([[0.125], [-0.125]])  # the margin is 1 exactly

    def hint(C, W):
        instance = Instance.of(ERM, **{name: {**given, "C": C}[name] for name in model.arguments})
        return verify_model.hint(instance, Candidate(W, parts={"W": W}))

    assert hint(1.0, 0.9999 * W) == ""
    soft = 0.5 * W  # optimal for a C at which every margin is violated
    assert "in the place of C" in hint(1 / 64, soft)
