"""Right ports that the faults of `fourth.toml` start from: NumPy, SciPy, numba and plain Python, one style each."""

import bisect
import math
from fractions import Fraction

import numba
import numpy as np
import scipy.linalg
import scipy.optimize
from scipy.special import entr, expit, logsumexp, wrightomega

# --- projections -------------------------------------------------------------------------------


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


# --- losses ------------------------------------------------------------------------------------


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


def hinge_gradient(scores, y, costs=None, sample_weight=None):
    """One violated class takes all."""
    f = np.asarray(scores, dtype=float)
    weight = 1.0 if sample_weight is None else sample_weight
    margins = f - f[y] + (1.0 if costs is None else np.asarray(costs, dtype=float))
    margins[y] = 0.0
    worst = int(np.argmax(margins))
    g = np.zeros(len(f))
    g[worst] += weight
    g[y] -= weight
    return g


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


def beta_conjugate(x, k=1, costs=None):
    """Minus <c,x> where x is in the set, up to rounding."""
    x = np.asarray(x, dtype=float)
    slack = 4e-16 * len(x)
    if np.any(x < 0) or np.any(x > 1 / k * (1 + slack)) or math.fsum(x) > 1 + slack:
        return math.inf
    return -math.fsum(x) if costs is None else -math.fsum(x * np.asarray(costs, dtype=float))


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


def omega(z, alpha):
    """The root of alpha x + log x = z."""
    if alpha == 0:
        return np.exp(z)
    w = z + math.log(alpha)
    return np.where(w < -40, np.exp(np.minimum(z, 700)), wrightomega(w) / alpha)


def softmax_prox(v, t=1.0, costs=None):
    """A root in L = -log(1 - s) by Brent's method."""
    v = np.asarray(v, dtype=float)
    z = v if costs is None else v + np.asarray(costs, dtype=float)

    def excess(ell):
        return omega(z - ell, t).sum() + math.expm1(-ell)

    high = float(np.logaddexp(0, logsumexp(z)))
    ell = 0.0 if excess(0.0) <= 0 else high
    if excess(0.0) > 0 > excess(high):
        ell = scipy.optimize.brentq(excess, 0.0, high, xtol=1e-300, rtol=1e-15, maxiter=2000)
    return v - t * omega(z - ell, t)


def softmax_update(q, y, k_ii, C=1.0, costs=None, sample_weight=None):
    """The same for the update: tau = alpha s + L."""
    weight = C * (1.0 if sample_weight is None else sample_weight)
    z = others(q, y, costs, 0.0)
    alpha = weight * k_ii
    high = float(np.logaddexp(0, logsumexp(z)))

    def excess(ell):
        s = -math.expm1(-ell)
        return omega(z - alpha * s - ell, alpha).sum() - s

    ell = high
    if alpha > 0 and excess(high) < 0 < excess(0.0):
        ell = scipy.optimize.brentq(excess, 0.0, high, xtol=1e-300, rtol=1e-15, maxiter=2000)
    s = -math.expm1(-ell)
    x = omega(z - alpha * s - ell, alpha)
    return np.insert(-weight * x, y, weight * s)


def saturated(z, k, one):
    """How many of the k largest entries are at their bound, and log Z_M (with 1: beta)."""
    falling = np.sort(z)[::-1]
    for u in range(k):
        rest = falling[u:]
        if not len(rest):
            return falling, u / k, 0.0 if one else -math.inf
        log_z = logsumexp(rest - rest[0])
        if one:
            log_z = np.logaddexp(-rest[0], log_z)
        if math.log(k - u) <= log_z:
            break
    log_z = rest[0] + logsumexp(rest - rest[0])
    return falling[:u], u / k, np.logaddexp(0, log_z) if one else log_z


