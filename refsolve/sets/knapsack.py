"""Knapsack: a weighted sum of capacity, every entry between bounds of its own.

{low <= x <= high, <b,x> = capacity}; weights b of any sign or 0, bounds finite or not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import formulas as f
from refsolve._lazy import cp
from refsolve._types import Number
from refsolve.errors import InfeasibleError, InvalidParameterError
from refsolve.formulas import Array
from refsolve.spec import Spec, Symbol

#: Weights other than 0 lie between 1/MODERATE and MODERATE, so that products of them are floats.
MODERATE = 1e70


def _unit(size: float) -> float:
    """A power of two near the size: sums of multiples are exact."""
    return float(2.0 ** np.floor(np.log2(min(size, 1e130))))


def _weights(rng: np.random.Generator, d: int, size: float, given: Mapping[str, Any]) -> Array:
    """Equal, signs, small integers with zeros and ties; real ones, of sizes a thousand apart, of any unit."""
    signs = rng.choice([-1.0, 1.0], d)
    kinds = [np.ones(d), signs, rng.integers(-3, 4, d) / 4]
    if size < 1e-290:  # products with smaller weights would lose their digits
        return kinds[rng.integers(3)]
    kinds += [rng.normal(size=d) / 4, signs * 10.0 ** rng.uniform(-3, 0, d), kinds[2] * signs > 0]
    return kinds[rng.integers(6)] * 2.0 ** rng.choice([0, 0, 0, -9])


def _low(rng: np.random.Generator, d: int, size: float, given: Mapping[str, Any]) -> Array:
    """All 0, none, or a mixture."""
    choices = _unit(size) * np.array([0.0, -0.5, -1.0, 0.25, rng.normal(), -np.inf])
    chosen = rng.integers(0, len(choices), d) if rng.random() < 0.6 else rng.choice([0, -1])
    return np.array(np.broadcast_to(choices[chosen], d))


def _high(rng: np.random.Generator, d: int, size: float, given: Mapping[str, Any]) -> Array:
    """Above low by nothing, by a multiple of a power of two, by anything, or without a bound."""
    low, unit = given["low"], _unit(size)
    widths = unit * np.array([0.0, 0.5, 1.0, abs(rng.normal()), np.inf])
    chosen = rng.integers(0, len(widths), d) if rng.random() < 0.7 else rng.integers(len(widths))
    start = np.where(low == -np.inf, unit * rng.choice([-1.0, 0.0, 0.5], d), low)
    high = start + widths[chosen]
    least, most = extent(given["b"], low, high)
    if not least <= _inside(least, most, 0.0) <= most:  # no float is between them
        high[np.flatnonzero(given["b"])[0]] = np.inf
        low[np.flatnonzero(given["b"])[0]] = -np.inf
    return high


def _inside(least: Any, most: Any, wanted: float) -> float:
    """The number nearest to ``wanted`` between two Fractions, rounded inwards."""
    value = float(min(max(wanted, least), most))
    if value < least:
        return float(np.nextafter(value, np.inf))
    return float(np.nextafter(value, -np.inf)) if value > most else value


def _capacity(rng: np.random.Generator, d: int, size: float, given: Mapping[str, Any]) -> float:
    """The least or the most that the bounds allow, or that of some point between them."""
    b, low, high = given["b"], given["low"], given["high"]
    least, most = extent(b, low, high)
    point = np.clip(rng.normal(size=d) * min(size, 1e130), low, high)
    wanted = [float((b * point).sum()), *(v for v in (least, most) if abs(v) < np.inf)]
    return _inside(least, most, wanted[int(rng.integers(2 * len(wanted))) % len(wanted)])


SPEC = Spec(
    title="Continuous quadratic knapsack",
    kind="sets",
    formulas={
        "set": "{x in R^d : low <= x <= high, <b,x> = capacity};  empty if no such x",
        "support": "min over t of t capacity + sum_i max((w_i - t b_i) low_i, (w_i - t b_i) high_i)",
        "projection": "argmin 1/2||x - a||^2 over the set",
        "solution": "x = clip(a - t b, low, high) with t such that <b,x> = capacity",
    },
    symbols=(
        Symbol("b", "weights of the entries, 0 or of magnitude 1e-70 to 1e70", shape="vector", rows="may",
               draws=_weights),
        Symbol("low", "least values of the entries, or -inf", shape="vector", unit="x", rows="may",
               infinite=True, draws=_low),
        Symbol("high", "largest values of the entries, or inf", shape="vector", unit="x", rows="may",
               infinite=True, draws=_high),
        Symbol("capacity", "value of <b,x>", unit="x", rows="may", draws=_capacity),
    ),
    scaling="low, high and capacity carry the units of x, b has none",
    source="Lapin et al. 2015, section 4.1; Kiwiel 2008, Variable fixing algorithms for the continuous "
    "quadratic knapsack problem",
    notes=(
        "min 1/2 sum d_i x_i^2 - a_i x_i over it, d > 0: the projection of a/sqrt(d) in x sqrt(d)",
        "an empty set is an error, compared exactly",
    ),
)  # fmt: skip

arguments = ("a", "b", "low", "high", "capacity")


def extent(b: Array, low: Array, high: Array) -> tuple[Any, Any]:
    """Least and largest value of <b,x> between the bounds, exact; infinite where they are."""
    b, low, high = (f.rationals(v.tolist()) for v in (b, low, high))
    moving = b != 0
    ends = b[moving] * low[moving], b[moving] * high[moving]
    zero = Fraction(0)
    return np.minimum(*ends).sum(initial=zero), np.maximum(*ends).sum(initial=zero)


def check(
    d: int, b: Array, low: Array, high: Array, capacity: float | Fraction, at_most: bool = False
) -> None:
    """Refuse bounds that cross, weights out of range, and an empty set, with the multiplier that proves it."""
    if (low > high).any() or (low == np.inf).any() or (high == -np.inf).any():
        expected = "low <= high in every entry, low < inf, high > -inf"
        raise InvalidParameterError("high", high, expected, "swap or relax them")
    if not all(v == 0 or 1 / MODERATE <= abs(v) <= MODERATE for v in b):
        expected = f"weights that are 0 or of magnitude {1 / MODERATE:g} to {MODERATE:g}"
        raise InvalidParameterError("b", b, expected, "divide b and capacity by the largest weight")
    least, most = extent(b, low, high)
    most = np.inf if at_most else most
    if not least <= Fraction(capacity) <= most:
        expected = f"between {float(least)!r} and {float(most)!r}: the set is empty otherwise"
        proof = {"capacity": -1.0 if capacity < least else 1.0}
        fix = "change it, or relax low and high"
        raise InfeasibleError("capacity", float(capacity), expected, fix, proof)


def normalised(b: Array, low: Array, high: Array, capacity: float) -> dict[str, Any]:
    """The same set with a largest weight of 1, as solvers want it."""
    top = abs(b).max() or 1.0
    return {"b": b / top, "low": low, "high": high, "capacity": float(capacity / top)}


def constraints(x: cp.Expression, b: Any, low: Any, high: Any, capacity: Any) -> list[Any]:
    """CVXPY constraints: the finite bounds, and <b,x> = capacity."""
    return [b @ x == capacity, *bounds(x, low, high)]


def bounds(x: cp.Expression, low: Any, high: Any) -> list[Any]:
    """CVXPY constraints: low <= x <= high where they are finite."""
    found = []
    for end, below in ((low, True), (high, False)):
        at = np.flatnonzero(np.isfinite(getattr(end, "value", end)))
        if len(at):
            held, entries = (end, x) if len(at) == x.size else (end[at], x[at])
            found.append(held <= entries if below else entries <= held)
    return found


def halfspaces(d: int, b: Array, low: Array, high: Array, capacity: float | Fraction) -> f.Rows:
    """The set as rows (g, h, equality) meaning <g,x> <= h or = h, rational."""
    rows = [(f.rationals(b.tolist()).tolist(), Fraction(capacity), True)] if b.any() else []
    for bound, sign in ((low, -1), (high, 1)):
        for (row, _, _), end in zip(f.units(d, sign), bound.tolist(), strict=True):
            rows += [(row, sign * Fraction(end), False)] if abs(end) < np.inf else []
    return rows


def _passed(knots: Array, over: Callable[[Array], Array]) -> Array:
    """How many of the ascending knots of each row come before ``over`` ceases to hold, by bisection."""
    low, high = np.zeros((2, *knots.shape[:-1], 1), dtype=int)
    high += knots.shape[-1]
    while (low < high).any():
        middle = (low + high) // 2
        at = np.take_along_axis(knots, np.minimum(middle, knots.shape[-1] - 1), axis=-1)
        more = over(at) & (low < high)
        low, high = np.where(more, middle + 1, low), np.where(more, high, middle)
    return low


def _price(w: Array, b: Array, low: Array, high: Array, capacity: Number) -> tuple[Array, Array]:
    """The multiplier t of <b,x> = capacity at a maximiser of <w,x>, and whether there is none."""
    moving = b != 0
    with np.errstate(invalid="ignore"):  # 0 inf, where it is not taken
        ends = np.where(moving, b * low, 0), np.where(moving, b * high, 0)
    least, most = np.minimum(*ends), np.maximum(*ends)
    knots = np.where(moving, w / np.where(moving, b, 1), w * 0)

    def over(t: Array) -> Array:
        with np.errstate(invalid="ignore"):  # inf - inf where <w,x> has no bound
            taken = np.where(knots <= t, least, most).sum(axis=-1, keepdims=True)
        return np.asarray(taken > f.column(capacity), dtype=bool)

    ordered = np.sort(knots, axis=-1)
    at = np.minimum(_passed(ordered, over), w.shape[-1] - 1)
    start = np.where(most == np.inf, knots, -np.inf).max(axis=-1)
    stop = np.where(least == -np.inf, knots, np.inf).min(axis=-1)
    still = ~moving & (((w > 0) & (high == np.inf)) | ((w < 0) & (low == -np.inf)))
    return np.take_along_axis(ordered, at, axis=-1), (start > stop) | still.any(axis=-1)


def support(w: Array, b: Array, low: Array, high: Array, capacity: Number) -> Array:
    """Max <w,x> over the set, for each row of ``w``."""
    t, unbounded = _price(w, b, low, high, capacity)
    v = w - t * b
    ends = np.where(v > 0, high, low)
    gains = v * np.where(abs(ends) == np.inf, 0, ends)
    return np.where(unbounded, np.inf, t[..., 0] * capacity + gains.sum(axis=-1))


def residual(x: Array, w: Array, b: Array, low: Array, high: Array, capacity: Number) -> Array:
    """support(w) - <w,x> for feasible x, as a sum of nonnegative terms (no cancellation)."""
    t, unbounded = _price(w, b, low, high, capacity)
    v = w - t * b
    above = f.positive(np.where(high == np.inf, x, high) - x) * f.positive(v)
    below = f.positive(x - np.where(low == -np.inf, x, low)) * f.positive(-v)
    return np.where(unbounded, np.inf, (above + below).sum(axis=-1))


def part(
    x: Array, reach: Number, b: Array, low: Array, high: Array, capacity: Number
) -> dict[str, Any]:
    """Parameters of a bounded part of the set, with every point no further than ``reach`` from x."""
    ends = np.maximum(low, x - 2 * reach), np.minimum(high, x + 2 * reach)
    return {"b": b, "low": ends[0], "high": ends[1], "capacity": capacity}


def conditioning(b: Array, low: Array, high: Array, capacity: Number) -> Any:
    """How much larger an error of <b,x> is in x: the ratio of the weights other than 0."""
    sizes = abs(b[b != 0])
    return sizes.max() / sizes.min() if sizes.size else 1


def violation(x: Array, b: Array, low: Array, high: Array, capacity: Number) -> Array:
    """Largest violated constraint, 0 if feasible."""
    ends = np.maximum((low - x).max(axis=-1), (x - high).max(axis=-1))
    return f.positive(np.maximum(ends, abs((b * x).sum(axis=-1) - capacity)))


def repair(x: Array, b: Array, low: Array, high: Array, capacity: Number) -> Array:
    """The feasible point nearest to ``x``; x itself where only roundings are amiss."""
    eps = 4 * np.finfo(x.dtype).eps if x.dtype.kind == "f" else 0
    for _ in range(2):  # what is left over after the first are its roundings, in units of x
        x = np.clip(x, low, high)
        terms = b * x
        off = np.asarray(abs(terms.sum(axis=-1) - capacity) > eps * abs(terms).sum(axis=-1))
        x = np.where(off[..., None], nearest(x, b, low, high, capacity), x) if off.any() else x
    return x


def nearest(a: Array, b: Array, low: Array, high: Array, capacity: Number) -> Array:
    """The projections, row by row: <b,x(t)> falls in t, linearly between 2d knots."""
    r, moving = f.column(capacity), b != 0
    safe = np.where(moving, b, 1)
    ends = (a - low) / safe, (a - high) / safe
    first, last = (np.where(moving, end(*ends), np.inf) for end in (np.minimum, np.maximum))
    knots = np.concatenate([first, last], axis=-1)
    # between two knots <b,x(t)> is linear, so that one more, here a_1 - a_1, does no harm
    knots = np.sort(np.where(abs(knots) == np.inf, a[..., :1] - a[..., :1], knots), axis=-1)

    def point(t: Array) -> Array:
        return np.clip(a - t * b, low, high)

    def over(t: Array) -> Array:
        return np.asarray((b * point(t)).sum(axis=-1, keepdims=True) > r, dtype=bool)

    passed = _passed(knots, over)
    t = np.take_along_axis(knots, np.maximum(passed - 1, 0), axis=-1)
    free = np.where(passed > 0, (first <= t) & (t < last), (first < t) & (t <= last))
    square = np.where(free, b * b, b * 0).sum(axis=-1, keepdims=True)
    slope = np.where(square > 0, square, square + 1)
    off = (b * np.where(free, a, point(t))).sum(axis=-1, keepdims=True) - r
    return point(np.where(square > 0, off / slope, t))
