"""``qpsolvers.solve_qp(solver="osqp")`` on the dual of the SVM."""

from verification.third_party._qp import svm_dual

PROBLEM = "svm.dual"
PACKAGES = ("qpsolvers", "osqp")
FIXED = {"loss": "hinge", "tol": 1e-3}
FOUND = """27 of 122 duals miss 1e-3, as its default tolerance (qpsolvers keeps OSQP's 1e-3, absolute and relative)
lets expect: multipliers beyond the box by up to its tenth, objectives above the optimum by as much. With
``eps_abs=eps_rel=1e-9, polish=True`` the same problems are solved; a status "solved" says nothing without
the tolerance."""
REPRODUCE = """
import warnings

import numpy as np
from qpsolvers import solve_qp

X, y, C = np.array([[0.0], [1.0]]), np.array([1.0, -1.0]), 1e-5
with warnings.catch_warnings(action="ignore"):  # about changes to come in OSQP
    alpha = solve_qp(
        (X @ X.T) * np.outer(y, y), -np.ones(2), A=y[None, :], b=np.zeros(1),
        lb=np.zeros(2), ub=np.full(2, C), solver="osqp",
    )
returned, right = alpha, np.full(2, C)
"""


candidate = svm_dual("osqp")
