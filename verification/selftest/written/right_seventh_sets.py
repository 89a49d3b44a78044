"""Right projections of the seventh set, each by an algorithm of its own."""

import heapq
import threading
from fractions import Fraction
from math import fsum, inf, isinf

import numpy as np
from numba import njit
from scipy.optimize import brentq

from verification.adapters import adapt

LONG = np.longdouble
_workspace = threading.local()


def floating(a):
    """The type of the answer: that of floats, and doubles for integers."""
    return np.result_type(np.asarray(a).dtype, np.float32)


def simplex_condat(a, r=1.0, rho=0.0):
    """Condat 2016, one pass in plain Python, the threshold summed again at the end."""
    if r == 0.0:
        return [0.0] * len(a)
    top = max(float(v) for v in a)
    entries = [float(v) - top for v in a]
    kept, later = [entries[0]], []
    level = entries[0] - r
    for v in entries[1:]:
        if v > level:
            level += (v - level) / (len(kept) + 1)
            if level > v - r:
                kept.append(v)
            else:
                later += kept
                kept, level = [v], v - r
    for v in later:
        if v > level:
            kept.append(v)
            level += (v - level) / len(kept)
    while True:
        level = (fsum(kept) - r) / len(kept)
        fewer = [v for v in kept if v > level]
        if not fewer or len(fewer) == len(kept):
            return [max(v - level, 0.0) for v in entries]
        kept = fewer


def simplex_rows(a, r=1.0, rho=0.0):
    """Michelot 1986 until nothing changes, all rows of a batch at once."""
    rows = np.asarray(a, dtype=LONG)
    below = rows.max(axis=-1, keepdims=True) - rows
    radius = np.asarray(r, dtype=LONG)[..., None]
    active = np.ones(below.shape, dtype=bool)
    while True:
        height = (radius + np.where(active, below, 0).sum(-1, keepdims=True)) / active.sum(
            -1, keepdims=True
        )
        fewer = active & (below <= height)
        if (fewer == active).all():
            return np.maximum(height - below, 0).astype(floating(a))
        active = fewer


class Box:
    """An object that is called, with a radius for each row of a batch."""

    def __call__(self, a, r=1.0):
        """The projection."""
        return np.minimum(np.maximum(a, 0), np.asarray(r, floating(a))[..., None])


def capped_by_brent(a, r=1.0, cap=1.0):
    """Brent's method for the threshold, promised to 1e-8."""
    if Fraction(float(r)) > len(a) * Fraction(float(cap)):
        raise ValueError(f"r = {r} is more than {len(a)} entries of at most {cap} can hold")
    scale = max(float(np.abs(a).max()), float(cap), float(r))
    if scale == 0.0:
        return np.zeros_like(a)
    v, total, top = (np.asarray(part, dtype=float) / scale for part in (a, r, cap))

    def excess(t):
        return np.clip(v - t, 0.0, top).sum() - total

    low, high = v.min() - top, v.max()
    if excess(low) <= 0.0:
        return np.full_like(a, cap, dtype=floating(a))
    t = brentq(excess, low, high, xtol=1e-16, rtol=1e-15) if excess(high) < 0.0 else high
    return (np.clip(v - t, 0.0, top) * scale).astype(floating(a))


def _knapsack(capacity, weights, point, lower, upper):
    """A sweep over the sorted breakpoints, in rational arithmetic; capacity comes first."""
    a, b = [Fraction(float(v)) for v in point], [Fraction(float(v)) for v in weights]
    low = [float(v) for v in np.broadcast_to(lower, len(a))]
    high = [float(v) for v in np.broadcast_to(upper, len(a))]
    # between breakpoints <b, x(t)> = fixed - slope t; each entry moves from one bound to the other
    fixed = slope = Fraction(0)
    events = []
    for v, w, lo, hi in zip(a, b, low, high, strict=True):
        if w == 0:
            continue
        first, last = (hi, lo) if w > 0 else (lo, hi)
        if isinf(first):
            fixed, slope = fixed + w * v, slope + w * w
        else:
            fixed += w * Fraction(first)
            events.append(((v - Fraction(first)) / w, w * v - w * Fraction(first), w * w))
        if not isinf(last):
            events.append(((v - Fraction(last)) / w, w * Fraction(last) - w * v, -w * w))
    events.sort(key=lambda event: event[0])
    goal = Fraction(float(capacity))
    t = None
    if slope == 0 and fixed < goal:
        raise ValueError("no x between low and high has <b,x> = capacity")
    for at, shift, bend in events:
        if slope > 0 and fixed - slope * at <= goal:
            t = (fixed - goal) / slope
            break
        if slope == 0 and fixed == goal:
            t = at
            break
        fixed, slope = fixed + shift, slope + bend
    if t is None:
        if slope == 0 and fixed != goal:
            raise ValueError("no x between low and high has <b,x> = capacity")
        t = (fixed - goal) / slope if slope else (events[-1][0] if events else Fraction(0))
    answer = []
    for v, w, lo, hi in zip(a, b, low, high, strict=True):
        x = v - t * w
        x = Fraction(lo) if not isinf(lo) and x < Fraction(lo) else x
        answer.append(float(Fraction(hi) if not isinf(hi) and x > Fraction(hi) else x))
    return answer


