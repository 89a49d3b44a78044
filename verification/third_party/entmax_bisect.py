"""``entmax.sparsemax_bisect``, the same projection by bisection, which stops after 50 halvings."""

from typing import Any

from verification.adapters import adapt

PROBLEM = "simplex.projection"
PACKAGES = ("entmax", "torch")
FOUND = """Right for r = 1: fifty halvings and a final division by the sum leave nothing but
rounding on these instances."""


def project(a: Any) -> Any:
    """Rows of a tensor; the radius is 1."""
    from entmax import sparsemax_bisect

    return sparsemax_bisect(a, dim=-1)


candidate = adapt(project, PROBLEM, torch=True)
