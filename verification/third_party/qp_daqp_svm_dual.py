"""``qpsolvers.solve_qp(solver="daqp")`` on the dual of the SVM."""

from verification.third_party._qp import svm_dual

PROBLEM = "svm.dual"
PACKAGES = ("qpsolvers", "daqp")
FIXED = {"loss": "hinge", "tol": 1e-3}
FOUND = """The active-set method is the most accurate of these solvers where the box is of size 1. With a tiny C it
violates the box by up to 3e-7: ``primal_tol`` is 1e-6 and absolute, so that bounds that are closer than
that are not seen, and the multipliers of an SVM with C = 1e-6 come out negative."""
REPRODUCE = """
import numpy as np
from qpsolvers import solve_qp

# the projection of (0, -2e-7) onto x >= 0
returned = solve_qp(np.eye(2), np.array([0.0, 2e-7]), lb=np.zeros(2), ub=np.ones(2), solver="daqp")
right = np.zeros(2)
"""


candidate = svm_dual("daqp")
