"""``entmax.sparsemax``, the projection onto the probability simplex by sorting, on torch tensors."""

from typing import Any

from verification.adapters import adapt

PROBLEM = "simplex.projection"
PACKAGES = ("entmax", "torch")
FOUND = """Right for r = 1, the only radius that it has: single and double precision, ties,
batches, scales."""


def project(a: Any) -> Any:
    """Rows of a tensor; the radius is 1."""
    from entmax import sparsemax

    return sparsemax(a, dim=-1)


candidate = adapt(project, PROBLEM, torch=True)
