"""Exact projection on the polymatroid of the cardinality: pooled means of (a)_+ - beta in the order of a."""

from fractions import Fraction
from itertools import pairwise

from refsolve.exact._rational import ZERO, Vector
from refsolve.exact._thresholds import Named
from refsolve.sets.cardinality_polymatroid import pooled


def project(a: Vector, beta: Vector) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 over the set."""
    order = sorted(range(len(a)), key=lambda i: -a[i])
    falls = pooled([max(a[i], ZERO) - weight for i, weight in zip(order, beta, strict=True)])
    x = [max(v, ZERO) for v in a]
    for i, fall in zip(order, falls, strict=True):
        x[i] -= max(fall, ZERO)
    return x


def internals(a: Vector, x: Vector, beta: Vector) -> Named:
    """Threshold of every entry, x = (a)_+ - t, and the multiplier of the bound on the j largest, j = 1..d."""
    t = [max(v, ZERO) - found for v, found in zip(a, x, strict=True)]
    falling = [*sorted(t, reverse=True), ZERO]
    return {
        "s": sum(x, ZERO),
        "t": t,
        "M": tuple(i for i, v in enumerate(x) if v > 0),
        "L": tuple(i for i, v in enumerate(x) if v == 0),
        "lambda": [high - low for high, low in pairwise(falling)],
    }
