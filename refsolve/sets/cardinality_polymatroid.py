"""Polymatroid of a function of the cardinality: the j largest entries sum to at most beta_1 + ... + beta_j.

P = {x >= 0, S_j(x) <= beta_1 + ... + beta_j for all j}, beta_1 >= ... >= beta_d >= 0: all x that are below
a mean of the permutations of beta. Its support function is an ordered weighted sum.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import formulas as f
from refsolve._lazy import cp
from refsolve._types import Floats
from refsolve.errors import InvalidParameterError
from refsolve.formulas import Array
from refsolve.spec import Spec, Symbol


def weights(rng: np.random.Generator, d: int) -> Array:
    """Of the size of 1: the first k alike, falling with and without ties, far apart, 0."""
    places = np.arange(1, d + 1)
    shapes = [
        (places <= rng.integers(1, d + 1)) / 1.0,
        1.0 / places,
        np.sort(rng.integers(0, 4, d) / 4)[::-1],
        np.sort(rng.exponential(size=d))[::-1],
        np.sort(10.0 ** rng.uniform(-6, 0, d))[::-1],
        np.zeros(d),
    ]
    return np.array(shapes[rng.choice(6, p=[0.25, 0.15, 0.2, 0.2, 0.15, 0.05])])


def _beta(rng: np.random.Generator, d: int, size: float, given: Mapping[str, Any]) -> Array:
    """Of the size of 1 or of the point."""
    unit = rng.choice([1.0, size * rng.uniform(0.05, 2.0) / d, size])
    return weights(rng, d) * min(unit, 1e300)


SPEC = Spec(
    title="Polymatroid of the cardinality",
    kind="sets",
    formulas={
        "set": "{x in R^d : x >= 0, S_i(x) <= S_i(beta)},  S_i = sum of the i largest, i = 1..d",
        "support": "sum_i beta_i max(w_[i], 0),  w_[1] >= ... >= w_[d]",
        "projection": "argmin 1/2||x - a||^2 + rho/2 <1,x>^2 over the set",
        "solution": "x = clip(a - t, 0, a - v), t the least real >= 0 with rho <1,x> <= t, "
        "v = the falling regression on a_[i] - beta_i in the order of a",
    },
    symbols=(
        Symbol("beta", "weights of the ordered entries, beta_1 >= ... >= beta_d", low=0, shape="vector",
               unit="x", rows="may", draws=_beta),
    ),
    scaling="beta carries the units of x",
    source="Usunier, Buffoni and Gallinari 2009; Lapin et al. 2015, section 2.3; the projection by pooling "
    "adjacent violators: Bogdan et al. 2015, SLOPE",
    notes=(
        "beta = (1/k, ..., 1/k, 0, ..., 0) is topk_simplex_beta with r = 1, equal weights a box",
        "the prox of the support function is what this projection takes away from a (Moreau)",
    ),
)  # fmt: skip


def check(d: int, beta: Array) -> None:
    """Refuse weights that rise."""
    if any(beta[1:] > beta[:-1]):
        raise InvalidParameterError(
            "beta", beta, "weights that do not rise: beta_1 >= ... >= beta_d", "sort them"
        )


def constraints(x: cp.Expression, beta: Any) -> list[Any]:
    """CVXPY constraints: x >= 0, and a bound on the sum of the j largest entries for every j."""
    tops = [x >= 0, *(cp.sum_largest(x, j) <= cp.sum(beta[:j]) for j in range(1, x.size))]
    # sum_largest at j = size raises when a solved problem goes to another solver (cvxpy 1.9)
    return [*tops, cp.sum(x) <= cp.sum(beta)]


def halfspaces(d: int, beta: Array) -> f.Rows:
    """The set as rows (g, h, equality) meaning <g,x> <= h, rational: one per set of entries."""
    bounds = [Fraction(0), *np.cumsum(f.rationals(beta.tolist()))]
    subsets = itertools.product((Fraction(0), Fraction(1)), repeat=d)
    return [
        *f.units(d, -1),
        *((list(row), bounds[int(sum(row))], False) for row in subsets if any(row)),
    ]


def largest_sum(beta: Array) -> Any:
    """Largest <1,x> over the set."""
    return beta.sum()


def support(w: Array, beta: Array) -> Array:
    """Max <w,x> over the set, for each row of ``w``."""
    return (beta * f.descending(f.positive(w))).sum(axis=-1)


def room(x: Array, beta: Array) -> Array:
    """Least slack of the inequalities, of which there are too many to be listed; no equation holds."""
    left = np.cumsum(beta, axis=-1) - np.cumsum(f.descending(x), axis=-1)
    return np.minimum(x.min(axis=-1), left.min(axis=-1))


def violation(x: Array, beta: Array) -> Array:
    """Largest violated constraint, 0 if feasible."""
    return f.positive(-room(x, beta))


def repair(x: Array, beta: Array) -> Array:
    """A feasible point near ``x``: without its negative entries, scaled."""
    x = f.positive(x)
    tops, bounds = np.cumsum(f.descending(x), axis=-1), np.cumsum(beta, axis=-1)
    over = tops > bounds
    # the quotient only where it counts: int / int would turn Fractions into floats
    shares = np.where(over, bounds / np.where(over, tops, 1), 1)
    return x * shares.min(axis=-1, keepdims=True)


def residual(x: Array, w: Array, beta: Array) -> Array:
    """support(w) - <w,x> for feasible x, as a sum of nonnegative terms (no cancellation)."""
    order = np.argsort(-w, axis=-1, kind="stable")
    taken = np.cumsum(np.take_along_axis(x, order, axis=-1), axis=-1)
    ordered = f.positive(np.take_along_axis(w, order, axis=-1))
    steps = np.concatenate([ordered[..., :-1] - ordered[..., 1:], ordered[..., -1:]], axis=-1)
    room = f.positive(np.cumsum(beta, axis=-1) - taken)
    return (steps * room + x * f.positive(-w)).sum(axis=-1)


def pooled(values: Any) -> list[Any]:
    """The nonincreasing vector nearest to the values: adjacent violators are pooled to their mean."""
    blocks: list[tuple[Any, int]] = []  # sum, length
    for value in values:
        total, count = value, 1
        while blocks and blocks[-1][0] * count <= total * blocks[-1][1]:
            before, length = blocks.pop()
            total, count = before + total, length + count
        blocks.append((total, count))
    return [mean for total, count in blocks for mean in [total / count] * count]


def nearest(a: Array, beta: Array, rho: Floats = 0.0) -> Array:
    """Rows near the biased projections, t by bisection: a proposal for certificates to judge."""
    order = np.argsort(-a, axis=-1, kind="stable")
    sizes = np.take_along_axis(a, order, axis=-1)
    rows = (sizes - beta).reshape(-1, a.shape[-1])
    falls = np.array([pooled(row) for row in rows], dtype=a.dtype).reshape(a.shape)
    caps = np.empty_like(a)
    np.put_along_axis(caps, order, f.positive(sizes - falls), axis=-1)

    def point(t: Array) -> Array:
        return np.clip(a - t[..., None], 0, caps)

    def too_small(t: Array) -> Array:
        return np.asarray(rho * point(t).sum(axis=-1) > t)

    low = np.zeros(a.shape[:-1], a.dtype)
    t = np.where(too_small(low), f.bisect(too_small, low, f.positive(a.max(axis=-1))), low)
    return repair(point(t), beta)
