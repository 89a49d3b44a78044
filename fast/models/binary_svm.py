"""Binary SVM in structural form, by the trainer of the AP-SVM: the paper's baseline.

P(w) = 1/2 ||w||^2 + (C/n) sum_i max(0, 1 - y_i <x_i, w>),   y_i = +-1
D(alpha) = sum_i alpha_i - 1/2 ||sum_i alpha_i y_i x_i||^2,   0 <= alpha_i <= C/n

One slack for the mean hinge: the cut of a set A of examples is F(s) >= (1/n) sum_{i in A} (1 - y_i s_i),
the most violated one takes the examples with y_i s_i < 1, and weights lambda_t on cuts mean
alpha_i = (C/n) sum of lambda_t over the sets that hold i (Mohapatra et al. 2014, sections 3.3, 4.1).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fast.data.constant import with_ones
from fast.ranking.labels import mask_of
from fast.solvers import plain_svm, structured
from fast.solvers.box_interior_point import FactorGram
from fast.solvers.score_problem import ScoreCut, ScoreState
from fast.solvers.state import Solution

__all__ = ["HingeOracle", "TrainingResult", "train"]

WIDEST = 500  # features up to which the interior point is tried where rounding stops the cuts
PART = 0.1  # of the gap, for the bias that it does not price


@dataclass
class TrainingResult(Solution):
    """A certified model: w (d,), b (0 without bias), alpha (n,) in [0, C/n], objectives, history."""

    w: np.ndarray
    b: float
    n_oracle: int
    alpha: np.ndarray


class HingeOracle:
    """The mean hinge as cuts in scores."""

    def __init__(self, positives: np.ndarray) -> None:
        self.signs = np.where(positives, 1.0, -1.0)

    def __call__(self, scores: np.ndarray) -> ScoreCut:
        """Mean hinge at these scores, and the examples with a positive one."""
        n = len(self.signs)
        margins = 1.0 - self.signs * scores
        active = margins > 0.0
        value = float(margins[active].sum()) / n
        count = int(np.count_nonzero(active))
        return ScoreCut(value, count / n, np.where(active, -self.signs / n, 0.0), count)


def train(
    X: Any,
    y: ArrayLike,
    C: float,
    *,
    bias: bool = False,
    tol: float = 1e-3,
    max_iter: int = 1000,
    solver: str = "auto",
    start: np.ndarray | None = None,
    report: Callable[[ScoreState], bool] | None = None,
) -> TrainingResult:
    """Minimise P(w) until the relative gap (P - D)/max(|P|, |D|) is certified to be at most ``tol``.

    Parameters
    ----------
    X : (n, d) array or CSR, float32 or float64
    y : (n,) labels
        True or 1 for positives, False, 0 or -1 for negatives; one class alone is allowed.
    C : float
        Weight of the mean hinge.
    bias : bool
        Append a column of ones: b is the weight of it, regularised like the others.
    tol, max_iter, solver, start, report
        As in :func:`fast.solvers.structured.train`; ``start`` (d,), or (d + 1,) with bias.

    Returns
    -------
    TrainingResult
        The best model met, with its certificate; also after KeyboardInterrupt.
    """
    positives = mask_of(y, X.shape[0])
    oracle = HingeOracle(positives)
    found = structured.train(
        with_ones(X) if bias else X,
        oracle,
        C,
        tol=tol,
        max_iter=max_iter,
        solver=solver,
        start=start,
        cuts=[(0.0, np.zeros(X.shape[0]))],
        report=report,
    )
    d = X.shape[1]
    alpha = -oracle.signs * np.asarray(found.coefficients.T @ found.weights)
    b, multipliers = float(found.w[d]) if bias else 0.0, np.clip(alpha, 0.0, C / len(alpha))
    shared = found.certificate() | {"w": found.w[:d]}
    result = TrainingResult(b=b, alpha=multipliers, **shared)
    stalled = found.gap > tol and not found.stopped and found.n_iter < max_iter
    if bias and stalled and d <= WIDEST and positives.any() and not positives.all():
        return better(result, free(X, oracle.signs, C, tol))
    return result


def free(X: Any, signs: np.ndarray, C: float, tol: float) -> TrainingResult:
    """The SVM whose bias costs nothing, with its certificate for this one.

    Where features are tiny and C is huge, P is 1e12 and b about 1: b^2/2 is no price, and cuts that hold
    C times the constant feature lose the others in rounding.
    """
    n = len(signs)
    rows, mean = plain_svm.centred_factor(X)
    found = plain_svm.train(
        FactorGram(rows), signs, np.full(n, C / n), False, mean=mean, tol=PART * tol
    )
    assert found.w is not None
    w, b, alpha = found.w, found.b, np.clip(found.alpha, 0.0, C / n)
    losses = np.maximum(1.0 - signs * (np.asarray(X @ w) + b), 0.0)
    primal = 0.5 * (float(w @ w) + b * b) + C * float(losses.mean())
    weights = alpha * signs
    pull, rest = np.asarray(X.T @ weights), float(weights.sum())
    dual = float(alpha.sum()) - 0.5 * (float(pull @ pull) + rest * rest)
    return TrainingResult(
        w, b, 0, alpha, primal=primal, dual=dual, n_iter=found.n_iter, history=found.history,
        solver=found.solver, interrupted=found.interrupted, stopped=found.interrupted,
    )  # fmt: skip


def better(result: TrainingResult, other: TrainingResult) -> TrainingResult:
    """The one with the smaller gap, and the history of both."""
    if not other.gap < result.gap:
        return replace(result, interrupted=other.interrupted, stopped=other.stopped)
    line = result.history[-1] | {"primal": other.primal, "dual": other.dual, "gap": other.gap}
    line["iteration"] = result.n_iter + 1
    history, calls = [*result.history, line], result.n_oracle
    return replace(other, n_iter=result.n_iter + 1, n_oracle=calls, history=history)
