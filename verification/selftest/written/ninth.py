"""The ninth set: right ports only, written before any check was read, tried against mpmath and fractions."""

import heapq
from collections.abc import Sequence
from fractions import Fraction
from math import exp, expm1, fsum, inf, isinf, log
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, wrightomega

from verification.selftest.written.eighth import long, signed
from verification.selftest.written.right_seventh_losses import LONG, margins, with_truth
from verification.selftest.written.right_seventh_sets import floating, topk_simplex


def box_sorted(a, r=1.0):
    """The middle one of three numbers."""
    return [sorted((0.0, float(v), float(r)))[1] for v in a]


def ball_newton(a, r=1.0):
    """Newton's method for the height of the threshold below the largest size, from above."""
    a = np.asarray(a)
    sizes = np.abs(a.astype(LONG))
    if sizes.sum() <= r:
        return a.copy()
    below, height, count = sizes.max() - sizes, LONG(r), 0
    while (inside := below < height).sum() != count:
        count = inside.sum()
        height = (LONG(r) + below[inside].sum()) / max(count, 1)
    return np.copysign(np.maximum(height - below, 0), a).astype(floating(a))


def waterline(a, cap, r, rho=None):
    """Clip(a - t, 0, cap) of sum r, or with the least t >= 0 at which s <= r and rho s <= t.

    The entries are halved for the last that is at or above t, then the distances from it to t at which
    one of them is full; one division is left.
    """
    v, cap, r = np.asarray(a).astype(LONG), LONG(cap), LONG(r)

    def halve(points, fits):
        """How many of the points fit, which are the first ones."""
        low, high = 0, len(points)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if fits(points[middle]) else (low, middle)
        return low

    def fits(s, t):
        return s <= r and (rho is None or (t >= 0 and rho * s <= t))

    falling = np.sort(v)[::-1]
    first = halve(falling, lambda t: fits(np.clip(v - t, 0, cap).sum(), t))
    if first == 0:
        return np.zeros_like(v)
    pivot = falling[first - 1]
    gaps = falling[:first] - pivot
    room = cap - gaps
    full = halve(room, lambda h: h <= 0 or fits(np.minimum(gaps + h, cap).sum(), pivot - h))
    rest, count = full * cap + gaps[full:].sum(), max(first - full, 1)
    height = (r - rest) / count
    if rho is not None:
        height = min(height, (pivot - LONG(rho) * rest) / (1 + LONG(rho) * count))
    return np.where(v >= pivot, np.clip(v - pivot + (height if full < first else cap), 0, cap), 0)


def capped_merged(a, r=1.0, cap=1.0):
    """The breakpoints, and one division."""
    if Fraction(float(r)) > len(a) * Fraction(float(cap)):
        raise ValueError(f"no {len(a)} entries up to {cap} have the sum {r}")
    return waterline(a, cap, r).astype(floating(a))


def beta_merged(a, k=1, r=1.0, rho=0.0):
    """The same with two conditions."""
    return waterline(a, LONG(r) / k, r, rho).astype(floating(a))


def knapsack_events(a, b, low, high, capacity):
    """A heap of the t at which an entry leaves or meets a bound, rational throughout; a list."""
    n, target = len(a), Fraction(float(capacity))
    a, b = [Fraction(float(v)) for v in a], [Fraction(float(v)) for v in b]
    ends = [
        [
            v if isinf(v := float(side[i] if np.ndim(side) else side)) else Fraction(v)
            for i in range(n)
        ]
        for side in (low, high)
    ]
    level, slope, events = Fraction(0), Fraction(0), []
    for i in range(n):
        if b[i] == 0:
            continue
        first, last = (ends[1][i], ends[0][i]) if b[i] > 0 else (ends[0][i], ends[1][i])
        if isinf(first):
            level, slope = level + a[i] * b[i], slope + b[i] ** 2
        else:
            level += first * b[i]
            heapq.heappush(events, ((a[i] - first) / b[i], 0, i, first))
        if not isinf(last):
            heapq.heappush(events, ((a[i] - last) / b[i], 1, i, last))
    while True:
        after = events[0][0] if events else None
        if slope > 0 and (after is None or level - slope * after <= target):
            t = (level - target) / slope
            break
        if slope == 0 and level == target:
            t = Fraction(0) if after is None else after
            break
        if after is None:
            raise ValueError("the set is empty")
        t, kind, i, end = heapq.heappop(events)
        sign = -1 if kind else 1
        level += sign * (a[i] - end) * b[i]
        slope += sign * b[i] ** 2
    return [float(min(max(a[i] - t * b[i], ends[0][i]), ends[1][i])) for i in range(n)]


