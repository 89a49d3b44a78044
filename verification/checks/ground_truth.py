"""The answer is the exact solution up to rounding; that one certifies itself with gap zero."""

from verification.checks._plain import in_parts, judged
from verification.problems.problem import Problem

ORDER = 20
COUNTS = {"quick": 300, "thorough": 2400, "soak": 300}
LARGEST = {"quick": 10, "thorough": 40, "soak": 40}

instances = in_parts(COUNTS, "random", "planted", "adversarial", offset=1, largest=LARGEST)
examine = judged


def applies(problem: Problem) -> bool:
    """Operations whose answer is a point, functions, and rankings, which are judged by their objective.

    Gradients of hinges are not unique.
    """
    if problem.kind == "functions" or problem.ranking:
        return True
    return problem.point and (problem.unique or not problem.convex)
