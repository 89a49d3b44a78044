"""What lbfgs at its default tolerance leaves undone on 1000 classes, certified: docs/audit.md."""

import warnings
from time import process_time
from typing import Any

import fast
from verification.benchmarks.timing import one_thread

SIZE, C = (12_811, 1000, 384), 10.0  # rows, classes, features of length 1


def measure() -> dict[str, Any]:
    """Fits of scikit-learn's without and with an intercept, audited, and a better model of each."""
    from sklearn.linear_model import LogisticRegression

    X, y = fast.datasets.make_deep_features(*SIZE, random_state=0)
    found: dict[str, Any] = {"size": SIZE, "C": C}
    for free in (False, True):
        with one_thread(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = process_time()
            model = LogisticRegression(C=C, fit_intercept=free).fit(X, y)
            fitted = process_time()
            alone = fast.audit(model, X, y)
            audited = process_time()
            both = fast.audit(model, X, y, refit=True, tol=1e-4)
        found["free intercept" if free else "no intercept"] = {
            "steps": int(model.n_iter_[0]), "warnings": len(caught), "P": both.primal,
            "least P by passes": alone.dual, "passes": alone.passes, "least P": both.dual,
            "above, at least": both.least_above, "above, at most": both.above,
            "CPU of audit by that of fit": (audited - fitted) / (fitted - start),
        }  # fmt: skip
    return found
