"""The same CVXPY problem as `cvxpy_topk_simplex`, by SCS."""

from verification.third_party.cvxpy_topk_simplex import by

PROBLEM = "topk_simplex_alpha.projection"
PACKAGES = ("cvxpy", "scs")
BATCH = False
CHECKS = ("certified_gap", "ties")
ACCURACY = 1e-4
FOUND = """With CVXPY's tolerance for SCS, 1e-5, 542 of 550 answers are within 1e-4 of the data; none is right to
rounding, and entries are negative by 1e-9. The 8 others are projections of the origin, as with
`cvxpy_clarabel_topk_simplex`. As promised."""
REPRODUCE = """
import cvxpy as cp
import numpy as np

x, r = cp.Variable(1), 0.5
problem = cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [x >= 0, cp.sum(x) <= r])
problem.solve(solver=cp.SCS)
assert problem.status == "optimal"
returned, right = x.value, np.zeros(1)
"""


candidate = by("SCS")
