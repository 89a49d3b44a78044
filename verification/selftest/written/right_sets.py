"""Right ports of projections, and of what a projection gives, for the faults of `fourth.toml` and `fifth.toml`."""

import bisect
import math
from fractions import Fraction

import numpy as np


def condat_simplex(a, r=1.0, rho=0.0):
    """Condat 2016, Fast projection onto the simplex: two lists and a running pivot."""
    a = np.asarray(a, dtype=float)
    if r == 0:
        return np.zeros(len(a))
    b = (a - a.max()).tolist()
    active, later, pivot = [b[0]], [], b[0] - r
    for y in b[1:]:
        if y > pivot:
            pivot += (y - pivot) / (len(active) + 1)
            if pivot > y - r:
                active.append(y)
            else:
                later += active
                active, pivot = [y], y - r
    for y in later:
        if y > pivot:
            active.append(y)
            pivot += (y - pivot) / len(active)
    while True:
        kept = [y for y in active if y > pivot]
        if len(kept) == len(active):
            break
        active = kept
        pivot = (math.fsum(active) - r) / len(active)
    t = (math.fsum(active) - r) / len(active)
    return np.array([max(y - t, 0.0) for y in b])


def capped_halving(a, r=1.0, cap=1.0):
    """The capped simplex: halve the sorted list of the 2d breakpoints, then one division."""
    a = np.asarray(a, dtype=float)
    d = len(a)
    if Fraction(float(r)) > d * Fraction(float(cap)):
        raise ValueError("r > d cap: the set is empty")
    if r == 0 or cap == 0:
        return np.zeros(d)
    if Fraction(float(r)) == d * Fraction(float(cap)):
        return np.full(d, float(cap))
    points = np.sort(np.concatenate([a, a - cap]))
    low, high = 0, len(points) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if np.clip(a - points[middle], 0, cap).sum() >= r:
            low = middle
        else:
            high = middle
    middle = points[low] + (points[high] - points[low]) / 2
    free = (a > middle) & (a - cap < middle)
    full = a - cap >= middle
    if free.any():
        base = points[low]
        t = base + (math.fsum(a[free] - base) + cap * full.sum() - r) / free.sum()
    else:
        t = middle
    return np.clip(np.where(full, cap, a - t), 0, cap)


def alpha_nested(a, k=1, r=1.0, rho=0.0):
    """Top-k simplex (alpha): a root in u around the root in t of sum clip(a - t, 0, u) = k u."""
    a = np.asarray(a, dtype=float)
    d = len(a)
    x = np.zeros(d)
    if k > d or r <= 0:
        return x
    order = np.argsort(-a, kind="stable")
    b = a[order]
    total = math.fsum(b[:k])
    if total <= 0:
        return x
    kappa = k * (1 + rho * k)
    first = min(total / kappa, r / k)
    if k == d:
        x[:] = first
        return x
    if b[k - 1] - b[k] >= first:
        x[order[:k]] = first
        return x
    shift = b[k - 1]
    b = b - shift
    rising = b[::-1].tolist()
    sums = [0.0]
    for v in rising:
        sums.append(sums[-1] + v)

    def above(t):
        i = bisect.bisect_right(rising, t)
        return sums[d] - sums[i] - (d - i) * t

    def threshold(u):
        low, high = b[-1] - u, b[0]
        for _ in range(200):
            t = low + (high - low) / 2
            if t <= low or t >= high:
                break
            if above(t) - above(t + u) >= k * u:
                low = t
            else:
                high = t
        return low

    def slope(u):
        t = threshold(u)
        return k * (t + shift) + above(t) - kappa * u

    high = min(r / k, total / (k * k * (rho + 1 / d)))
    u = high
    if high < r / k or slope(high) < 0:
        low = 0.0
        for _ in range(90):
            u = low + (high - low) / 2
            if u <= low or u >= high:
                break
            if slope(u) >= 0:
                low = u
            else:
                high = u
    t = threshold(u)
    top = b - t >= u
    middle = (b > t) & ~top
    p, q = int(top.sum()), int(middle.sum())
    if q:
        up, mid = math.fsum(b[top]), math.fsum(b[middle])
        free = (up + mid + k * shift + (k - p - q) * mid / q) / (kappa + (k - p - q) * (k - p) / q)
        u = min(free, r / k)
        t = (mid - (k - p) * u) / q
    x[order] = np.clip(b - t, 0, u)
    return x


