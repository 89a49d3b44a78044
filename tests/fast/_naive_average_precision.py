"""Naive twins: every ranking in rational arithmetic, and Yue's greedy in plain Python."""

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, permutations


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


def brute_force(scores, y):
    """L and the counts of the optimal ranking with the fewest inversions, over all rankings."""
    positives, negatives = split(scores, y)
    every = combinations_with_replacement(range(len(negatives) + 1), len(positives))
    value, _, counts = max((objective(c, positives, negatives), -sum(c), c) for c in every)
    return value, counts


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
