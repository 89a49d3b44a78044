"""``sparsemax.Sparsemax``, the package of that name, on torch tensors."""

from typing import Any

from verification.adapters import adapt

PROBLEM = "simplex.projection"
PACKAGES = ("sparsemax", "torch")
FOUND = """Right for r = 1, the only radius that it has."""


def project(a: Any) -> Any:
    """Rows of a tensor; the radius is 1."""
    from sparsemax import Sparsemax

    return Sparsemax(dim=-1)(a)


candidate = adapt(project, PROBLEM, torch=True, rows=True)
