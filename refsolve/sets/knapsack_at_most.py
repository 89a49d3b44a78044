"""Knapsack of at most its capacity: a weighted sum that may fall short, every entry between bounds of its own.

{low <= x <= high, <b,x> <= capacity}; weights b of any sign or 0, bounds finite or not. With the slack
capacity - <b,x> >= 0 for one more entry, of weight 1, its points are those of a `knapsack`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import formulas as f
from refsolve._lazy import cp
from refsolve._types import Number
from refsolve.formulas import Array
from refsolve.sets import knapsack

*BOUNDS, CAPACITY = knapsack.SPEC.symbols


def _capacity(rng: np.random.Generator, d: int, size: float, given: Mapping[str, Any]) -> float:
    """That of a knapsack, or more: a thousandth to a thousand times what entries of the size take."""
    more = min(size, 1e130) * abs(given["b"]).sum() * 10.0 ** rng.uniform(-3, 3)
    return float(CAPACITY.draw(rng, d, size, given) + rng.integers(2) * more)


SPEC = replace(
    knapsack.SPEC,
    title="Continuous quadratic knapsack, capacity not exceeded",
    formulas={
        **knapsack.SPEC.formulas,
        "set": "{x in R^d : low <= x <= high, <b,x> <= capacity};  empty if no such x",
        "support": "min over t >= 0 of t capacity + sum_i max((w_i - t b_i) low_i, (w_i - t b_i) high_i)",
        "solution": "x = clip(a - t b, low, high), t the least real >= 0 with <b,x> <= capacity",
    },
    symbols=(*BOUNDS, replace(CAPACITY, meaning="largest value of <b,x>", draws=_capacity)),
    source="Lapin et al. 2015, section 4.1",
    notes=(
        "where clip(a, low, high) is in the set it is the projection; otherwise that on the knapsack is",
        "an empty set is an error, compared exactly",
    ),
)

arguments = knapsack.arguments
normalised, conditioning, part = knapsack.normalised, knapsack.conditioning, knapsack.part


def check(d: int, b: Array, low: Array, high: Array, capacity: float | Fraction) -> None:
    """Refuse bounds that cross, weights out of range, and an empty set, with the multiplier that proves it."""
    knapsack.check(d, b, low, high, capacity, at_most=True)


def constraints(x: cp.Expression, b: Any, low: Any, high: Any, capacity: Any) -> list[Any]:
    """CVXPY constraints: the finite bounds, and <b,x> <= capacity."""
    return [b @ x <= capacity, *knapsack.bounds(x, low, high)]


def halfspaces(d: int, b: Array, low: Array, high: Array, capacity: float | Fraction) -> f.Rows:
    """The set as rows (g, h, equality) meaning <g,x> <= h or = h, rational."""
    return [(g, h, False) for g, h, _ in knapsack.halfspaces(d, b, low, high, capacity)]


def _and(v: Array, last: Any) -> Array:
    """The entries and that of the slack behind them."""
    return np.concatenate([v, np.full_like(v[..., :1], last)], axis=-1)


def _with_slack(b: Array, low: Array, high: Array, capacity: Number) -> tuple[Any, ...]:
    """The knapsack of the points with their slacks."""
    return _and(b, 1), _and(low, 0), _and(high, np.inf), capacity


def support(w: Array, b: Array, low: Array, high: Array, capacity: Number) -> Array:
    """Max <w,x> over the set, for each row of ``w``."""
    return knapsack.support(_and(w, w[..., :1] * 0), *_with_slack(b, low, high, capacity))


def _slack(x: Array, b: Array, capacity: Number) -> Array:
    """Capacity - <b,x>, the axis kept."""
    return f.column(capacity) - (b * x).sum(axis=-1, keepdims=True)


def residual(x: Array, w: Array, b: Array, low: Array, high: Array, capacity: Number) -> Array:
    """support(w) - <w,x> for feasible x, as a sum of nonnegative terms (no cancellation)."""
    whole = np.concatenate([x, f.positive(_slack(x, b, capacity))], axis=-1)
    return knapsack.residual(whole, _and(w, w[..., :1] * 0), *_with_slack(b, low, high, capacity))


def violation(x: Array, b: Array, low: Array, high: Array, capacity: Number) -> Array:
    """Largest violated constraint, 0 if feasible."""
    excess = np.concatenate([low - x, x - high, -_slack(x, b, capacity)], axis=-1)
    return f.positive(excess.max(axis=-1))


def repair(x: Array, b: Array, low: Array, high: Array, capacity: Number) -> Array:
    """The feasible point nearest to ``x``; x itself where only roundings are amiss."""
    x = np.clip(x, low, high)
    over = _slack(x, b, capacity) < 0
    return np.where(over, knapsack.repair(x, b, low, high, capacity), x) if over.any() else x


def nearest(a: Array, b: Array, low: Array, high: Array, capacity: Number) -> Array:
    """The projections, row by row: a between the bounds, or the projection on the knapsack."""
    x = np.clip(a, low, high)
    over = _slack(x, b, capacity) < 0
    return np.where(over, knapsack.nearest(a, b, low, high, capacity), x) if over.any() else x
