"""The ordinary SVM, what SVM+ is without privileged features: both losses, free b, certified.

P(w, b) = 1/2 ||w||^2 + sum_i c_i L(1 - y_i (w'x_i + b)),   L(t) = max(0, t) or 1/2 max(0, t)^2
D(a) = 1'a - 1/2 ||X'(a y)||^2 (- 1/2 sum a_i^2/c_i),   a >= 0 (and a_i <= c_i), a'y = 0,   c = C omega
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fast.solvers.box_interior_point import FactorGram, MatrixGram, OneView, balanced, follow
from fast.solvers.rows import is_sparse
from fast.solvers.state import Solution, TrainingState
from fast.svm_plus.data import Model

SMALL = 2e8  # operations per step up to which it goes on to rounding
FINEST, LOOSE = 1e-15, 1e-6


@dataclass
class PlainResult(Solution):
    """coef (n,): w = sum_i coef_i x_i; w itself where X was given; b; multipliers alpha (n,);
    primal and dual objective at these very points, relative gap, rounds and their history.
    """

    coef: np.ndarray
    w: np.ndarray | None
    b: float
    alpha: np.ndarray


@dataclass
class PlainState(TrainingState):
    """Best coef, b and multipliers so far; W is coef, ``model`` knows w where X is given."""

    coef: Any = None
    b: Any = 0.0
    alpha: Any = None
    bound: float = -np.inf
    model: Any = None


def centred_factor(X: Any) -> tuple[Any, np.ndarray]:
    """X as float64 and without its mean, which b absorbs; CSR stays as it is."""
    if is_sparse(X):
        return X.astype(np.float64), np.zeros(X.shape[1])
    rows = np.asarray(X, dtype=np.float64)
    mean = rows.mean(axis=0)
    return rows - mean, mean


def train(
    gram: MatrixGram | FactorGram,
    y: np.ndarray,
    cost: np.ndarray,
    squared: bool,
    *,
    mean: np.ndarray | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    report: Callable[[Any], bool] | None = None,
    state: PlainState | None = None,
) -> PlainResult:
    """Minimise P until the relative gap (P - D)/max(|P|, |D|) is certified to be at most ``tol``.

    Parameters
    ----------
    gram : MatrixGram or FactorGram
        K, or X without its ``mean``.
    y : (n,) array of -1, 1
        Both there.
    cost : (n,) array
        C omega_i > 0.
    squared : bool
    mean : (d,) array, optional
    tol, max_iter, report : As for the other trainers.
    state : PlainState, optional
        Of a run before on the same problem, whose model is kept if it is better.
    """
    n = len(y)
    ridge, upper = (1.0 / cost, np.full(n, np.inf)) if squared else (np.zeros(n), cost)
    state = PlainState() if state is None else state
    X = gram.X if isinstance(gram, FactorGram) else None
    small = n * min(n, n if X is None else X.shape[1]) ** 2 <= SMALL

    def shift(w: np.ndarray) -> float:
        return 0.0 if mean is None else float(mean @ w)

    def certified(a: np.ndarray, b: np.ndarray) -> None:
        take(state, gram, y, cost, squared, a, float(b[0]))
        if X is not None:
            w = np.asarray(X.T @ state.coef)
            state.model = Model(w, state.b - shift(w), w[:0], 0.0, state.primal)

    run = follow(
        OneView(gram, y, upper, ridge), state, certified, goal=min(tol, FINEST if small else LOOSE),
        tol=tol, max_iter=max_iter, report=report,
    )  # fmt: skip
    w = None if X is None else np.asarray(X.T @ state.coef)
    b = state.b if w is None else state.b - shift(w)
    return PlainResult(state.coef, w, b, state.alpha, **run.outcome(state, "interior_point"))


def take(
    state: PlainState, gram: Any, y: np.ndarray, cost: np.ndarray, squared: bool, a: np.ndarray,
    b: float,
) -> None:  # fmt: skip
    """Certify multipliers: D at the nearest feasible ones, P at w = X'(a y) with its best b."""
    a = balanced(np.minimum(a, np.inf if squared else cost), y)
    f = gram.product(a * y)
    w2 = max(float((a * y) @ f), 0.0)
    total, square = float(a.sum()), w2 + (float(a @ (a / cost)) if squared else 0.0)
    scale = total / square if squared and square > 0.0 else 1.0
    dual = total * scale - 0.5 * scale * scale * square
    if state.alpha is None or dual > state.bound:
        state.alpha, state.bound = scale * a, dual
    b = squared_offset(f, y, cost, b) if squared else hinge_offset(f, y, cost)
    loss = np.maximum(1.0 - y * (f + b), 0.0)
    primal = 0.5 * w2 + (0.5 * float(cost @ (loss * loss)) if squared else float(cost @ loss))
    if state.coef is None or primal < state.primal:
        state.coef, state.b = a * y, b
    state.record(state.n_iter + 1, primal, state.bound, state.coef)


def hinge_offset(f: np.ndarray, y: np.ndarray, cost: np.ndarray) -> float:
    """The b that minimises sum_i c_i max(0, 1 - y_i (f_i + b)); of several their middle."""
    return lowest(y - f, cost, -float(cost[y > 0.0].sum()))


def lowest(kinks: np.ndarray, jumps: np.ndarray, slope: float) -> float:
    """Where a convex function with these kinks, piecewise linear from ``slope`` on, is least.

    Of several points their middle.
    """
    order = np.argsort(kinks, kind="stable")
    total = float(jumps.sum())
    slopes = np.cumsum(jumps[order]) + slope
    k = int(np.argmax(slopes >= -1e-12 * total))
    low = float(kinks[order[k]])
    if k + 1 < len(order) and slopes[k] <= 1e-12 * total:
        return 0.5 * (low + float(kinks[order[k + 1]]))
    return low


def squared_offset(f: np.ndarray, y: np.ndarray, cost: np.ndarray, b: float) -> float:
    """The b that minimises sum_i c_i max(0, 1 - y_i (f_i + b))^2, by Newton's method from b on."""

    def slope(b: float) -> tuple[float, float]:
        loss = 1.0 - y * (f + b)
        on = loss > 0.0
        return float((cost * y * loss)[on].sum()), float(cost[on].sum())

    low, high = float((y - f).min()) - 1.0, float((y - f).max()) + 1.0  # nothing falls outside
    for _ in range(60):
        downhill, curvature = slope(b)
        if downhill > 0.0:
            low = max(low, b)
        elif downhill < 0.0:
            high = min(high, b)
        else:
            return b
        following = b + downhill / curvature if curvature > 0.0 else 0.5 * (low + high)
        if abs(following - b) <= FINEST * (1.0 + abs(b)):
            return b
        if not low < following < high:  # at an end it would go to and fro between two kinks
            following = 0.5 * (low + high)
        b = following
    return b
