"""``SVC(kernel="linear")``, default settings, by its multipliers."""

from typing import Any

from verification.adapters import trained

PROBLEM = "svm.dual"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "hinge", "tol": 1e-3}
FOUND = """The multipliers of the default settings (``tol=1e-3``) have a relative duality gap of at most
6e-4 on every instance, separable data and huge C included. The primal side is another matter; see
`sklearn_svc_primal`. It can take long: 33 million steps for 16 examples at C = 1e5, and at ``tol=1e-8``
one instance, with zero rows, did not end within two minutes. There is no limit on the steps unless
``max_iter`` sets one."""


def make(C: float) -> Any:
    """C sums over the examples, the intercept is free, as here."""
    from sklearn.svm import SVC

    return SVC(C=C, kernel="linear")


candidate = trained(make, PROBLEM)
