"""Right solvers in plain numpy, as ports have them; `written` puts one fault into one of them."""

import numpy as np
from scipy.special import wrightomega


def simplex_sort(a, r=1.0, rho=0.0):
    below = np.max(a) - a
    ascending = np.sort(below)
    heights = (r + np.cumsum(ascending)) / np.arange(1, a.size + 1)
    height = heights[ascending < heights][-1] if r > 0 else 0.0
    return np.maximum(height - below, 0.0)


def simplex_michelot(a, r=1.0, rho=0.0):
    below = np.max(a) - a
    if r <= 0:
        return np.zeros(a.size)
    kept = below
    while True:
        height = (r + kept.sum()) / kept.size
        left = kept[kept < height]
        if left.size == kept.size:
            return np.maximum(height - below, 0.0)
        kept = left


def simplex_bisection(a, r=1.0, rho=0.0):
    below = np.max(a) - a
    if r <= 0:
        return np.zeros(a.size)
    low, high = 0.0, float(r)
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if np.maximum(middle - below, 0.0).sum() < r:
            low = middle
        else:
            high = middle
    return np.maximum(high - below, 0.0)


def simplex_newton(a, r=1.0, rho=0.0):
    below = np.max(a) - a
    if r <= 0:
        return np.zeros(a.size)
    height = float(r)
    while True:
        active = below < height
        new = (r + below[active].sum()) / active.sum()
        if new >= height:
            return np.maximum(height - below, 0.0)
        height = new


def root(breakpoints, total, goal):
    """Where the piecewise linear, falling `total` meets `goal`."""
    points = np.unique(breakpoints)
    low, high = 0, points.size - 1
    if total(points[0]) <= goal:
        low = high = 0
    while high - low > 1:
        middle = (low + high) // 2
        if total(points[middle]) > goal:
            low = middle
        else:
            high = middle
    left, right = points[low], points[high]
    above, under = total(left), total(right)
    if above <= under:
        return left
    share = (above - goal) / (above - under)
    return left + share * (right - left)


def capped_simplex(a, r=1.0, cap=1.0):
    if r >= a.size * cap:
        return np.full(a.size, float(cap))
    if r <= 0:
        return np.zeros(a.size)
    top = np.max(a)
    b = a - top
    t = root(np.concatenate([b, b - cap]), lambda t: np.clip(b - t, 0, cap).sum(), r)
    return np.clip(b - t, 0.0, cap)


def box(a, r=1.0):
    return np.minimum(np.maximum(a, 0.0), r)


def l1_ball(a, r=1.0):
    size = np.abs(a)
    if size.sum() <= r:
        return np.array(a, dtype=float)
    return np.sign(a) * simplex_sort(size, r)


def topk_beta(a, k=1, r=1.0, rho=0.0):
    cap = r / k
    if r <= 0:
        return np.zeros(a.size)
    points = np.unique(np.concatenate([[0.0], a[a > 0], (a - cap)[a > cap]]))

    def excess(t):
        s = np.clip(a - t, 0, cap).sum()
        return max(s - r, rho * s - t)

    if excess(0.0) <= 0:
        return np.clip(a, 0, cap)
    low, high = 0, points.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if excess(points[middle]) > 0:
            low = middle
        else:
            high = middle
    left = points[low]
    at = np.clip(a - left, 0, cap).sum()
    slope = np.count_nonzero((a > left) & (a - cap <= left))
    step = (at - r) / slope if slope else 0.0
    step = max(step, (rho * at - left) / (1 + rho * slope))
    return np.clip(a - left - step, 0.0, cap)


def bipartite(a, y, r=1.0):
    up, down = a[y == 0], a[y == 1]
    x = np.zeros(a.size)
    if r <= 0 or not up.size or not down.size or up.max() + down.max() <= 0:
        return x
    u, v = simplex_sort(up, r), simplex_sort(down, r)
    t_up, t_down = (up - u)[u > 0].max(), (down - v)[v > 0].max()
    if t_up + t_down < 0:
        t = root(
            np.concatenate([up, -down]),
            lambda t: np.maximum(up - t, 0).sum() - np.maximum(down + t, 0).sum(),
            0.0,
        )
        u, v = np.maximum(up - t, 0), np.maximum(down + t, 0)
    x[y == 0], x[y == 1] = u, v
    return x


def others(scores, y, costs, default):
    z = np.delete(np.asarray(scores, dtype=float) - scores[y], y)
    return z + (default if costs is None else np.delete(np.asarray(costs, dtype=float), y))


def weight(sample_weight):
    return 1.0 if sample_weight is None else float(sample_weight)


def softmax_value(scores, y, costs=None, sample_weight=None):
    z = others(scores, y, costs, 0.0)
    top = max(float(z.max(initial=0.0)), 0.0)
    if top == 0:
        return weight(sample_weight) * np.log1p(np.exp(z).sum())
    return weight(sample_weight) * (top + np.log(np.exp(-top) + np.exp(z - top).sum()))


