"""The plain 1-slack cutting plane (Joachims, Finley and Yu 2009), what AP-SVMs are usually trained by.

Every round solves the problem over the rankings met so far, evaluates the most violated ranking at
its solution, and adds it: no line search, no step that is kept back.
"""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Stopped:
    """Where it came to: best model, dual weights C lambda on its rankings, and what it cost."""

    w: np.ndarray
    rankings: np.ndarray
    weights: np.ndarray
    calls: int
    seconds: float


def train(
    X: np.ndarray, queries: Any, C: float, tol: float, max_calls: int, max_seconds: float
) -> Stopped:
    """Train from w = 0 until P(best w) - D <= tol P, or until a limit is hit.

    Parameters
    ----------
    X : (n, d) array
    queries : fast.ranking.queries.Queries
    C, tol : float
    max_calls, max_seconds : limits; the model is that of the best primal value so far.
    """
    from fast.solvers import simplex_qp

    start = perf_counter()
    w, best, best_value = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.inf
    rows, offsets, coefficients = [np.zeros(X.shape[1])], [0.0], [np.zeros(len(X))]
    gram = np.zeros((max_calls + 1, max_calls + 1))
    shares = np.ones(1)
    for calls in range(1, max_calls + 1):
        cut = queries.infer(X @ w)
        value = 0.5 * float(w @ w) + C * cut.value
        if value < best_value:
            best, best_value = w, value
        rows.append(C * (X.T @ cut.coefficients))
        offsets.append(-C * cut.delta)
        coefficients.append(cut.coefficients)
        A = np.array(rows)
        gram[calls, : calls + 1] = gram[: calls + 1, calls] = A @ A[-1]
        known = gram[: calls + 1, : calls + 1]
        shares = simplex_qp.minimise(A, np.array(offsets), 0.1 * tol * best_value, known).x
        w = -(shares @ A)
        dual = -float(shares @ offsets) - 0.5 * float(w @ w)
        if best_value - dual <= tol * best_value or perf_counter() - start > max_seconds:
            break
    rankings = np.array([queries.inversions(c) for c in coefficients])
    return Stopped(best, rankings, C * shares, calls, perf_counter() - start)
