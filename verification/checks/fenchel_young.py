"""Values and gradients attain equality in Fenchel–Young at an exactly certified dual point."""

from verification.checks._plain import certified, in_parts
from verification.problems.problem import Problem

ORDER = 20
COUNTS = {"quick": 120, "thorough": 900, "soak": 120}
LARGEST = {"quick": 10, "thorough": 40, "soak": 40}

instances = in_parts(COUNTS, "random", "adversarial", offset=3, largest=LARGEST)
#: A value is compared with <z,x> − conjugate(x), a gradient is taken for that x.
examine = certified


def applies(problem: Problem) -> bool:
    """Losses: value and gradient."""
    return problem.kind == "losses" and problem.operation in ("value", "gradient")
