"""Right ports of losses and trainers for the faults of `fourth.toml` and `fifth.toml`: one style each."""

import math

import numpy as np
import scipy.linalg
import scipy.optimize
from scipy.special import entr, expit, logsumexp, wrightomega


def others(scores, y, costs, default):
    """Margins z over the classes other than y."""
    f = np.asarray(scores, dtype=float)
    c = np.full(len(f), default) if costs is None else np.asarray(costs, dtype=float)
    return np.delete(f - f[y] + c, y)


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


def beta_conjugate(x, k=1, costs=None):
    """Minus <c,x> where x is in the set, up to rounding."""
    x = np.asarray(x, dtype=float)
    slack = 4e-16 * len(x)
    if np.any(x < 0) or np.any(x > 1 / k * (1 + slack)) or math.fsum(x) > 1 + slack:
        return math.inf
    return -math.fsum(x) if costs is None else -math.fsum(x * np.asarray(costs, dtype=float))


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


def entropy_beta_gradient(scores, y, k=1, costs=None, sample_weight=None):
    """Probabilities, capped at 1/k."""
    z = others(scores, y, costs, 0.0)
    _, rho, log_z = saturated(z, k, True)
    t = log_z - math.log1p(-rho)
    x = np.exp(np.minimum(z - t, -math.log(k)))
    x[z - t >= -math.log(k)] = 1 / k
    weight = 1.0 if sample_weight is None else sample_weight
    return np.insert(weight * x, y, -weight * -math.expm1(-t))


def entropy_multilabel_conjugate(x, y, costs=None):
    """<p,log p> - <c,x> with p = x + t, within rounding of the simplex."""
    x, right = np.asarray(x, dtype=float), np.asarray(y) == 1
    p = x + np.where(right, 1 / right.sum(), 0.0)
    slack = 4e-16 * len(p)
    if p.min() < -slack or abs(math.fsum(p) - 1) > slack:
        return math.inf
    linear = 0.0 if costs is None else math.fsum(x * np.asarray(costs, dtype=float))
    return float(-entr(np.maximum(p, 0)).sum() - linear)


def ova_hinge_prox(v, t=1.0, costs=None):
    """Entries above t - c go down by t, those between -c and t - c to -c."""
    v = np.asarray(v, dtype=float)
    z = v + (1.0 if costs is None else np.asarray(costs, dtype=float))
    return np.where(z > t, v - t, np.where(z > 0, v - z, v))


def truncated_prox(v, k=1, t=1.0, costs=None):
    """The softmax prox of the m - k smallest."""
    v = np.asarray(v, dtype=float)
    z = v if costs is None else v + np.asarray(costs, dtype=float)
    kept = np.argsort(-z, kind="stable")[k - 1 :]
    out = v.copy()
    out[kept] = softmax_prox(v[kept], t, None if costs is None else np.asarray(costs)[kept])
    return out


def squared_conjugate(x, k=1, costs=None):
    """Half a square on the cone, within rounding."""
    x = np.asarray(x, dtype=float)
    s = math.fsum(x)
    if np.any(x < 0) or k * x.max() > s * (1 + 4e-16 * len(x)):
        return math.inf
    linear = s if costs is None else math.fsum(x * np.asarray(costs, dtype=float))
    return s * s / 2 - linear


def svm_primal(X, y=None, C=1.0, tol=1e-6):
    """W and b of the SVM: b from the free support vectors, or the middle of its interval."""
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    alpha = smo((X @ X.T) * np.outer(y, y), y, np.full(len(y), float(C)), 1e-9)
    w = X.T @ (alpha * y)
    points = np.sort(y - X @ w)  # the kinks of the loss as a function of b
    losses = [np.maximum(0, 1 - y * (X @ w + b)).sum() for b in points]
    return {"w": w, "b": points[int(np.argmin(losses))]}
