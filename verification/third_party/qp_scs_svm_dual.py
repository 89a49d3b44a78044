"""``qpsolvers.solve_qp(solver="scs")`` on the dual of the SVM."""

from verification.third_party._qp import svm_dual

PROBLEM = "svm.dual"
PACKAGES = ("qpsolvers", "scs")
FIXED = {"loss": "hinge", "tol": 1e-3}
FOUND = """104 of 122 duals are within 1e-3 of the optimum. With C = 1e5 and classes that overlap SCS ends with
"unbounded (inaccurate - reached max_iters)", though the box bounds everything, and qpsolvers returns the
point that comes with it, a ray of length 1, in ``solve_problem(...).x``; only ``found`` says no. With a
tiny C the box is violated within the absolute tolerance of 1e-4, status "solved"."""
REPRODUCE = """
import numpy as np
from qpsolvers import solve_qp

X, y, C = np.array([[0.0], [1e4]]), np.array([1.0, -1.0]), 1e-10
alpha = solve_qp(
    (X @ X.T) * np.outer(y, y), -np.ones(2), A=y[None, :], b=np.zeros(1),
    lb=np.zeros(2), ub=np.full(2, C), solver="scs",
)
returned, right = alpha, np.full(2, C)
"""


candidate = svm_dual("scs")
