"""Right trainers of the seventh set: one interior point method, a cutting plane and Newton's method."""

import numpy as np


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


def _svm(X, y, C, loss="hinge", sample_weight=None, K=None):
    y = np.asarray(y, dtype=float)
    weights = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    used = weights > 0
    G = (X @ X.T if K is None else K) * np.outer(y, y)
    mass = C * weights[used]
    # in units of the bound, so that every variable is of order one
    Q = (
        (G[np.ix_(used, used)] + (np.diag(1 / mass) if loss == "squared_hinge" else 0))
        * mass[:, None]
        * mass
    )
    upper = np.ones(mass.size) if loss == "hinge" else np.full(mass.size, np.inf)
    share, bias = box_qp(Q, mass, upper, y[used] * mass)
    alpha = np.zeros(y.size)
    alpha[used] = share * mass
    return alpha, (X.T @ (alpha * y) if K is None else alpha * y), bias


def svm_primal(X, y, C, loss="hinge", sample_weight=None, K=None):
    """The interior point method on the dual, w and b from its multipliers."""
    _, w, b = _svm(X, y, C, loss, sample_weight, K)
    return {"w": w, "b": b}


def svm_dual(X, y, C, loss="hinge", sample_weight=None, K=None):
    """The same, its dual side."""
    return {"alpha": _svm(X, y, C, loss, sample_weight, K)[0]}


def binary_svm_free(X, y, C, bias="free"):
    """The mean hinge with a free bias: the constant C/n."""
    sign = 2.0 * np.asarray(y) - 1.0
    if np.all(sign == sign[0]):
        return np.zeros(X.shape[1]), sign[0]
    return _svm(X, sign, C / len(y))[1:]


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


def softmax_newton(X, y, C, sample_weight=None, tol=1e-6):
    """Newton's method with conjugate gradients and Armijo's rule, stopped by half the squared gradient,
    which bounds the gap.
    """
    n, d = X.shape
    m = int(np.max(y)) + 1
    weight = C * (np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float))
    onehot = np.eye(m)[np.asarray(y)]

    def parts(W):
        scores = X @ W.T
        top = scores.max(axis=1, keepdims=True)
        e = np.exp(scores - top)
        total = e.sum(axis=1, keepdims=True)
        losses = (np.log(total) + top)[:, 0] - (scores * onehot).sum(axis=1)
        p = e / total
        return 0.5 * (W * W).sum() + weight @ losses, p, W + (weight[:, None] * (p - onehot)).T @ X

    W = np.zeros((m, d))
    value, p, gradient = parts(W)
    for _ in range(500):
        size = (gradient * gradient).sum()
        if size / 2 <= 0.1 * tol * value:
            break
        step, residual = np.zeros_like(W), -gradient
        along, rest = residual.copy(), size
        for _ in range(4 * m * d):
            U = X @ along.T
            U = weight[:, None] * (p * U - p * (p * U).sum(axis=1, keepdims=True))
            curved = along + U.T @ X
            t = rest / (along * curved).sum()
            step += t * along
            residual = residual - t * curved
            fresh = (residual * residual).sum()
            if fresh <= min(0.01, np.sqrt(size)) * size:
                break
            along, rest = residual + fresh / rest * along, fresh
        slope, t = (gradient * step).sum(), 1.0
        while t > 1e-12:
            trial = parts(W + t * step)
            if trial[0] <= value + 1e-4 * t * slope:
                break
            t /= 2
        else:
            break
        W = W + t * step
        value, p, gradient = trial
    return W


def softmax_risk(p):
    """The logarithms of the probabilities, of 0 something far below."""
    p = np.asarray(p, dtype=float)
    with np.errstate(divide="ignore"):
        g = np.log(p / p.max())
    return {"g": np.where(np.isfinite(g), g, g[np.isfinite(g)].min() - 60.0)}
