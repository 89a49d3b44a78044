"""Right ports of operations that the other files leave out, and other algorithms, for the faults of `sixth.toml`."""

import heapq
import math

import numpy as np
from scipy.special import entr, expit, logsumexp

from verification.selftest.written.right_losses import omega, smo
from verification.selftest.written.right_sets import (
    alpha_nested,
    beta_breakpoints,
    bipartite_bisect,
    cone_nested,
)


def simplex_heap(a, r=1.0, rho=0.0):
    """Van den Berg and Friedlander 2008: a heap, and as many of its entries as are positive."""
    a = np.asarray(a, dtype=float)
    if r <= 0:
        return np.zeros(len(a))
    below = np.max(a) - a
    heap = below.tolist()
    heapq.heapify(heap)
    total, count = 0.0, 0
    while heap:
        v = heap[0]
        if count and r + total <= v * count:
            break
        heapq.heappop(heap)
        total += v
        count += 1
    return np.maximum((r + total) / count - below, 0.0)


def simplex_pivot(a, r=1.0, rho=0.0):
    """Duchi et al. 2008, Figure 2: expected linear time, with the middle entry as the pivot."""
    a = np.asarray(a, dtype=float)
    if r <= 0:
        return np.zeros(len(a))
    below = np.max(a) - a
    live, total, count = below, 0.0, 0
    while len(live):
        middle = len(live) // 2
        pivot = live[middle]
        rest = np.delete(live, middle)
        near, far = rest[rest <= pivot], rest[rest > pivot]
        gained = near.sum() + pivot
        if (count + len(near) + 1) * pivot - (total + gained) < r:
            total += gained
            count += len(near) + 1
            live = far
        else:
            live = near
    return np.maximum((r + total) / count - below, 0.0)


def margins(scores, y, costs, default):
    """Margins z over the other classes; the costs are the default's unless given."""
    f = np.asarray(scores, dtype=float)
    z = f - f[y]
    z = z + default if costs is None else z + np.asarray(costs, dtype=float)
    return np.concatenate([z[:y], z[y + 1 :]])


def importance(sample_weight):
    """The weight of the example."""
    return 1.0 if sample_weight is None else float(sample_weight)


def spread(x, y):
    """The gradient: x at the others, minus their sum at y."""
    g = np.empty(len(x) + 1)
    g[:y] = x[:y]
    g[y] = -x.sum()
    g[y + 1 :] = x[y:]
    return g


def beta_prox(v, k=1, t=1.0, costs=None):
    """Moreau, with a sweep over the breakpoints from the largest down."""
    v = np.asarray(v, dtype=float)
    a = v + (1.0 if costs is None else np.asarray(costs, dtype=float))
    cap = t / k
    inside = np.clip(a, 0.0, cap)
    if math.fsum(inside) <= t:
        return v - inside
    points = np.concatenate([a, a - cap])
    change = np.concatenate([np.ones(len(a)), -np.ones(len(a))])
    order = np.argsort(-points, kind="stable")
    spent, free, left = 0.0, 0.0, points[order[0]]
    for i in order:
        right = left
        left = points[i]
        spent += free * (right - left)
        if spent >= t:
            break
        free += change[i]
    full, moving = a - cap >= right, (a >= right) & (a - cap < right)
    n = np.count_nonzero(moving)
    shift = (math.fsum(a[moving] - left) + cap * np.count_nonzero(full) - t) / n
    return v - np.clip(a - left - shift, 0.0, cap)


def beta_gradient(scores, y, k=1, costs=None, sample_weight=None):
    """1/k at those of the k largest that are positive."""
    z = margins(scores, y, costs, 1.0)
    best = np.argsort(-z, kind="stable")[:k]
    best = best[z[best] > 0]
    x = np.zeros(len(z))
    x[best] = 1.0 / k
    return importance(sample_weight) * spread(x, y)


def beta_value_heap(scores, y, k=1, costs=None, sample_weight=None):
    """The k largest from a heap."""
    z = margins(scores, y, costs, 1.0)
    largest = heapq.nlargest(k, z.tolist())
    return importance(sample_weight) * math.fsum(max(v, 0.0) for v in largest) / k


def one_vs_all(scores, y, costs, default):
    """Margins of all m classes."""
    z = np.array(scores, dtype=float)
    z[y] = -z[y]
    return z + (default if costs is None else np.asarray(costs, dtype=float))