knapsack_exact = adapt(
    _knapsack, "knapsack.projection", order=("capacity", "b", "a", "low", "high")
)


class HeapBall:
    """The largest entries from a heap, until the threshold is above the next; exact calls are kept."""

    def __init__(self):
        self.answers = {}

    def __call__(self, a, r=1.0):
        """The projection, a copy."""
        key = (a.tobytes(), a.dtype.str, a.shape, float(r))
        if key not in self.answers:
            if len(self.answers) > 50:
                self.answers.clear()
            self.answers[key] = self.project(a, float(r))
        return self.answers[key].copy()

    @staticmethod
    def project(a, r):
        """What is not known yet."""
        sizes = np.abs(a.astype(LONG))
        if sizes.sum() <= r:
            return a.copy()
        heap = list(-sizes)
        heapq.heapify(heap)
        top = -heap[0]
        dropped, count, below = LONG(0), 0, LONG(0)
        while heap and (count == 0 or top + heap[0] < below):
            dropped += top + heapq.heappop(heap)
            count += 1
            below = (r + dropped) / count
        return np.copysign(np.maximum(below - (top - sizes), 0), a).astype(floating(a))


def topk_simplex(a, k=1, r=1.0, rho=0.0):
    """Two levels around the k-th largest entry and one root between them, in extended precision."""
    a = np.asarray(a)
    d = a.size
    if k > d or r <= 0:
        return np.zeros_like(a)
    order = np.argsort(-a, kind="stable")
    v = a[order].astype(LONG)
    total = v[:k].sum()
    if total <= 0:
        return np.zeros_like(a)
    above, under = (v[:k] - v[k - 1])[::-1], v[k - 1] - v[k:]
    kappa, most = k * (1 + LONG(rho) * k), LONG(r) / k
    sums = [np.concatenate([[LONG(0)], np.cumsum(part)]) for part in (above, under)]

    def level(part, cumulative, mass):
        """The p with sum (p - part)_+ = mass, part ascending."""
        counts = np.arange(1, part.size + 1)
        last = (
            part.size
            if part.size < 2
            else 1
            + int(np.searchsorted(counts[:-1] * part[1:] - cumulative[1:-1], mass, side="left"))
        )
        return (mass + cumulative[last]) / last

    def levels(mass):
        p = level(above, sums[0], mass)
        q = level(under, sums[1], mass) if under.size else LONG(inf)
        return p, q, min((total + mass) / kappa, most)

    p, q, u = levels(LONG(0))
    if p + q < u:
        low, high = LONG(0), min(LONG(r), total * (d - k) / k)
        while True:
            middle = (low + high) / 2
            p, q, u = levels(middle)
            if middle in (low, high) or p + q == u:
                break
            low, high = (middle, high) if p + q < u else (low, middle)
        top = np.where(above >= p, u, np.minimum(above + q, u))[::-1]
        x = np.concatenate([top, np.maximum(q - under, 0)])
    else:
        x = np.concatenate([np.full(k, u), np.zeros(d - k, dtype=LONG)])
    answer = np.empty(d, dtype=floating(a))
    answer[order] = x
    return answer


