"""The same CVXPY problem as `cvxpy_topk_simplex`, by ECOS."""

from verification.third_party.cvxpy_topk_simplex import by

PROBLEM = "topk_simplex_alpha.projection"
PACKAGES = ("cvxpy", "ecos")
BATCH = False
CHECKS = ("certified_gap", "ties")
ACCURACY = 1e-4
FOUND = """As `cvxpy_clarabel_topk_simplex`: no answer is right to rounding, 542 of 550 are within 1e-4 of the data
(3e-5, to be precise), and the projection of the origin is 2e-5 instead of 0. As promised."""
REPRODUCE = """
import cvxpy as cp
import numpy as np

x, r = cp.Variable(1), 0.5
problem = cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [x >= 0, cp.sum(x) <= r])
problem.solve(solver=cp.ECOS)
assert problem.status == "optimal"
returned, right = x.value, np.zeros(1)
"""


candidate = by("ECOS")