def bipartite_sorted(a, y, r=1.0):
    """The heights of both sides are piecewise linear in the common sum: all breakpoints in one list."""
    a, y = np.asarray(a), np.asarray(y)
    v, x = a.astype(LONG), np.zeros(a.shape, dtype=LONG)
    sides = [np.flatnonzero(y == 1), np.flatnonzero(y != 1)]
    if r <= 0 or not all(side.size for side in sides):
        return x.astype(floating(a))
    top = v[sides[0]].max() + v[sides[1]].max()
    if top <= 0:
        return x.astype(floating(a))
    gaps = [v[side].max() - v[side] for side in sides]
    rising = [np.sort(gap) for gap in gaps]
    sums = [np.cumsum(part) for part in rising]
    kinks = [
        np.arange(1, p.size) * p[1:] - total[:-1] for p, total in zip(rising, sums, strict=True)
    ]
    points = np.sort(np.concatenate([[LONG(0)], *kinks]))

    def pieces(s):
        return [np.searchsorted(kink, s, side="right") for kink in kinks]

    def height(s):
        return sum((s + total[i]) / (i + 1) for total, i in zip(sums, pieces(s), strict=True))

    last = np.flatnonzero(height(points) <= top)[-1]
    (i, j), (first, second) = pieces(points[last]), sums
    n, m = i + 1, LONG(j + 1)
    s = min((top - first[i] / n - second[j] / m) * n * m / (n + m), LONG(r))
    for side, gap, total, i in zip(sides, gaps, sums, pieces(s), strict=True):
        x[side] = np.maximum((s + total[i]) / (i + 1) - gap, 0)
    return x.astype(floating(a))


def entropy_block(b, k, alpha, beta):
    """Argmin alpha/2 ||x||^2 + beta/2 s^2 - <b,x> + <x,log x> + (1-s) log(1-s) over x_i <= s/k.

    With the u largest at s/k the others have alpha x + log x = b - l, their sum gives s, and one
    equation remains for l: Newton's method between bounds. Whoever is above s/k then is fixed there.
    """
    order = np.argsort(-b, kind="stable")
    v, x = b[order].astype(LONG), np.empty(b.size, dtype=LONG)
    unit = np.log(alpha) if alpha > 0 else LONG(0)

    def entries(rest):
        if alpha == 0:
            return np.exp(rest)
        w = rest + unit
        goal, w = w, np.where(w > 1, np.log(np.maximum(w, 1)), w)
        for _ in range(40):
            step = (np.exp(w) + w - goal) / (np.exp(w) + 1)
            w = w - step
            if (abs(step) <= 1e-19 * (1 + abs(w))).all():
                break
        return np.exp(np.where(goal > 1, w - unit, rest - np.exp(w)))

    u = 0
    while True:
        rho, rest = LONG(u) / k, v[u:]
        part, scale = v[:u].sum() / k, 1 + abs(rest).max()
        low = rest[0] - alpha - 1
        high = max(
            ((beta + alpha) / 2 + 1 - part) / (1 - rho),
            rest[0] - np.log((1 - rho) / (2 * rest.size)),
        )
        level = max(low, min(high, rest[0]))
        for _ in range(400):
            p = entries(rest - level)
            s = p.sum() / (1 - rho)
            if s < 1:
                wanted = beta * s - np.log1p(-s) - part
                if u and s > 0:
                    wanted += rho * (alpha * s / k + np.log(s) - np.log(LONG(k)))
                value = (1 - rho) * level - wanted if s > 0 or u == 0 else LONG(inf)
            else:
                value = -LONG(inf)
            low, high = (level, high) if value < 0 else (low, level)
            following = (low + high) / 2
            if np.isfinite(value) and s > 0:
                change = (p / (1 + alpha * p)).sum() / (1 - rho)
                slope = 1 - rho + change * (beta + 1 / (1 - s))
                if u:
                    slope += rho * change * alpha / k + rho * (change / s)
                if low < level - value / slope < high:
                    following = level - value / slope
            if abs(following - level) <= 1e-19 * scale or not low < following < high:
                break
            level = following
        if u == k - 1 or p[0] <= s / k:
            break
        u = min(u + int((p > s / k).sum()), k - 1)
    x[order] = np.concatenate([np.full(u, s / k), p])
    return x