def cone(a, k=1, rho=0.0):
    """Brent's method for the sum, breakpoints for the threshold at each; promised to 1e-9."""
    if k > len(a) or not np.any(a):
        return np.zeros_like(a)
    scale = float(np.abs(a).max())
    v = np.sort(np.asarray(a, dtype=float) / scale)
    if fsum(v[-k:]) <= 0.0:
        return np.zeros_like(a)

    def threshold(s):
        points = np.sort(np.concatenate([v, v - s / k]))
        low, high = 0, points.size - 1
        while high - low > 1:
            middle = (low + high) // 2
            if np.clip(v - points[middle], 0.0, s / k).sum() >= s:
                low = middle
            else:
                high = middle
        middle = (points[low] + points[high]) / 2
        free = (v > middle) & (v - s / k < middle)
        full = np.count_nonzero(v - s / k >= middle)
        if not free.any():
            return middle if full else points[low]
        return float(
            np.clip((v[free].sum() - s * (1 - full / k)) / free.sum(), *points[[low, high]])
        )

    def slope(s):
        t = threshold(s)
        return rho * s - t - np.maximum(v - t - s / k, 0.0).sum() / k

    most = max(fsum(v[-k:]), 0.0) / (k * (rho + 1 / len(v)))
    s = (
        brentq(slope, 0.0, 1.01 * most, xtol=1e-300, rtol=1e-15, maxiter=2000)
        if slope(0.0) < 0
        else 0.0
    )
    t = threshold(s)
    return (np.clip(np.asarray(a, dtype=float) / scale - t, 0.0, s / k) * scale).astype(floating(a))


@njit
def _beta_height(points, below, top, cap, r, rho):
    """The height h = max a - t: halve the sorted breakpoints, then solve the equation of the piece."""
    low, high = -1, points.size
    while high - low > 1:
        middle = (low + high) // 2
        h, s = points[middle], 0.0
        for gap in below:
            s += min(max(h - gap, 0.0), cap)
        if h <= top and s <= r and rho * s <= top - h:
            low = middle
        else:
            high = middle
    if low < 0:
        return min(top, 0.0), 0.0
    left = points[low]
    free, s = 0, 0.0
    for gap in below:
        s += min(max(left - gap, 0.0), cap)
        free += gap <= left < gap + cap
    step = (top - left - rho * s) / (1.0 + rho * free)
    if free:
        step = min(step, (r - s) / free)
    if high < points.size:
        step = min(step, points[high] - left)
    return left, max(step, 0.0)


def beta_compiled(a, k=1, r=1.0, rho=0.0):
    """Compiled loops, in a workspace that each thread has for itself."""
    cap = float(r) / k
    if getattr(_workspace, "room", None) is None or _workspace.room.size < 2 * a.size:
        _workspace.room = np.empty(2 * a.size)
    points = _workspace.room[: 2 * a.size]
    top = float(a.max())
    points[: a.size] = top - a.astype(float)
    points[a.size :] = points[: a.size] + cap
    below = points[: a.size].copy()
    points.sort()
    left, step = _beta_height(points, below, top, cap, float(r), float(rho))
    return np.clip((left - below) + step, 0.0, cap).astype(floating(a))


def bipartite_newton(a, y, r=1.0):
    """The height of each side below its largest entry is the least of lines in the sum: Newton's method
    ends after finitely many steps.
    """
    a, y = np.asarray(a), np.asarray(y)
    x = np.zeros(a.shape, dtype=floating(a))
    sides = [np.flatnonzero(y == label) for label in (0, 1)]
    if r <= 0 or not all(side.size for side in sides):
        return x
    v = a.astype(LONG)
    top = sum(v[side].max() for side in sides)
    gaps = [v[side].max() - v[side] for side in sides]
    sums = [np.cumsum(np.sort(gap)) for gap in gaps]
    counts = [np.arange(1, part.size + 1) for part in sums]
    total = LONG(0)
    while True:
        lines = [(total + s) / n for s, n in zip(sums, counts, strict=True)]
        picks = [int(np.argmin(line)) for line in lines]
        heights = [line[i] for line, i in zip(lines, picks, strict=True)]
        step = (top - sum(heights)) / sum(1 / LONG(i + 1) for i in picks)
        if step <= 0 or total >= r or total + step == total:
            break
        total = min(total + step, LONG(r))
    for side, gap, height in zip(sides, gaps, heights, strict=True):
        x[side] = np.maximum(height - gap, 0)
    return x
