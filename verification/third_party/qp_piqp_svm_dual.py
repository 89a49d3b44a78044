"""``qpsolvers.solve_qp(solver="piqp")`` on the dual of the SVM."""

from verification.third_party._qp import svm_dual

PROBLEM = "svm.dual"
PACKAGES = ("qpsolvers", "piqp")
FIXED = {"loss": "hinge", "tol": 1e-3}
FOUND = """121 of 122 duals are within 1e-3 of the optimum, and the one is at 2e-3, with C of 1e-6: of these solvers
the most accurate at the ends of the range, with default tolerances of 1e-8."""
REPRODUCE = """
import numpy as np
from qpsolvers import solve_qp

X, y, C = np.array([[0.0], [1.0]]), np.array([1.0, -1.0]), 1e-5
alpha = solve_qp(
    (X @ X.T) * np.outer(y, y), -np.ones(2), A=y[None, :], b=np.zeros(1),
    lb=np.zeros(2), ub=np.full(2, C), solver="piqp",
)
returned, right = alpha, np.full(2, C)
"""


candidate = svm_dual("piqp")
