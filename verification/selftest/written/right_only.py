"""Right ports on problems that no fault of the other sets is of, written before the checks were read."""

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from scipy.special import expit

LONG = np.longdouble


def floating(a):
    """The type of the answer: that of floats, and doubles for integers."""
    return np.result_type(np.asarray(a).dtype, np.float32)


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


def margins(scores, y, costs=None, default=1.0):
    """Z over the other classes, in extended precision."""
    f = np.asarray(scores, dtype=LONG)
    z = f - f[y] + (default if costs is None else np.asarray(costs, dtype=LONG))
    return np.delete(z, y)


def with_truth(x, y, dtype=float):
    """The block of the others and minus its sum at the truth."""
    return np.insert(x, y, -x.sum()).astype(dtype)


def box_qp(Q, c, upper, row, level=0.0):
    """Min 1/2 z'Qz - c'z over 0 <= z <= upper, <row,z> = level, by Mehrotra's predictor and corrector.

    Returns z and the multiplier of the equation.
    """
    capped = np.isfinite(upper)
    room = np.where(capped, upper, 1.0)
    z = np.where(capped, room / 2, 1.0)
    low, high, nu = np.ones(c.size), capped.astype(float), 0.0
    for _ in range(200):
        gap = np.where(capped, room - z, 1.0)
        dual = Q @ z - c - low + high + nu * row
        comp = z @ low + gap @ high
        scale = 0.5 * z @ Q @ z + np.abs(c) @ z
        if comp <= 1e-11 * scale and np.abs(dual) @ np.where(capped, room, z) <= 1e-8 * scale:
            break
        moves = _newton(Q, row, dual, row @ z - level, capped, z, gap, low, high)
        z, low, high, nu = (v + move for v, move in zip((z, low, high, nu), moves, strict=True))
    return z, nu


def _newton(Q, row, dual, primal, capped, z, gap, low, high):
    """The steps of z, of the multipliers of both bounds, and of the equation's."""
    H = Q + np.diag(low / z + high / gap)
    factor = np.linalg.cholesky(H + 1e-14 * np.diag(np.diag(H)))
    weight = np.linalg.solve(factor.T, np.linalg.solve(factor, row))

    def direction(at_low, at_high):
        rhs = -dual - low + high + at_low / z - at_high / gap
        step = np.linalg.solve(factor.T, np.linalg.solve(factor, rhs))
        d_nu = (row @ step + primal) / (row @ weight)
        step = step - d_nu * weight
        d_high = np.where(capped, at_high / gap - high + high / gap * step, 0.0)
        return step, at_low / z - low - low / z * step, d_high, d_nu

    def length(step, d_low, d_high):
        pairs = [
            (z, step),
            (gap[capped], -step[capped]),
            (low, d_low),
            (high[capped], d_high[capped]),
        ]
        ratios = [
            np.min(-v[change < 0] / change[change < 0], initial=np.inf) for v, change in pairs
        ]
        return min(1.0, 0.995 * min(ratios))

    step, d_low, d_high, _ = direction(0 * z, 0 * z)
    t = length(step, d_low, d_high)
    reached = (z + t * step) @ (low + t * d_low)
    reached += np.where(capped, gap - t * step, 0) @ (high + t * d_high)
    comp = z @ low + gap @ high
    target = comp / (z.size + capped.sum()) * (reached / comp) ** 3
    step, d_low, d_high, d_nu = direction(
        target - step * d_low, np.where(capped, target + step * d_high, 0.0)
    )
    t = length(step, d_low, d_high)
    return t * step, t * d_low, t * d_high, t * d_nu


def top_push_pair(X, y, C):
    """The dual by the interior point method; both sides come back."""
    positive = np.asarray(y) == 1
    sign = np.where(positive, 1.0, -1.0)
    rows = X * sign[:, None]
    Q = (rows @ rows.T) * C * C + np.diag(np.where(positive, C / 2, 0.0))
    share, _ = box_qp(Q, np.where(positive, C, 0.0), np.full(len(y), np.inf), sign)
    share[~positive] *= share[positive].sum() / share[~positive].sum()
    return {"w": rows.T @ share * C, "multipliers": share * C}


