"""TopPush beside its authors' recipe: CPU time to the same certified gap.

``python -m verification.benchmarks.top_push`` prints the table of ``docs/models/top_push.md``. The recipe
(Li, Jin, Zhou 2014) is Nesterov's method on the dual, with the projection on
{alpha, beta >= 0, <1, alpha> = <1, beta>} in linear time. Here it is compiled, with what is known since:
the scores of extrapolated points are extrapolated, so that a step costs one product with X and one with X';
the step length is searched; the momentum restarts; and the best P and the best D met make the gap.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import njit

from fast.models import top_push
from verification.benchmarks.records import Record, stream
from verification.benchmarks.timing import timed

GAP = 1e-6
MOST = 3000  # iterations of the recipe
REPEATS, LONG = 5, 2.0  # runs of each, and seconds from which on the recipe runs once
SHORTER = 0.95  # by which the bound on the curvature is lowered after a step
#: n, d, negatives for a positive, distance between the classes.
REGIMES = (
    (2000, 20, 1, 4.0), (20_000, 20, 20, 4.0), (5000, 100, 5, 4.0), (20_000, 100, 5, 0.0),
    (20_000, 100, 20, 6.0), (2000, 500, 1, 4.0), (2000, 500, 20, 4.0), (20_000, 500, 5, 4.0),
)  # fmt: skip
PRICES = (0.01, 1.0, 100.0)


def data(n: int, d: int, ratio: int, apart: float) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian classes ``apart`` along a direction, the variance of column j being 1/j."""
    rng = np.random.default_rng(0)
    y = np.arange(n) < max(2, n // (1 + ratio))
    X, u = rng.standard_normal((n, d)), rng.standard_normal(d)
    X[y] += apart * u / np.linalg.norm(u)
    return X / np.sqrt(1.0 + np.arange(d)), y


@njit(nogil=True)
def project(a, b, x):  # type: ignore[no-untyped-def]
    """Write the projection of (a, b) on {x >= 0, sums of both parts equal}, by pivoting: O(P + N).

    It is (a - t, b + t)_+ with the root t of sum (a - t)_+ - sum (b + t)_+, which falls.
    """
    P, N = len(a), len(b)
    up, down = a.copy(), -b
    p, n = P, N  # entries whose side of the root is not known
    total, count = 0.0, 0  # of those whose part is positive at the root
    while p + n > 0:
        pivot = up[p // 2] if p > 0 else down[n // 2]
        value = total - count * pivot
        for i in range(p):
            value += max(up[i] - pivot, 0.0)
        for j in range(n):
            value -= max(pivot - down[j], 0.0)
        left = 0
        for i in range(p):
            if up[i] >= pivot and value <= 0.0:
                total, count = total + up[i], count + 1
            elif (up[i] > pivot) == (value > 0.0):
                up[left] = up[i]
                left += 1
        p, left = left, 0
        for j in range(n):
            if down[j] <= pivot and value > 0.0:
                total, count = total + down[j], count + 1
            elif (down[j] > pivot) == (value > 0.0) and down[j] != pivot:
                down[left] = down[j]
                left += 1
        n = left
    t = total / count
    for i in range(P):
        x[i] = max(a[i] - t, 0.0)
    for j in range(N):
        x[P + j] = max(b[j] + t, 0.0)


@njit(nogil=True)
def nesterov(up, down, C, tol, most):  # type: ignore[no-untyped-def]
    """The recipe on positives and negatives: (iterations, best P, best D)."""
    P, n, d = len(up), len(up) + len(down), up.shape[1]
    x, old, new, y, g = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    scores, older, w, before = np.zeros(n), np.zeros(n), np.zeros(d), np.zeros(d)
    L, theta, best, least = 1.0, 1.0, -np.inf, np.inf
    for k in range(most):
        after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * theta * theta))
        m = (theta - 1.0) / after
        y[:] = x + m * (x - old)
        g[:] = scores + m * (scores - older)
        v = w + m * (w - before)
        g[:P] += y[:P] / (2.0 * C) - 1.0
        g[P:] *= -1.0
        here = 0.5 * np.dot(v, v) + np.dot(y[:P], y[:P]) / (4.0 * C) - y[:P].sum()
        while True:
            project(y[:P] - g[:P] / L, y[P:] - g[P:] / L, new)
            v = np.dot(new[:P], up) - np.dot(new[P:], down)
            value = 0.5 * np.dot(v, v) + np.dot(new[:P], new[:P]) / (4.0 * C) - new[:P].sum()
            step = new - y
            size = np.dot(step, step)
            if value <= here + np.dot(g, step) + 0.5 * L * size + 1e-13 * abs(value) or size == 0.0:
                break
            L *= 2.0
        theta = after if np.dot(y - new, new - x) <= 0.0 else 1.0
        old[:], older[:], before[:] = x, scores, w
        x[:], w[:] = new, v
        scores[:P], scores[P:] = np.dot(up, w), np.dot(down, w)
        best = max(best, -value)
        hinges = np.maximum(1.0 + scores[P:].max() - scores[:P], 0.0)
        least = min(least, 0.5 * np.dot(w, w) + C * np.dot(hinges, hinges))
        if least - best <= tol * least:
            return k + 1, least, best
        L *= SHORTER
    return most, least, best


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Median CPU seconds of `REPEATS` runs, one if it takes long, and what the last one returned."""
    times: list[float] = []
    while len(times) < REPEATS and (not times or times[0] < LONG):
        found, seconds = timed(run, time.process_time)
        times.append(seconds)
    return statistics.median(times), found


def measure(regime: tuple[int, int, int, float], C: float, most: int = MOST) -> Record:
    """Ours and the recipe on one problem; the share of positives above all negatives."""
    X, y = data(*regime)
    up, down = np.ascontiguousarray(X[y]), np.ascontiguousarray(X[~y])
    ours, found = _timed(partial(top_push.train, X, y, C, tol=GAP))
    theirs, (k, primal, dual) = _timed(partial(nesterov, up, down, C, GAP, most))
    scores = X @ found.w
    n, d, ratio, apart = regime
    return Record(
        {"n": n, "d": d, "P : N": f"1:{ratio}", "apart": apart, "C": C},
        {
            "at_top": float((scores[y] > scores[~y].max()).mean()),
            "seconds": ours,
            "steps": found.n_iter,
            "gap": found.gap,
            "recipe_seconds": theirs,
            "recipe_steps": k,
            "recipe_gap": (primal - dual) / primal,
            "ratio": theirs / ours,
        },
        most={"gap": GAP},
    )


if __name__ == "__main__":
    measure((60, 3, 1, 4.0), 1.0, 3)  # compiled here
    stream(measure(regime, C) for regime in REGIMES for C in PRICES)
