"""``pyproximal.Box``, whose prox is the projection onto a box."""

from typing import Any

PROBLEM = "box.projection"
PACKAGES = ("pyproximal",)
BATCH = False
FOUND = "Right: a clipped vector leaves little to get wrong."


def candidate(a: Any, r: float = 1.0) -> Any:
    """One vector; the step has no meaning for an indicator."""
    from pyproximal import Box

    return Box(0.0, r).prox(a, 1.0)