def entropy_alpha_value(scores, y, k=1, costs=None, sample_weight=None):
    """Softplus of v."""
    z = others(scores, y, costs, 0.0)
    top, rho, log_z = saturated(z, k, False)
    v = rho * math.log(k) + math.fsum(top) / k + (1 - rho) * (log_z - math.log1p(-rho))
    value = float(np.logaddexp(0.0, v))
    return value if sample_weight is None else sample_weight * value


def entropy_alpha_gradient(scores, y, k=1, costs=None, sample_weight=None):
    """Probabilities, capped at s/k."""
    z = others(scores, y, costs, 0.0)
    top, rho, log_z = saturated(z, k, False)
    v = rho * math.log(k) + math.fsum(top) / k + (1 - rho) * (log_z - math.log1p(-rho))
    s = expit(v)
    x = s * np.minimum(1 / k, (1 - rho) * np.exp(np.minimum(z - log_z, 0)))
    weight = 1.0 if sample_weight is None else sample_weight
    return np.insert(weight * x, y, -weight * s)


def entropy_beta_value(scores, y, k=1, costs=None, sample_weight=None):
    """The same with the ground truth in the sum."""
    z = others(scores, y, costs, 0.0)
    top, rho, log_z = saturated(z, k, True)
    value = rho * math.log(k) + math.fsum(top) / k + (1 - rho) * (log_z - math.log1p(-rho))
    return float(value if sample_weight is None else sample_weight * value)


def entropy_multilabel_value(scores, y, costs=None, sample_weight=None):
    """The mean over the right labels of log-sum-exp(z - z_l)."""
    z = np.asarray(scores, dtype=float)
    if costs is not None:
        z = z + np.asarray(costs, dtype=float)
    right = np.flatnonzero(np.asarray(y) == 1)
    value = float(np.mean([logsumexp(z - z[label]) for label in right]))
    return value if sample_weight is None else sample_weight * value


def entropy_multilabel_gradient(scores, y, costs=None, sample_weight=None):
    """Probabilities minus targets."""
    z = np.asarray(scores, dtype=float)
    if costs is not None:
        z = z + np.asarray(costs, dtype=float)
    t = np.asarray(y, dtype=float).clip(0)
    t = t / t.sum()
    e = np.exp(z - z.max())
    g = e / e.sum() - t
    return g if sample_weight is None else sample_weight * g


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


def ova_margins(scores, y, costs, default):
    """z_j = f_j + c_j and -f_y + c_y."""
    z = np.array(scores, dtype=float)
    z[y] = -z[y]
    return z + (default if costs is None else np.asarray(costs, dtype=float))


def ova_logistic_conjugate(x, costs=None):
    """Minus the binary entropies."""
    x = np.asarray(x, dtype=float)
    if np.any(x < 0) or np.any(x > 1):
        return math.inf
    value = -(entr(x).sum() + entr(1 - x).sum())
    return float(value if costs is None else value - x @ np.asarray(costs, dtype=float))


def ova_logistic_update(q, y, k_ii, C=1.0, costs=None, sample_weight=None):
    """The root of alpha expit(u) + u = b by bisection in u, and two steps of Newton in x."""
    weight = C * (1.0 if sample_weight is None else sample_weight)
    alpha = weight * k_ii
    b = ova_margins(q, y, costs, 0.0)
    low, high = np.clip(b - alpha, -750, 750), np.clip(b, -750, 750)
    for _ in range(120):
        middle = low + (high - low) / 2
        below = alpha * expit(middle) + middle < b
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    x = expit(low)
    inner = (x > 1e-200) & (x < 1 - 1e-9)
    for _ in range(2):
        v = np.where(inner, x, 0.5)
        step = (alpha * v + np.log(v) - np.log1p(-v) - b) / (alpha + 1 / (v * (1 - v)))
        x = np.where(inner & (np.abs(step) < 0.5 * v) & (v - step < 1), v - step, x)
    a = -weight * x
    a[y] = -a[y]
    return a


