"""Naive twins: every ranking in rational arithmetic, and Yue's greedy in plain Python."""

from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest


def split(scores, y):
    """Scores of both classes in descending order, as fractions."""
    chosen = [(Fraction(float(s)), v == 1) for s, v in zip(scores, y, strict=True)]
    return tuple(
        sorted((s for s, v in chosen if v == side), reverse=True) for side in (True, False)
    )


def objective(counts, positives, negatives):
    """Delta + <s, Psi(R) - Psi(R*)> of ascending counts."""
    p, n = len(positives), len(negatives)
    loss = sum(Fraction(c, p * (k + c)) for k, c in enumerate(counts, 1))
    pairs = sum(t - s for s, c in zip(positives, counts, strict=True) for t in negatives[:c])
    return loss + Fraction(2, p * n) * pairs


def gains(scores, y):
    """delta_j(i) for i = 1..P + 1, one list per negative in descending order, exactly."""
    positives, negatives = split(scores, y)
    p, n = len(positives), len(negatives)
    table = []
    for j, t in enumerate(negatives, 1):
        row = [Fraction(0)]
        for k in range(p, 0, -1):
            h = Fraction(k, p * (j + k) * (j + k - 1)) - Fraction(2, p * n) * (positives[k - 1] - t)
            row.append(row[-1] + h)
        table.append(row[::-1])
    return table


def greedy(scores, y):
    """L, counts in ascending order and opt_j, ties to the largest rank."""
    table = gains(scores, y)
    optima = [max(range(1, len(row) + 1), key=lambda i: (row[i - 1], i)) for row in table]
    counts = tuple(sum(o <= k for o in optima) for k in range(1, len(table[0])))
    return sum(row[o - 1] for row, o in zip(table, optima, strict=True)), counts, optima


def average_precision(order):
    """AP of labels from the best to the worst."""
    ranks = [r for r, v in enumerate(order, 1) if v]
    return sum(Fraction(k, r) for k, r in enumerate(ranks, 1)) / len(ranks)


def tied_orders(scores, y):
    """AP of all orders that agree with the scores, with repetition for equal labels."""
    return [
        average_precision([y[i] == 1 for i in order])
        for order in permutations(range(len(y)))
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]


def instance(rng, p, n, kind=None):
    """Scores that are multiples of 1/64, so that every sum and product below is exact, and labels."""
    y = rng.permutation(np.arange(p + n) < p)
    kind = rng.integers(4) if kind is None else kind
    if kind == 0:
        return rng.integers(-3, 4, p + n) / 2 + 0.5 * y, y
    if kind == 1:
        return np.round(64 * rng.standard_normal(p + n) + 32 * y) / 64, y
    if kind == 2:  # spread as a trained model's: counts tie in pools
        return np.round(64 * (rng.standard_normal(p + n) + 3 * y) * max(n / p, 1)) / 64, y
    return rng.integers(-2, 3, p + n) * n / 4.0, y


def ordered(scores, y):
    """Places of positives and of negatives, highest first, ties in input order."""
    return tuple(
        where[np.argsort(-scores[where], kind="stable")] for where in map(np.flatnonzero, (y, ~y))
    )


def ranking(scores, y, counts, weight=1.0):
    """What follows from ascending counts: per positive, coefficients, L and 1 - AP."""
    high, low = ordered(scores, y)
    p, n = len(high), len(low)
    inversions = np.zeros(p + n)
    inversions[high] = counts
    below = [sum(c >= j for c in counts) for j in range(1, n + 1)]
    coefficients = np.zeros(p + n)
    coefficients[high] = np.negative(counts)
    coefficients[low] = below
    delta = sum(Fraction(int(c), k + int(c)) for k, c in enumerate(counts, 1)) / p
    gain = sum(
        (Fraction(s) * Fraction(c) for s, c in zip(scores, coefficients, strict=True)), Fraction(0)
    )
    value = delta + 2 * gain / (p * n)
    return inversions[y], 2.0 / (p * n) * weight * coefficients, float(max(value, 0)), float(delta)


def check(found, coefficients, scores, y, counts, weight=1.0):
    """The ranking, the coefficients and both values of these counts."""
    given, wanted, value, delta = ranking(scores, y, counts, weight)
    np.testing.assert_array_equal(found.counts, given)
    np.testing.assert_allclose(coefficients, wanted, rtol=1e-15, atol=0)
    assert not np.signbit(coefficients[coefficients == 0.0]).any()
    spread = np.abs(wanted / weight * (scores - np.sort(scores[y])[::-1][len(given) // 2])).sum()
    assert abs(found.value - value) <= 1e-15 * (delta + spread)
    assert found.delta == pytest.approx(delta, rel=1e-15)
    assert found.active == (counts[-1] if len(counts) else 0)


def slopes(scores, y):
    """Whether h_k(j) > 0 (P, N), in whole numbers."""
    high, low = ordered(scores, y)
    s, t = (np.round(128 * scores[part]).astype(np.int64) for part in (high, low))
    assert (s == 128 * scores[high]).all()
    k, j = np.arange(1, len(s) + 1)[:, None], np.arange(1, len(t) + 1)
    m = k + j
    return len(t) * k * 64 > (s[:, None] - t) * m * (m - 1)


def optima(scores, y):
    """opt_j, ties to the largest rank, in rational arithmetic."""
    table = gains(scores, y)
    return [max(range(1, len(row) + 1), key=lambda i: (row[i - 1], i)) for row in table]


def counted(optimal, p):
    """c_k = #{j: opt_j <= k}."""
    return [sum(i <= k for i in optimal) for k in range(1, p + 1)]


def sizes(rng, most_p, most_n):
    return int(rng.integers(1, most_p + 1)), int(rng.integers(1, most_n + 1))
