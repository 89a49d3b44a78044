"""Random queries and the exact objective, shared by the tests of average precision."""

from fractions import Fraction

import numpy as np

from refsolve.exact import average_precision as exactly


def instance(rng, most=4, tied=None):
    """Scores with or without ties, and shuffled labels."""
    P, N = rng.integers(1, most + 1, size=2)
    y = rng.permutation(np.r_[np.ones(P, int), np.zeros(N, int)])
    tied = rng.random() < 0.5 if tied is None else tied
    scores = rng.integers(-3, 4, size=P + N) / 4 if tied else rng.normal(size=P + N)
    return scores * rng.choice([0.1, 1, 4]) + rng.choice([0, 0, 1]) * y, y


def objective(scores, y, inversions):
    """Delta + <coefficients, s>, exactly."""
    exact_scores = [Fraction(*float(v).as_integer_ratio()) for v in scores]
    return exactly.objective(exact_scores, [bool(v) for v in y], tuple(int(v) for v in inversions))[
        0
    ]