def entropy_alpha_prox(v, k=1, t=1.0, costs=None):
    """Moreau: the dual point is the entropy's block without the square of the sum."""
    v = np.asarray(v)
    p = entropy_block(v + long(costs, 0.0), k, LONG(t), LONG(0))
    return (v - LONG(t) * p).astype(floating(v))


def entropy_alpha_update(q, y, k_ii, C=1.0, k=1, costs=None, sample_weight=None):
    """The block of alpha = beta = omega C K."""
    mass = long(C) * long(sample_weight)
    x = entropy_block(margins(q, y, costs, 0.0), k, mass * long(k_ii), mass * long(k_ii))
    return with_truth(-mass * x, y, floating(q))


def softmax_update(q, y, k_ii, C=1.0, costs=None, sample_weight=None):
    """The same without caps."""
    return entropy_alpha_update(q, y, k_ii, C, 1, costs, sample_weight)


def softmax_prox(v, t=1.0, costs=None):
    """Brent's method for log 1/(1 - s), scipy's omega for the entries, in doubles."""
    v = np.asarray(v)
    b = v.astype(float) + (0.0 if costs is None else np.asarray(costs, dtype=float))

    def entries(level):
        w = np.real(wrightomega(b - level + log(t)))
        with np.errstate(over="ignore"):
            return np.where(w > 1, w / t, np.exp(np.minimum(b - level - w, 1.0)))

    def excess(level):
        return fsum(entries(level)) + expm1(-level)

    high = max(b.max(), 0.0) + log(b.size + 2)
    level = brentq(excess, 0.0, high, xtol=1e-300, rtol=1e-15, maxiter=2000)
    return (v - t * entries(level)).astype(floating(v))


def printed_set(a, k, r, rho=0.0):
    """Onto {x >= 0, s <= r, x_i <= min(r/k, s/(k-1))}: the cone's point if its sum is below (k-1) r/k, the
    capped one's if its sum is above, else the slice between them.
    """
    if k == 1:
        return waterline(a, r, r, rho)
    middle = LONG(r) / k * (k - 1)
    x = topk_simplex(a, k - 1, np.finfo(LONG).max / 4, rho)
    if x.sum() > middle:
        x = waterline(a, LONG(r) / k, r, rho)
        if x.sum() < middle:
            x = waterline(a, LONG(r) / k, middle)
    return x


def printed_prox(v, k=1, t=1.0, costs=None):
    """Moreau."""
    v = np.asarray(v)
    return (v - printed_set(v + long(costs), k, long(t))).astype(floating(v))


def printed_update(q, y, k_ii, C=1.0, k=1, costs=None, sample_weight=None):
    """In units of the margins; without curvature a vertex."""
    b, mass = margins(q, y, costs), long(C) * long(sample_weight)
    if k_ii > 0 and mass > 0:
        x = printed_set(b, k, long(k_ii) * mass, 1.0) / long(k_ii)
    else:
        x = np.zeros(b.size, dtype=LONG)
        best = np.argsort(-b, kind="stable")[:k]
        if b[best[-1]] < 0:  # the truth's 0 is among the k largest
            best = best[:-1]
        x[best] = mass / k if b[best].sum() > 0 else 0
    return with_truth(-x, y, floating(q))


def printed_conjugate(x, k=1, costs=None):
    """Rational, as the formula has it."""
    entries = [Fraction(float(v)) for v in x]
    s = sum(entries)
    slack = 1 + 4 * len(entries) * Fraction(float(np.finfo(np.asarray(x).dtype).eps))
    top = max(entries)
    if min(entries) < 0 or s > slack or k * top > slack or (k - 1) * top > s * slack:
        return inf
    c = [1] * len(entries) if costs is None else [Fraction(float(v)) for v in costs]
    return float(-sum(v * w for v, w in zip(c, entries, strict=True)))


def smooth_beta_prox(v, k=1, t=1.0, gamma=1.0, costs=None):
    """A projection of sum t + gamma, of which the share t/(t + gamma) is taken away."""
    v, both = np.asarray(v), long(t) + long(gamma)
    p = waterline(v + long(costs), both / k, both, 0.0)
    return (v - p * (long(t) / both)).astype(floating(v))


