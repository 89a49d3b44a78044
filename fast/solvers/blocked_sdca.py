"""Stochastic dual coordinate ascent with matrix products: the reference trainer.

The dual is dense, (n, m). One step of Lapin et al. 2015, Algorithm 1, needs the scores of one
example under the current W. For a block of B examples all scores come from one product, and what
earlier steps in the block changed is added through the block's Gram matrix:
W x_i = W_old x_i + sum_l <x_l, x_i> (new a_l - old a_l). The iterates are those of the sequential
algorithm; the speed is that of matrix products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast._numba import REORDER, kernel

from .active_list import hinge_of_sorted, keep_largest, project_block, smooth_loss
from .rows import TINY, is_sparse, scores
from .state import TrainingState, block_length


@kernel(fastmath=REORDER)
def update_block(f, gram, y, r, loss, x_all, change, work):
    """Sequential exact updates of one block.

    ``f`` (B, m) scores under the old W, ``gram`` (B, B), ``x_all`` (B, m) masses of the other
    classes (x[i, y_i] = 0), updated; ``change`` (B, m) receives new a - old a.
    """
    variant, k, gamma = loss
    m = f.shape[1]
    b, x, scratch = work[0, : m - 1], work[1, : m - 1], work[2, : m - 1]
    for i in range(f.shape[0]):
        for j in range(m):
            change[i, j] = 0.0
        if not r[i] > 0.0:
            continue
        for h in range(i):
            factor = gram[i, h]
            if factor != 0.0:
                for j in range(m):
                    f[i, j] += factor * change[h, j]
        K = gram[i, i]
        den = K + gamma / r[i]
        yi = y[i]
        s_old = 0.0
        for j in range(m):
            s_old += x_all[i, j]
        if den > TINY:
            base = 1.0 - f[i, yi] + K * s_old
            t = 0
            for j in range(m):
                if j != yi:
                    b[t] = (f[i, j] + K * x_all[i, j] + base) / den
                    t += 1
            s = project_block(variant, b, k, r[i], K / den, x, scratch)
        else:  # a zero row without smoothing: any k classes share the mass
            s = r[i]
            for t in range(m - 1):
                x[t] = s / k if t < k else 0.0
        t = 0
        for j in range(m):
            if j != yi:
                change[i, j] = x_all[i, j] - x[t]
                x_all[i, j] = x[t]
                t += 1
        change[i, yi] = s - s_old


@kernel(fastmath=REORDER)
def losses_and_dual(f, y, r, loss, x_all, out_loss, work):
    """Losses of the rows of ``f``; returns sum <1,x> - gamma/2 sum ||x||^2/r over the rows."""
    variant, k, gamma = loss
    m = f.shape[1]
    z, p, scratch = work[0], work[1, : m - 1], work[2, : m - 1]
    total = 0.0
    for i in range(f.shape[0]):
        shift = 1.0 - f[i, y[i]]
        if gamma > 0.0:
            t = 0
            for j in range(m):
                if j != y[i]:
                    z[t] = f[i, j] + shift
                    t += 1
            out_loss[i] = smooth_loss(variant, z[: m - 1], k, gamma, p, scratch)
        else:
            keep_largest(f[i], y[i], k, z, work[1])
            for t in range(k):
                z[t] += shift
            out_loss[i] = hinge_of_sorted(variant, z, k)
        square = 0.0
        for j in range(m):
            total += x_all[i, j]
            square += x_all[i, j] * x_all[i, j]
        if square > 0.0:
            total -= 0.5 * gamma / r[i] * square
    return total


class BlockedSDCASolver:
    """Trains one top-k hinge model; see :func:`fast.models.multiclass_erm.train`."""

    BLOCK = 64

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        self.X, self.y, self.r, self.m = X, y, r, m
        self.loss = (loss.variant, loss.k, float(loss.gamma))
        self.rng = np.random.default_rng(seed)
        self.W = np.zeros((m, X.shape[1]))
        self.x = np.zeros((len(y), m))
        self.losses = np.zeros(len(y))
        self.work = np.zeros((3, max(m, 2)))

    def start_cold(self) -> None:
        """W = 0 and A = 0."""

    def start_warm(self, dual: sp.csr_array) -> None:
        """Begin at a feasible dual, CSR (n, m) of masses of the other classes."""
        self.x = dual.toarray()
        self.W = self._primal_of_dual()

    def _primal_of_dual(self) -> np.ndarray:
        a = -self.x
        a[np.arange(len(self.y)), self.y] = self.x.sum(axis=1)
        if is_sparse(self.X):
            return np.ascontiguousarray((self.X.T @ a).T)
        return a.T @ self.X.astype(np.float64, copy=False)

    def epoch(self) -> None:
        """One pass over all examples in random order."""
        order = self.rng.permutation(len(self.y))
        change = np.empty((self.BLOCK, self.m))
        for first in range(0, len(order), self.BLOCK):
            chosen = order[first : first + self.BLOCK]
            rows = self.X[chosen].astype(np.float64, copy=False)
            gram = rows @ rows.T
            if is_sparse(rows):
                f, gram = np.asarray(rows @ self.W.T), gram.toarray()
            else:
                f = rows @ self.W.T
            x = self.x[chosen]
            part = change[: len(chosen)]
            update_block(
                f,
                gram,
                self.y[chosen],
                self.r[chosen],
                self.loss,
                x,
                part,
                self.work,
            )
            self.x[chosen] = x
            self.W += (rows.T @ part).T if is_sparse(rows) else part.T @ rows

    def check(self) -> tuple[float, float]:
        """Primal and dual objective, with W = X'A summed anew."""
        self.W = self._primal_of_dual()
        half = 0.5 * float(np.vdot(self.W, self.W))
        size, n, linear = block_length(self.m), len(self.y), 0.0
        for a in range(0, n, size):
            b = min(n, a + size)
            f = scores(self.X, self.W, a, b)
            linear += losses_and_dual(
                f, self.y[a:b], self.r[a:b], self.loss, self.x[a:b], self.losses[a:b], self.work
            )
        return half + float(self.r @ self.losses), linear - half

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Epochs until state.gap <= tol, or max_iter, or the callback stops."""
        for iteration in range(state.n_iter + 1, max_iter + 1):
            self.epoch()
            state.record(iteration, *self.check(), self.W)
            state.done = state.gap <= tol
            if report(state) or state.done:
                return

    def masses(self) -> sp.csr_array:
        """The dual as a CSR array (n, m): mass of each example on the other classes."""
        return sp.csr_array(self.x)
