"""Scores to 1e4, 1 - s to 1e-300, curvatures from 1e-300 to 1e10: nothing overflows, nothing is lost."""

from verification.checks._plain import in_parts, judged
from verification.problems.problem import Problem

ORDER = 35
COUNTS = {"quick": 300, "thorough": 1200}

instances = in_parts(COUNTS, "saturated", offset=9)
examine = judged  # the solution is one to 60 digits


def applies(problem: Problem) -> bool:
    """Entropies, and the functions behind them."""
    return problem.kind == "functions" or not problem.generator.rational
