"""``qpsolvers.solve_qp(solver="proxqp")`` on the dual of the SVM."""

from verification.third_party._qp import svm_dual

PROBLEM = "svm.dual"
PACKAGES = ("qpsolvers", "proxsuite")
FIXED = {"loss": "hinge", "tol": 1e-3}
DEFECT = 'ProxQP says "solved" of x = 6e-8 where -x is least at x = 0.1: its stopping rule leaves out complementarity.'
FOUND = """Says "solved" of points that are nowhere near a solution, without any scale involved: of minimise -x over 0
<= x <= 0.1 it returns x = 6e-8. Its stopping rule looks at the primal and the dual residual, both small
here (the multiplier of the upper bound is 1, as it should be, but x is not at the bound), and not at their
product: ``check_duality_gap`` is off by default. 14 of 122 duals of SVMs end this way or at the tolerance
of 1e-5. The documentation names the residuals as what is promised; with ``check_duality_gap=True`` the
answer is right."""
REPRODUCE = """
import numpy as np
from qpsolvers import solve_qp

# minimise -x over 0 <= x <= 0.1
zero = np.zeros((1, 1))
returned = solve_qp(zero, np.array([-1.0]), lb=np.zeros(1), ub=np.full(1, 0.1), solver="proxqp")
right = np.array([0.1])
"""


candidate = svm_dual("proxqp")