def ova_smooth_gradient(scores, y, gamma=1.0, costs=None, sample_weight=None):
    """A ramp."""
    g = np.clip(ova_margins(scores, y, costs, 1.0) / gamma, 0, 1)
    g[y] = -g[y]
    return g if sample_weight is None else sample_weight * g


def ova_smooth_prox(v, t=1.0, gamma=1.0, costs=None):
    """Three pieces, entry by entry."""
    v = np.asarray(v, dtype=float)
    c = 1.0 if costs is None else np.asarray(costs, dtype=float)
    return v - t * np.clip((v + c) / (t + gamma), 0, 1)


def sparsemax_prox(v, t=1.0, costs=None):
    """A biased projection on {x >= 0, s <= 1}."""
    v = np.asarray(v, dtype=float)
    z = v if costs is None else v + np.asarray(costs, dtype=float)
    return v - t * beta_breakpoints((z + 1) / (1 + t), 1, 1.0, 1 / (1 + t))


def sparsemax_conjugate(x, costs=None):
    """A quadratic on the set."""
    x = np.asarray(x, dtype=float)
    s = math.fsum(x)
    if np.any(x < 0) or s > 1 + 4e-16 * len(x):
        return math.inf
    slope = 1.0 if costs is None else 1.0 + np.asarray(costs, dtype=float)
    return 0.5 * (math.fsum(x * x) + s * s) - math.fsum(slope * x)


def squared_gradient(scores, y, k=1, costs=None, sample_weight=None):
    """s/k on the k largest."""
    z = others(scores, y, costs, 1.0)
    best = np.argsort(-z, kind="stable")[:k]
    s = max(0.0, math.fsum(z[best]) / k)
    x = np.zeros(len(z))
    x[best] = s / k
    weight = 1.0 if sample_weight is None else sample_weight
    return np.insert(weight * x, y, -weight * s)


def squared_prox(v, k=1, t=1.0, costs=None):
    """A biased projection on the cone."""
    v = np.asarray(v, dtype=float)
    z = v + (1.0 if costs is None else np.asarray(costs, dtype=float))
    return v - t * cone_nested(z / t, k, 1 / t)


def truncated_value(scores, y, k=1, costs=None, sample_weight=None):
    """log(1 + sum of the m - k smallest)."""
    z = others(scores, y, costs, 0.0)
    rest = np.sort(z)[: len(z) - k + 1]
    value = float(np.logaddexp(0.0, logsumexp(rest)))
    return value if sample_weight is None else sample_weight * value


def truncated_gradient(scores, y, k=1, costs=None, sample_weight=None):
    """A softmax of what is left."""
    z = others(scores, y, costs, 0.0)
    kept = np.argsort(-z, kind="stable")[k - 1 :]
    value = np.logaddexp(0.0, logsumexp(z[kept]))
    x = np.zeros(len(z))
    x[kept] = np.exp(z[kept] - value)
    weight = 1.0 if sample_weight is None else sample_weight
    return np.insert(weight * x, y, -weight * x.sum())


def lambert_newton(t):
    """Newton for log w + w = t in log w below 1, in w above."""
    t = np.asarray(t, dtype=float)
    w = np.where(t > 1, t - np.log(np.maximum(t, 1.0)), 1.0)
    big = np.where(t > 1, w, 1.0)
    u = np.where(t > 1, 0.0, np.minimum(t, 0.0) - 0.3 * (t > -1))
    for _ in range(30):
        big = big * (1 + t - np.log(big)) / (1 + big)
        big = np.where(t > 1, np.maximum(big, 1e-3), 1.0)
        e = np.exp(u)
        u = np.where(t > 1, 0.0, u - (u + e - t) / (1 + e))
    w = np.where(t > 1, big, np.exp(u))
    return w if w.shape else float(w)


