"""Inference in NumPy alone: nothing is compiled. Notation as in ``fast.ranking.kernels``."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fast._validation import finite_array
from fast.ranking.losses import AVERAGE_PRECISION
from fast.ranking.result import Ranking

Array = NDArray[Any]
_UNIT = 2.3e-16
_DIGITS = 10**60


def infer(
    scores: NDArray[np.float64],
    mask: NDArray[np.bool_],
    p: int,
    coefficients: NDArray[np.float64],
    weight: float,
) -> Ranking:
    """Inference for one query; see ``inference.method``."""
    values = finite_array("scores", scores)
    positives = np.flatnonzero(mask)
    order = np.argsort(-values[positives], kind="stable")
    negatives = np.flatnonzero(~mask)
    ranked = negatives[np.argsort(-values[negatives], kind="stable")]
    s, t = values[positives[order]], values[ranked]
    with np.errstate(over="ignore"):  # huge differences of scores: signs stay right
        counts = _counts(s, t)
    active = int(counts[-1])
    below = np.repeat(np.arange(p, 0, -1), np.diff(counts, prepend=0))
    unit, shift = 2.0 / (float(p) * len(t)), s[p // 2]
    gain = np.sum(unit * below * (t[:active] - shift)) - np.sum(unit * counts * (s - shift))
    loss = AVERAGE_PRECISION.delta(counts)
    given = np.empty(p, dtype=np.int64)
    given[order] = counts
    coefficients[positives] = 0.0 - unit * weight * given  # no -0
    coefficients[ranked[:active]] = unit * weight * below
    return Ranking(max(loss + float(gain), 0.0), loss, active, given)


METHODS = {"numpy": infer}


def _counts(s: Array, t: Array) -> NDArray[np.int64]:
    """c_k = #{j: h_k(j) > 0} if these are in order; else divide and conquer over j < P.

    For j >= P delta_j is concave, and #{j: opt_j <= k} counts positive slopes in any case.
    """
    p, n = len(s), len(t)
    k = np.arange(1, p + 1)
    start, stop = np.ones(p, dtype=np.int64), np.full(p, n + 1)
    while (left := start < stop).any():
        middle = (start + stop) // 2
        up = _rises(k, middle, s, t[np.minimum(middle, n) - 1], n)
        start = np.where(left & up, middle + 1, start)
        stop = np.where(left & ~up, middle, stop)
    rising = start - 1
    if (rising[1:] >= rising[:-1]).all():
        return rising
    head = min(p - 1, n)
    counts = np.zeros(p + 1, dtype=np.int64)
    parts = [(1, head, 1, p + 1)]
    while parts:
        first, last, low, high = parts.pop()
        if first > last:
            continue
        if low == high:
            counts[low - 1] += last - first + 1
            continue
        j = (first + last) // 2
        i = _place(j, low, high, s, t[j - 1], n)
        counts[i - 1] += 1
        parts += [(first, j - 1, low, i), (j + 1, last, i, high)]
    return np.cumsum(counts[:p]) + np.maximum(rising - head, 0)


def _rises(k: Array, j: Array, s: Array, t: Array, n: int) -> NDArray[np.bool_]:
    """h_k(j) > 0, exactly."""
    m = (j + k).astype(np.float64)
    left = 0.5 * n * k
    d = left - (s - t) * (m * (m - 1.0))
    up = d > 0
    for i in np.flatnonzero(np.abs(d) <= 1e-15 * left):
        m_i = int(j[i] + k[i])
        difference = Fraction(float(s[i])) - Fraction(float(t[i]))
        up[i] = Fraction(n * int(k[i]), 2) > difference * (m_i * (m_i - 1))
    return up


def _place(j: int, low: int, high: int, s: Array, t: float, n: int) -> int:
    """opt_j in low..high, from sums of h from the right; near ties are decided exactly.

    ``leads`` is delta_j(i) - delta_j(high), up to ``room``. Where ``high`` itself can't be the
    best, the sums start again further left: a term far from the others is then left behind.
    """
    while True:
        k = np.arange(low, high)
        m = (j + k).astype(np.float64)
        gain, cost = 0.5 * n * k / (m * (m - 1.0)), s[low - 1 : high - 1] - t
        terms = np.stack((gain - cost, gain + np.abs(cost)))[:, ::-1]
        leads, room = np.cumsum(terms, axis=1)[:, ::-1]
        leads, room = np.append(leads, 0.0), np.append(room, 0.0) * (_UNIT * (high - low + 4))
        near = np.flatnonzero(leads + room >= np.max(leads - room)) + low
        best = int(near[-1])
        if best == high or len(near) == 1:
            break
        high = best
    for i in map(int, near[-2::-1]):
        if _lead(j, i, best, s, t, n) > 0:
            best = i
    return best


def _lead(j: int, i: int, best: int, s: Array, t: float, n: int) -> Fraction:
    """delta_j(i) - delta_j(best) times P N/2: scores exactly, the rest to 60 digits."""
    gain = sum(_DIGITS * n * k // (2 * (j + k) * (j + k - 1)) for k in range(i, best))
    cost = sum((Fraction(float(v)) for v in s[i - 1 : best - 1]), Fraction(0))
    lead = Fraction(gain, _DIGITS) - cost + (best - i) * Fraction(float(t))
    return lead if abs(lead) * _DIGITS > 2 * (best - i) else Fraction(0)
