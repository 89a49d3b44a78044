"""Newton's method for one-vs-all hinges: all classes at once, over shared rows and products of features.

P(W) = sum_j (1/2 ||w_j||^2 + sum_i r_i l(z_ij)) separates over the classes. A step takes the scores of all
of them by one product, the masses and curvatures T entry by entry, and solves (I + X' diag(T_j) X) p_j =
w_j - X'a_j. A hinge, which has no curvature, is minimised by the proximal point method in the dual: the
dual variables stay within reach of those before, which makes every inner problem smooth over a ``width`` that
shrinks. Begun where a few passes of coordinate ascent end, few of them are enough, whatever C is.

The certificate is one for each class: of every one the best weights and the best dual point are kept.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .class_grams import solved, weighted_grams
from .class_rows import dual_variables, objectives, slopes
from .one_vs_rest_ascent import SignedAscent
from .rows import is_sparse
from .state import TrainingState

WIDEST, AFFORDABLE = 400, 1 << 27  # features, and numbers of X, up to which it is tried
LOOKS = 2.0  # that coordinate ascent may be away from the tolerance, by its own progress
WIDTH, SHRINK, NARROWEST = 0.3, 0.3, 1e-5
INNER, EASY = 12, 5  # steps of one inner problem, and of one that lets the next be harder
SHARP = 0.1  # part of the gap that an inner problem, and of the tolerance that a class leaves
FLAT, TRIES = 0.3, 12  # part of the slope that a line search leaves, and its looks
PATIENCE = 25  # steps without progress


class ClassNewtonSolver:
    """Trains a one-vs-all model; see `fast.solvers.one_vs_rest_training.train`."""

    def __init__(
        self, X: Any, y: np.ndarray, own: np.ndarray, r: np.ndarray, loss: Any, seed: int
    ) -> None:
        self.gamma = float(loss.gamma)
        self.before = SignedAscent(X, y, own, r, loss, seed)
        self.used = np.flatnonzero(r > 0.0)
        whole = len(self.used) == len(r)
        rows = X if whole else X[self.used]
        rows = rows.toarray() if is_sparse(rows) else rows
        self.X = np.ascontiguousarray(rows, dtype=np.float64)
        self.own, self.r, self.n = own[self.used], r[self.used], len(r)
        (d, m) = X.shape[1], own.shape[1]
        self.W = np.zeros((m, d))
        self.V, self.centre = np.zeros((d, m)), np.zeros((len(self.used), m))
        self.primal, self.dual = np.full(m, np.inf), np.zeros(m)  # that of A = 0
        self.A = self.centre
        self.best: Any = None

    @staticmethod
    def fits(X: Any) -> bool:
        """Whether matrices of features times features are cheap."""
        return X.shape[1] <= WIDEST and X.shape[0] * X.shape[1] <= AFFORDABLE

    def start_at(self, W: np.ndarray | None, A: np.ndarray | None) -> None:
        """Begin at weights, and at a dual point."""
        self.before.start_at(W, A)
        self.before.cold = True

    def dual_variables(self) -> np.ndarray:
        """A of the best dual point of every class."""
        if self.best is None:
            return self.before.dual_variables()
        found = np.zeros((self.n, self.own.shape[1]))
        found[self.used] = self.best
        return found

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Steps until state.gap <= tol, or max_iter, or nothing is left to win, or the callback stops."""
        if self.before.cold:
            over = self.before.run(state, tol, max_iter, report, LOOKS)
            self.V, self.centre = (
                np.ascontiguousarray(self.before.W.T),
                self.before.dual_variables()[self.used],
            )
            if over or state.n_iter >= max_iter:
                return
        if self.best is None:
            self.best = np.zeros_like(self.centre)
        self._begin()
        patience, smallest = PATIENCE, np.inf
        for iteration in range(state.n_iter + 1, max_iter + 1):
            gaps = self._certified()
            size = tol * abs(self.primal.sum()) / len(gaps)
            self.live = gaps > SHARP * size
            state.record(iteration, float(self.primal.sum()), float(self.dual.sum()), self.W)
            state.done = state.gap <= tol
            patience = PATIENCE if state.absolute_gap < 0.9 * smallest else patience - 1
            smallest = min(smallest, state.absolute_gap)
            if report(state) or state.done or not patience or not self.live.any():
                return
            self._next(state.absolute_gap)

    def _begin(self) -> None:
        """Scores and dual variables at the first weights."""
        self.F, self.T, self.A = self.X @ self.V, np.empty_like(self.centre), self.centre.copy()
        self.width = WIDTH if self.gamma == 0.0 else 0.0
        self.live, self.steps = np.ones(self.own.shape[1], bool), 0
        self._certified()
        self._look()

    def _look(self) -> None:
        """Masses and curvatures at V, and what is left of the equation V = X'A."""
        given = self.own, self.F, self.r, self.centre, self.width, self.gamma, self.live
        dual_variables(*given, self.A, self.T)
        self.off = self.V - self.X.T @ self.A

    def _certified(self) -> np.ndarray:
        """Gaps of the classes, after the best of each is kept."""
        m = len(self.primal)
        losses, gains = np.empty(m), np.empty(m)
        objectives(self.own, self.F, self.r, self.gamma, self.A, losses, gains)
        pull = self.X.T @ self.A
        primal = losses + 0.5 * np.einsum("dj,dj->j", self.V, self.V)
        dual = gains - 0.5 * np.einsum("dj,dj->j", pull, pull)
        lower, higher = primal < self.primal, dual > self.dual
        self.W[lower], self.best[:, higher] = self.V.T[lower], self.A[:, higher]
        self.primal, self.dual = np.minimum(primal, self.primal), np.maximum(dual, self.dual)
        return self.primal - self.dual

    def _next(self, gap: float) -> None:
        """A step; of a hinge, another inner problem before it where the last one is solved."""
        solved_now = 0.5 * float(np.vdot(self.off, self.off)) <= SHARP * gap
        if self.width > 0.0 and self.steps and (solved_now or self.steps >= INNER):
            self.centre, self.A = self.A, self.A.copy()
            change = SHRINK if self.steps <= EASY else 1.0 if solved_now else 1.0 / SHRINK
            self.width, self.steps = min(max(self.width * change, NARROWEST), WIDTH), 0
            self._look()
        self.steps += 1
        wanted = np.flatnonzero(self.live)
        D = np.zeros_like(self.V)
        D[:, wanted] = -solved(weighted_grams(self.X, self.T, wanted), self.off[:, wanted])
        G = self.X @ D
        t = self._length(D, G)
        self.V += t * D
        self.F += t * G
        self._look()

    def _length(self, D: np.ndarray, G: np.ndarray) -> np.ndarray:
        """Lengths of a step, class by class, at which the slope is small."""
        start, square = np.einsum("dj,dj->j", self.off, D), np.einsum("dj,dj->j", D, D)
        along, out = np.einsum("dj,dj->j", self.V, D), np.empty(len(square))
        t, todo = self.live.astype(np.float64), self.live & (start < 0.0)
        low, below = np.zeros_like(t), start.copy()
        high, above = np.full_like(t, np.inf), np.zeros_like(t)
        for _ in range(TRIES):
            given = self.own, self.F, G, t, self.r, self.centre, self.width, self.gamma, todo
            slopes(*given, out)
            slope = along + t * square + out
            todo = todo & (np.abs(slope) > FLAT * np.abs(start))
            if not todo.any():
                break
            up, down = todo & (slope < 0.0), todo & (slope > 0.0)
            low[up], below[up], high[down], above[down] = t[up], slope[up], t[down], slope[down]
            with np.errstate(all="ignore"):  # no secant where no step was too long
                cut = low - below * (high - low) / (above - below)
                cut = np.clip(cut, 0.9 * low + 0.1 * high, 0.1 * low + 0.9 * high)
            t = np.where(todo, np.where(np.isfinite(high), cut, 2.0 * t), t)
        return np.where(np.isfinite(t), t, 0.0)
