"""The same CVXPY problem as `cvxpy_topk_simplex`, by CLARABEL."""

from verification.third_party.cvxpy_topk_simplex import by

PROBLEM = "topk_simplex_alpha.projection"
PACKAGES = ("cvxpy", "clarabel")
BATCH = False
CHECKS = ("certified_gap", "ties")
ACCURACY = 1e-4
FOUND = """A relative gap of 1e-8 promises a distance of about 1e-4, its square root, and that is kept by 542 of 550
answers (all of them pass at 5.6e-5; none is right to rounding). The 8 others project the origin onto a set
that holds it: the answer, 0, comes out as 5e-5, for there is nothing that a relative tolerance could be
relative to. As promised."""
REPRODUCE = """
import cvxpy as cp
import numpy as np

x, r = cp.Variable(1), 0.5
problem = cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [x >= 0, cp.sum(x) <= r])
problem.solve(solver=cp.CLARABEL)
assert problem.status == "optimal"
returned, right = x.value, np.zeros(1)
"""


candidate = by("CLARABEL")
