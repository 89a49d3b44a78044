"""``qpsolvers.solve_qp(solver="qpalm")`` on the dual of the SVM."""

from verification.third_party._qp import svm_dual

PROBLEM = "svm.dual"
PACKAGES = ("qpsolvers", "qpalm")
FIXED = {"loss": "hinge", "tol": 1e-3}
FOUND = """108 of 122 duals are within 1e-3 of the optimum; of the others most have a tiny C, where the multipliers
leave the box by three times its size: ``eps_abs`` is 1e-4 and absolute, as documented."""
REPRODUCE = """
import numpy as np
from qpsolvers import solve_qp

X, y, C = np.array([[0.0], [1.0]]), np.array([1.0, -1.0]), 1e-5
alpha = solve_qp(
    (X @ X.T) * np.outer(y, y), -np.ones(2), A=y[None, :], b=np.zeros(1),
    lb=np.zeros(2), ub=np.full(2, C), solver="qpalm",
)
returned, right = alpha, np.full(2, C)
"""


candidate = svm_dual("qpalm")
