"""Recall at k by all sets, from the definition."""

from itertools import combinations

import numpy as np


def cut(members, y):
    """Delta(T), and the coefficients 2 (1_T - 1_pos)."""
    return 1.0 - (members & y).sum() / y.sum(), 2.0 * (members.astype(float) - y)


def sets(n, k):
    return [np.isin(np.arange(n), T) for T in combinations(range(n), k)]


def loss(s, y, k):
    """Sets of t positives: the best t of them, and the best of the negatives."""
    up, down = np.sort(s[y])[::-1], np.sort(s[~y])[::-1]
    values = [
        1 - t / len(up) + 2 * (up[:t].sum() + down[: k - t].sum() - up.sum())
        for t in range(max(0, k - len(down)), min(k, len(up)) + 1)
    ]
    return max(0.0, *values)
