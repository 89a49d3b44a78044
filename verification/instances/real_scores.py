"""Rows of scores as training meets them: a linear model of the Letter data that ships with `fast`.

The features are integers and the weights are rounded to multiples of 2^-12, so that every score is
exact, and the rows are the same on every machine.
"""

import functools

import numpy as np

from fast.datasets import load_letter

#: Denominator of the weights.
UNIT = 2.0**12
#: Weight of the squared norm, in units of a feature's.
RIDGE = 1.0


@functools.cache
def letter() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores (n, 26) of a least-squares fit of one class against the others, classes, and ||x_i||^2."""
    X, y = load_letter("validation")
    X = np.hstack([X, np.ones((len(X), 1))])
    m = int(y.max()) + 1
    target = np.where(y[:, None] == np.arange(m), 1.0, -1.0)
    W = np.linalg.solve(X.T @ X + RIDGE * np.eye(X.shape[1]), X.T @ target)
    return X @ (np.round(W * UNIT) / UNIT), y, (X * X).sum(axis=1)


def row(rng: np.random.Generator, classes: int) -> tuple[np.ndarray, int, float]:
    """Scores of one letter over some classes (its own among them), its place there, ||x_i||^2."""
    scores, y, squares = letter()
    i = int(rng.integers(len(y)))
    others = rng.permutation(np.delete(np.arange(scores.shape[1]), y[i]))[: classes - 1]
    kept = np.sort(np.append(others, y[i]))
    # a fit of +-1 has narrow margins: half of the rows are scaled as a classifier's would be
    scale = float(rng.choice([1.0, 8.0]))
    return scale * scores[i, kept], int(np.searchsorted(kept, y[i])), float(squares[i])


def query(rng: np.random.Generator, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of one class for some letters, and which of them are of that class: both kinds occur."""
    scores, y, _ = letter()
    wanted = int(rng.integers(scores.shape[1]))
    positives, negatives = np.flatnonzero(y == wanted), np.flatnonzero(y != wanted)
    P = int(rng.integers(1, min(len(positives), samples - 1) + 1))
    rows = np.concatenate(
        [rng.choice(positives, P, replace=False), rng.choice(negatives, samples - P, replace=False)]
    )
    rows = rng.permutation(rows)
    return scores[rows, wanted], (y[rows] == wanted).astype(np.int64)
