"""TopPush: positives above the best negative, trained to a certified gap.

P(w) = 1/2 ||w||^2 + C sum_i max(0, 1 + max_j <x_j, w> - <x_i, w>)^2,   i positives, j negatives
D(alpha, beta) = <1, alpha> - ||alpha||^2/(4C) - 1/2 ||sum_i alpha_i x_i - sum_j beta_j x_j||^2
with alpha, beta >= 0 and <1, alpha> = <1, beta> (Li, Jin, Zhou 2014). Of m classes the rows are
Phi_y(x_i), x_i in the y-th of m blocks, and positive at its own class (Lapin et al. 2015, section 2.3):
w is W (m, d), their scores are XW', and no such row is ever built.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from fast._largest import largest
from fast._validation import number
from fast.errors import InvalidParameterError
from fast.ranking.labels import own_of
from fast.solvers.rows import is_sparse
from fast.solvers.state import Solution, TrainingRun, TrainingState
from fast.solvers.toppush_newton import ENTER, IDLE, Blocks, search

__all__ = ["TrainingResult", "train"]

STUCK = 1e-6  # a step of this part
STALLED = 3  # iterations in a row that neither lower P nor raise D


@dataclass
class TrainingResult(Solution):
    """A certified model: w (d,), multipliers (n,), objectives, relative gap, history; (m, d), (n, m) of classes.

    ``multipliers`` are alpha at the positives and beta at the negatives.
    """

    w: np.ndarray
    multipliers: np.ndarray


class _Run:
    """The data, the present W (m, d) with its scores, and the best certificate; labels are own (n, m)."""

    def __init__(self, X: Any, own: np.ndarray, C: float) -> None:
        self.X = sp.csr_array(X, dtype=np.float64) if is_sparse(X) else np.asarray(X, np.float64)
        self.own, self.C = own, C
        self.blocks = Blocks(self.X, own, C)
        self.places = np.concatenate([np.flatnonzero(own), self.blocks.down])
        self.positives = len(self.places) - len(self.blocks.down)  # are the first ones
        self.state = TrainingState()
        self.state.dual = 0.0  # of no multipliers
        self.multipliers = np.zeros(own.shape)
        self.J = np.zeros(0, np.int64)
        self.idle, self.passive = np.zeros(0, np.int64), np.zeros(0, bool)

    def begin(self, w: np.ndarray, multipliers: np.ndarray | None) -> None:
        """Take in a start."""
        self.w, self.s, self.r = w, *self.scores(w)
        # where all scores are equal, negatives by the sums of the positives
        ahead = self.r if w.any() else self.scores(self.blocks.sums)[1]
        self._enter(_first(ahead, self._many()))
        if multipliers is not None:
            up, down = multipliers[self.own], multipliers[~self.own]
            weighty = np.flatnonzero(down > 0.0)
            self.offer(up, down[weighty], weighty)
            self._enter(weighty)
            self.passive = np.isin(self.J, weighty)
        if not self.passive.any():
            self.passive[:] = True
        self.inside = self.hinges(self.r.max(), self.s) > 0.0
        self.state.record(0, self.primal(), self.state.dual, self.w)
        self.state.history[-1]["active"] = int(np.count_nonzero(self.passive))

    def scores(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the positives, of the negatives."""
        found = np.take(np.asarray(self.X @ w.T), self.places)
        return found[: self.positives], found[self.positives :]

    def hinges(self, t: float, s: np.ndarray) -> np.ndarray:
        """Of the positives."""
        return np.maximum(1.0 + t - s, 0.0)

    def primal(self) -> float:
        """P at the present w."""
        hinges = self.hinges(self.r.max(), self.s)
        return 0.5 * float(np.vdot(self.w, self.w)) + self.C * float(hinges @ hinges)

    def offer(self, alpha: np.ndarray, beta: np.ndarray, J: np.ndarray) -> None:
        """Multipliers for the lower bound, beta of J: it gets the sum of alpha, and both the best factor."""
        total, own = float(alpha.sum()), float(beta.sum())
        if not (total > 0.0 and own > 0.0):
            return
        beta = beta * (total / own)
        w = self.blocks.pull(alpha, beta, J)
        curvature = float(alpha @ alpha) / (4.0 * self.C) + 0.5 * float(np.vdot(w, w))
        factor = total / (2.0 * curvature)
        dual = 0.5 * factor * total
        if dual > self.state.dual:
            self.state.dual = dual
            both = np.concatenate([alpha, np.zeros(len(self.r))])
            both[len(alpha) + J] = beta
            np.put(self.multipliers, self.places, factor * both)

    def iterate(self) -> None:
        """One Newton step with its line search; then the sets."""
        with np.errstate(all="ignore"):
            w, t, beta = self.blocks.step(self.inside, self.J, self.passive)
            s, r = self.scores(w)
        if not all(np.isfinite(v).all() for v in (w, s, r)):
            return  # differences of the rows are nothing but rounding
        self.offer(2.0 * self.C * self.hinges(t, s), beta, self.J)
        dw, ds, dr = w - self.w, s - self.s, r - self.r
        square, cross = float(np.vdot(dw, dw)), float(np.vdot(self.w, dw))
        step = search(self.s, ds, self.r, dr, square, cross, self.C)
        if step == 1.0:
            self.w, self.s, self.r = w, s, r
        else:
            self.w, self.s, self.r = self.w + step * dw, self.s + step * ds, self.r + step * dr
            self.offer(2.0 * self.C * self.hinges(self.r.max(), self.s), beta, self.J)
        here = self.hinges(self.r.max(), self.s) > 0.0
        stuck = not here.any() or ((here == self.inside).all() and step < STUCK)
        self.inside = self.hinges(t, s) > 0.0 if stuck else here
        self.idle = np.where(beta > 0.0, 0, self.idle + 1)
        kept = self.idle <= IDLE
        self.J, self.idle, self.passive = self.J[kept], self.idle[kept], (beta > 0.0)[kept]
        most = self._many()
        above = _first(r, most)
        self._enter(np.union1d(above[r[above] > t], _first(self.r, most)))

    def _many(self) -> int:
        return min(max(ENTER[0], min(len(self.s), self.w.size) // 2), ENTER[1])

    def _enter(self, those: np.ndarray) -> None:
        new = np.setdiff1d(those, self.J)
        self.J = np.concatenate([self.J, new])
        self.idle = np.concatenate([self.idle, np.zeros(len(new), np.int64)])
        self.passive = np.concatenate([self.passive, np.zeros(len(new), bool)])


def _first(scores: np.ndarray, most: int) -> np.ndarray:
    """Places of the largest scores."""
    return largest(scores, min(most, len(scores)))


def train(
    X: Any,
    y: ArrayLike,
    C: float,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    start: "np.ndarray | TrainingResult | None" = None,
    report: Callable[[TrainingState], bool] | None = None,
) -> TrainingResult:
    """Minimise P(w) until the relative gap (P - D)/max(|P|, |D|) is certified to be at most ``tol``.

    Newton's method, see :mod:`fast.solvers.toppush_newton`: an iteration costs two products with X and a
    factorisation, for each class, of as many rows as there are features or positives, whichever is less.

    Parameters
    ----------
    X : (n, d) array or CSR, float32 or float64
        Computed with in float64.
    y : (n,) labels
        True or 1 for positives, False, 0 or -1 for negatives; both are needed. Or (n, m) of bool:
        which of the rows Phi_y(x_i) are positive.
    C : float
        Weight of the sum of the losses.
    tol : float
    max_iter : int
        Bound on the Newton steps.
    start : array as w, or TrainingResult, optional
        Weights to begin with, or an earlier result on the same rows, whose multipliers are used too.
    report : callable, optional
        Called after each step with a TrainingState; true stops the training.

    Returns
    -------
    TrainingResult
        The best w met, with its certificate; also after KeyboardInterrupt.

    Raises
    ------
    InvalidParameterError
        Naming the argument: a C that is not positive, one class only, a start of another shape.
    """
    number("C", C, positive=True)
    number("tol", tol)
    own = own_of(y, X.shape[0])
    mapped = own.ndim == 2
    shape = (own.shape[1], X.shape[1]) if mapped else (X.shape[1],)
    w: Any = np.zeros(shape) if start is None else getattr(start, "w", start)
    if np.shape(w) != shape:
        expected = f"shape {shape}: one weight per column of X{' and class' * mapped}"
        raise InvalidParameterError("start", f"shape {np.shape(w)}", expected, "match start to X")
    run = _Run(X, own.reshape(len(own), -1), float(C))
    state, training = run.state, TrainingRun(report)
    with training:
        given = getattr(start, "multipliers", None)
        given = given if given is None else given.reshape(run.own.shape)
        run.begin(np.array(np.atleast_2d(w), np.float64), given)
        still = 0
        for iteration in range(1, max_iter + 1):
            if state.gap <= tol or training.stopped or still == STALLED:
                break
            before = state.absolute_gap
            run.iterate()
            state.record(iteration, run.primal(), state.dual, run.w)
            state.history[-1]["active"] = int(np.count_nonzero(run.passive))
            still = 0 if state.absolute_gap < before else still + 1
            state.done = state.gap <= tol or still == STALLED
            training.ask(state)
    if not state.history:
        raise KeyboardInterrupt
    run.w, run.s, run.r = state.W, *run.scores(state.W)
    state.claim(run.primal(), state.dual)
    found = state.W.reshape(shape), run.multipliers.reshape(own.shape)
    return TrainingResult(*found, **training.outcome(state, "newton"))
