"""The gap at the repaired answer is within its rounding-error bound; no solver is asked."""

from verification.checks._plain import certified, in_parts
from verification.problems.problem import Problem

ORDER = 10
COUNTS = {"quick": 150, "thorough": 1200, "soak": 150}

instances = in_parts(COUNTS, "random", largest={"quick": 12, "thorough": 40, "soak": 40})
examine = certified


def applies(problem: Problem) -> bool:
    """Every operation whose answer is a point."""
    return problem.point
