"""AP-SVM-APPX: the AP loss of the difficult examples, the easy ones as hard constraints.

P(w) = 1/2 ||w||^2 + C L(X_d w)   subject to y_i (<x_i, w> + b) >= 1 for the easy examples, b free
D(lambda, mu) = C sum_t lambda_t Delta(R_t) + sum_i mu_i - 1/2 ||u||^2,
u = sum_i mu_i y_i x_i - C sum_t lambda_t X_d'a_t,
lambda in the simplex, mu >= 0, sum_i mu_i y_i = 0

(Mohapatra et al. 2014, problem (10), where the constraints print > 1 and no bias). Where the difficult
examples have one class only, L = 0 and this is the hard margin SVM of the easy ones; easy examples of
one class constrain nothing, b satisfies them. ``bias=False`` is (10) without b: the same with each easy
example a second time, at -x_i with the other label, whose two constraints hold for some b only if that of
x_i holds for b = 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from fast._validation import number
from fast.errors import InseparableError, InvalidParameterError
from fast.models import ap_svm, binary_svm
from fast.ranking.labels import mask_of
from fast.ranking.losses import AVERAGE_PRECISION, RankLoss
from fast.ranking.queries import Queries
from fast.solvers import structured
from fast.solvers.constrained_risk import EasyProblem
from fast.solvers.cuts import Product
from fast.solvers.hard_margin import Margins
from fast.solvers.rows import is_sparse
from fast.solvers.score_problem import ScoreCut, ScoreProblem, ScoreState

__all__ = ["TrainingResult", "easiest", "easy_examples", "train"]


@dataclass
class TrainingResult(ap_svm.TrainingResult):
    """As of :mod:`fast.models.ap_svm`; b and mu (n,) of the constraints, 0 at difficult examples.

    ``rankings`` (m, n) are 0 at easy examples.
    """

    b: float
    mu: np.ndarray


def easiest(margins: np.ndarray, fraction: float) -> np.ndarray:
    """Mask of the ``fraction`` with the largest margins among those with margins >= 1, rounded."""
    candidates = np.flatnonzero(margins >= 1.0)
    order = np.argsort(-margins[candidates], kind="stable")
    mask = np.zeros(len(margins), bool)
    mask[candidates[order[: int(fraction * len(candidates) + 0.5)]]] = True
    return mask


def easy_examples(
    X: Any, y: ArrayLike, C: float, fraction: float, *, tol: float = 1e-3, max_iter: int = 1000
) -> np.ndarray:
    """Mask (n,) of the easy examples, chosen by a binary SVM (with bias as a constant feature).

    Parameters
    ----------
    X, y, C, tol, max_iter
        As in :func:`fast.models.binary_svm.train`.
    fraction : float
        0 to 1: the part that is taken of the examples with y_i (<x_i, w> + b) >= 1, those with the
        largest margins.
    """
    found = binary_svm.train(X, y, C, bias=True, tol=tol, max_iter=max_iter)
    if found.interrupted:  # there is no model yet that could be kept
        raise KeyboardInterrupt
    signs = np.where(mask_of(y), 1.0, -1.0)
    return easiest(signs * (Product(X).scores(found.w) + found.b), fraction)


def no_ranking(scores: np.ndarray) -> ScoreCut:
    """The oracle of difficult examples of one class: L = 0."""
    return ScoreCut(0.0, 0.0, np.zeros(len(scores)), 0)


def train(
    X: Any,
    y: ArrayLike,
    C: float,
    easy: ArrayLike,
    *,
    bias: bool = True,
    tol: float = 1e-3,
    max_iter: int = 1000,
    method: str = "divide_and_conquer",
    solver: str = "auto",
    start: np.ndarray | None = None,
    report: Callable[[ScoreState], bool] | None = None,
    loss: RankLoss = AVERAGE_PRECISION,
) -> TrainingResult:
    """Minimise P(w) under the constraints until the relative gap is certified to be at most ``tol``.

    Parameters
    ----------
    X : (n, d) array or CSR, float32 or float64
    y : (n,) labels
        True or 1 for positives, False, 0 or -1 for negatives.
    C : float
    easy : (n,) mask
    bias : bool
        Whether b is free; else it is 0, and sum_i mu_i y_i can be any number.
    tol, max_iter, method, solver, report
        As in :func:`fast.models.ap_svm.train`.
    loss : AveragePrecision or DiscountedGain
        Which loss over rankings, see :mod:`fast.ranking.losses`.
    start : (d,) array, optional

    Returns
    -------
    TrainingResult
        The best w met that satisfies all constraints (with b), and its certificate.

    Raises
    ------
    InseparableError
        No w satisfies the constraints; the error carries the proof.
    """
    number("C", C, positive=True)
    positives = mask_of(y, X.shape[0])
    parts = Parts(X, positives, checked_mask(easy, positives), C, method, bias, loss)
    perfect = [(0.0, np.zeros(len(parts.hard)))]
    found = structured.solve(
        parts.problem, tol, max_iter, solver, start, perfect,
        structured.reporting(report, parts.inversions),
    )  # fmt: skip
    return TrainingResult(
        weights=found.weights,
        rankings=found.rankings(parts.inversions, len(positives)),
        b=bias_of(X[parts.bound], parts.signs[parts.bound], found.w) if bias else 0.0,
        mu=parts.mu(),
        **found.certificate(),
    )


class Parts:
    """The hard examples, which are ranked, and the easy ones, which are constrained."""

    def __init__(
        self, X: Any, positives: np.ndarray, easy: np.ndarray, C: float, method: str, bias: bool,
        loss: RankLoss = AVERAGE_PRECISION,
    ) -> None:  # fmt: skip
        self.signs = np.where(positives, 1.0, -1.0)
        self.hard, self.bound = np.flatnonzero(~easy), np.flatnonzero(easy)
        ranked = positives[self.hard].any() and not positives[self.hard].all()
        self.queries = Queries(positives[self.hard], loss=loss) if ranked else None
        oracle: Any = no_ranking
        if self.queries is not None:
            oracle = ap_svm.RankingOracle(self.queries, method)
        parts = X[self.hard], oracle, float(C)
        self.problem: ScoreProblem
        rows, signs = X[self.bound], self.signs[self.bound]
        if not bias and len(self.bound):
            rows = (
                sp.vstack([rows, -rows], "csr")
                if is_sparse(rows)
                else np.concatenate([rows, -rows])
            )
            signs = np.concatenate([signs, -signs])
        if (signs > 0.0).any() and (signs < 0.0).any():
            try:
                self.problem = EasyProblem(*parts, Margins(rows, signs))
            except InseparableError as error:
                raise InseparableError(self._folded(error.mu), error.norm) from None
        else:
            self.problem = ScoreProblem(*parts)

    def inversions(self, coefficients: np.ndarray) -> np.ndarray:
        """Of all examples, from the coefficients of the hard ones."""
        full = np.zeros(len(self.signs), np.int32)
        if self.queries is not None:
            full[self.hard] = self.queries.inversions(coefficients)
        return full

    def mu(self) -> np.ndarray:
        """Multipliers of the constraints, 0 for hard examples."""
        mu = np.zeros(len(self.signs))
        if isinstance(self.problem, EasyProblem):
            mu[self.bound] = self._folded(self.problem.mu)
        return mu

    def _folded(self, mu: np.ndarray) -> np.ndarray:
        """Of the easy examples, those of their mirror images added."""
        return np.asarray(mu.reshape(-1, len(self.bound)).sum(axis=0))


def checked_mask(easy: ArrayLike, positives: np.ndarray) -> np.ndarray:
    """The mask of the easy examples."""
    mask = np.asarray(easy)
    if mask.dtype != np.bool_ or mask.shape != positives.shape:
        raise InvalidParameterError(
            "easy",
            f"shape {mask.shape}, dtype {mask.dtype}",
            f"a boolean mask of shape {positives.shape}",
            "mark the easy examples by True",
        )
    return mask


def bias_of(X: Any, signs: np.ndarray, w: np.ndarray) -> float:
    """The b with the largest least margin; for one class the smallest one in size that suffices."""
    if not len(signs):
        return 0.0
    if (signs > 0.0).any() and (signs < 0.0).any():
        return Margins(X, signs).of(w)[1]
    short = float((1.0 - signs * Product(X).scores(w)).max())
    return float(signs[0]) * max(short, 0.0)