def smooth_beta_update(q, y, k_ii, C=1.0, k=1, gamma=1.0, costs=None, sample_weight=None):
    """The biased projection in units of the margins."""
    mass, b = long(C) * long(sample_weight), margins(q, y, costs)
    if mass == 0:
        return [0.0] * len(q)
    den = long(k_ii) + long(gamma) / mass
    x = waterline(b, den * mass / k, den * mass, long(k_ii) / den) / den
    return with_truth(-x, y, floating(q)).tolist()


def smooth_beta_gradient(scores, y, k=1, gamma=1.0, costs=None, sample_weight=None):
    """The projection over gamma."""
    x = waterline(margins(scores, y, costs), long(gamma) / k, gamma, 0.0) / long(gamma)
    return with_truth(x * long(sample_weight), y, floating(scores))


def ova_smooth_prox(v, t=1.0, gamma=1.0, costs=None):
    """Entry by entry in doubles."""
    c = [1.0] * len(v) if costs is None else [float(w) for w in costs]
    half = float(t) / 2 + float(gamma) / 2
    return [
        float(w) - t * min(max((float(w) + e) / half / 2, 0.0), 1.0)
        for w, e in zip(v, c, strict=True)
    ]


def multilabel_smooth_gradient(scores, y, gamma=1.0, costs=None, sample_weight=None):
    """The projection over gamma."""
    z, right = signed(scores, y, costs)
    x = bipartite_sorted(z, y, gamma) / long(gamma)
    return (np.where(right, -x, x) * long(sample_weight)).astype(floating(scores))


def multilabel_smooth_update(q, y, k_ii, C=1.0, gamma=1.0, costs=None, sample_weight=None):
    """The projection in units of the margins."""
    z, right = signed(q, y, costs)
    mass = long(C) * long(sample_weight)
    den = mass * long(k_ii) + long(gamma)
    x = mass * (bipartite_sorted(z, y, den) / den)
    return np.where(right, x, -x).astype(floating(q))


def sparsemax_conjugate(x, costs=None):
    """Rational: +inf exactly outside, which nobody's rounding decides."""
    entries = [Fraction(float(v)) for v in x]
    s = sum(entries)
    if min(entries) < 0 or s > 1:
        return inf
    c = [0] * len(entries) if costs is None else [Fraction(float(v)) for v in costs]
    return float(sum(v * (v / 2 - w) for v, w in zip(entries, c, strict=True)) - s + s * s / 2)


def multilabel_entropy_conjugate(x, y, costs=None):
    """Rational p = x + t, then fsum."""
    right = [int(v) == 1 for v in y]
    entries = [Fraction(float(v)) for v in x]
    slack = 4 * len(entries) * Fraction(float(np.finfo(np.asarray(x).dtype).eps))
    p = [v + Fraction(is_right, sum(right)) for v, is_right in zip(entries, right, strict=True)]
    if min(p) < -slack or abs(sum(p) - 1) > slack:
        return inf
    c = [0.0] * len(entries) if costs is None else [float(v) for v in costs]
    linear = [-w * float(v) for v, w in zip(entries, c, strict=True)]
    return fsum([float(v) * log(v) for v in p if v > 0 and float(v) > 0] + linear)


def smooth_alpha_conjugate(x, k=1, gamma=1.0, costs=None):
    """Rational, a point within four roundings an entry counts as inside."""
    entries = [Fraction(float(v)) for v in x]
    s = sum(entries)
    slack = 4 * len(entries) * Fraction(float(np.finfo(np.asarray(x).dtype).eps))
    if min(entries) < 0 or s > 1 + slack or k * max(entries) > s * (1 + slack):
        return inf
    c = [1] * len(entries) if costs is None else [Fraction(float(v)) for v in costs]
    half = Fraction(float(gamma)) / 2
    return float(sum(v * (half * v - w) for v, w in zip(entries, c, strict=True)))


def entropy_alpha_gradient(scores, y, k=1, costs=None, sample_weight=None):
    """The u largest at s/k, the others a softmax of what is left."""
    z = margins(scores, y, costs, 0.0)
    order = np.argsort(-z, kind="stable")
    v, x = z[order], np.empty(z.size, dtype=LONG)
    tails = np.logaddexp.accumulate(v[::-1])[::-1]
    u = next(u for u in range(k) if u == k - 1 or np.log(LONG(k - u)) + v[u] <= tails[u])
    rest = LONG(k - u) / k
    least = (v[:u] + np.log(LONG(k))).sum() / k + rest * (tails[u] - np.log(rest))
    s = expit(least)
    x[order] = s * np.concatenate([np.full(u, LONG(1) / k), rest * np.exp(v[u:] - tails[u])])
    return with_truth(x * long(sample_weight), y, floating(scores))


