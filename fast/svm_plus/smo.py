"""Sequential minimal optimisation for the SVM dual without a box.

max D(alpha) = 1'alpha - 1/2 alpha'H alpha   subject to alpha >= 0, alpha'y = 0

Two multipliers move at a time: the one whose margin asks for it most, and the partner that gains
most by a Newton step (second-order selection). With g = H alpha, S = 1'alpha, q = alpha'g and
m = 1/2 (min over y=+ of g + min over y=- of g) the best multiple of alpha has D = S^2/(2q), the
primal point scaled to feasibility P = q/(2 m^2): a relative gap of 1 - (S m/q)^2, which costs O(n)
since g is at hand, and does not change with the scale of alpha.

Kernels here see signed multipliers a = alpha y and the matrix M = H . yy'; v = y - M a.
"""

from typing import NamedTuple

import numpy as np

from fast._numba import kernel
from fast.solvers.kernel_smo import NEVER, partner, steepest

FLAT = 1e-12  # curvature, relative to the diagonal, that counts as none
STEPS = 100  # allowed per example


class SMOResult(NamedTuple):
    """alpha (n,) scaled to its best multiple, certified relative gap, steps taken."""

    alpha: np.ndarray
    gap: float
    iterations: int


def solve(
    H: np.ndarray,
    y: np.ndarray,
    tol: float,
    max_iter: int | None = None,
    start: np.ndarray | None = None,
) -> SMOResult:
    """Raise D until the relative gap is certified to be at most ``tol``.

    Parameters
    ----------
    H : (n, n) array
        Positive semidefinite.
    y : (n,) array
        -1 or 1, both there.
    tol : float
    max_iter : int, optional
        Bound on the steps; 100 n by default.
    start : (n,) array, optional
        Feasible alpha.

    Returns
    -------
    SMOResult
        The gap is infinite where no certificate was found (m <= 0).
    """
    n = len(y)
    M = np.ascontiguousarray(H * y * y[:, None], dtype=np.float64)
    a = np.zeros(n) if start is None else start * y
    v = y - M @ a
    most = STEPS * n if max_iter is None else max_iter
    taken = steps(M, M, M, np.ones(n, np.bool_), y, a, v, tol, most, np.empty((4, n)))
    v = y - M @ a
    found = certificate(y, a, v)
    return SMOResult(np.maximum(a * y, 0.0) * found.scale, found.gap, taken)


class Certificate(NamedTuple):
    """D and P at the best multiples, the relative gap, that multiple of alpha, and m, q."""

    gap: float
    dual: float
    primal: float
    scale: float
    margin: float
    square: float


def certificate(y: np.ndarray, a: np.ndarray, v: np.ndarray) -> Certificate:
    """Certificate of signed multipliers a >= 0 (times y) with sum 0, and v = y - M a."""
    S, q, m = (float(x) for x in totals(y, a, v))
    if not (S > 0.0 and q > 0.0):
        return Certificate(np.inf, 0.0, np.inf, 1.0, m, q)
    dual = 0.5 * S * S / q
    if not m > 0.0:
        return Certificate(np.inf, dual, np.inf, S / q, m, q)
    part = S * m / q
    gap = max((1.0 - part) * (1.0 + part), 0.0)
    return Certificate(gap, dual, 0.5 * q / (m * m), S / q, m, q)


@kernel
def totals(y, a, v):
    """S, q and m."""
    S, q, plus, minus = 0.0, 0.0, np.inf, np.inf
    for t in range(len(y)):
        g = 1.0 - y[t] * v[t]
        S += y[t] * a[t]
        q += y[t] * a[t] * g
        if y[t] > 0.0:
            plus = min(plus, g)
        else:
            minus = min(minus, g)
    return S, q, 0.5 * (plus + minus)


@kernel
def signed_row(k, q, y, sign, out):
    """Out = k + sign y q."""
    for t in range(len(y)):
        out[t] = k[t] + sign * y[t] * q[t]


@kernel
def steps(K, Q, M, ready, y, a, v, tol, most, work):
    """SMO steps on a and v in place; how many. ``work`` is (4, n).

    Row i of M is there if ready[i]; otherwise it becomes K_i + y_i y Q_i when it is needed first.
    """
    n = len(y)
    every = max(n // 4, 16)
    diagonal, may_rise, may_fall, out = work[0], work[1], work[2], work[3]
    top = 0.0
    for t in range(n):
        diagonal[t] = M[t, t] if ready[t] else K[t, t] + Q[t, t]
        top = max(top, diagonal[t])
        may_rise[t] = 0.0 if y[t] > 0.0 or a[t] < 0.0 else NEVER
        may_fall[t] = 1.0 if y[t] < 0.0 or a[t] > 0.0 else 0.0
    flat = FLAT * max(top, 1e-300)
    up = steepest(v, may_rise, v, v, 0.0, 0.0, out)
    taken = 0
    while taken < most:
        if taken % every == 0 and taken > 0:
            S, q, m = totals(y, a, v)
            if m > 0.0 and q > 0.0 and 1.0 - (S * m / q) * (S * m / q) <= tol:
                break
        if not ready[up]:
            signed_row(K[up], Q[up], y, y[up], M[up])
            ready[up] = True
        row = M[up]
        down = partner(v, may_fall, row, diagonal, v[up], diagonal[up], flat, out)[0]
        if down < 0:
            break
        step = (v[up] - v[down]) / max(diagonal[up] + diagonal[down] - 2.0 * row[down], flat)
        room_up = -a[up] if y[up] < 0.0 else np.inf
        room_down = a[down] if y[down] > 0.0 else np.inf
        step = min(step, room_up, room_down)
        a[up] += step  # 0 where the step is all of it
        a[down] -= step
        for t in (up, down):
            may_rise[t] = 0.0 if y[t] > 0.0 or a[t] < 0.0 else NEVER
            may_fall[t] = 1.0 if y[t] < 0.0 or a[t] > 0.0 else 0.0
        if not ready[down]:
            signed_row(K[down], Q[down], y, y[down], M[down])
            ready[down] = True
        up = steepest(v, may_rise, row, M[down], step, -step, out)
        taken += 1
    return taken


def _warmup() -> None:
    """Compile the kernels of this module."""
    y = np.array([1.0, -1.0])
    H = np.eye(2)
    solve(H, y, 1e-3)
    ready, a, work = np.zeros(2, np.bool_), np.zeros(2), np.empty((4, 2))
    steps(H, H.astype(np.float32), H.copy(), ready, y, a, y.copy(), 1e-3, 1, work)
