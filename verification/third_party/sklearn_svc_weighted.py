"""``SVC(kernel="linear")`` with ``sample_weight``, by its multipliers."""

from verification.adapters import trained
from verification.third_party.sklearn_svc_dual import make

PROBLEM = "svm.dual"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "hinge", "tol": 1e-3}
DEFECT = "``SVC`` with weights of 0 says which examples are support vectors, and is wrong about it."
FOUND = """Weights are right unless one is 0. Examples of weight 0 are dropped inside, and
``support_`` then counts those that are left: the multipliers belong to other examples than it
says. With a linear kernel predictions do not suffer (``support_vectors_`` and ``coef_`` are
right); with ``kernel="precomputed"`` they do, because the columns of the kernel are picked by
``support_``. Known to scikit-learn (issues 5150 and 25380, fixed by the open pull request 27763);
found here by the family "zero weights"."""
REPRODUCE = """
import numpy as np
from sklearn.svm import SVC

x = np.array([5.0, 1.0, -1.0])
K, y, weight = np.outer(x, x), np.array([1, 1, -1]), np.array([0.0, 1.0, 1.0])
model = SVC(C=10.0, kernel="precomputed").fit(K, y, sample_weight=weight)
returned = model.decision_function(K)
right = SVC(C=10.0, kernel="precomputed").fit(K[1:, 1:], y[1:]).decision_function(K[:, 1:])
"""


candidate = trained(make, PROBLEM, weights=True)
