"""``qpsolvers.solve_qp(solver="highs")`` on the dual of the SVM."""

from verification.third_party._qp import svm_dual

PROBLEM = "svm.dual"
PACKAGES = ("qpsolvers", "highspy")
FIXED = {"loss": "hinge", "tol": 1e-3}
DEFECT = "HiGHS does not end on a convex quadratic program of five unknowns: it iterates without a limit."
FOUND = """Close to exact where it ends: 117 of 122 duals, and in the others, with C around 1e-10, the box is violated
within the tolerance of 1e-7. The active-set method can cycle: on the five unknowns below it makes two million
iterations a second at the same point, and there is no limit on them by default. The same happens to one of the
instances, which is why the time is limited to two seconds here; its point is within 1e-3 of the optimum when it is
stopped."""
REPRODUCE = """
import numpy as np
from qpsolvers import Problem, solve_problem

# the dual of an SVM of five numbers x, with C = 1e-6
x, y = np.array([-1.0, 0.0, -2.0, 2.0, -1.0]), np.array([1.0, -1.0, 1.0, 1.0, -1.0])
problem = Problem(
    np.outer(x * y, x * y), -np.ones(5), A=y[None, :], b=np.zeros(1),
    lb=np.zeros(5), ub=np.full(5, 1e-6),
)
found = solve_problem(problem, solver="highs", time_limit=2.0).found  # without a limit: no end
returned, right = float(found), 1.0
"""


candidate = svm_dual("highs", time_limit=2.0)
