"""Small formulas shared by the declarations; all act on the last axis, in the dtype given."""

import contextlib
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve._types import Array, Number

#: Rows (g, h, equality) meaning <g,x> <= h or = h, rational.
Rows = list[tuple[list[Fraction], Fraction, bool]]


def objects(values: Iterable[Any]) -> Array:
    """An array of Fractions or Decimals."""
    items = list(values)
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out


def rationals(values: Iterable[Any]) -> Array:
    """Floats, integers and Fractions as Fractions; infinities as they are."""
    return objects(v if abs(v) == np.inf else Fraction(v) for v in values)


def single(value: object) -> Any:
    """The number in an array without axes; integers of numpy, which overflow, as those of Python."""
    found = value[()] if isinstance(value, np.ndarray) else value
    return int(found) if isinstance(found, np.integer) else found


def descending(v: Array) -> Array:
    """Entries sorted from large to small along the last axis."""
    if v.dtype == object and v.ndim == 1:  # by their floats first, which are compared sooner
        with contextlib.suppress(OverflowError):
            return objects(x for _, x in sorted(((float(x), x) for x in v.tolist()), reverse=True))
    return -np.sort(-v, axis=-1)


def top_sum(v: Array, k: int) -> Array:
    """S_k(v), the sum of the k largest entries (all of them if k exceeds their number)."""
    return descending(v)[..., :k].sum(axis=-1)


def kth_largest(v: Array, k: int) -> Array:
    """v_[k] with the axis kept; k at most the number of entries."""
    d = v.shape[-1]
    return np.partition(v, d - k, axis=-1)[..., d - k, None]


def units(d: int, factor: int = 1, shift: Fraction | int = 0, bound: Any = 0) -> Rows:
    """The d rows factor x_i + shift <1,x> <= bound."""
    own, other = [Fraction(factor + shift)], [Fraction(shift)]
    return [(other * i + own + other * (d - 1 - i), Fraction(bound), False) for i in range(d)]


def positive(v: Array) -> Array:
    """max(v, 0)."""
    return np.maximum(v, 0)


def lower_sum(x: Array, r: Number) -> Array:
    """Rows whose sum exceeds r scaled down to it."""
    s = x.sum(axis=-1, keepdims=True)
    over = s > column(r)
    # the quotient only where it counts: int / int would turn Fractions into floats
    return x * np.where(over, column(r) / np.where(over, s, 1), 1)


def column(r: Number) -> Any:
    """A scalar as it is, one value per row as a column."""
    plain = np.ndim(r) == 0  # type: ignore[arg-type]  # a Fraction is an object to numpy
    return r if plain else np.asarray(r)[..., None]


def bisect(below: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Largest t in [low, high] with ``below(t)`` true, row by row; below is monotone."""
    steps = np.finfo(high.dtype).nmant + 12
    for _ in range(steps):
        middle = low + (high - low) / 2
        go_up = below(middle)
        low = np.where(go_up, middle, low)
        high = np.where(go_up, high, middle)
    return low