def cone_nested(a, k=1, rho=0.0):
    """The top-k cone: the simplex without a bound on the sum."""
    return alpha_nested(a, k, math.inf, rho)


def beta_breakpoints(a, k=1, r=1.0, rho=0.0):
    """Top-k simplex (beta): the first breakpoint that satisfies both conditions, then a line."""
    a = np.asarray(a, dtype=float)
    if r <= 0:
        return np.zeros(len(a))
    cap = r / k

    def enough(t):
        s = np.clip(a - t, 0, cap).sum()
        return s <= r and rho * s <= t

    points = np.unique(np.concatenate([[0.0], a, a - cap]))
    points = points[points >= 0]
    if enough(0.0):
        return np.clip(a, 0, cap)
    low, high = 0, len(points) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if enough(points[middle]):
            high = middle
        else:
            low = middle
    left, right = points[low], points[high]
    free = (a >= right) & (a - cap <= left)
    full = a - cap >= right
    n = int(free.sum())
    mass = math.fsum(a[free]) + cap * int(full.sum())
    t = rho * mass / (1 + rho * n)
    if n:
        t = max(t, left + (math.fsum(a[free] - left) + cap * int(full.sum()) - r) / n)
    t = min(max(t, left), right)
    return np.clip(a - t, 0, cap)


def knapsack_fsum(a, b, low, high, capacity):
    """Continuous quadratic knapsack: breakpoints of clip(a - t b, low, high), sums by fsum."""
    a, b, low, high = (np.asarray(v, dtype=float) for v in (a, b, low, high))
    fixed = np.clip(a, low, high)
    if not b.any():
        return fixed
    used = np.flatnonzero(b)
    slope, start = b[used], a[used]
    bottom, top = low[used], high[used]

    def at(t):
        return np.clip(start - t * slope, bottom, top)

    def spent(t):
        return math.fsum(slope * at(t)) - capacity

    with np.errstate(invalid="ignore"):
        points = np.concatenate([(start - bottom) / slope, (start - top) / slope])
    points = np.unique(points[np.isfinite(points)])
    first, last = -1, len(points)
    while last - first > 1:
        middle = (first + last) // 2
        if spent(points[middle]) >= 0:
            first = middle
        else:
            last = middle
    left = points[first] if first >= 0 else -math.inf
    right = points[last] if last < len(points) else math.inf
    if math.isinf(left) and math.isinf(right):
        inside = 0.0
    elif math.isinf(left):
        inside = right - max(1.0, abs(right))
    elif math.isinf(right):
        inside = left + max(1.0, abs(left))
    else:
        inside = left + (right - left) / 2
    line = start - inside * slope
    free = (line > bottom) & (line < top)
    if free.any():
        rest = math.fsum(
            np.concatenate([slope[free] * start[free], slope[~free] * at(inside)[~free]])
        )
        t = (rest - capacity) / math.fsum(slope[free] ** 2)
        t = min(max(t, left), right)
    else:
        t = inside
    fixed[used] = at(t)
    return fixed


def l1_rows(a, r=1.0):
    """The l1 ball, a vector or rows of them with one r each or one r."""
    a = np.asarray(a, dtype=float)
    rows = np.atleast_2d(a)
    radius = np.broadcast_to(np.asarray(r, dtype=float), rows.shape[:1])[:, None]
    size = np.abs(rows)
    inside = size.sum(axis=1) <= radius[:, 0]
    if inside.all():
        return a.copy()
    top = size.max(axis=1, keepdims=True)
    falling = -np.sort(-(size - top), axis=1)
    counts = np.arange(1, rows.shape[1] + 1)
    means = (np.cumsum(falling, axis=1) - radius) / counts
    last = np.maximum((falling > means).sum(axis=1) - 1, 0)
    t = np.take_along_axis(means, last[:, None], axis=1)
    shrunk = np.sign(rows) * np.maximum(size - top - t, 0)
    shrunk[radius[:, 0] == 0] = 0
    return np.where(inside[:, None], rows, shrunk).reshape(a.shape)


