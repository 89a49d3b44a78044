"""The methods of `refsolve reproduce ap`: how each is trained, and how its gap is recomputed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from verification.benchmarks.methods import MAX_ITER
from verification.benchmarks.peers import fit_quietly
from verification.benchmarks.timing import clock, timed
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
    """A row of the table: an estimator of `fast` and its options.

    Two-class estimators sum over the examples and have the weights -w/2 and w/2: at half of C/n they
    minimise 1/2 ||w||^2 + (C/n) sum of losses.
    """

    name: str
    estimator: str = "APSVM"
    options: Mapping[str, Any] = field(default_factory=dict)

    def fit(self, X: np.ndarray, y: np.ndarray, C: float, tol: float) -> Model:
        """Train to a certified gap."""
        import fast

        ranks = self.estimator == "APSVM"
        price = C if ranks else C / (2 * len(y))
        limits = {"C": price, "tol": tol, "max_iter": MAX_ITER}
        model = getattr(fast, self.estimator)(**limits, **self.options)
        seconds = clock(partial(fit_quietly, model, X, y))
        w = model.coef_[0] if ranks else model.coef_[1] - model.coef_[0]
        calls = int(model.n_oracle_calls_) if ranks else None
        return Model(w, calls, seconds, lambda: float(trained(model, X, y).relative_gap))


class StructuralHinge(Method):
    """Hinge in its structural form, 1/2 ||w||^2 + (C/n) sum of hinges, trained like the AP-SVM."""

    def fit(self, X: np.ndarray, y: np.ndarray, C: float, tol: float) -> Model:
        """Train to a certified gap."""
        from fast.models import binary_svm as model
        from refsolve.models import binary_svm as reference

        train = partial(model.train, X, y, C, tol=tol, max_iter=MAX_ITER)
        found, seconds = timed(train)
        judge = partial(reference.certificate, X, y, C=C, w=found.w, alpha=found.alpha)
        return Model(found.w, found.n_oracle, seconds, lambda: float(judge().relative_gap))


LOGISTIC, RAMP = "logistic regression", "ramp"
#: Both classes weigh n/2: without it a rare class that overlaps the rest is given up.
_BALANCED = {"k": 1, "gamma": 0.0, "class_weight": "balanced", "random_state": 0}
METHODS = (
    StructuralHinge("binary SVM"),
    Method("AP-SVM"),
    Method("APPX 25 %", options={"easy_fraction": 0.25}),
    Method("APPX 50 %", options={"easy_fraction": 0.5}),
    Method("APPX 75 %", options={"easy_fraction": 0.75}),
    Method("balanced SVM", "TopKSVC", _BALANCED),
    Method(LOGISTIC, "TopKLogisticRegression", {"k": 1}),
    Method(RAMP, options={"ramp": True}),
)
NAMES = tuple(method.name for method in METHODS)
