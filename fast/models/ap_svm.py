"""AP-SVM: the structured hinge of average precision, trained to a certified gap.

P(w) = 1/2 ||w||^2 + C L(Xw),   L(s) = max_R Delta(R) + <s, Psi(R) - Psi(R*)>
D(lambda) = C sum_t lambda_t Delta(R_t) - 1/2 ||C sum_t lambda_t X'a_t||^2, lambda in the simplex

with a_t the coefficients of Psi(R_t) - Psi(R*), and means over queries if there are several
(Mohapatra et al. 2014, problem (3); the dual is over all rankings, of which few carry weight).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fast.ranking.curvature import pairs
from fast.ranking.queries import Queries
from fast.ranking.smoothed import hessian
from fast.solvers import structured
from fast.solvers.score_problem import ScoreCut, ScoreState
from fast.solvers.state import Solution

__all__ = ["RankingOracle", "TrainingResult", "train"]


@dataclass
class TrainingResult(Solution):
    """A certified model: w (d,), objectives, relative gap, history, and the rankings behind D.

    ``weights`` (m,) = C lambda_t > 0, ``rankings`` (m, n) int32 inversions.
    """

    w: np.ndarray
    n_oracle: int
    weights: np.ndarray
    rankings: np.ndarray


class RankingOracle:
    """Loss-augmented inference as cuts of s -> L(s) - <reference, s>."""

    def __init__(self, queries: Queries, method: str, reference: np.ndarray | None = None) -> None:
        self.queries, self.method = queries, method
        self.reference = None if reference is None else queries.inversions(reference)
        self.least = 0.0 if self.reference is None else queries.delta(self.reference)

    def __call__(self, scores: np.ndarray) -> ScoreCut:
        """Most violated ranking at these scores."""
        found = self.queries.infer(scores, self.method)
        if self.reference is None:
            return ScoreCut(found.value, found.delta, found.coefficients, found.active)
        # by the difference of the rankings: that of the values would be lost in large scores
        change = self.queries.inversions(found.coefficients) - self.reference
        difference = self.queries.coefficients(change)
        value = found.delta + float(difference @ scores)
        if value < self.least:  # rounding: the reference itself is a ranking too
            return ScoreCut(self.least, self.least, np.zeros(len(scores)), found.active)
        return ScoreCut(value, found.delta, difference, found.active)

    def hessian(self, X: Any, scores: np.ndarray, width: float) -> Any:
        """Curvature, see `fast.ranking.smoothed`; none of more than one query or beside a reference."""
        plain = self.reference is None and self.queries.n_queries == 1
        return hessian(X, self.queries, scores, width) if plain else None

    def pairs(self, scores: np.ndarray, coefficients: np.ndarray, most: int, width: float) -> Any:
        """Curvature, see `fast.ranking.curvature`; none beside a reference."""
        return self.reference is None and pairs(self.queries, scores, coefficients, most, width)

    def inversions(self, coefficients: np.ndarray) -> np.ndarray:
        """Ranking (n,) of a cut."""
        inversions = self.queries.inversions(coefficients)
        return inversions if self.reference is None else inversions + self.reference


def known_cuts(
    queries: Queries, reference: np.ndarray | None, start: Any
) -> list[tuple[float, np.ndarray]]:
    """What is known before the first ranking: that of R*, so that L >= 0, and those of a start."""
    shift = np.zeros(queries.n) if reference is None else reference
    cuts = [(0.0, 0.0 - shift)]
    if isinstance(start, TrainingResult):
        found = start.rankings
        cuts += [(queries.delta(r), queries.coefficients(r) - shift) for r in found]
    return cuts


def train(
    X: Any,
    queries: Queries,
    C: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    method: str = "divide_and_conquer",
    solver: str = "auto",
    reference: np.ndarray | None = None,
    start: Any = None,
    report: Callable[[ScoreState], bool] | None = None,
) -> TrainingResult:
    """Minimise P(w) until the relative gap (P - D)/max(|P|, |D|) is certified to be at most ``tol``.

    Parameters
    ----------
    X : (n, d) array or CSR, float32 or float64
    queries : Queries
        Labels and groups.
    C : float
        Weight of the loss (of its mean over the queries).
    tol : float
    max_iter : int
        Bound on the iterations; each asks for one most violated ranking.
    method : str
        Inference; see :func:`fast.losses.average_precision.loss_augmented_inference`.
    solver : {"auto", "bundle", "cutting_plane"}
    reference : (n,) array, optional
        Coefficients of Psi(R_ref) - Psi(R*): <reference, Xw> is subtracted from L (for the ramp).
    start : (d,) array or TrainingResult, optional
        Weights to begin with, or an earlier result on the same data, whose rankings are kept too.
    report : callable, optional
        Called after each iteration with a ScoreState (n_iter, primal, dual, gap, w, n_oracle, cut;
        ``state.inversions`` is the last ranking); true stops the training.

    Returns
    -------
    TrainingResult
        The best w met, with its certificate; also after KeyboardInterrupt.
    """
    oracle = RankingOracle(queries, method, reference)
    cuts = known_cuts(queries, reference, start)
    start = start.w if isinstance(start, TrainingResult) else start
    found = structured.train(
        X, oracle, C, tol=tol, max_iter=max_iter, solver=solver, start=start, cuts=cuts,
        report=structured.reporting(report, oracle.inversions),
    )  # fmt: skip
    rankings = found.rankings(oracle.inversions, queries.n)
    return TrainingResult(weights=found.weights, rankings=rankings, **found.certificate())
