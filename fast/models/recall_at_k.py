"""Recall at k by a structural SVM, trained to a certified gap.

P(w) = 1/2 ||w||^2 + C L(Xw),   L(s) = max(0, max over |T| = k of Delta(T) + 2 (sum_T s - sum_pos s)),
D(lambda) = sum_T lambda_T Delta(T) - 1/2 ||2 sum_T lambda_T X'(1_T - 1_pos)||^2, sum lambda <= C

over sets T of exactly k samples, Delta(T) = 1 - |T and pos|/P (Joachims 2005, with xi >= 0). Of m classes
the samples are the rows Phi_y(x_i), x_i in the y-th of m blocks, positive at its own class (Lapin et al.
2015, section 2.3); none of them is ever built.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fast._largest import largest
from fast.errors import InvalidParameterError
from fast.ranking.labels import own_of
from fast.solvers import structured
from fast.solvers.cuts import Mapped
from fast.solvers.score_problem import ScoreCut, ScoreState
from fast.solvers.state import Solution

__all__ = ["SetOracle", "TrainingResult", "train"]

FINE = 1e-5  # tolerances to which few sets, cutting planes', lead sooner where features are many


@dataclass
class TrainingResult(Solution):
    """A certified model: w (d,), ``weights`` (t,) >= 0 of the ``sets`` (t, n), whose sum is at most C.

    Of m classes w is (m, d) and ``sets`` (t, n, m).
    """

    w: np.ndarray
    n_oracle: int
    weights: np.ndarray
    sets: np.ndarray


class SetOracle:
    """The set that is most violated, as a cut of L."""

    def __init__(self, positives: np.ndarray, k: int) -> None:
        self.up, self.down = np.flatnonzero(positives), np.flatnonzero(~positives)
        self.positives, self.k = positives, k

    def __call__(self, scores: np.ndarray) -> ScoreCut:
        """L at these scores: of t positives in T the best t, and the best k - t negatives.

        One more positive for the last negative changes the bound by 2 (s_i - s_j) - 1/P, less each time:
        the best t is where that turns negative.
        """
        P, N, k = len(self.up), len(self.down), self.k
        least, most = max(0, k - N), min(k, P)
        up = _best(scores, self.up, most)
        down = _best(scores, self.down, k - least)
        rivals = down[k - least - 1 - np.arange(most - least)]
        t = least + int(np.count_nonzero(2.0 * (scores[up[least:]] - scores[rivals]) > 1.0 / P))
        coefficients = np.where(self.positives, -2.0, 0.0)
        coefficients[up[:t]] = 0.0
        coefficients[down[: k - t]] = 2.0
        offset = 1.0 - t / P
        value = offset + float(coefficients @ scores)
        if value <= 0.0:  # xi >= 0
            return ScoreCut(0.0, 0.0, np.zeros(len(scores)), 0)
        return ScoreCut(value, offset, coefficients, k - t)

    def members(self, coefficients: np.ndarray) -> np.ndarray:
        """T (n,) of a cut that is not 0."""
        return np.where(self.positives, coefficients == 0.0, coefficients > 0.0)

    def cut(self, members: np.ndarray) -> tuple[float, np.ndarray]:
        """Offset and coefficients (n,) of a set."""
        hits = int(np.count_nonzero(members & self.positives))
        return 1.0 - hits / len(self.up), 2.0 * (members.astype(float) - self.positives)


def _best(scores: np.ndarray, places: np.ndarray, most: int) -> np.ndarray:
    """The ``most`` places of largest scores, in descending order."""
    if most == 0:
        return places[:0]
    return places[largest(scores[places], most)]


def check_k(k: Any, n: int) -> int:
    """An integer with 1 <= k < n."""
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not whole or not 1 <= k < n:
        raise InvalidParameterError(
            "k",
            repr(k),
            f"an integer with 1 <= k < n = {n}",
            "pass k=None for the number of positives",
        )
    return int(k)


def train(
    X: Any,
    y: ArrayLike,
    C: float,
    k: int | None = None,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    solver: str = "auto",
    start: "np.ndarray | TrainingResult | None" = None,
    report: Callable[[ScoreState], bool] | None = None,
) -> TrainingResult:
    """Minimise P(w) until the relative gap (P - D)/max(|P|, |D|) is certified to be at most ``tol``.

    Parameters
    ----------
    X : (n, d) array or CSR, float32 or float64
    y : (n,) labels
        True or 1 for positives, False, 0 or -1 for negatives; both are needed. Or (n, m) of bool:
        which of the rows Phi_y(x_i) are positive.
    C : float
        Weight of the loss, which is one number.
    k : int, optional
        Size of the sets, 1 <= k < n (or nm); by default the number of positives.
    tol, max_iter, report
        As in :func:`fast.solvers.structured.train`.
    solver : {"auto", "bundle", "cutting_plane"}
        "auto" is "cutting_plane" for ``tol`` <= 1e-5 and no fewer features than examples, else "bundle".
    start : array as w, or TrainingResult, optional
        Weights to begin with, or an earlier result on the same labels and k, whose sets are kept too.

    Returns
    -------
    TrainingResult
        The best w met, with its certificate; also after KeyboardInterrupt.

    Raises
    ------
    InvalidParameterError
        Naming the argument.
    """
    own = own_of(y, X.shape[0])
    mapped, positives = own.ndim == 2, own.ravel()
    oracle = SetOracle(positives, int(own.sum()) if k is None else check_k(k, own.size))
    if solver == "auto" and tol <= FINE and X.shape[1] >= X.shape[0]:
        solver = "cutting_plane"
    cuts = [(0.0, np.zeros(own.size))]
    w: Any = start
    if isinstance(start, TrainingResult):
        cuts += [oracle.cut(members.ravel()) for members in start.sets]
        w = start.w
    found = structured.train(
        Mapped(X, own.shape[1]) if mapped else X, oracle, C, tol=tol, max_iter=max_iter,
        solver=solver, start=np.ravel(w) if mapped and w is not None else w, cuts=cuts, report=report,
    )  # fmt: skip
    rows = [(w, a) for w, a in zip(found.weights, found.cuts(), strict=True) if a.any()]
    sets = np.array([oracle.members(a) for _, a in rows]).reshape(-1, *own.shape).astype(bool)
    weights = np.array([w for w, _ in rows])
    found.w = found.w.reshape(-1, X.shape[1]) if mapped else found.w
    return TrainingResult(weights=weights, sets=sets, **found.certificate())
