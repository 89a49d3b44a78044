"""scikit-learn's own checks, with no expected failure."""

import ast
import inspect

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from fast import (
    APSVM,
    NDCGSVM,
    LatentAPSVM,
    MultilabelClassifier,
    OneVsAllClassifier,
    RecallAtK,
    SVM2KClassifier,
    SVMPlusClassifier,
    TopKLogisticRegression,
    TopKSVC,
    TopPush,
    WsabieClassifier,
)

CHECKED = [
    TopKSVC(),
    TopKSVC(gamma=0.5, fit_intercept=True, variant="beta"),
    TopKSVC(solver="newton", gamma=1.0),
    TopKSVC(kernel="rbf", kernel_params={"gamma": 0.5}),
    TopKLogisticRegression(),
    TopKLogisticRegression(fit_intercept=True, variant="beta"),
    TopKLogisticRegression(truncated=True, kernel="rbf", kernel_params={"gamma": 0.5}),
    APSVM(),
    APSVM(C=10.0, method="greedy", solver="cutting_plane", warm_start=True),
    APSVM(easy_fraction=0.5),
    APSVM(ramp=True),
    NDCGSVM(warm_start=True),
    SVMPlusClassifier(),
    SVMPlusClassifier(loss="hinge", C=0.5),
    SVMPlusClassifier(kernel="rbf"),
    SVM2KClassifier(),
    SVM2KClassifier(kernel="rbf"),
    TopPush(warm_start=True),
    OneVsAllClassifier(),
    OneVsAllClassifier(loss="logistic", fit_intercept=True),
    MultilabelClassifier(),
    MultilabelClassifier(loss="entropy", fit_intercept=True),
    RecallAtK(),
    RecallAtK(k=2, solver="cutting_plane", warm_start=True),
    WsabieClassifier(),
    WsabieClassifier(rank=2, max_norm=3.0),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(CHECKED)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", {LatentAPSVM: 0} | dict.fromkeys(map(type, CHECKED)))
def test_parameters_are_those_documented(estimator):
    documented = inspect.getdoc(estimator)
    for name, parameter in inspect.signature(estimator).parameters.items():
        line = next(li for li in documented.splitlines() if li.startswith(f"{name} :"))
        default = line.partition("default=")[2] or line.partition("{")[2].split(",")[0]
        assert ast.literal_eval(default) == parameter.default, name
