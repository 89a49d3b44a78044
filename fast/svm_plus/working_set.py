"""Constraint generation for SVM+: solve on few rows, look at all of them, add the most violated.

A round costs one small quadratic program (interior point, never n x n) and one product with X and
Z. Its multipliers, zero elsewhere, bound the optimum from below; its primal point, made feasible
for all rows, bounds it from above. Few rows carry a multiplier, so few rounds suffice.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fast._largest import largest
from fast.solvers.rows import is_sparse
from fast.solvers.state import TrainingRun, TrainingState
from fast.svm_plus.data import Bound, Model, SVMPlusData
from fast.svm_plus.interior_point_qp import Rows, minimise

START = 6  # rows per unknown to begin with
ADDED = 1  # rows per unknown that a round adds at least
WHOLE = 8  # rows per unknown up to which everything is solved at once
MOST_AT_ONCE = 3000  # but no more rows than this (or than are added) with many unknowns
GROWTH, GROWTH_SOFT = 0.25, 1.5  # and at least this part of the working set
LOOSE, TIGHTEST = 1e-3, 1e-15  # accuracies of the small programs
DECIDED = 1e-9  # the gap that is tried for before w = 0 is believed
NOISE = 1e-13  # a violation of a margin of 1 that is none
FEW = 0.02  # part of the working set: so few new rows, and the next round may be the last
PART = 0.02  # their part in the gap
ROUGHEST = 1e-6  # the gap that is tried for anyway: a round or two more settle a w near 0
TIGHTER = 1e-3  # the next accuracy, if no row is left to add


@dataclass
class WorkingSetState(TrainingState):
    """Best model and best bound so far; ``rows``: size of the working set."""

    model: Any = None
    bound: Any = None
    rows: int = 0
    first: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    second: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    margin_rows: Any = ()
    slack_rows: Any = ()

    def take(self, model: Model | None, bound: Bound | None) -> None:
        """Keep what is better than what is known."""
        if model is not None and (self.model is None or model.primal < self.primal):
            self.model, self.primal = model, model.primal
        if bound is not None and np.isfinite(bound.dual) and bound.dual > self.dual:
            self.bound, self.dual = bound, bound.dual

    def note(self, iteration: int) -> None:
        """One line of history."""
        self.record(iteration, self.primal, self.dual, self.model.w)
        self.W = self.model.w
        self.history[-1]["rows"] = self.rows


def train(
    data: SVMPlusData,
    tol: float,
    max_iter: int,
    report: Callable[[Any], bool] | None = None,
    seed: int = 0,
) -> tuple[WorkingSetState, TrainingRun]:
    """Add rows until the relative gap is at most ``tol`` (and ROUGHEST, if that can be had)."""
    state = WorkingSetState(started=time.perf_counter())
    state.take(*data.trivial())
    run = TrainingRun(report)
    with run:
        state.first, state.second = initial(data, np.random.default_rng(seed))
        tol = min(tol, ROUGHEST)
        least = max(PART * tol, TIGHTEST)
        inner = least if len(state.first) == data.n else LOOSE
        for iteration in range(1, max_iter + 1):
            inner = max(min(inner, PART * state.gap), least)
            violated = solve_and_look(data, state, inner)
            state.note(iteration)
            if run.ask(state):
                break
            if state.gap <= (tol if state.model.w.any() else DECIDED):
                break
            if state.gap <= tol:
                least = min(least, PART * DECIDED)  # not raised again once it had to be lower
                inner = min(inner, least)
            fresh = add_rows(data, state, violated)
            if fresh == 0:
                if state.gap > tol:
                    state.take(*data.without_slack(state.first, state.primal, state.dual))
                    if state.gap <= tol:
                        break
                if inner <= TIGHTEST:
                    break  # rounding rules
                least = max(TIGHTER * inner, TIGHTEST)
            if fresh <= FEW * state.rows or len(state.first) == data.n:
                inner = least
    return state, run


def initial(data: SVMPlusData, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of both classes to begin with: all, or a random sample."""
    n, wanted = data.n, min(START * data.size, MOST_AT_ONCE)
    everything = np.arange(n)
    none = np.zeros(0, np.int64)
    if n <= min(WHOLE * data.size, MOST_AT_ONCE):
        return everything, everything if data.nonneg else none
    classes = everything[data.positive], everything[~data.positive]
    parts = [rng.choice(part, min(len(part), wanted // 2), replace=False) for part in classes]
    first = np.sort(np.concatenate(parts))
    if not data.nonneg:
        return first, none
    return first, first if data.soft else rng.choice(n, min(n, wanted // 2), replace=False)


def solve_and_look(
    data: SVMPlusData, state: WorkingSetState, inner: float
) -> tuple[np.ndarray, np.ndarray | None]:
    """Solve on the working set; bound and model from it; what it violates elsewhere."""
    state.rows = len(state.first) + len(state.second)
    few = 2 * state.rows < data.d + data.p_slack
    implicit = few and is_sparse(data.X)
    rows, gram = collect_gram(data, state) if implicit else (collect(data, state), None)
    if few and gram is None:
        gram = rows.A @ rows.A.T
    found = minimise(rows, inner, gram, data.price(state.primal, state.dual, state.rows))
    alpha, beta = np.zeros(data.n), np.zeros(data.n)
    half = len(state.first)
    alpha[state.first], beta[state.second] = found.mu[:half], found.mu[half:]
    bound = data.bound(alpha, beta)
    if implicit:
        signed = alpha * data.y
        w = data.transposed(data.products_x, signed) - float(signed.sum()) * data.mean_x
        found.u = np.concatenate([w, rows.A.T @ found.mu])
    view = data.view(found.u, found.v)
    state.take(view.model, bound)
    return view.violation, view.violation_slack


def add_rows(
    data: SVMPlusData, state: WorkingSetState, violated: tuple[np.ndarray, np.ndarray | None]
) -> int:
    """The most violated rows join; how many."""
    count = max(
        min(ADDED * data.size, MOST_AT_ONCE),
        int((GROWTH_SOFT if data.soft else GROWTH) * (len(state.first) + len(state.second))),
    )
    first, second = violated
    before = len(state.first) + len(state.second)
    if second is not None and data.soft:  # pairs
        first, second = np.maximum(first, second), None
    state.first = np.concatenate([state.first, worst(first, state.first, count)])
    if second is not None:
        state.second = np.concatenate([state.second, worst(second, state.second, count)])
    elif data.nonneg:
        state.second = state.first
    return len(state.first) + len(state.second) - before


def worst(violation: np.ndarray, known: np.ndarray, count: int) -> np.ndarray:
    """The ``count`` rows outside ``known`` that are violated most."""
    violation = violation.copy()
    violation[known] = 0.0
    where = np.flatnonzero(violation > NOISE)
    if len(where) > count:
        where = where[largest(violation[where], count)]
    return where


def collect(data: SVMPlusData, state: WorkingSetState) -> Rows:
    """The rows of both families as the interior point wants them; those made before are kept."""
    first, second = state.first, state.second
    fresh = first[len(state.margin_rows) :]
    made = np.hstack([data.margin_rows(fresh), data.slack_rows(fresh)])
    state.margin_rows = np.vstack([state.margin_rows, made]) if len(state.margin_rows) else made
    A = state.margin_rows
    if len(second):
        if data.soft:
            slack = A[:, data.d :]
        else:
            made = data.slack_rows(second[len(state.slack_rows) :])
            slack = np.vstack([state.slack_rows, made]) if len(state.slack_rows) else made
            state.slack_rows = slack
        A = np.vstack([A, np.hstack([np.zeros((len(second), data.d)), slack])])
    return with_free(data, state, A)


def collect_gram(data: SVMPlusData, state: WorkingSetState) -> tuple[Rows, np.ndarray]:
    """The same for CSR of many columns, through products of rows; ``A`` holds the slack part only."""
    first, second = state.first, state.second
    A = np.vstack([data.slack_rows(first), data.slack_rows(second)])
    gram = A @ A.T
    X = data.X[first].astype(np.float64)
    across = X @ data.mean_x
    K = (X @ X.T).toarray() - across - across[:, None] + float(data.mean_x @ data.mean_x)
    gram[: len(first), : len(first)] += K * np.outer(data.y[first], data.y[first])
    return with_free(data, state, A), gram


def with_free(data: SVMPlusData, state: WorkingSetState, A: np.ndarray) -> Rows:
    """The free variables' columns, right-hand sides and prices beside ``A``."""
    first, second = state.first, state.second
    F = np.ones((len(A), len(data.c)))
    F[: len(first), 0] = data.y[first]
    F[len(first) :, 0] = 0.0
    if data.signed and len(data.c) > 1:
        F[:, 1] = data.y[np.concatenate([first, second])]
    h = np.concatenate([data.h1[first], data.h2[second]])
    k = data.k[first] if data.soft else None
    return Rows(A, F, h, data.c, k, data.soft and len(second) > 0)
