"""Sound trainers over rankings that the mutants are made from: those of `fast`, with any inference.

``infer(scores, y)`` is as in `rankings`; a mutant may replace it, scale what it sees, or train for
another problem than the one it was given.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from verification.reference_solvers import rankings as sound
from verification.reference_solvers.projections import Array

Parts = dict[str, Any]
Infer = Callable[[Array, Array], sound.Answer]
MOST = 5000


def queries(y: Array, groups: Array | None) -> list[Array]:
    """Rows of each query."""
    names = np.zeros(len(y), dtype=int) if groups is None else groups
    return [np.flatnonzero(names == name) for name in np.unique(names)]


def mean_inference(y: Array, groups: Array | None, infer: Infer) -> Any:
    """The mean over the queries as a cut in the scores."""
    from fast.solvers.score_problem import ScoreCut

    rows_of = queries(y, groups)

    def ask(scores: Array) -> Any:
        value, coefficients = 0.0, np.zeros(len(y))
        for rows in rows_of:
            found, _, slopes = infer(scores[rows], y[rows])
            value += found / len(rows_of)
            coefficients[rows] = slopes / len(rows_of)
        offset = value - float(coefficients @ scores)
        return ScoreCut(value, offset, coefficients, len(y))

    return ask


def inversions(y: Array, groups: Array | None, coefficients: Array) -> Array:
    """The rankings (m, n) of cuts (m, n)."""
    rows_of = queries(y, groups)
    found = np.zeros(coefficients.shape, dtype=np.int64)
    for rows in rows_of:
        P = int((y[rows] > 0).sum())
        pairs = P * (len(rows) - P) * len(rows_of)
        found[:, rows] = np.round(np.abs(coefficients[:, rows]) * pairs / 2).astype(np.int64)
    return found


def train(
    X: Array,
    y: Array,
    C: float,
    groups: Array | None = None,
    tol: float = 1e-6,
    infer: Infer = sound.infer,
    report: Callable[[Any], bool] | None = None,
) -> Parts:
    """The model w (d,), its rankings (m, n) and their weights (m,)."""
    from fast.solvers import structured

    found = structured.train(
        X,
        mean_inference(y, groups, infer),
        C,
        tol=tol,
        max_iter=MOST,
        cuts=[(0.0, np.zeros(len(y)))],
        report=report,
    )
    rankings = inversions(y, groups, found.coefficients.toarray())
    return {"w": found.w, "rankings": rankings, "weights": found.weights}