def ova_hinge_value(scores, y, costs=None, sample_weight=None):
    """A sum of m hinges."""
    z = one_vs_all(scores, y, costs, 1.0)
    return importance(sample_weight) * float(np.maximum(z, 0.0).sum())


def ova_hinge_gradient(scores, y, costs=None, sample_weight=None):
    """1 at violated margins."""
    z = one_vs_all(scores, y, costs, 1.0)
    g = np.where(z > 0, 1.0, 0.0)
    g[y] = -g[y]
    if sample_weight is not None:
        g = sample_weight * g
    return g


def ova_hinge_conjugate(x, costs=None):
    """Minus <c,x> on the unit box."""
    x = np.asarray(x, dtype=float)
    if np.any(x < 0) or np.any(x > 1):
        return math.inf
    return -math.fsum(x if costs is None else x * np.asarray(costs, dtype=float))


def ova_logistic_prox(v, t=1.0, costs=None):
    """Solves w + t expit(w) = v + c by Newton's method inside a bracket."""
    v = np.asarray(v, dtype=float)
    c = 0.0 if costs is None else np.asarray(costs, dtype=float)
    z = v + c
    low, high = z - t, z
    w = np.clip(z / (1 + t / 4), low, high)
    for _ in range(1000):
        p = expit(w)
        f = w + t * p - z
        low, high = np.where(f < 0, w, low), np.where(f > 0, w, high)
        new = w - f / (1 + t * p * expit(-w))
        new = np.where((new >= low) & (new <= high), new, low + (high - low) / 2)
        if np.all(np.abs(new - w) <= 4e-16 * np.abs(w)):
            break
        w = new
    return np.where(t * expit(w) <= np.maximum(0.5 * np.abs(v), 1.0), v - t * expit(w), w - c)


def ova_smooth_conjugate(x, gamma=1.0, costs=None):
    """A parabola on the unit box."""
    x = np.asarray(x, dtype=float)
    if np.any(x < 0) or np.any(x > 1):
        return math.inf
    linear = math.fsum(x if costs is None else x * np.asarray(costs, dtype=float))
    return 0.5 * gamma * math.fsum(x * x) - linear


def ova_smooth_update(q, y, k_ii, C=1.0, gamma=1.0, costs=None, sample_weight=None):
    """A clipped ratio for each class."""
    weight = C * importance(sample_weight)
    b = one_vs_all(q, y, costs, 1.0)
    x = np.clip(b / (weight * k_ii + gamma), 0.0, 1.0)
    a = -weight * x
    a[y] = -a[y]
    return a


def smooth_alpha_gradient(scores, y, k=1, gamma=1.0, costs=None, sample_weight=None):
    """The projection on the set times gamma, divided by gamma."""
    z = margins(scores, y, costs, 1.0)
    p = alpha_nested(z, k, gamma)
    return importance(sample_weight) * spread(p / gamma, y)


def smooth_alpha_conjugate(x, k=1, gamma=1.0, costs=None):
    """A parabola on the alpha set, within rounding."""
    x = np.asarray(x, dtype=float)
    slack = 4e-16 * len(x)
    s = math.fsum(x)
    if np.any(x < 0) or s > 1 + slack or k * x.max() > s * (1 + slack):
        return math.inf
    linear = s if costs is None else math.fsum(x * np.asarray(costs, dtype=float))
    return 0.5 * gamma * math.fsum(x * x) - linear


def smooth_alpha_update(q, y, k_ii, C=1.0, k=1, gamma=1.0, costs=None, sample_weight=None):
    """A biased projection, in units of the weight."""
    weight = C * importance(sample_weight)
    if weight == 0:
        return np.zeros(len(q))
    den = weight * k_ii + gamma
    x = alpha_nested(margins(q, y, costs, 1.0) / den, k, 1.0, weight * k_ii / den)
    return -weight * spread(x, y)


def smooth_beta_conjugate(x, k=1, gamma=1.0, costs=None):
    """A parabola on the beta set, within rounding."""
    x = np.asarray(x, dtype=float)
    slack = 4e-16 * len(x)
    s = math.fsum(x)
    if np.any(x < 0) or s > 1 + slack or k * x.max() > 1 + slack:
        return math.inf
    linear = s if costs is None else math.fsum(x * np.asarray(costs, dtype=float))
    return 0.5 * gamma * math.fsum(x * x) - linear


