"""The methods of `refsolve reproduce ap`: how each is trained, and how its gap is recomputed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from verification.benchmarks.methods import MAX_ITER
from verification.benchmarks.peers import fit_quietly
from verification.benchmarks.timing import clock
from verification.certificates import trained


@dataclass(frozen=True)
class Model:
    """Weights, oracle calls (None where there is no oracle), seconds, the recomputed relative gap."""

    w: np.ndarray
    calls: int | None
    seconds: float
    gap: Callable[[], float]


@dataclass(frozen=True)
class Method:
    """A row of the table; ``column`` names the paper's column in Table 1, None where it has none."""

    name: str
    fit: Callable[[np.ndarray, np.ndarray, float, float], Model]
    column: int | None = None


def _fitted(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Seconds of a fit."""
    return clock(lambda: fit_quietly(model, X, y))


def ranker(**options: Any) -> Callable[[np.ndarray, np.ndarray, float, float], Model]:
    """AP-SVM with the options of `fast.APSVM`."""

    def fit(X: np.ndarray, y: np.ndarray, C: float, tol: float) -> Model:
        from fast import APSVM

        model = APSVM(C=C, tol=tol, max_iter=MAX_ITER, **options)
        seconds = _fitted(model, X, y)
        return Model(
            model.coef_[0],
            int(model.n_oracle_calls_),
            seconds,
            lambda: float(trained(model, X, y).relative_gap),
        )

    return fit


def binary_svm(X: np.ndarray, y: np.ndarray, C: float, tol: float) -> Model:
    """Hinge in its structural form, 1/2 ||w||^2 + (C/n) sum of hinges, trained like the AP-SVM."""
    from fast.models import binary_svm as model
    from refsolve.models import binary_svm as reference

    found: list[Any] = []
    seconds = clock(lambda: found.append(model.train(X, y, C, tol=tol, max_iter=MAX_ITER)))
    result = found[0]

    def gap() -> float:
        return float(reference.certificate(X, y, C=C, w=result.w, alpha=result.alpha).relative_gap)

    return Model(result.w, result.n_oracle, seconds, gap)


def balanced_svm(X: np.ndarray, y: np.ndarray, C: float, tol: float) -> Model:
    """Hinge with both classes weighing n/2: without it a rare class that overlaps the rest is given up.

    The two-class hinge with half that C has the weights -w/2 and w/2.
    """
    from fast import TopKSVC

    options: dict[str, Any] = {"class_weight": "balanced", "max_iter": MAX_ITER, "random_state": 0}
    model = TopKSVC(k=1, gamma=0.0, C=C / (2 * len(y)), tol=tol, **options)
    return _two_class(model, X, y)


def _two_class(model: Any, X: np.ndarray, y: np.ndarray) -> Model:
    seconds = _fitted(model, X, y)
    w = model.coef_[1] - model.coef_[0]
    return Model(w, None, seconds, lambda: float(trained(model, X, y).relative_gap))


def logistic(X: np.ndarray, y: np.ndarray, C: float, tol: float) -> Model:
    """Logistic regression, 1/2 ||w||^2 + (C/n) sum of log(1 + exp(-y f)).

    The two-class softmax with half that C has the weights -w/2 and w/2.
    """
    from fast import TopKLogisticRegression

    model = TopKLogisticRegression(k=1, C=C / (2 * len(y)), tol=tol, max_iter=MAX_ITER)
    return _two_class(model, X, y)


LOGISTIC, RAMP = "logistic regression", "ramp"
METHODS = (
    Method("binary SVM", binary_svm, 0),
    Method("AP-SVM", ranker(), 1),
    Method("APPX 25 %", ranker(easy_fraction=0.25), 2),
    Method("APPX 50 %", ranker(easy_fraction=0.5), 3),
    Method("APPX 75 %", ranker(easy_fraction=0.75), 4),
    Method("balanced SVM", balanced_svm),
    Method(LOGISTIC, logistic),
    Method(RAMP, ranker(ramp=True)),
)
NAMES = tuple(method.name for method in METHODS)
