"""Coordinate ascent on class lists for CSR data with many features: W is kept as V = W' (d, m).

A nonzero of X then touches contiguous memory, and all scores of an example cost as much as those of a
short list. So a pass renews the list of each example when it updates its block, and says what
gap the example had and how far it is from having one: who is far is left out. Passes are made in
float32 until the sum of the gaps promises the certificate, which is computed in float64 from X, W and
the dual, and once: it is what the model claims.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .active_set import ActiveSetSolver
from .multiclass_bounds import objectives
from .sparse_rows import parts, pull_rows, sparse_pass
from .state import TrainingState

SMALL = 1 << 17  # weights that are in the cache anyway, and in float64 at once
REACH, SHARE = 0.02, 0.03  # who is further from a gap, or has less of the mean one, waits
LONGEST = 20  # passes between two certificates
CRAWL = 8  # certificates after which passes alone are too slow
HOPE = 2.0  # gaps before a block's update, summed, times the gap of the model after a pass
SINGLE = 1e-6  # gap by C times the support vectors, down to which passes are in float32


class SparseSetSolver(ActiveSetSolver):
    """Trains one top-k hinge model on CSR data; see :func:`fast.models.multiclass_erm.train`."""

    bounds: tuple[float, float] | None = None  # P and D of the best model and of its dual

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        super().__init__(X, y, r, m, loss, seed)
        self.source = loss

    def _prepare(self, n: int, d: int, m: int) -> None:
        real = np.float32 if d * m > SMALL else np.float64
        self.rows, self.V = parts(self.X, real), np.zeros((d, m), real)
        self.W = self.V.T
        self.work, self.classes = np.zeros((8, m + 1)), np.zeros(m + 1, np.int32)
        self.far, self.row_cost = np.zeros(n), self.X.nnz / n * (20.0 + m / 4.0)

    def start_cold(self) -> None:
        """W = 0 and no dual mass: the first pass finds the lists."""

    def start_warm(self, dual: Any) -> None:
        """Begin at a feasible dual, CSR (n, m) of dual variables of the other classes."""
        self._take_lists(dual)
        self._sum_weights(self.V.dtype)

    resume = start_warm

    def _sum_weights(self, real: Any = np.float64) -> None:
        """V = X'A and the dual variables s_i, anew from the lists."""
        x, n = self.dual_variables(), len(self.y)
        self.mass[:] = np.asarray(x.sum(axis=1)).ravel()
        A = sp.csr_array((self.mass, (np.arange(n), self.y)), shape=x.shape) - x
        V = np.zeros(self.V.shape)
        pull_rows(parts(self.X), parts(A), V, self.work[0])
        self.V = V.astype(real, copy=False)
        self.W = self.V.T

    def _double(self) -> None:
        """Go on in float64."""
        self.rows = parts(self.X)
        self._sum_weights()

    def _pass(self, order: np.ndarray) -> float:
        """Update the blocks in ``order``; the sum of the gaps that are known."""
        _, crowded = sparse_pass(
            self.rows, self.y, self.r, self.squares, self.loss, self.lists, self.mass, self.V,
            order, self.fresh, self.gaps, self.far, self.work, self.classes,
            np.empty(self.m + 1, self.V.dtype),
        )  # fmt: skip
        if crowded and self.lists[0].shape[1] < self.m - 1:
            self._make_lists(min(self.m - 1, 2 * self.lists[0].shape[1]))
        return float(self.gaps.sum())

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Passes and certificates until state.gap <= tol, or max_iter, or the callback stops."""
        n, rng, hope = len(self.y), self.rng, HOPE
        weighted = np.flatnonzero(self.r > 0.0)
        self.fresh = min(self.m - 1, self.loss[1] + (1 if self.loss[2] == 0.0 else 16))
        first = state.n_iter + 1
        for iteration in range(first, max_iter + 1):
            active, total, spent = weighted, np.inf, 0.0  # who was left out too long is seen again
            self.bounds, before = None, state.absolute_gap
            for p in range(LONGEST):
                total = self._pass(rng.permutation(active))
                spent += len(active) * self.row_cost
                primal = total + self.dual_objective(0.5 * float(np.vdot(self.V, self.V)))
                scale = min(primal, state.primal)
                if total <= hope * tol * scale:
                    break
                if self.V.dtype == np.float32 and total <= SINGLE * self.r[self.mass > 0.0].sum():
                    self._double()
                near = self.far[weighted] <= REACH * np.sqrt(2.0 * total)
                active = weighted[near & (self.gaps[weighted] >= SHARE * total / n * (1 - p % 2))]
            self._judge(state, iteration, tol)
            gap, single = state.absolute_gap, self.V.dtype == np.float32
            ended = not single and gap > 0.9 * before and total < 0.01 * gap
            if ended:  # the bounds' rounding is all that is left: claims have more digits
                D = self.dual_objective(0.5 * float(np.vdot(self.V, self.V)))
                state.W = self.W
                state.claim(D + total, D)
            if report(state) or state.done or ended or self.race.lost_at(spent, state.gap, tol):
                return
            if iteration > first + CRAWL:
                return self._hand_over(state, tol, max_iter, report)
            drifted = gap > total  # V from X'A
            hope = HOPE if single and drifted else min(HOPE, 0.7 * total / gap)
            if single or drifted:
                self._double()

    def _hand_over(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Leave what is left to class lists with Newton's steps: features are too much alike."""
        lists = ActiveSetSolver(self.X, self.y, self.r, self.m, self.source, 0)
        lists.race = self.race
        lists.resume(self.dual_variables())
        try:
            lists.run(state, tol, max_iter, report)
        finally:  # also what Ctrl-C ends
            self.lists = lists.lists

    def _judge(self, state: TrainingState, iteration: int, tol: float) -> None:
        """P at V and D of the lists, both rounded outwards."""
        W = self.V.astype(np.float64).T
        P, D = objectives(self.X, W, self.dual_variables(), self.y, self.r, self.source)
        if state.primal > P:  # not copied: the last one is not needed any more
            state.W = W
        state.record(iteration, P, D, W)
        state.done = state.gap <= tol
        self.bounds = (state.primal, D) if state.done else None
