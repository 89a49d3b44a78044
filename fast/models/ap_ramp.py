"""The structured ramp of average precision, by convex steps (CCCP) from logistic regression.

J(w) = 1/2 ||w||^2 + C (L(Xw) - H(Xw)),   H(s) = max_R <s, Psi(R) - Psi(R*)>
P(w) = 1/2 ||w||^2 + C (L(Xw) - <a_ref, Xw>) >= J(w)

a_ref are the coefficients of the ranking predicted where the step begins. L - H is at least 1 - AP of
every ranking that the scores predict, and bounded: a hopeless example costs no more than its place.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fast.losses.softmax import Softmax
from fast.models import ap_svm
from fast.models.multiclass_erm import train as train_multiclass
from fast.ranking.queries import Queries
from fast.solvers.cuts import Product
from fast.solvers.descent import descend
from fast.solvers.score_problem import ScoreState

__all__ = ["TrainingResult", "logistic_start", "objective", "train"]

SCALES = 2.0 ** np.arange(-4, 5)  # multiples of the logistic weights that are tried as a start


@dataclass
class TrainingResult(ap_svm.TrainingResult):
    """The last convex step, as of :mod:`fast.models.ap_svm`, and what it says of J.

    ``reference`` (n,) int32 inversions of the step's fixed ranking, ``objectives`` J at the start and
    after each step (they never rise), ``converged``: the steps ended by themselves.
    """

    reference: np.ndarray
    objectives: list[float]
    converged: bool


def objective(w: np.ndarray, scores: np.ndarray, queries: Queries, C: float, method: str) -> float:
    """J(w) from w and its scores."""
    predicted = queries.coefficients(queries.predicted(scores))
    oracle = ap_svm.RankingOracle(queries, method, predicted)
    return 0.5 * float(w @ w) + C * oracle(scores).value


def logistic_start(X: Any, queries: Queries, C: float, method: str) -> np.ndarray:
    """The multiple with the least J of the weights of 1/2 ||w||^2 + (C/n) sum_i log(1 + e^{-y_i s_i}).

    Measured: started there, the ramp ended lower and ranked better than from the AP-SVM.
    """
    y = queries.positives.astype(np.int64)
    r = np.full(queries.n, 0.5 * C / queries.n)
    found = train_multiclass(X, y, r, 2, Softmax(), tol=1e-3)
    if found.interrupted:  # there is no model yet that could be kept
        raise KeyboardInterrupt
    w = found.W[1] - found.W[0]
    scores = Product(X).scores(w)
    values = [objective(t * w, t * scores, queries, C, method) for t in SCALES]
    return np.asarray(SCALES[int(np.argmin(values))] * w)


def train(
    X: Any,
    queries: Queries,
    C: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    max_rounds: int = 50,
    method: str = "divide_and_conquer",
    solver: str = "auto",
    start: np.ndarray | None = None,
    report: Callable[[ScoreState], bool] | None = None,
) -> TrainingResult:
    """Lower J until a step predicts its own reference, or lowers J by less than 0.1 ``tol``.

    Parameters
    ----------
    X, queries, C, method, solver, report
        As in :func:`fast.models.ap_svm.train`.
    tol, max_iter : float, int
        Of each convex step.
    max_rounds : int
        Bound on the convex steps.
    start : (d,) array, optional
        Weights to begin with, instead of logistic regression's.

    Returns
    -------
    TrainingResult
        w with the certificate of the last step; ``n_iter`` and ``n_oracle`` count all steps.
    """
    w = logistic_start(X, queries, C, method) if start is None else np.array(start, float)
    product = Product(X)

    def step(reference: np.ndarray, w: np.ndarray, last: Any) -> ap_svm.TrainingResult:
        return ap_svm.train(
            X, queries, C, tol=tol, max_iter=max_iter, method=method, solver=solver,
            reference=queries.coefficients(reference), start=w if last is None else last,
            report=report,
        )  # fmt: skip

    found = descend(
        w,
        lambda w: queries.predicted(product.scores(w)),
        lambda w: objective(w, product.scores(w), queries, C, method),
        step,
        tol,
        max_rounds,
        n_oracle=len(SCALES) if start is None else 0,
    )
    reference = found.state.astype(np.int32)
    return TrainingResult(
        **vars(found.result),
        reference=reference,
        objectives=found.objectives,
        converged=found.converged,
    )
