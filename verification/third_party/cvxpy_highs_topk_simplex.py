"""The same CVXPY problem as `cvxpy_topk_simplex`, by HIGHS."""

from verification.third_party.cvxpy_topk_simplex import by

PROBLEM = "topk_simplex_alpha.projection"
PACKAGES = ("cvxpy", "highspy")
BATCH = False
CHECKS = ("certified_gap", "ties")
ACCURACY = 1e-4
FOUND = """An active-set method: every answer is within 5e-8 of the data, the projection of the origin is the origin,
and 249 of 550 are right to rounding. Of the general solvers behind CVXPY the closest to exact here."""


candidate = by("HIGHS")