def box_list(a, r=1.0):
    """The box, entry by entry."""
    out = np.zeros(len(a))
    for i, v in enumerate(a):
        out[i] = min(max(v, 0), r)
    return out


def bipartite_bisect(a, y, r=1.0):
    """Shalev-Shwartz and Singer's soft projection: a common sum for both sides, by bisection."""
    a, y = np.asarray(a, dtype=float), np.asarray(y)
    x = np.zeros(len(a))
    right, left = y == 1, y != 1
    if not right.any() or not left.any() or r == 0 or a[right].max() + a[left].max() <= 0:
        return x
    sides = [np.sort(a[left])[::-1], np.sort(a[right])[::-1]]

    def cut(v, total):
        shifted = v - v[0]
        means = (np.cumsum(shifted) - total) / np.arange(1, len(v) + 1)
        n = max(int(np.count_nonzero(shifted > means)), 1)
        return means[n - 1], n

    def both(total):
        return cut(sides[0], total)[0] + cut(sides[1], total)[0] + highest

    highest = sides[0][0] + sides[1][0]
    total = r
    if both(r) < 0:
        low, high = 0.0, min(float(r), highest * len(a))
        for _ in range(200):
            total = low + (high - low) / 2
            if total <= low or total >= high:
                break
            if both(total) >= 0:
                low = total
            else:
                high = total
        i, j = cut(sides[0], total)[1], cut(sides[1], total)[1]
        mean = math.fsum(sides[0][:i]) / i + math.fsum(sides[1][:j]) / j
        total = min(mean / (1 / i + 1 / j), r)
    x[left] = np.maximum(a[left] - sides[0][0] - cut(sides[0], total)[0], 0)
    x[right] = np.maximum(a[right] - sides[1][0] - cut(sides[1], total)[0], 0)
    return x


def others(scores, y, costs, default):
    """Margins z over the classes other than y."""
    f = np.asarray(scores, dtype=float)
    c = np.full(len(f), default) if costs is None else np.asarray(costs, dtype=float)
    return np.delete(f - f[y] + c, y)


#: Away from the numbers that have fewer digits; an update is a projection of any multiple of the scores.
UP = 2.0**400


def block(x, y, weight):
    """-weight x at the other classes and weight sum x at y."""
    return np.insert(-weight * x, y, weight * x.sum())


def smooth_alpha_value(scores, y, k=1, gamma=1.0, costs=None, sample_weight=None):
    """By the projection on the set times gamma."""
    z = others(scores, y, costs, 1.0)
    p = alpha_nested(z, k, gamma)
    x = p / gamma
    value = max(0.0, math.fsum(np.sort(z - p)[len(z) - k :]) / k) + gamma / 2 * float(x @ x)
    return value if sample_weight is None else sample_weight * value


def smooth_beta_gradient(scores, y, k=1, gamma=1.0, costs=None, sample_weight=None):
    """The projection, divided by gamma."""
    z = others(scores, y, costs, 1.0)
    x = beta_breakpoints(z, k, gamma) / gamma
    return -block(x, y, 1.0 if sample_weight is None else sample_weight)


def alpha_prox(v, k=1, t=1.0, costs=None):
    """Moreau: v minus a projection on the set times t."""
    v = np.asarray(v, dtype=float)
    b = v + (1.0 if costs is None else np.asarray(costs, dtype=float))
    p = alpha_nested(b, k, t)
    return v - p


def alpha_update(q, y, k_ii, C=1.0, k=1, costs=None, sample_weight=None):
    """Top-k SVM: a biased projection; without a norm a linear program."""
    weight = C * (1.0 if sample_weight is None else sample_weight)
    z = others(q, y, costs, 1.0)
    if k_ii == 0:
        x = np.zeros(len(z))
        best = np.argsort(-z, kind="stable")[:k]
        if z[best].sum() > 0:
            x[best] = weight / k
    else:
        x = alpha_nested(z * UP, k, weight * (k_ii * UP), 1.0) / (k_ii * UP)
    return block(x, y, 1.0)


