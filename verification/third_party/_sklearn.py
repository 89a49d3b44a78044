"""How several third-party estimators of scikit-learn are made: C sums over the examples there too."""

from collections.abc import Callable
from typing import Any


def linear_svc(**options: Any) -> Callable[..., Any]:
    """``LinearSVC`` with some options; its intercept, which is penalised, is left out unless asked for."""

    def make(C: float) -> Any:
        from sklearn.svm import LinearSVC

        return LinearSVC(C=C, random_state=0, **{"fit_intercept": False, **options})

    return make


def logistic(**options: Any) -> Callable[..., Any]:
    """``LogisticRegression`` as a softmax, without intercept.

    Two classes have one w there, with 1/2 ||w||^2: twice the penalty of two rows.
    """

    def make(C: float, m: int) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=C if m > 2 else 2 * C, fit_intercept=False, **options)

    return make
