"""Small multiclass problems for trainers, and their objectives by definition."""

import numpy as np
import scipy.sparse as sp
from _problems import classes

from fast.data import Source
from fast.families import named
from fast.solvers.block_lists import BlockListSolver
from fast.solvers.state import TrainingState

HINGE, SMOOTH = named("topk_hinge_alpha", k=2), named("smooth_topk_hinge_alpha", k=2, gamma=0.7)
ENTROPY = named("topk_entropy_beta", k=2)


class Cut(Source):
    """An array or CSR as if it were read, in groups that end at ``ends``."""

    def __init__(self, X, ends=(0, 1, 1, 9)):
        self.X, self.shape, self.dtype = X, X.shape, X.dtype
        edges = [0, *(end for end in ends if end < X.shape[0]), X.shape[0]]
        self.groups = tuple(map(slice, edges[:-1], edges[1:]))

    def read(self, rows):
        return self.X[rows].copy()


def in_groups(X, *rest):
    """The solver for rows that are read."""
    return BlockListSolver(Cut(X), *rest)


def made(solver, loss, n=24, m=4, d=3, form=np.asarray, C=1.0, dtype=np.float64, seed=0):
    """A trainer and its problem."""
    X, y = classes(seed, n=n, m=m, d=d)
    X = X.astype(dtype)
    r = C * np.random.default_rng(3).uniform(0.5, 1.5, n)
    r[2] = 0.0
    return solver(form(X), y, r, m, loss, 5), X, y, r


def blocks(dual_variables, y):
    """The dual matrix: minus the masses, their sums at the own classes."""
    dual_variables = (
        dual_variables.toarray() if sp.issparse(dual_variables) else np.array(dual_variables)
    )
    A = -dual_variables
    A[np.arange(len(y)), y] = dual_variables.sum(axis=1)
    return A


def objectives(loss, X, y, r, W, dual_variables):
    """P of W and D of the masses, by definition."""
    A = blocks(dual_variables, y)
    V = A.T @ X
    primal = 0.5 * (W**2).sum() + r @ loss.values(X @ W.T, y)
    return primal, -loss.conjugates(dual_variables, r).sum() - 0.5 * (V**2).sum()


def run(trainer, tol=1e-6, most=60, primal=None, report=lambda state: False):
    state = TrainingState()
    state.record(0, primal if primal is not None else np.inf, 0.0, trainer.W)
    trainer.start_cold()
    trainer.run(state, tol, most, report)
    return state