def beta_update(q, y, k_ii, C=1.0, k=1, costs=None, sample_weight=None):
    """The same for beta."""
    weight = C * (1.0 if sample_weight is None else sample_weight)
    z = others(q, y, costs, 1.0)
    if k_ii == 0:
        x = np.zeros(len(z))
        best = np.argsort(-z, kind="stable")[:k]
        x[best] = np.where(z[best] > 0, weight / k, 0.0)
    else:
        x = beta_breakpoints(z * UP, k, weight * (k_ii * UP), 1.0) / (k_ii * UP)
    return block(x, y, 1.0)


def multilabel_margins(scores, y, costs):
    """z: scores of the wrong labels, minus those of the right ones, and costs."""
    f = np.asarray(scores, dtype=float)
    right = np.asarray(y) == 1
    c = np.where(right, 0.0, 1.0) if costs is None else np.asarray(costs, dtype=float)
    return np.where(right, -f, f) + c, right


def multilabel_hinge_update(q, y, k_ii, C=1.0, costs=None, sample_weight=None):
    """A projection on the bipartite simplex; without a norm one pair of labels."""
    weight = C * (1.0 if sample_weight is None else sample_weight)
    b, right = multilabel_margins(q, y, costs)
    x = np.zeros(len(b))
    if weight == 0 or right.all() or not right.any():
        return x
    if k_ii == 0:
        wrong = np.flatnonzero(~right)[np.argmax(b[~right])]
        good = np.flatnonzero(right)[np.argmax(b[right])]
        if b[wrong] + b[good] > 0:
            x[wrong] = x[good] = weight
    else:
        x = bipartite_bisect(b * UP, right.astype(int), weight * (k_ii * UP)) / (k_ii * UP)
    return np.where(right, x, -x)


def multilabel_smooth_value(scores, y, gamma=1.0, costs=None, sample_weight=None):
    """The value by the projection."""
    z, right = multilabel_margins(scores, y, costs)
    p = bipartite_bisect(z, right.astype(int), gamma)
    value = 0.0
    if right.any() and not right.all():
        x, rest = p / gamma, z - p
        value = max(0.0, rest[right].max() + rest[~right].max()) + gamma / 2 * float(x @ x)
    return value if sample_weight is None else sample_weight * value


def sparsemax_prox(v, t=1.0, costs=None):
    """A biased projection on {x >= 0, s <= 1}."""
    v = np.asarray(v, dtype=float)
    z = v if costs is None else v + np.asarray(costs, dtype=float)
    return v - t * beta_breakpoints((z + 1) / (1 + t), 1, 1.0, 1 / (1 + t))


def squared_prox(v, k=1, t=1.0, costs=None):
    """A biased projection on the cone."""
    v = np.asarray(v, dtype=float)
    z = v + (1.0 if costs is None else np.asarray(costs, dtype=float))
    return v - t * cone_nested(z / t, k, 1 / t)


def sparsemax_update(q, y, k_ii, C=1.0, costs=None, sample_weight=None):
    """A biased projection, rho = 1, on {x >= 0, s <= 1}."""
    weight = C * (1.0 if sample_weight is None else sample_weight)
    z = others(q, y, costs, 0.0)
    x = beta_breakpoints((z + 1) / (1 + weight * k_ii), 1, 1.0, 1.0)
    return block(weight * x, y, 1.0)


def smooth_alpha_prox(v, k=1, t=1.0, gamma=1.0, costs=None):
    """Moreau, with t + gamma for the curvature."""
    v = np.asarray(v, dtype=float)
    z = v + (1.0 if costs is None else np.asarray(costs, dtype=float))
    return v - t * alpha_nested(z / (t + gamma), k, 1.0)


def smooth_beta_update(q, y, k_ii, C=1.0, k=1, gamma=1.0, costs=None, sample_weight=None):
    """A biased projection, rho = K / den."""
    weight = C * (1.0 if sample_weight is None else sample_weight)
    if weight == 0:
        return np.zeros(len(q))
    den = weight * k_ii + gamma
    x = beta_breakpoints(others(q, y, costs, 1.0) / den, k, 1.0, weight * k_ii / den)
    return block(x, y, weight)


def multilabel_hinge_prox(v, y, t=1.0, costs=None):
    """V minus the projection on the set times t."""
    v = np.asarray(v, dtype=float)
    right = np.asarray(y) == 1
    c = np.where(right, 0.0, 1.0) if costs is None else np.asarray(costs, dtype=float)
    return v - bipartite_bisect(v + c, right.astype(int), t)
