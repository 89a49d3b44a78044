"""Dual coordinate ascent for hinges with one signed score per class, smoothed or not: all of a row at once.

Where examples are few and features many the classes of a one-vs-all hinge are trained one after the other in the
products of rows, XX' (n, n): an update of x_i changes n scores, a visit without one costs nothing. A class whose
updates creep, as they do far from the origin, is left to the interior point method.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fast._numba import kernel
from fast.kernels.signed import BIPARTITE, BOX

from .active_set import Race
from .box_interior_point import Box
from .one_vs_rest_rows import sweep
from .rows import FUSE, as_rows, is_sparse, squared_norms
from .state import TrainingState, block_length

HEAVY = 30.0  # mean r_i ||x_i||^2 from which on the weights are raised in steps of ten
ROUGH_GAP, ROUGH_PASSES, LONGEST = 5e-3, 100, 3
EVERY, SHORT = 5, 20_000  # passes between certificates; numbers of the dual up to which more
MOST, BETWEEN = 4000, 5  # examples of such products, and passes over them between two gaps
SHARE = 0.5  # of the tolerance left to a class, and what of that where all together miss theirs
CALL, FACTOR = 2e6, 0.25  # nanoseconds of the interior point method, and of a cube of examples
VISIT, NUMBER = 10.0, 0.25  # nanoseconds of a visit, and of a number changed


class SignedAscent:
    """Trains a one-vs-all or multilabel hinge; see `fast.solvers.one_vs_rest_training.train`."""

    def __init__(
        self, X: Any, y: np.ndarray, own: np.ndarray, r: np.ndarray, loss: Any, seed: int
    ) -> None:
        self.X, self.y, self.own, self.r, self.loss = X, y, own, r, loss
        self.rows, self.norms = as_rows(X), squared_norms(X)
        m = own.shape[1]
        given = 0.0 if loss.variant == BIPARTITE else loss.cost
        self.costs, self.signs = np.where(own, given, loss.cost), 2.0 * own - 1.0
        self.kind = loss.variant, float(loss.gamma)
        self.rng = np.random.default_rng(seed)
        self.V, self.x = np.zeros((X.shape[1], m)), np.zeros(own.shape)
        self.rest = np.zeros((len(r), 2), np.int64)
        self.places, self.work = np.empty(m, np.int64), np.empty((4, m))
        self.cold, self.every = True, max(EVERY, min(SHORT // max(own.size, 1), 100))

    @property
    def W(self) -> np.ndarray:
        """Weights (m, d)."""
        return self.V.T

    def start_at(self, W: np.ndarray | None, A: np.ndarray | None) -> None:
        """Begin at a dual point; weights alone say nothing about it."""
        if A is not None:
            self.x, self.cold = np.abs(A), False
            self._sum()

    def _sum(self) -> None:
        A = self.dual_variables()
        self.V = np.ascontiguousarray(self.X.T @ A, dtype=np.float64)

    def dual_variables(self) -> np.ndarray:
        """A of the dual point."""
        return np.asarray(self.signs * self.x)

    def passes(self, r: np.ndarray, count: int) -> None:
        """So many passes in random order."""
        for _ in range(count):
            order = self.rng.permutation(len(r))
            args = self.rows, self.own, r, self.norms, order, (*self.kind, self.costs)
            sweep(*args, self.V, self.x, self.rest, self.places, self.work)

    def check(self, r: np.ndarray) -> tuple[float, float]:
        """Primal and dual objective, with W = X'A summed anew."""
        self._sum()
        return self._values(self.V, self.V, self.x, r)

    def objectives(self, W: np.ndarray, A: np.ndarray) -> tuple[float, float]:
        """Primal objective at W (m, d), dual objective at A."""
        pull = np.asarray(self.X.T @ A, dtype=np.float64)
        return self._values(np.ascontiguousarray(W.T), pull, np.abs(A), self.r)

    def _values(
        self, V: np.ndarray, pull: np.ndarray, x: np.ndarray, r: np.ndarray
    ) -> tuple[float, float]:
        risk, size = 0.0, block_length(self.own.shape[1])
        for first in range(0, len(r), size):
            part = slice(first, first + size)
            rows = self.X[part]
            f = rows @ V if is_sparse(rows) else rows.astype(np.float64, copy=False) @ V
            risk += float(r[part] @ self.loss.values(np.ascontiguousarray(f), self.y[part]))
        gains = float(np.vdot(self.costs, x))
        if self.kind[1] > 0.0:
            squares = np.einsum("ij,ij->i", x, x)
            gains -= 0.5 * self.kind[1] * float((squares[r > 0.0] / r[r > 0.0]).sum())
        half = 0.5 * float(np.vdot(pull, pull))
        return 0.5 * float(np.vdot(V, V)) + risk, gains - half

    def raised(self) -> None:
        """Begin weakly regularised problems at those of smaller weights, solved roughly."""
        size = float(np.mean(self.r * self.norms))
        steps = min(int(np.ceil(np.log10(max(size / HEAVY, 1.0)))), LONGEST)
        for q in range(steps, 0, -1):
            smaller = self.r * 10.0**-q
            for _ in range(ROUGH_PASSES // 10):
                self.passes(smaller, 10)
                primal, dual = self.check(smaller)
                if primal - dual <= ROUGH_GAP * primal:
                    break
            self.x *= 10.0
            self.V *= 10.0
            self.rest[:] = 0

    def run(
        self,
        state: TrainingState,
        tol: float,
        max_iter: int,
        report: Callable,
        most: float = np.inf,
    ) -> bool:
        """Passes until state.gap <= tol (then, or if the callback stops, true), or max_iter.

        They also end where it will take more than ``most`` further looks at the gap, by the last two.
        """
        if self.cold and most == np.inf:
            self.raised()
        self.cold, before = False, np.inf
        for iteration in range(state.n_iter + 1, max_iter + 1):
            self.passes(self.r, self.every)
            state.record(iteration, *self.check(self.r), self.W)
            state.done = state.gap <= tol
            if report(state) or state.done:
                return True
            fell = np.log(max(before / state.gap, 1.0))
            if most < np.inf and np.log(state.gap / tol) > most * fell:
                break
            before = state.gap
        return False


@kernel(forceinline=True, fastmath=FUSE)
def _add(row, change, f):
    for t in range(f.shape[0]):
        f[t] += change * row[t]


@kernel
def product_pass(K, signs, r, cost, order, x, f):
    """Exact updates of the examples in ``order``, f = K(s x); returns how many changed.

    Then ``f`` are the scores.
    """
    changed = 0
    for i in order:
        slope = cost - signs[i] * f[i]
        room = r[i] if slope > 0.0 else 0.0
        new = min(max(x[i] + slope / K[i, i], 0.0), r[i]) if K[i, i] > 0.0 else room
        change = new - x[i]
        if change != 0.0:
            x[i] = new
            _add(K[i], signs[i] * change, f)
            changed += 1
    return changed


class ProductAscent(SignedAscent):
    """The same of a one-vs-all hinge: a few passes over the rows, then over their products XX'."""

    def __init__(
        self, X: Any, y: np.ndarray, own: np.ndarray, r: np.ndarray, loss: Any, seed: int
    ) -> None:
        super().__init__(X, y, own, r, loss, seed)
        self.every, self.used = EVERY, np.flatnonzero(r > 0.0)

    @staticmethod
    def fits(X: Any, loss: Any) -> bool:
        """Whether the products of rows are cheap, beside passes over X."""
        known = isinstance(X, np.ndarray) and len(X) <= min(MOST, 2 * X.shape[1])
        return known and loss.variant == BOX and not loss.smooth

    def run(
        self, state: TrainingState, tol: float, max_iter: int, report: Callable, most: float = np.inf
    ) -> bool:
        """Every class up to its part of the tolerance, and again with less of it, until state.gap <= tol."""
        first = min(max_iter, state.n_iter + 1)
        if self.cold and super().run(state, tol, first, report, 1.0):
            return True
        rows = self.X[self.used].astype(np.float64, copy=False)
        K, share, gap = rows @ rows.T, 1.0, np.inf
        for iteration in range(state.n_iter + 1, max_iter + 1):
            if not state.absolute_gap < gap:  # rounding rules
                return super().run(state, tol, max_iter, report)
            gap, share = state.absolute_gap, SHARE * share
            for j in range(self.own.shape[1]):
                self.x[self.used, j] = self._trained(j, K, share * tol)
            state.record(iteration, *self.check(self.r), self.W)
            state.done = state.gap <= tol
            if report(state) or state.done:
                return True
        return False

    def _trained(self, j: int, K: np.ndarray, tol: float) -> np.ndarray:
        """Masses of a class with a gap of ``tol`` times D: by passes, or where they creep the interior point method."""
        n, r, cost = len(K), self.r[self.used], float(self.loss.cost)
        x, signs = self.x[self.used, j], np.ascontiguousarray(self.signs[self.used, j])
        race = Race(CALL + FACTOR * n**3)
        while True:
            f = K @ (signs * x)
            slope = cost - signs * f
            gap = float(r @ np.maximum(slope, 0.0) - x @ slope)
            goal = tol * (cost * float(x.sum()) - 0.5 * float((signs * x) @ f))
            if not gap > goal or race.lost:
                return x
            if goal < 0.0:  # worse than 0, as a start for another C may be
                x = np.zeros(n)
                f = np.zeros(n)
            work = 0.0
            for _ in range(BETWEEN):
                changed = product_pass(K, signs, r, cost, self.rng.permutation(n), x, f)
                work += VISIT * n + NUMBER * n * changed
            if goal > 0.0 and race.lost_at(work, gap / goal, 1.0):
                x = Box(signs[:, None] * K * signs, np.full(n, cost), r).solved(goal)