def _table(scores, y):
    """Both classes by falling score, and for each positive the best sum of its gains and those before it.

    Row i, column j: the i-th positive has j negatives above it; the counts of a ranking do not fall.
    """
    s, truth = np.asarray(scores, dtype=LONG), np.asarray(y) == 1
    positive = np.flatnonzero(truth)[np.argsort(-s[truth], kind="stable")]
    negative = np.flatnonzero(~truth)[np.argsort(-s[~truth], kind="stable")]
    P, N = positive.size, negative.size
    above, rows = np.arange(N + 1, dtype=LONG), []
    best = np.zeros(N + 1, dtype=LONG)
    for i, index in enumerate(positive, 1):
        lead = np.concatenate([[LONG(0)], np.cumsum(s[index] - s[negative])])
        rows.append(best + above / (i + above) / P - 2 * lead / (P * N))
        best = np.maximum.accumulate(rows[-1])
    return positive, negative, rows, best[-1]


def ap_value_table(scores, y):
    """Dynamic programming over the positives."""
    return float(_table(scores, y)[-1])


def ap_inference_table(scores, y):
    """The same, followed back; the first of equals has the fewest inversions."""
    positive, negative, rows, _ = _table(scores, y)
    counts, last = np.zeros(positive.size, dtype=int), negative.size
    for i in range(positive.size - 1, -1, -1):
        counts[i] = last = int(np.argmax(rows[i][: last + 1]))
    a, pairs = np.zeros(len(scores)), positive.size * negative.size
    a[positive] = -2 * counts / pairs
    a[negative] = 2 * (counts[:, None] > np.arange(negative.size)).sum(axis=0) / pairs
    return a


def simplex_qp(H, linear, x, gap):
    """Max <linear,x> - 1/2 x'Hx on the simplex, from x on: the best entry joins, then the maximum of the face.

    Where that has a negative entry, it is met on the way and leaves.
    """
    H = H + max(1e-14 * np.trace(H), 1e-3 * gap) * np.eye(x.size)
    for _ in range(50 * x.size):
        slope = linear - H @ x
        if slope.max() - x @ slope <= gap:
            break
        face = np.union1d(np.flatnonzero(x), np.argmax(slope))
        while True:
            n = face.size
            K = np.ones((n + 1, n + 1))
            K[:n, :n], K[n, n] = H[np.ix_(face, face)], 0.0
            best = np.linalg.solve(K, np.append(linear[face], 1.0))[:n]
            if best.min() >= 0:
                x = np.zeros(x.size)
                x[face] = best
                break
            ways = np.where(best < 0, x[face] / np.where(best < 0, x[face] - best, 1.0), np.inf)
            out = np.argmin(ways)
            x[face] += min(ways[out], 1.0) * (best - x[face])
            x[face[out]] = 0.0
            face = np.delete(face, out)
    return x


def ap_svm_primal(X, y, C, tol=1e-6):
    """Cutting planes, the weights of the cuts by an active set."""
    P, N = np.sum(np.asarray(y) == 1), np.sum(np.asarray(y) != 1)
    cuts, deltas, share = np.zeros((1, X.shape[1])), np.zeros(1), np.ones(1)
    while True:
        w = -C * share @ cuts
        a = ap_inference_table(X @ w, y)
        c = np.sort(np.round(-a[np.asarray(y) == 1] * P * N / 2))
        delta = (c / (np.arange(1, P + 1) + c)).sum() / P
        primal = 0.5 * w @ w + C * max(delta + a @ X @ w, 0.0)
        dual = C * share @ deltas - 0.5 * w @ w
        if primal - dual <= 0.5 * tol * max(primal, abs(dual)) or len(deltas) > 400:
            return w
        cuts, deltas = np.vstack([cuts, a @ X]), np.append(deltas, delta)
        share = np.append(share, 0.0)
        share = simplex_qp(C * cuts @ cuts.T, deltas, share, 0.1 * (primal - dual) / C)


