"""Truncated top-k entropy: majorise-minimise over the classes that are kept.

L(y, f) = log(1 + sum over J of e^{f_j - f_y}), J all other classes but the k - 1 with the largest
scores (Lapin et al. 2016, equation (15)). For fixed sets J_i the risk is a softmax problem, an upper
bound that touches at the W the sets were taken from: solving it cannot increase the risk.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fast._numba import kernel
from fast.families.entropies import Entropy, Piece
from fast.losses.softmax import Softmax
from fast.models.multiclass_erm import TrainingResult, train
from fast.solvers.rows import scores
from fast.solvers.state import Counted
from fast.solvers.working_set import keep_largest

STEPS = 200  # convex problems at most


@dataclass(frozen=True)
class TruncatedResult:
    """The last convex step with its certificate, its kept sets, and the risk of every step.

    ``softmax`` are the weights it began with, ``objectives`` P(W) with the truncated loss from there
    on; they never increase. ``steps`` holds each step's relative gap.
    """

    softmax: np.ndarray
    result: TrainingResult
    loss: Entropy
    objectives: list[float]
    steps: list[float]
    converged: bool


@kernel
def _largest_others(f, y, dropped, values, places):
    for i in range(f.shape[0]):
        keep_largest(f[i], y[i], dropped.shape[1], values, places)
        for q in range(dropped.shape[1]):
            dropped[i, q] = int(places[q])


def dropped_classes(X: Any, W: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """The k - 1 other classes with the largest scores, (n, k - 1) (ties: the first classes)."""
    dropped = np.empty((len(y), k - 1), np.int64)
    values, places = np.empty(max(k - 1, 1)), np.empty(max(k - 1, 1))
    block = 8192
    for first in range(0, len(y), block):
        f = np.ascontiguousarray(scores(X, W, first, first + block))
        part = slice(first, first + len(f))
        _largest_others(f, y[part], dropped[part], values, places)
    return dropped


def objective(X: Any, W: np.ndarray, y: np.ndarray, r: np.ndarray, loss: Entropy) -> float:
    """P(W) in float64."""
    rows = loss.rows(y, r, len(W))
    f = np.ascontiguousarray(scores(X, W, 0, len(y)))
    return 0.5 * float(np.vdot(W, W)) + rows.evaluate(f, np.empty_like(f))


def train_truncated(
    X: Any,
    y: np.ndarray,
    r: np.ndarray,
    n_classes: int,
    k: int,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    weights: np.ndarray | None = None,
    report: Callable | None = None,
    **options: Any,
) -> TruncatedResult:
    """Minimise the truncated risk from the softmax solution on, step by step.

    ``weights`` is where the softmax problem begins, ``options`` are `train`'s. Each step is a
    convex problem certified to ``tol``. It ends when the kept sets repeat, or when a step lowers the
    risk by less than ``tol`` relatively, or after ``max_iter`` Newton iterations in all, or when
    ``report`` or Ctrl-C stops a step. What it reaches is a stationary point that depends on the start;
    if it is stopped before the first step, the softmax solution, for which all classes are kept.
    Iterations are counted through, also in what ``report`` sees and in the history of the last step.
    """
    counted, data = Counted(report), (X, y, r, n_classes)

    def solve(loss: Entropy, weights: np.ndarray | None) -> TrainingResult:
        """The convex problem, from these weights on."""
        options.update(tol=tol, max_iter=max_iter - counted.before, weights=weights)
        return counted.finished(train(*data, loss, report=counted, **options))

    loss: Entropy = Softmax()
    result = solve(loss, weights)
    softmax = result.W
    objectives: list[float] = []
    steps: list[float] = []
    settled = k == 1
    try:
        dropped = dropped_classes(X, softmax, y, k)
        following = Piece(dropped)
        objectives.append(objective(X, softmax, y, r, following))
        while not (settled or result.stopped or result.gap > tol or counted.before >= max_iter):
            if len(steps) == STEPS:
                break
            found = solve(following, result.W)
            next_dropped = dropped_classes(X, found.W, y, k)
            value = objective(X, found.W, y, r, Piece(next_dropped))
            if value > objectives[-1]:  # rounding, or stopped early: the point before was as good
                result.n_iter, result.interrupted = counted.before, found.interrupted
                result.stopped, settled = found.stopped, not found.stopped and found.gap <= tol
                break
            result, loss = found, following
            objectives.append(value)
            steps.append(found.gap)
            same = np.array_equal(np.sort(dropped), np.sort(next_dropped))
            settled = same or objectives[-2] - value <= tol * abs(value)
            dropped, following = next_dropped, Piece(next_dropped)
    except KeyboardInterrupt:  # between two steps
        result.interrupted = result.stopped = True
        settled = False
        if not objectives:
            dropped = dropped_classes(X, softmax, y, k)
            objectives.append(objective(X, softmax, y, r, Piece(dropped)))
    return TruncatedResult(softmax, result, loss, objectives, steps, settled and result.gap <= tol)


def _warmup() -> None:
    """Name the dropped classes of a few scores; the rest is softmax."""
    dropped_classes(np.eye(3), np.eye(3), np.arange(3), 2)