def ap_tables(scores, y):
    """Suffix sums delta_j(i), i = 1..P+1, of h_k(j), and the orders of both classes."""
    s, y = np.asarray(scores, dtype=float), np.asarray(y)
    good, bad = np.flatnonzero(y == 1), np.flatnonzero(y != 1)
    good, bad = good[np.argsort(-s[good], kind="stable")], bad[np.argsort(-s[bad], kind="stable")]
    p, n = len(good), len(bad)
    k = np.arange(1, p + 1, dtype=float)[:, None]
    j = np.arange(1, n + 1, dtype=float)[None, :]
    h = k / ((j + k) * (j + k - 1)) / p - 2 * (s[good][:, None] - s[bad][None, :]) / (p * n)
    delta = np.zeros((p + 1, n))
    delta[:p] = np.cumsum(h[::-1], axis=0)[::-1]
    return delta, good, bad


def ap_value_table(scores, y):
    """The sum over the negatives of their best delta."""
    delta, _, _ = ap_tables(scores, y)
    return math.fsum(delta.max(axis=0))


def ap_inference_table(scores, y):
    """Of the best places the last: the fewest inversions."""
    delta, good, bad = ap_tables(scores, y)
    p, n = len(good), len(bad)
    place = p - np.argmax(delta[::-1], axis=0)
    a = np.zeros(p + n)
    a[bad] = 2.0 * (p - place) / (p * n)
    above = (place[None, :] <= np.arange(p)[:, None]).sum(axis=1)
    a[good] = -2.0 * above / (p * n)
    return a


# --- trainers ----------------------------------------------------------------------------------


@numba.njit
def smo(H, y, upper, eps):
    """Maximise sum a - a'Ha/2, 0 <= a <= upper, y'a = 0: maximal violating pairs of second order."""
    n = len(y)
    a, g = np.zeros(n), -np.ones(n)
    for _ in range(20_000_000):
        i, most, least = -1, -np.inf, np.inf
        for t in range(n):
            up = a[t] < upper[t] if y[t] > 0 else a[t] > 0
            down = a[t] > 0 if y[t] > 0 else a[t] < upper[t]
            if up and -y[t] * g[t] > most:
                i, most = t, -y[t] * g[t]
            if down:
                least = min(least, -y[t] * g[t])
        if i < 0 or most - least <= eps:
            break
        j, best = -1, 0.0
        for t in range(n):
            down = a[t] > 0 if y[t] > 0 else a[t] < upper[t]
            gap = most + y[t] * g[t]
            if down and gap > 0:
                scale = H[i, i] + H[t, t] + 1e-300
                curvature = max(scale - 2 * y[i] * y[t] * H[i, t], 1e-15 * scale)
                if gap * gap / curvature > best:
                    j, best, step = t, gap * gap / curvature, gap / curvature
        step = min(step, upper[i] - a[i] if y[i] > 0 else a[i])
        step = min(step, a[j] if y[j] > 0 else upper[j] - a[j])
        a_i, a_j = a[i], a[j]
        a[i] = min(max(a_i + y[i] * step, 0.0), upper[i])
        a[j] = min(max(a_j - y[j] * step, 0.0), upper[j])
        for t in range(n):
            g[t] += H[t, i] * (a[i] - a_i) + H[t, j] * (a[j] - a_j)
    return a


def svm_smo(X=None, y=None, C=1.0, loss="hinge", sample_weight=None, K=None, tol=1e-6):
    """The SVM with a free bias, its dual."""
    y = np.asarray(y, dtype=float)
    K = np.asarray(X, dtype=float) @ np.asarray(X, dtype=float).T if K is None else np.asarray(K)
    w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    used = w > 0
    H = (K * np.outer(y, y))[np.ix_(used, used)]
    upper = C * w[used]
    if loss == "squared_hinge":
        H = H + np.diag(1 / upper)
        upper = np.full(len(upper), np.inf)
    alpha = np.zeros(len(y))
    alpha[used] = smo(H, y[used], upper, 1e-9)
    return {"alpha": alpha}