def ova_logistic_dual(X, y, C, loss="ova_logistic", sample_weight=None, tol=1e-6):
    """A class at a time: Newton's method with a Cholesky factor in the primal; an array of multipliers."""
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    mass, A = C * weights, np.zeros((len(y), int(np.max(y)) + 1))
    for j in range(A.shape[1]):
        sign = np.where(np.asarray(y) == j, -1.0, 1.0)
        rows, w = X * sign[:, None], np.zeros(X.shape[1])

        def value(w, rows=rows):
            return 0.5 * w @ w + mass @ np.logaddexp(0.0, rows @ w)

        for _ in range(200):
            p = expit(rows @ w)
            gradient = w + rows.T @ (mass * p)
            H = np.eye(w.size) + rows.T @ (rows * (mass * p * expit(-rows @ w))[:, None])
            step = np.linalg.solve(H, gradient)
            decrease, t = gradient @ step, 1.0
            while value(w - t * step) > value(w) - 0.25 * t * decrease and t > 1e-10:
                t /= 2
            w = w - t * step
            if decrease <= 1e-14 * value(w):
                break
        A[:, j] = -sign * mass * expit(rows @ w)
    return {"A": A}


def softmax_risk_dual(p):
    """The optimum is at the probabilities themselves."""
    p = np.asarray(p, dtype=float) / np.sum(p)
    return {"x": np.array([np.delete(p, label) for label in range(p.size)])}


@np.vectorize(otypes=[float])
def lambert_iterated(t):
    """Halley's method for w e^w = e^t below 0, the fourth order iteration of Fritsch et al. above."""
    if t < 0:
        target = exp(t)
        w = target / (1 + target)
        for _ in range(20):
            gap = w - target * exp(-w)
            w -= gap / (1 + w - (w + 2) * gap / (2 * w + 2))
        return w
    w = t - log(t) if t > 2 else 0.5671 + 0.4 * t
    for _ in range(8):
        z = t - log(w) - w
        e, q = z / (1 + w), 2 * (1 + w + 2 * z / 3)
        w *= 1 + e * (q - e) / (q - 2 * e)
    return w


PORTS: Sequence[tuple[Any, str, dict[str, Any]]] = [
    (box_sorted, "box.projection", {}),
    (ball_newton, "l1_ball.projection", {}),
    (capped_merged, "capped_simplex.projection", {}),
    (beta_merged, "topk_simplex_beta.projection", {}),
    (knapsack_events, "knapsack.projection", {}),
    (bipartite_sorted, "bipartite_simplex.projection", {}),
    (entropy_alpha_prox, "topk_entropy_alpha.prox", {}),
    (softmax_prox, "softmax.prox", {}),
    (printed_prox, "topk_hinge_alpha_printed.prox", {}),
    (smooth_beta_prox, "smooth_topk_hinge_beta.prox", {}),
    (ova_smooth_prox, "ova_smooth_hinge.prox", {}),
    (entropy_alpha_update, "topk_entropy_alpha.sdca_update", {}),
    (softmax_update, "softmax.sdca_update", {}),
    (printed_update, "topk_hinge_alpha_printed.sdca_update", {}),
    (smooth_beta_update, "smooth_topk_hinge_beta.sdca_update", {}),
    (multilabel_smooth_update, "multilabel_smooth_hinge.sdca_update", {}),
    (printed_conjugate, "topk_hinge_alpha_printed.conjugate", {}),
    (sparsemax_conjugate, "sparsemax.conjugate", {}),
    (multilabel_entropy_conjugate, "multilabel_entropy.conjugate", {}),
    (smooth_alpha_conjugate, "smooth_topk_hinge_alpha.conjugate", {}),
    (smooth_beta_gradient, "smooth_topk_hinge_beta.gradient", {}),
    (multilabel_smooth_gradient, "multilabel_smooth_hinge.gradient", {}),
    (entropy_alpha_gradient, "topk_entropy_alpha.gradient", {}),
    (ap_value_table, "average_precision.value", {}),
    (ap_inference_table, "average_precision.loss_augmented_inference", {}),
    (ap_svm_primal, "ap_svm.primal", {}),
    (ova_logistic_dual, "multiclass_erm.dual", {"fixed": {"loss": "ova_logistic"}}),
    (softmax_risk_dual, "pointwise_risk.dual", {"fixed": {"loss": "softmax"}}),
    (lambert_iterated, "lambert_w_exp.value", {}),
]
