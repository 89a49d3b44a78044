"""``statsmodels`` ``GLM(family=Binomial()).fit_regularized(L1_wt=0)`` per class: one-vs-all logistics."""

from typing import Any

import numpy as np

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("statsmodels",)
FIXED = {"loss": "ova_logistic", "tol": 1e-3}
CHECKS = ("trained",)
FOUND = """All within 1e-3 of the optimum, 1.2e-4 at worst; data of an extreme scale bring a ConvergenceWarning, and
are right all the same."""


def candidate(X: Any, y: Any, C: float) -> dict[str, Any]:
    """Minus the mean log-likelihood, plus alpha/2 ||w||^2, for each class against the others."""
    import statsmodels.api as sm

    def fit(label: int) -> np.ndarray:
        model = sm.GLM((y == label).astype(float), X, family=sm.families.Binomial())
        return np.asarray(model.fit_regularized(alpha=1 / (C * len(y)), L1_wt=0.0).params)

    return {"W": np.vstack([fit(label) for label in range(int(y.max()) + 1)])}