def smooth_beta_prox(v, k=1, t=1.0, gamma=1.0, costs=None):
    """Moreau: the projection of z/(t + gamma), times t."""
    v = np.asarray(v, dtype=float)
    z = v + (1.0 if costs is None else np.asarray(costs, dtype=float))
    x = beta_breakpoints(z / (t + gamma), k, 1.0)
    return v - t * x


def squared_update(q, y, k_ii, C=1.0, k=1, costs=None, sample_weight=None):
    """A biased projection on the cone; without a norm the gradient."""
    weight = C * importance(sample_weight)
    z = margins(q, y, costs, 1.0)
    alpha = weight * k_ii
    if alpha == 0:
        x = np.zeros(len(z))
        best = np.argsort(-z, kind="stable")[:k]
        s = max(0.0, math.fsum(z[best]) / k)
        x[best] = s / k
    else:
        alpha, unit = max(alpha, 1e-300), np.abs(z).max() or 1.0
        x = cone_nested(z / unit, k, 1.0 + 1.0 / alpha) / alpha * unit
    return -weight * spread(x, y)


def entropies(x, s):
    """<x, log x> + (1 - s) log(1 - s)."""
    return -(entr(x).sum() + entr(max(1.0 - s, 0.0)))


def entropy_alpha_conjugate(x, k=1, costs=None):
    """Minus the entropy on the alpha set, within rounding."""
    x = np.asarray(x, dtype=float)
    slack = 4e-16 * len(x)
    s = math.fsum(x)
    if np.any(x < 0) or s > 1 + slack or k * x.max() > s * (1 + slack):
        return math.inf
    linear = 0.0 if costs is None else math.fsum(x * np.asarray(costs, dtype=float))
    return float(entropies(x, s) - linear)


def entropy_beta_conjugate(x, k=1, costs=None):
    """Minus the entropy on the beta set, within rounding."""
    x = np.asarray(x, dtype=float)
    slack = 4e-16 * len(x)
    s = math.fsum(x)
    if np.any(x < 0) or s > 1 + slack or k * x.max() > 1 + slack:
        return math.inf
    linear = 0.0 if costs is None else math.fsum(x * np.asarray(costs, dtype=float))
    return float(entropies(x, s) - linear)


def truncated_conjugate(x, k=1, costs=None):
    """Infinite but at 0, for k >= 2."""
    x = np.asarray(x, dtype=float)
    if k >= 2:
        return math.inf if x.any() else 0.0
    s = math.fsum(x)
    if np.any(x < 0) or s > 1 + 4e-16 * len(x):
        return math.inf
    linear = 0.0 if costs is None else math.fsum(x * np.asarray(costs, dtype=float))
    return float(entropies(x, s) - linear)


def capped_entropy(z, alpha, cap, square):
    """Entries min(X(z - tau), cap) of sum 1 - e^-l, tau = l (+ alpha (1 - e^-l)): Newton in l."""
    low, high = 0.0, float(np.logaddexp(0.0, logsumexp(z)))
    ell = min(high, 1.0)
    for _ in range(1000):
        s = -math.expm1(-ell)
        tau = ell + alpha * s if square else ell
        free = omega(z - tau, alpha)
        x = np.minimum(free, cap)
        inner = free < cap
        f = x[inner].sum() - s + cap * np.count_nonzero(~inner)
        if ell > 1:  # as many as there is room for have a sum of 1
            f = np.count_nonzero(~inner) / round(1 / cap) - 1 + x[inner].sum() + math.exp(-ell)
        if f == 0:
            break
        if f > 0:
            low = ell
        else:
            high = ell
        rate = 1 + alpha * (1 - s) if square else 1.0
        slope = rate * (free[inner] / (1 + alpha * free[inner])).sum() + (1 - s)
        new = ell + f / slope if slope > 0 else high
        if not low < new < high:
            new = low + (high - low) / 2
        if abs(new - ell) <= 2e-16 * ell or new in (low, high):
            break
        ell = new
    return x, s


def entropy_beta_prox(v, k=1, t=1.0, costs=None):
    """Moreau, with a root in l = -log(1 - s)."""
    v = np.asarray(v, dtype=float)
    z = v if costs is None else v + np.asarray(costs, dtype=float)
    x, _ = capped_entropy(z, t, 1.0 / k, False)
    return v - t * x


