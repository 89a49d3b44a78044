"""``cyanure`` with its logistic losses, whose ``tol`` is a relative duality gap, as a trained softmax."""

from typing import Any

import numpy as np

from verification.adapters import trained

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("cyanure",)
FIXED = {"loss": "softmax", "tol": 1e-3}
FOUND = """Keeps what it promises: ``tol`` is a relative duality gap, and none of 124 models is further than 9.3e-4
from the optimum at ``tol=1e-3``, separable data and huge C included. It is the only trainer here that stops
by a certificate. With two classes ask for ``loss="logistic"``: ``"multiclass-logistic"`` prints "Not
implemented, square loss is chosen by default", and trains that."""


def make(C: float, n: int, m: int) -> Any:
    """The mean, plus lambda_1/2 ||W||^2; two classes have one w, and twice the penalty of two rows."""
    from cyanure.estimators import Classifier

    loss, share = ("multiclass-logistic", 1.0) if m > 2 else ("logistic", 0.5)
    return Classifier(
        loss=loss,
        lambda_1=share / (C * n),
        fit_intercept=False,
        tol=1e-3,
        verbose=False,
        n_threads=1,
    )


def rows(model: Any, m: int) -> np.ndarray:
    """A column per class, or one vector."""
    coef = np.asarray(model.coef_, dtype=float)
    return coef.reshape(-1, m).T if m > 2 else np.vstack([-coef.ravel(), coef.ravel()]) / 2


candidate = trained(make, PROBLEM, read={"W": rows})