def softmax_gradient(scores, y, costs=None, sample_weight=None):
    z = others(scores, y, costs, 0.0)
    top = max(float(z.max(initial=0.0)), 0.0)
    e = np.exp(z - top)
    x = e / (np.exp(-top) + e.sum())
    return weight(sample_weight) * np.insert(x, y, -x.sum())


def ova_logistic_value(scores, y, costs=None, sample_weight=None):
    z = np.array(scores, dtype=float)
    z[y] = -z[y]
    if costs is not None:
        z = z + costs
    return weight(sample_weight) * np.logaddexp(0.0, z).sum()


def topk_alpha_value(scores, y, k=1, costs=None, sample_weight=None):
    z = others(scores, y, costs, 1.0)
    largest = np.partition(z, z.size - k)[z.size - k :]
    return weight(sample_weight) * max(0.0, largest.sum() / k)


def topk_alpha_gradient(scores, y, k=1, costs=None, sample_weight=None):
    z = others(scores, y, costs, 1.0)
    order = np.argsort(-z, kind="stable")[:k]
    x = np.zeros(z.size)
    if z[order].sum() > 0:
        x[order] = 1.0 / k
    return weight(sample_weight) * np.insert(x, y, -x.sum())


def topk_beta_value(scores, y, k=1, costs=None, sample_weight=None):
    z = np.maximum(others(scores, y, costs, 1.0), 0.0)
    k_top = min(k, z.size)
    return weight(sample_weight) * np.sort(z)[z.size - k_top :].sum() / k


def smooth_beta_value(scores, y, k=1, gamma=1.0, costs=None, sample_weight=None):
    z = others(scores, y, costs, 1.0)
    kth = np.sort(z)[-k] if k <= z.size else 0.0
    base = max(kth - gamma / k, 0.0)  # the threshold is not below it: no digits are lost
    z = z - base
    p = topk_beta(z / gamma, k, 1.0)
    return weight(sample_weight) * (base + np.dot(z, p) - 0.5 * gamma * np.dot(p, p))


def hinge_value(scores, y, costs=None, sample_weight=None):
    z = others(scores, y, costs, 1.0)
    return weight(sample_weight) * max(0.0, float(z.max()))


def hinge_update(q, y, k_ii, C=1.0, costs=None, sample_weight=None):
    z = others(q, y, costs, 1.0)
    r = weight(sample_weight) * C
    if k_ii <= 0:
        x = np.zeros(z.size)
        if z.max() > 0:
            x[np.argmax(z)] = r
    else:
        x = topk_beta(z / k_ii, 1, r, 1.0)
    return np.insert(-x, y, x.sum())


def hinge_prox(v, t=1.0, costs=None):
    z = v + (1.0 if costs is None else np.asarray(costs, dtype=float))
    return v - topk_beta(z, 1, t)


def hinge_conjugate(x, costs=None):
    if np.any(x < 0) or np.sum(x) > 1:
        return np.inf
    return -float(np.sum(x)) if costs is None else -float(np.dot(costs, x))


def multilabel_value(scores, y, costs=None, sample_weight=None):
    up, down = scores[y == 0], -scores[y == 1]
    if costs is None:
        up = up + 1.0
    else:
        up, down = up + costs[y == 0], down + costs[y == 1]
    if not up.size or not down.size:
        return 0.0
    return weight(sample_weight) * max(0.0, float(up.max() + down.max()))


def sparsemax_value(scores, y, costs=None, sample_weight=None):
    z = np.append(others(scores, y, costs, 0.0), 0.0)
    p = simplex_sort(z, 1.0)
    return weight(sample_weight) * (np.dot(z - p, p) + 0.5 * np.dot(p, p) + 0.5)


def ap_value(scores, y):
    up = np.sort(scores[y == 1])[::-1]
    down = np.sort(scores[y != 1])[::-1]
    P, N = up.size, down.size
    k = np.arange(1, P + 1)
    loss = 0.0
    for j in range(1, N + 1):
        h = k / ((j + k) * (j + k - 1.0)) / P - 2 * (up - down[j - 1]) / (P * N)
        loss += max(0.0, np.cumsum(h[::-1]).max())
    return loss


def lambert(t):
    return np.real(wrightomega(np.asarray(t, dtype=float)))


def erm_sdca(X, y, C, tol=1e-6):
    """Crammer and Singer's SVM by coordinate ascent over examples."""
    n, m = len(X), int(np.max(y)) + 1
    norms = (X**2).sum(axis=1)
    A, W = np.zeros((n, m)), np.zeros((m, X.shape[1]))
    rng = np.random.default_rng(0)
    while True:
        for i in rng.permutation(n):
            q = W @ X[i] - norms[i] * A[i]
            new = hinge_update(q, y[i], norms[i], C)
            W += np.outer(new - A[i], X[i])
            A[i] = new
        loss = sum(hinge_value(W @ X[i], y[i]) for i in range(n))
        P = 0.5 * (W**2).sum() + C * loss
        D = A[np.arange(n), y].sum() - 0.5 * (W**2).sum()
        if P - D <= tol * max(abs(P), abs(D)):
            return W


