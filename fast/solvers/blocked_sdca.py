"""Stochastic dual coordinate ascent with matrix products: for any loss that updates its dual blocks.

The dual is dense, (n, m). One step of Lapin et al. 2015, Algorithm 1, needs the scores of one
example under the current W. For a block of B examples all scores come from one product, and what
earlier steps in the block changed is added through the block's Gram matrix:
W x_i = W_old x_i + sum_l <x_l, x_i> (new a_l - old a_l). The iterates are those of the sequential
algorithm; the speed is that of matrix products. With few features W itself is changed after each example.
The update is the loss's own, compiled into the loop.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast._rows import read_only
from fast.kernels.rows import SCRATCH

from .rows import blocks_of, is_sparse, scores
from .state import TrainingState, block_length

GATHERED = 16  # blocks whose rows are taken out at once
FEW = 32  # features of dense rows up to which their products cost less than those of blocks


def update_block(loss: Any, *block: Any) -> None:
    """Sequential exact updates of one block, see `fast.kernels.rows.ascend`."""
    loss.kernels.ascend(*block)


def update_rows(loss: Any, *rows: Any) -> None:
    """Sequential exact updates of rows, W after each, see `fast.kernels.rows.sweep`."""
    loss.kernels.sweep(*rows)


class BlockedSDCASolver:
    """Trains one model; see :func:`fast.models.multiclass_erm.train`."""

    NEEDS = "updates"
    BLOCK = 64

    def __init__(self, X: Any, y: np.ndarray, r: np.ndarray, m: int, loss: Any, seed: int) -> None:
        self.X, self.y, self.r, self.m, self.loss = X, y, r, m, loss
        self.parameters = loss.parameters(m - 1)
        self.costs = read_only(np.full((1, m), loss.cost))
        self.rng = np.random.default_rng(seed)
        self.W = np.zeros((m, X.shape[1]))
        self.blocks = np.zeros((len(y), m))
        self.space = np.empty((SCRATCH, m))

    def start_cold(self) -> None:
        """W = 0 and A = 0."""

    def start_warm(self, dual: Any) -> None:
        """Begin at a feasible dual: dual variables of the other classes (n, m)."""
        self.blocks = blocks_of(dual, self.y)
        self.W = self._primal_of_dual()

    def _primal_of_dual(self) -> np.ndarray:
        if is_sparse(self.X):
            return np.ascontiguousarray((self.X.T @ self.blocks).T)
        return self.blocks.T @ self.X.astype(np.float64, copy=False)

    def epoch(self, examples: Any = None) -> None:
        """One pass over all examples, or these, in random order."""
        order = self.rng.permutation(len(self.y) if examples is None else examples)
        change, sparse = np.empty((self.BLOCK, self.m)), is_sparse(self.X)
        for start in range(0, len(order), GATHERED * self.BLOCK):  # calls cost more than small blocks
            taken = order[start : start + GATHERED * self.BLOCK]
            X = self.X[taken].astype(np.float64, copy=False)
            blocks, labels, weights = self.blocks[taken], self.y[taken], self.r[taken]
            if not sparse and X.shape[1] <= FEW:
                V = np.ascontiguousarray(self.W.T)
                given = self.parameters, X, labels, self.costs, weights, blocks, V
                update_rows(self.loss, *given, change[0], change[1], self.space)
                self.W, self.blocks[taken] = np.ascontiguousarray(V.T), blocks
                continue
            for first in range(0, len(taken), self.BLOCK):
                now = slice(first, first + self.BLOCK)
                rows = X[now]
                gram, f = rows @ rows.T, rows @ self.W.T
                if sparse:
                    f, gram = np.asarray(f), gram.toarray()
                part = change[: len(f)]
                update_block(
                    self.loss, self.parameters, f, gram, labels[now], self.costs, weights[now],
                    blocks[now], part, self.space,
                )  # fmt: skip
                self.W += (rows.T @ part).T if sparse else part.T @ rows
            self.blocks[taken] = blocks

    def check(self) -> tuple[float, float]:
        """Primal and dual objective, with W = X'A summed anew."""
        self.W = self._primal_of_dual()
        half = 0.5 * float(np.vdot(self.W, self.W))
        size, n, risk, paid = block_length(self.m), len(self.y), 0.0, 0.0
        for first in range(0, n, size):
            part = slice(first, min(n, first + size))
            y, r = self.y[part], self.r[part]
            f = np.ascontiguousarray(scores(self.X, self.W, part.start, part.stop))
            risk += float(r @ self.loss.values(f, y))
            paid += float(self.loss.conjugates(self._dual_variables(part), r).sum())
        return half + risk, -paid - half

    def run(self, state: TrainingState, tol: float, max_iter: int, report: Callable) -> None:
        """Epochs until state.gap <= tol, or max_iter, or the callback stops."""
        for iteration in range(state.n_iter + 1, max_iter + 1):
            self.epoch()
            state.record(iteration, *self.check(), self.W)
            state.done = state.gap <= tol
            if report(state) or state.done:
                return

    def _dual_variables(self, part: slice) -> np.ndarray:
        x = 0.0 - self.blocks[part]
        x[np.arange(len(x)), self.y[part]] = 0.0
        return x

    def dual_variables(self) -> Any:
        """The dual: mass of each example on the other classes, (n, m); CSR if most of it may be 0."""
        x = self._dual_variables(slice(None))
        return x if self.loss.complements else sp.csr_array(x)
