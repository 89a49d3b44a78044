"""Latent AP-SVM: bags of candidates, ranked by the score of their best candidate.

J(w) = 1/2 ||w||^2 + C L(s),   s_i = max over the rows r of bag i of <x_r, w>
P(w) = the same with s_i = <x_{h_i}, w> for positive bags, h_i fixed; P >= J

L does not fall in the scores of negatives and does not rise in those of positives: for negatives the
maximum stays inside, and is convex; for positives a step fixes the row, and bounds L from above
(Mohapatra et al. 2014, section 4.2; Behl, Jawahar and Kumar 2014).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from fast._validation import number
from fast.errors import InvalidParameterError
from fast.models import ap_svm
from fast.ranking.labels import mask_of
from fast.ranking.queries import Queries
from fast.solvers import structured
from fast.solvers.cuts import Product
from fast.solvers.descent import descend
from fast.solvers.score_problem import ScoreCut, ScoreState

__all__ = ["Bags", "TrainingResult", "train"]

ROUGH = 1e-2  # relative gap of the model to begin with


@dataclass
class TrainingResult(ap_svm.TrainingResult):
    """The last convex step, and what it says of J.

    ``rankings`` (m, B) int32 inversions of the bags and ``candidates`` (m, B) int64 rows are the cuts
    that carry weight; ``chosen`` (B,) the rows that the step fixed for positive bags (for negative
    ones the best at w), ``latent`` (B,) the best rows at w; ``objectives`` J at the start and after
    each step, never rising; ``converged``: the steps ended by themselves.
    """

    candidates: np.ndarray
    chosen: np.ndarray
    latent: np.ndarray
    objectives: list[float]
    converged: bool


class Bags:
    """Which rows make up each bag.

    Parameters
    ----------
    bags : (rows,) integers
        Bag 0, ..., B - 1 of each row, in any order; every bag has a row.
    n_bags, n_rows : int
    """

    def __init__(self, bags: ArrayLike, n_bags: int, n_rows: int) -> None:
        self.bags = np.asarray(bags)
        if self.bags.ndim != 1 or self.bags.dtype.kind not in "iu":
            raise InvalidParameterError(
                "bags",
                f"shape {self.bags.shape}, dtype {self.bags.dtype}",
                "a vector of integers: the bag of each row",
                "number the bags from 0, as y does",
            )
        counts = np.bincount(self.bags[(self.bags >= 0) & (self.bags < n_bags)], minlength=n_bags)
        if counts.sum() < len(self.bags) or not counts.all():
            raise InvalidParameterError(
                "bags",
                f"{int((counts == 0).sum())} bags without a row, "
                f"{len(self.bags) - int(counts.sum())} rows of bags outside y",
                f"bags 0, ..., {n_bags - 1}, one per label, each with a row",
                "number the bags from 0 without gaps",
            )
        if len(self.bags) != n_rows:
            raise InvalidParameterError(
                "bags", f"{len(self.bags)} bags of rows", f"{n_rows}, one per row", "match X"
            )
        self.order = np.argsort(self.bags, kind="stable")
        self.first = np.concatenate([[0], np.cumsum(counts)[:-1]])

    def means(self, X: Any) -> Any:
        """Mean of the rows of each bag, (B, d), dense or CSR as X is."""
        size = np.bincount(self.bags)
        places = (1.0 / size[self.bags], (self.bags, np.arange(len(self.bags))))
        means = sp.csr_array(places, shape=(len(size), len(self.bags))) @ X
        return sp.csr_array(means) if sp.issparse(X) else np.ascontiguousarray(means)

    def best(self, scores: np.ndarray) -> np.ndarray:
        """Row with the largest score in each bag (ties: the first), (B,)."""
        sorted_scores = scores[self.order]
        largest = np.maximum.reduceat(sorted_scores, self.first)
        where = np.flatnonzero(sorted_scores == largest[self.bags[self.order]])
        _, first = np.unique(self.bags[self.order[where]], return_index=True)
        return np.asarray(self.order[where[first]])


class BagOracle:
    """L of the bags' scores as cuts in the scores of the rows; positive bags keep their row."""

    def __init__(self, queries: Queries, method: str, bags: Bags, chosen: np.ndarray) -> None:
        self.queries, self.method, self.bags, self.chosen = queries, method, bags, chosen

    def rows(self, scores: np.ndarray) -> np.ndarray:
        """Row that speaks for each bag."""
        return np.where(self.queries.positives, self.chosen, self.bags.best(scores))

    def __call__(self, scores: np.ndarray) -> ScoreCut:
        """Most violated ranking of the bags, as coefficients of rows."""
        rows = self.rows(scores)
        found = self.queries.infer(scores[rows], self.method)
        coefficients = np.zeros(len(scores))
        coefficients[rows] = found.coefficients
        return ScoreCut(found.value, found.delta, coefficients, found.active)

    def ranking(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Inversions (B,) and rows (B,) of a cut; a bag without inversions has any row of its own."""
        rows = self.bags.order[self.bags.first]
        where = np.flatnonzero(coefficients)
        rows[self.bags.bags[where]] = where
        rows = np.where(self.queries.positives, self.chosen, rows)
        return self.queries.inversions(coefficients[rows]), rows


def train(
    X: Any,
    bags: ArrayLike,
    y: ArrayLike,
    C: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    max_rounds: int = 50,
    method: str = "divide_and_conquer",
    solver: str = "auto",
    start: np.ndarray | None = None,
    report: Callable[[ScoreState], bool] | None = None,
    groups: ArrayLike | None = None,
) -> TrainingResult:
    """Lower J until the chosen candidates stay, or J falls by less than 0.1 ``tol``.

    Parameters
    ----------
    X : (rows, d) array or CSR, float32 or float64
        Candidates.
    bags : (rows,) integers
        Bag 0, ..., B - 1 of each candidate.
    y : (B,) labels of the bags
        True or 1 for positives, False, 0 or -1 for negatives.
    C, method, solver, report
        As in :func:`fast.models.ap_svm.train`.
    tol, max_iter : float, int
        Of each convex step.
    max_rounds : int
        Bound on the convex steps.
    start : (d,) array, optional
        Weights to begin with; by default those that rank the bags by the mean of their candidates.
    groups : (B,) array, optional
        Query of each bag; L is then the mean over queries.

    Returns
    -------
    TrainingResult
        w with the certificate of the last step; ``n_iter`` and ``n_oracle`` count all steps.
    """
    number("C", C, positive=True)
    queries = Queries(mask_of(y), groups)
    grouped = Bags(bags, queries.n, X.shape[0])
    steps = Steps(
        X, grouped, queries, C, method, report,
        {"tol": tol, "max_iter": max_iter, "solver": solver},
    )  # fmt: skip
    spent = 0
    if start is None:  # at 0 all candidates tie, and the first ones would be as good as any
        rough = ap_svm.train(grouped.means(X), queries, C, tol=max(tol, ROUGH), max_iter=max_iter)
        if rough.interrupted:  # there is no model of bags yet that could be kept
            raise KeyboardInterrupt
        start, spent = rough.w, rough.n_oracle
    w = np.array(start, float)
    found = descend(w, steps.state_of, steps.objective, steps.take, tol, max_rounds, spent)
    result: TrainingResult = found.result
    result.latent = grouped.best(steps.product.scores(result.w))
    result.chosen = np.where(queries.positives, found.state, result.latent)
    result.objectives, result.converged = found.objectives, found.converged
    return result


class Steps:
    """The convex steps: candidates of positive bags fixed, all others free."""

    def __init__(
        self, X: Any, grouped: Bags, queries: Queries, C: float, method: str,
        report: Callable[[ScoreState], bool] | None, options: dict[str, Any],
    ) -> None:  # fmt: skip
        self.X, self.grouped, self.queries, self.C, self.method = X, grouped, queries, C, method
        self.report, self.options, self.product = report, options, Product(X)

    def state_of(self, w: np.ndarray) -> np.ndarray:
        """The best candidates of the positive bags, -1 for the others."""
        best = self.grouped.best(self.product.scores(w))
        return np.where(self.queries.positives, best, -1)

    def objective(self, w: np.ndarray) -> float:
        """J(w)."""
        scores = self.product.scores(w)
        value = self.queries.infer(scores[self.grouped.best(scores)], self.method).value
        return 0.5 * float(w @ w) + self.C * value

    def known(self, chosen: np.ndarray, last: Any) -> list[tuple[float, np.ndarray]]:
        """Cuts to begin with: the rankings of the step before, with the positives' new rows."""
        n, queries = len(self.grouped.bags), self.queries
        cuts = [(0.0, np.zeros(n))]
        if last is not None:
            for inversions, rows in zip(last.rankings, last.candidates, strict=True):
                coefficients = np.zeros(n)
                rows = np.where(queries.positives, chosen, rows)
                coefficients[rows] = queries.coefficients(inversions)
                cuts.append((queries.delta(inversions), coefficients))
        return cuts

    def take(self, chosen: np.ndarray, w: np.ndarray, last: Any) -> TrainingResult:
        """The problem with these candidates, solved from w on."""
        oracle = BagOracle(self.queries, self.method, self.grouped, chosen)
        found = structured.train(
            self.X, oracle, self.C, start=w, cuts=self.known(chosen, last),
            report=structured.reporting(self.report, lambda a: oracle.ranking(a)[0]), **self.options,
        )  # fmt: skip
        shape = len(found.weights), self.queries.n
        rankings, candidates = np.empty(shape, np.int32), np.empty(shape, np.int64)
        for t, coefficients in enumerate(found.cuts()):
            rankings[t], candidates[t] = oracle.ranking(coefficients)
        return TrainingResult(
            weights=found.weights, rankings=rankings, candidates=candidates, chosen=chosen,
            latent=chosen, objectives=[], converged=False, **found.certificate(),
        )  # fmt: skip
