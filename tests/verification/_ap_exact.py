"""AP-SVM in Fractions: its objectives by their definitions."""

from fractions import Fraction

import numpy as np
from _svm_plus_exact import exact

from refsolve.proofs import ranking_truth


def objectives(w, X, y, C, rankings, weights, groups=None):
    """P at w; D at weights of rankings, and the w that they make."""
    y = np.asarray(y) > 0
    groups = np.zeros(len(y), int) if groups is None else groups
    rows = [np.flatnonzero(groups == g) for g in np.unique(groups)]
    W, E = exact(w), exact(X)
    scores = E @ W
    loss = sum(ranking_truth.solve(scores[r], y[r]).value for r in rows) / len(rows)
    primal = sum(W * W) / 2 + Fraction(C) * loss
    v, gain = 0 * W, Fraction(0)
    for weight, inversions in zip(exact(weights), rankings, strict=True):
        for r in rows:
            P, N = int(y[r].sum()), int((~y[r]).sum())
            c = np.where(y[r], -1, 1) * inversions[r] * Fraction(2, P * N * len(rows))
            v = v - weight * (c @ E[r])
            gain += weight * ranking_truth.loss(y[r], inversions[r]) / len(rows)
    return primal, gain - sum(v * v) / 2, v