def svm_plus_smo(X=None, y=None, Z=None, C=1.0, lam=1.0, sample_weight=None, nonneg_slack=False,
                 free_slack=0.0, K=None, Kz=None, tol=1e-6):  # fmt: skip
    """SVM2+ with the kernel Q in closed form."""
    y = np.asarray(y, dtype=float)
    K = np.asarray(X, dtype=float) @ np.asarray(X, dtype=float).T if K is None else np.asarray(K)
    Kt = np.asarray(Z, dtype=float) @ np.asarray(Z, dtype=float).T if Kz is None else np.asarray(Kz)
    Kt = Kt + 1.0
    w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    used = w > 0
    n = int(used.sum())
    Kt = Kt[np.ix_(used, used)] + free_slack * np.diag(1 / w[used])
    root = np.sqrt(C * w[used])
    values, vectors = scipy.linalg.eigh(Kt * np.outer(root, root))
    values = np.maximum(values, 0)
    Q = (vectors * (values / (lam + values))) @ vectors.T / np.outer(root, root)
    H = (K * np.outer(y, y))[np.ix_(used, used)] + Q
    alpha = np.zeros(len(y))
    alpha[used] = smo(H, y[used], np.full(n, np.inf), 1e-9)
    return {"alpha": alpha, "beta": np.zeros(len(y))}


def binary_ascent(X, y, C=1.0, bias=False, tol=1e-6):
    """Liblinear's dual coordinate descent, without a bias."""
    X = np.asarray(X, dtype=float)
    sign = np.where(np.asarray(y) == 1, 1.0, -1.0)
    n = len(sign)
    norms = (X * X).sum(axis=1)
    alpha, w = np.zeros(n), np.zeros(X.shape[1])
    rng = np.random.default_rng(0)
    for _ in range(20_000):
        for i in rng.permutation(n):
            old = alpha[i]
            alpha[i] = min(max(old + (1 - sign[i] * (X[i] @ w)) / norms[i], 0.0), C / n)
            w += (alpha[i] - old) * sign[i] * X[i]
        loss = C / n * np.maximum(0, 1 - sign * (X @ w)).sum()
        if w @ w + loss - alpha.sum() <= 0.1 * tol * (0.5 * w @ w + loss):
            break
    return {"alpha": alpha}


def erm_softmax(X=None, y=None, C=1.0, loss="softmax", k=None, gamma=None, sample_weight=None,
                costs=None, K=None, tol=1e-6):  # fmt: skip
    """Multinomial logistic regression by L-BFGS and the dual point of its gradient."""
    y = np.asarray(y)
    if K is None:
        rows = np.asarray(X, dtype=float)
    else:
        values, vectors = scipy.linalg.eigh(np.asarray(K, dtype=float))
        rows = vectors * np.sqrt(np.maximum(values, 0))
    n, d = rows.shape
    c = None if costs is None else np.asarray(costs, dtype=float)
    m = int(y.max()) + 1 if c is None else c.shape[-1]
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    truth = np.eye(m)[y]

    def blocks(W):
        f = rows @ W.T
        z = f if c is None else f + np.where(truth == 1, 0.0, c)
        log_sum = logsumexp(z, axis=1)
        p = np.exp(z - log_sum[:, None])
        return (weight * (log_sum - f[np.arange(n), y])).sum(), C * weight[:, None] * (truth - p)

    def objective(flat):
        W = flat.reshape(m, d)
        risk, A = blocks(W)
        return 0.5 * flat @ flat + C * risk, (W - A.T @ rows).ravel()

    start = np.zeros(m * d)
    options = {"maxiter": 20_000, "maxfun": 40_000, "gtol": 1e-9, "ftol": 0.0, "maxcor": 20}
    for _ in range(3):
        start = scipy.optimize.minimize(objective, start, jac=True, method="L-BFGS-B",
                                        options=options).x  # fmt: skip
    W = start.reshape(m, d)
    return {"W": W if K is None else blocks(W)[1]}
