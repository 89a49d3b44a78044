"""Thresholds behind an exact projection: the t of x = clip(a - t b, low, high), and who is at an end."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from refsolve.exact._rational import ZERO, Vector

Named = dict[str, Any]


def threshold(a: Vector, x: Vector, low: Iterable[Any], high: Iterable[Any], b: Vector) -> Fraction:
    """The t with x = clip(a - t b, low, high); of several the largest, or the least if none is.

    An entry above its lower end is not clipped from below, so that a - t b >= x, and one below its upper end
    not from above. 0 where every entry is fixed.
    """
    least: Any = float("-inf")
    most: Any = float("inf")
    for value, found, bottom, top, weight in zip(a, x, low, high, b, strict=True):
        if weight == 0:
            continue
        t = (value - found) / weight
        if found > bottom if weight > 0 else found < top:
            most = min(most, t)
        if found < top if weight > 0 else found > bottom:
            least = max(least, t)
    if least > most:
        raise ArithmeticError("no threshold clips a to x")
    return next((t for t in (most, least) if abs(t) != float("inf")), ZERO)


def ends(x: Vector, low: Any, high: Any) -> Named:
    """Indices at the upper end (U), strictly between (M), at the lower end (L; also where both are one)."""
    found: dict[str, list[int]] = {"U": [], "M": [], "L": []}
    for i, (v, bottom, top) in enumerate(zip(x, low, high, strict=True)):
        found["L" if v == bottom else "U" if v == top else "M"].append(i)
    return {name: tuple(members) for name, members in found.items()}


def clipped(a: Vector, x: Vector, high: Any = float("inf")) -> Named:
    """Threshold t and index sets of x = clip(a - t, 0, high)."""
    low, top = [ZERO] * len(x), [high] * len(x)
    return {"t": threshold(a, x, low, top, [Fraction(1)] * len(x)), **ends(x, low, top)}