def svm_no_bias(X, y, C, tol=1e-6):
    """Mean hinge, no bias, by coordinate ascent."""
    n = len(X)
    s = np.where(y == 1, 1.0, -1.0)
    norms = (X**2).sum(axis=1)
    alpha, w = np.zeros(n), np.zeros(X.shape[1])
    rng = np.random.default_rng(0)
    while True:
        for i in rng.permutation(n):
            g = 1.0 - s[i] * (X[i] @ w)
            if norms[i] > 0:
                new = min(max(alpha[i] + g / norms[i], 0.0), C / n)
            else:
                new = C / n
            w += (new - alpha[i]) * s[i] * X[i]
            alpha[i] = new
        P = 0.5 * w @ w + C * np.maximum(0, 1 - s * (X @ w)).mean()
        D = alpha.sum() - 0.5 * w @ w
        if P - D <= tol * max(abs(P), abs(D)):
            return w, 0.0


def signed(scores, y, costs, default):
    """All m entries of z for a one-vs-all loss."""
    z = np.array(scores, dtype=float)
    z[y] = -z[y]
    return z + (default if costs is None else np.asarray(costs, dtype=float))


def ova_hinge_update(q, y, k_ii, C=1.0, costs=None, sample_weight=None):
    b = signed(q, y, costs, 1.0)
    r = weight(sample_weight) * C
    if k_ii <= 0:
        x = np.where(b > 0, r, 0.0)
    else:
        with np.errstate(over="ignore"):
            x = np.clip(b / k_ii, 0.0, r)
    x = -x
    x[y] = -x[y]
    return x


def ova_smooth_value(scores, y, gamma=1.0, costs=None, sample_weight=None):
    z = signed(scores, y, costs, 1.0)
    p = np.clip(z, 0.0, gamma)
    return weight(sample_weight) * np.sum(p / gamma * (z - p / 2))


def ova_logistic_gradient(scores, y, costs=None, sample_weight=None):
    z = signed(scores, y, costs, 0.0)
    x = np.exp(-np.logaddexp(0.0, -z))
    x[y] = -x[y]
    return weight(sample_weight) * x


def squared_topk_value(scores, y, k=1, costs=None, sample_weight=None):
    z = np.sort(others(scores, y, costs, 1.0))[::-1]
    s = max(0.0, float(z[:k].sum()) / k)
    return weight(sample_weight) * 0.5 * s * s


def sparsemax_gradient(scores, y, costs=None, sample_weight=None):
    z = np.append(others(scores, y, costs, 0.0), 0.0)
    x = simplex_sort(z, 1.0)[:-1]
    return weight(sample_weight) * np.insert(x, y, -x.sum())


def softmax_conjugate(x, costs=None):
    s = float(np.sum(x))
    if np.any(x < 0) or s > 1:
        return np.inf
    positive = x[x > 0]
    rest = (1 - s) * np.log1p(-s) if s < 1 else 0.0
    return np.dot(positive, np.log(positive)) + rest - (0.0 if costs is None else np.dot(costs, x))


def topk_alpha_conjugate(x, k=1, costs=None):
    s = np.sum(x)
    if np.any(x < 0) or s > 1 or np.any(k * x > s):
        return np.inf
    return -float(s) if costs is None else -float(np.dot(costs, x))


def multilabel_gradient(scores, y, costs=None, sample_weight=None):
    x = np.zeros(scores.size)
    up, down = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    if up.size and down.size:
        c = 1.0 - y if costs is None else costs
        z = np.where(y == 1, -scores, scores) + c
        i, j = up[np.argmax(z[up])], down[np.argmax(z[down])]
        if z[i] + z[j] > 0:
            x[i], x[j] = 1.0, -1.0
    return weight(sample_weight) * x


def ap_inference(scores, y):
    up, down = np.flatnonzero(y == 1), np.flatnonzero(y != 1)
    up = up[np.argsort(-scores[up], kind="stable")]
    down = down[np.argsort(-scores[down], kind="stable")]
    P, N = up.size, down.size
    k = np.arange(1, P + 1)
    answer = np.zeros(scores.size)
    for j in range(1, N + 1):
        h = k / ((j + k) * (j + k - 1.0)) / P - 2 * (scores[up] - scores[down[j - 1]]) / (P * N)
        delta = np.append(np.cumsum(h[::-1])[::-1], 0.0)
        start = P - np.argmax(delta[::-1])
        answer[up[start:]] -= 1
        answer[down[j - 1]] += P - start
    answer *= 2 / (P * N)
    return answer
