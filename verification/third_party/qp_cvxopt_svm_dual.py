"""``qpsolvers.solve_qp(solver="cvxopt")`` on the dual of the SVM."""

from verification.third_party._qp import svm_dual

PROBLEM = "svm.dual"
PACKAGES = ("qpsolvers", "cvxopt")
FIXED = {"loss": "hinge", "tol": 1e-3}
FOUND = """121 of 122 duals are within 1e-3 of the optimum. The one has a C of 1e-10, where the answer is negative,
status "optimal": ``abstol`` is 1e-7, as documented."""
REPRODUCE = """
import numpy as np
from qpsolvers import solve_qp

X, y, C = np.array([[0.0], [1e4]]), np.array([1.0, -1.0]), 1e-10
alpha = solve_qp(
    (X @ X.T) * np.outer(y, y), -np.ones(2), A=y[None, :], b=np.zeros(1),
    lb=np.zeros(2), ub=np.full(2, C), solver="cvxopt",
)
returned, right = alpha, np.full(2, C)
"""


candidate = svm_dual("cvxopt")