def recall_cuts(X, y, C, k=1, tol=1e-6):
    """Cutting planes: the set that is most violated, then the quadratic program over all met."""
    truth = np.asarray(y) == 1
    total = truth.sum()
    cuts, weights, sets = [np.zeros(X.shape[1])], np.array([C]), [np.zeros(len(y), dtype=int)]
    deltas = [0.0]
    w = np.zeros(X.shape[1])
    for _ in range(500):
        s = X @ w
        chosen = np.zeros(len(y), dtype=int)
        chosen[np.argsort(-(2 * s - truth / total), kind="stable")[:k]] = 1
        delta = 1 - (chosen & truth).sum() / total
        loss = max(0.0, delta + 2 * (s[chosen == 1].sum() - s[truth].sum()))
        P = 0.5 * w @ w + C * loss
        D = weights @ deltas - 0.5 * w @ w
        if 0.3 * tol * max(P, abs(D)) >= P - D:
            break
        sets.append(chosen)
        deltas.append(delta)
        cuts.append(-2 * X.T @ (chosen - truth.astype(float)))
        V = np.array(cuts)
        share, _ = box_qp(
            V @ V.T * C * C, C * np.array(deltas), np.full(len(V), np.inf), np.ones(len(V)), 1.0
        )
        weights = C * share / share.sum()
        w = weights @ V
    return w, np.array(sets[1:]).reshape(-1, len(y)), weights[1:]


def recall_primal(X, y, C, k=1, tol=1e-6):
    """An array alone."""
    return recall_cuts(X, y, C, k, tol)[0]


def softmax_risk(p):
    """The logarithms of the probabilities, of 0 something far below."""
    p = np.asarray(p, dtype=float)
    with np.errstate(divide="ignore"):
        g = np.log(p / p.max())
    return {"g": np.where(np.isfinite(g), g, g[np.isfinite(g)].min() - 60.0)}


def long(value: Any, default: float = 1.0) -> Any:
    """In extended precision, None as the default."""
    return np.asarray(default if value is None else value, dtype=LONG)


def printed_value(scores, y, k=1, costs=None, sample_weight=None):
    """The k largest of all m margins, 0 at the truth."""
    z = np.sort(np.append(margins(scores, y, costs), LONG(0)))
    return float(max(z[-k:].sum() / k, LONG(0)) * long(sample_weight))


def printed_gradient(scores, y, k=1, costs=None, sample_weight=None):
    """1/k at each of the k largest of all m margins, nothing where their sum is not positive."""
    z = np.insert(margins(scores, y, costs), y, LONG(0))
    best = np.argsort(-z, kind="stable")[:k]
    x = np.zeros(z.size)
    if z[best].sum() > 0:
        x[best] = float(long(sample_weight)) / k
    x[y] = 0.0
    x[y] = -x.sum()
    return x


def multilabel_smooth_prox(v, y, t=1.0, gamma=1.0, costs=None):
    """A projection of sum t + gamma, of which t/(t + gamma) is taken away."""
    v, y, both = np.asarray(v), np.asarray(y), long(t) + long(gamma)
    z = v + (np.where(y == 1, 0, LONG(1)) if costs is None else long(costs))
    return (v - bipartite_newton(z, y, both) * (long(t) / both)).astype(floating(v))


def push_primal(X, y, C):
    """An array alone."""
    return top_push_pair(X, y, C)["w"]


def recall_dual(X, y, C, k=1, tol=1e-6):
    """The cuts and their weights."""
    _, sets, weights = recall_cuts(X, y, C, k, tol)
    return {"sets": sets, "weights": weights}


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


SOFTMAX = {"fixed": {"loss": "softmax"}}
#: A solver, its problem, and the options of verify.
PORTS: Sequence[tuple[Any, str, dict[str, Any]]] = [
    (recall_primal, "recall_at_k.primal", {}),
    (recall_dual, "recall_at_k.dual", {}),
    (push_primal, "top_push.primal", {}),
    (ap_svm_primal, "ap_svm.primal", {}),
    (ova_logistic_dual, "multiclass_erm.dual", {"fixed": {"loss": "ova_logistic"}}),
    (softmax_risk, "pointwise_risk.primal", SOFTMAX),
    (softmax_risk_dual, "pointwise_risk.dual", SOFTMAX),
    (printed_value, "topk_hinge_alpha_printed.value", {}),
    (printed_gradient, "topk_hinge_alpha_printed.gradient", {}),
    (printed_prox, "topk_hinge_alpha_printed.prox", {}),
    (printed_update, "topk_hinge_alpha_printed.sdca_update", {}),
    (printed_conjugate, "topk_hinge_alpha_printed.conjugate", {}),
    (multilabel_smooth_prox, "multilabel_smooth_hinge.prox", {}),
    (entropy_alpha_prox, "topk_entropy_alpha.prox", {}),
    (entropy_alpha_update, "topk_entropy_alpha.sdca_update", {}),
]
