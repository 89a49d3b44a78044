"""``qpsolvers.solve_qp(solver="highs")`` on the dual of the SVM."""

from verification.strangers._qp import svm_dual

PROBLEM = "svm.dual"
PACKAGES = ("qpsolvers", "highspy")
FIXED = {"loss": "hinge", "tol": 1e-3}
DEFECT = "HiGHS does not end on a quadratic program of 16 unknowns, and cannot be interrupted."
FOUND = """Close to exact where it ends: 117 of 122 duals, and in the others, with C around 1e-10, the box is violated
within the tolerance of 1e-7. Limited to two seconds: without that one instance, 16 examples on 4 features
with C = 1e-6, did not end within two minutes, and cannot be interrupted. A solver in a service needs
``time_limit``."""
REPRODUCE = """
import numpy as np
from qpsolvers import solve_qp

X, y, C = np.array([[0.0], [1e4]]), np.array([1.0, -1.0]), 1e-10
alpha = solve_qp(
    (X @ X.T) * np.outer(y, y), -np.ones(2), A=y[None, :], b=np.zeros(1),
    lb=np.zeros(2), ub=np.full(2, C), solver="highs",
)
returned, right = alpha, np.full(2, C)
"""


candidate = svm_dual("highs", time_limit=2.0)