def entropy_beta_update(q, y, k_ii, C=1.0, k=1, costs=None, sample_weight=None):
    """The same root with the square of s."""
    weight = C * importance(sample_weight)
    z = margins(q, y, costs, 0.0)
    x, s = capped_entropy(z, weight * k_ii, 1.0 / k, True)
    a = -weight * spread(x, y)
    a[y] = weight * s
    return a


def targets(y):
    """1/|P| on the right labels."""
    right = np.asarray(y) == 1
    return np.where(right, 1.0 / np.count_nonzero(right), 0.0)


def on_simplex(w, alpha):
    """Solves alpha p + log p = w - theta, sum 1: Newton from the left, where the sum is convex."""
    theta = w.max() - alpha
    for _ in range(200):
        p = omega(w - theta, alpha)
        step = (p.sum() - 1) / (p / (1 + alpha * p)).sum()
        if step <= 1e-16 * abs(theta):
            break
        theta += step
    return p, theta


def multilabel_entropy_prox(v, y, t=1.0, costs=None):
    """The point v - t (p - targets)."""
    v = np.asarray(v, dtype=float)
    z = v if costs is None else v + np.asarray(costs, dtype=float)
    goal = targets(y)
    p, _ = on_simplex(z + t * goal, t)
    return v - t * (p - goal)


def multilabel_entropy_update(q, y, k_ii, C=1.0, costs=None, sample_weight=None):
    """-weight (p - targets)."""
    weight = C * importance(sample_weight)
    b = np.asarray(q, dtype=float)
    if costs is not None:
        b = b + np.asarray(costs, dtype=float)
    goal = targets(y)
    p, _ = on_simplex(b + weight * k_ii * goal, weight * k_ii)
    return -weight * (p - goal)


def sides(y, costs):
    """Where labels are right, and the costs: 1 at the wrong ones unless given."""
    right = np.asarray(y) == 1
    c = np.where(right, 0.0, 1.0) if costs is None else np.asarray(costs, dtype=float)
    return right, c


def bipartite_domain(x, right):
    """Whether both sides have one sum of at most 1, within rounding."""
    slack = 2 * np.finfo(np.result_type(x, np.float32)).eps * len(x)
    wrong_sum, right_sum = math.fsum(x[~right]), math.fsum(x[right])
    if np.any(x < 0) or wrong_sum > 1 + slack:
        return False
    return abs(wrong_sum - right_sum) <= slack * max(wrong_sum, right_sum)


def multilabel_hinge_conjugate(x, y, costs=None):
    """Minus <c,x> on the bipartite simplex."""
    x = np.asarray(x)
    right, c = sides(y, costs)
    if not bipartite_domain(x, right):
        return math.inf
    return -math.fsum(c * x)


def multilabel_smooth_conjugate(x, y, gamma=1.0, costs=None):
    """A parabola on the bipartite simplex."""
    x = np.asarray(x)
    right, c = sides(y, costs)
    if not bipartite_domain(x, right):
        return math.inf
    x = x.astype(float)
    return 0.5 * gamma * math.fsum(x * x) - math.fsum(c * x)


def multilabel_smooth_gradient(scores, y, gamma=1.0, costs=None, sample_weight=None):
    """The projection, with its sign at the right labels."""
    f = np.asarray(scores, dtype=float)
    right, c = sides(y, costs)
    z = np.where(right, -f, f) + c
    x = bipartite_bisect(z, right.astype(int), gamma) / gamma
    return importance(sample_weight) * np.where(right, -x, x)


def multilabel_smooth_update(q, y, k_ii, C=1.0, gamma=1.0, costs=None, sample_weight=None):
    """A projection, in units of the weight."""
    weight = C * importance(sample_weight)
    f = np.asarray(q, dtype=float)
    right, c = sides(y, costs)
    b = np.where(right, -f, f) + c
    x = bipartite_bisect(b / (weight * k_ii + gamma), right.astype(int), 1.0)
    return weight * np.where(right, x, -x)


def softmax_value_online(scores, y, costs=None, sample_weight=None):
    """One pass in blocks of four: a running maximum and a sum below it."""
    z = margins(scores, y, costs, 0.0)
    top, total = 0.0, 1.0
    for start in range(0, len(z), 4):
        part = z[start : start + 4]
        new = max(top, float(part.max()))
        total = total * math.exp(top - new) + float(np.exp(part - new).sum())
        top = new
    if top == 0:
        return importance(sample_weight) * math.log1p(float(np.exp(z).sum()))
    return importance(sample_weight) * (top + math.log(total))


