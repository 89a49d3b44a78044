"""``entmax.budget_bisect``: the sum is a budget above 1, no entry is above 1."""

from typing import Any

from verification.adapters import adapt

PROBLEM = "capped_simplex.projection"
PACKAGES = ("entmax", "torch")
FIXED = {"cap": 1.0}
REFUSES = ("NotImplementedError",)
FOUND = """Right to rounding for budgets from 1 to d, after its fifty halvings, without a final correction."""


def project(a: Any, r: Any) -> Any:
    """Rows of a tensor; budgets are "> 1"."""
    from entmax import budget_bisect

    if not 1 < float(r) <= a.shape[-1]:
        raise NotImplementedError("a budget above 1")
    return budget_bisect(a, budget=float(r), dim=-1)


candidate = adapt(project, PROBLEM, torch=True, rows=True)
