"""The knapsack of `fast` against exact arithmetic and a twin that sorts all breakpoints; its special cases; errors."""

import numpy as np
import pytest

from fast.errors import InvalidParameterError
from fast.sets import capped_simplex, knapsack
from refsolve import catalogue, exact

SYMBOLS = catalogue.load("knapsack").SPEC.symbols
EPS = np.finfo(float).eps


def naive(a, b, low, high, capacity):
    """<b,x(t)> at every breakpoint, sorted; then t from the entries that are free between two of them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        knots = np.concatenate([(a - low) / b, (a - high) / b])
    knots = np.sort(np.append(knots[np.isfinite(knots)], 0.0))
    knots = np.concatenate([[knots[0] - 1], knots, [knots[-1] + 1]])
    values = np.array([b @ np.clip(a - t * b, low, high) for t in knots])
    i = int(np.clip((values > capacity).sum(), 1, knots.size - 1))
    t = (knots[i - 1] + knots[i]) / 2
    x = np.clip(a - t * b, low, high)
    free = (low < a - t * b) & (a - t * b < high) & (b != 0)
    if free.any():
        t = (b @ np.where(free, a, x) - capacity) / (b[free] @ b[free])
    return np.clip(a - t * b, low, high)


def draw(rng, d):
    """A row, often tied, with weights, bounds and a capacity that fit."""
    a = rng.choice([rng.normal(size=d), rng.integers(-2, 3, d) / 2])
    given = {"a": a}
    for symbol in SYMBOLS:
        given[symbol.name] = symbol.draw(rng, d, 1.0, given)
    return given


@pytest.mark.parametrize(("d", "draws"), [(1, 60), (2, 150), (5, 150), (20, 40), (130, 8)])
def test_against_exact_arithmetic_and_the_twin_that_sorts(d, draws):
    rng = np.random.default_rng(d)
    for _ in range(draws):
        given = draw(rng, d)
        x, expected = knapsack.project(**given), exact.project("knapsack", **given).array()
        sizes = np.abs(given["b"][given["b"] != 0])
        spread = sizes.max() / sizes.min() if sizes.size else 1.0
        bound = 4 * (d + 4) * EPS * (np.abs(given["a"]).max() + spread * np.abs(expected).sum())
        np.testing.assert_allclose(x, expected, rtol=0, atol=bound)
        np.testing.assert_allclose(x, naive(**given), rtol=0, atol=2 * bound)


def test_simplex_and_capped_simplex_are_special_cases(rng):
    a = rng.normal(size=(40, 7))
    for high in (np.inf, 0.3):
        x = knapsack.project(a, 1.0, 0.0, high, 1.5)
        right = capped_simplex.project(a, r=1.5, cap=min(high, 9.0))
        np.testing.assert_allclose(x, right, rtol=0, atol=64 * EPS)


def test_vectors_are_numbers_one_for_all_rows_or_one_per_row(rng):
    a, b, low = rng.normal(size=(3, 6, 4))
    high, c = low + 1, (b * (low + rng.uniform(0, 1, (6, 4)))).sum(axis=1)
    together = knapsack.project(a, b, low, high, c)
    for i in range(6):
        np.testing.assert_array_equal(
            together[i], knapsack.project(a[i], b[i], low[i], high[i], c[i])
        )
    shared = knapsack.project(a, b[0], -2.0, np.full(4, 2.0), 0.1)
    wide = np.full((6, 4), 2.0)
    np.testing.assert_array_equal(
        shared, knapsack.project(a, np.tile(b[0], (6, 1)), -wide, wide, 0.1)
    )
    assert knapsack.project(a[:0], b[0], -2.0, 2.0, 0.1).shape == (0, 4)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"b": [1.0, np.nan]}, r"b\[1\] = nan"),
        ({"b": [1.0, np.inf]}, r"b\[1\] = inf"),
        ({"b": [1.0, 1e-80]}, "0 or of magnitude"),
        ({"b": [1.0]}, r"b: shape \(1,\)"),
        ({"low": np.inf}, "low: inf; expected finite numbers or -inf"),
        ({"high": [1.0, -np.inf]}, r"high\[1\] = -inf"),
        ({"low": 0.7, "high": 0.5}, "high: below low by 0.2"),
        ({"capacity": 1e200}, "capacity"),
        ({"capacity": 2.5}, r"capacity: 2.5 \(row 0\); expected between 0 and 2: otherwise the set is empty"),
        ({"a": np.zeros((3, 2)), "capacity": [1.0, 2.0, -0.5]}, r"-0.5 \(row 2\); .*empty"),
        ({"b": 0.0}, r"between 0 and 0.*empty"),
        ({"a": [np.nan, 1.0]}, r"a\[0\] = nan"),
    ],
)  # fmt: skip
def test_bad_input_is_named(wrong, message):
    given = {"a": [0.5, 2.0], "b": 1.0, "low": 0.0, "high": 1.0, "capacity": 1.0}
    with pytest.raises(InvalidParameterError, match=message):
        knapsack.project(**{**given, **wrong})
