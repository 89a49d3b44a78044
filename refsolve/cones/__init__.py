"""Bounds for problems that are not ours: linear, quadratic, second-order and exponential cone programs.

`certify` judges a CVXPY problem's values; `lower_bound` is for whoever has the numbers (P, q, A, b, K)
of a cone program and a solver's point and multipliers.
"""

from refsolve.cones.lower import LowerBound, lower_bound
from refsolve.cones.program import ConeProgram
from refsolve.cones.ranges import Ranges
from refsolve.cones.verdict import ProblemCertificate, Verdict
from refsolve.cones.verify_solution import certify

__all__ = [
    "ConeProgram",
    "LowerBound",
    "ProblemCertificate",
    "Ranges",
    "Verdict",
    "certify",
    "lower_bound",
]
