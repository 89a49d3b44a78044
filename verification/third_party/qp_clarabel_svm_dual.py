"""``qpsolvers.solve_qp(solver="clarabel")`` on the dual of the SVM."""

from verification.third_party._qp import svm_dual

PROBLEM = "svm.dual"
PACKAGES = ("qpsolvers", "clarabel")
FIXED = {"loss": "hinge", "tol": 1e-3}
FOUND = """120 of 122 duals are within 1e-3 of the optimum, C = 1e5 and duplicates included. The two others have a C
below 1e-8, status "Solved": its tolerances of 1e-8 are absolute where the answer is small, so that half of
a box of 1e-10 is as good as all of it. As documented (``tol_gap_abs``, ``tol_feas``); scale the box to 1
first."""
REPRODUCE = """
import numpy as np
from qpsolvers import solve_qp

X, y, C = np.array([[0.0], [1e4]]), np.array([1.0, -1.0]), 1e-10
alpha = solve_qp(
    (X @ X.T) * np.outer(y, y), -np.ones(2), A=y[None, :], b=np.zeros(1),
    lb=np.zeros(2), ub=np.full(2, C), solver="clarabel",
)
returned, right = alpha, np.full(2, C)
"""


candidate = svm_dual("clarabel")