def ap_places(scores, y):
    """The best place of each negative by divide and conquer, as places never fall; its value."""
    s, y = np.asarray(scores, dtype=float), np.asarray(y)
    good, bad = np.flatnonzero(y == 1), np.flatnonzero(y != 1)
    good, bad = good[np.argsort(-s[good], kind="stable")], bad[np.argsort(-s[bad], kind="stable")]
    p, n = len(good), len(bad)
    place, best = np.zeros(n, dtype=np.int64), np.zeros(n)
    todo = [(0, n - 1, 0, p)]
    ranks = np.arange(1.0, p + 1)
    while todo:
        first, last, low, high = todo.pop()
        if first > last:
            continue
        j = (first + last) // 2
        below = ranks + j + 1
        h = ranks / (below * (below - 1)) / p - 2 * (s[good] - s[bad[j]]) / (p * n)
        delta = np.append(np.cumsum(h[::-1])[::-1], 0.0)
        place[j] = high - np.argmax(delta[low : high + 1][::-1])
        best[j] = delta[place[j]]
        todo += [(first, j - 1, low, place[j]), (j + 1, last, place[j], high)]
    return good, bad, place, best


def ap_value_conquer(scores, y):
    """The sum of what each negative can reach."""
    return math.fsum(ap_places(scores, y)[3])


def ap_inference_conquer(scores, y):
    """Coefficients by counting."""
    good, bad, place, _ = ap_places(scores, y)
    p, n = len(good), len(bad)
    a = np.zeros(p + n)
    a[bad] = 2.0 * (p - place) / (p * n)
    a[good] = -2.0 * np.cumsum(np.bincount(place, minlength=p + 1))[:p] / (p * n)
    return a


def lambert_halley(t):
    """Halley's method for log w + w = t: in w, or in log w below 0."""
    t = np.asarray(t, dtype=float)
    flat = t.ravel()
    out = np.empty_like(flat)
    for i in range(flat.size):
        v = float(flat[i])
        if v < -40:
            out[i] = math.exp(v)
            continue
        u = math.log(v) if v > 3 else math.log(math.log1p(math.exp(v)))
        for _ in range(20):
            e = math.exp(u)
            f = u + e - v
            step = f / ((1 + e) - f * e / (2 * (1 + e)))
            u -= step
            if abs(step) < 1e-9:
                break
        w = math.exp(u)
        out[i] = w * (1 + v - math.log(w)) / (1 + w) if w > 0.01 else w
    return out.reshape(t.shape) if t.shape else float(out[0])


def top_push_dual(X, y, C=1.0, tol=1e-6):
    """TopPush as an SVM: the sum over the positives is half the sum over all."""
    X = np.asarray(X, dtype=float)
    positive = np.asarray(y) == 1
    sign = np.where(positive, 1.0, -1.0)
    H = (X @ X.T) * np.outer(sign, sign) + np.diag(np.where(positive, 1.0 / (2 * C), 0.0))
    return {"multipliers": smo(2 * H, sign, np.full(len(sign), np.inf), 1e-9)}


def svm_plus_primal(X, y, Z, C=1.0, lam=1.0, tol=1e-6):
    """SVM2+ with linear kernels: the unknowns of the primal from the multipliers."""
    X, Z, y = (np.asarray(v, dtype=float) for v in (X, Z, y))
    Zt = np.column_stack([Z, np.ones(len(y))])
    factor = np.linalg.cholesky(lam * np.eye(Zt.shape[1]) + C * Zt.T @ Zt)
    F = np.linalg.solve(factor, Zt.T)
    Q = F.T @ F
    alpha = smo((X @ X.T) * np.outer(y, y) + Q, y, np.full(len(y), np.inf), 1e-9)
    w, xi = X.T @ (alpha * y), Q @ alpha
    support = alpha > 1e-6 * alpha.max()
    b = np.average((y * (1 - xi) - X @ w)[support], weights=alpha[support])
    correct = Zt.T @ (alpha - C * xi) / lam
    return {"w": w, "b": b, "v": correct[:-1], "rho": correct[-1]}
