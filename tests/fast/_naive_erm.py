"""Naive twins of the trainer's formulas: loops, sorting, ternary search, nothing of ``fast``.

P(W) = 1/2 ||W||^2 + sum_i r_i L(z_i), z_i the margins f_j - f_y + 1 of the other classes.
"""

import numpy as np
from sklearn.utils.class_weight import compute_class_weight


def with_sum(z, s, cap):
    """The point of {0 <= p <= cap, <1,p> = s} nearest to z: clip(z - t) sums to s for some t."""
    shifts = np.sort(np.concatenate([z - cap, z]))
    sums = np.clip(z - shifts[:, None], 0.0, cap).sum(axis=1)  # falls, linearly in between
    t = np.interp(s, sums[::-1], shifts[::-1])
    return np.clip(z - t, 0.0, cap)


def argmax(f, low, high, steps=70):
    """Of a concave function on an interval, by golden sections."""
    golden = 0.5 * (5.0**0.5 - 1.0)
    a, b = high - golden * (high - low), low + golden * (high - low)
    at_a, at_b = f(a), f(b)
    for _ in range(steps):
        if at_a < at_b:
            low, a, at_a, b = a, b, at_b, a + golden * (high - a)
            at_b = f(b)
        else:
            high, b, at_b, a = b, a, at_a, b - golden * (b - low)
            at_a = f(a)
    return 0.5 * (low + high)


def smooth_value(z, variant, k, gamma):
    """max <z,p> - gamma/2 ||p||^2 over the top-k simplex: the sum of p by golden sections."""

    def best(s):
        p = with_sum(z / gamma, s, s / k if variant == "alpha" else 1.0 / k) if s > 0 else 0.0 * z
        return float(z @ p - 0.5 * gamma * p @ p)

    high = min(1.0, len(z) / k) if variant == "beta" else 1.0
    return max(best(0.0), best(argmax(best, 0.0, high)), best(high))


def hinge_value(z, variant, k):
    top = sorted(z, reverse=True)[:k]
    if variant == "alpha":
        return max(0.0, sum(top) / k)
    return sum(max(v, 0.0) for v in top) / k


def loss_value(z, variant, k, gamma):
    return smooth_value(z, variant, k, gamma) if gamma else hinge_value(z, variant, k)


def margins(f, y):
    return np.delete(f - f[y] + 1.0, y)


def primal(W, X, y, r, variant, k, gamma):
    losses = [loss_value(margins(W @ x, c), variant, k, gamma) for x, c in zip(X, y, strict=True)]
    return 0.5 * float((W * W).sum()) + float(np.dot(r, losses))


def violation(A, y, r, variant, k):
    """Largest violation of a_i = s e_y - x, x in Delta_k(r_i)."""
    worst = 0.0
    for a, c, radius in zip(A, y, r, strict=True):
        x = -np.delete(a, c)
        s = x.sum()
        cap = s / k if variant == "alpha" else radius / k
        worst = max(worst, -x.min(), s - radius, x.max() - cap, abs(a.sum()))
    return worst


def dual(A, X, y, r, gamma):
    W = A.T @ X
    total = -0.5 * float((W * W).sum())
    for a, c, radius in zip(A, y, r, strict=True):
        x = -np.delete(a, c)
        total += x.sum() - (0.5 * gamma / radius * float(x @ x) if radius > 0 else 0.0)
    return total


def check_certificate(model, X, y, sample_weight=None, *, slack=1e-9):
    """Everything that a fitted model claims, recomputed; returns the absolute gap."""
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    classes, encoded = np.unique(y, return_inverse=True)
    assert np.array_equal(classes, model.classes_)
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
    with np.errstate(divide="ignore"):
        factor = compute_class_weight(
            model.class_weight, classes=classes, y=np.asarray(y), sample_weight=weight
        )
    r = model.C * weight * np.where(weight > 0.0, factor[encoded], 0.0)
    W = model.coef_
    assert W.shape == (len(classes), X.shape[1])
    assert W.dtype == np.float64
    assert model.intercept_.shape == (len(classes),)
    if model.fit_intercept:
        X, W = np.column_stack([X, np.ones(len(X))]), np.column_stack([W, model.intercept_])
    A = model.dual_coef_.toarray()
    P = primal(W, X, encoded, r, model.variant, model.k, model.gamma)
    D = dual(A, X, encoded, r, model.gamma)
    scale = max(abs(P), abs(D))
    assert violation(A, encoded, r, model.variant, model.k) <= 1e-12 * max(r.max(), 1e-300)
    assert abs(P - model.primal_objective_) <= slack * scale
    assert abs(D - model.dual_objective_) <= slack * scale
    assert D - slack * scale <= P
    assert abs((P - D) / scale - model.dual_gap_) <= slack
    assert model.dual_gap_ >= 0.0
    # P is 1-strongly convex and A'X minimises the Lagrangian: 1/2 ||W - A'X||^2 <= P - D
    distance = float(np.linalg.norm(W - A.T @ X))
    assert distance <= np.sqrt(2.0 * max(P - D, 0.0)) + np.sqrt(2.0 * slack * scale)
    history = model.history_
    assert set(history) == {"iteration", "time", "primal", "dual", "gap"}
    assert (np.diff(history["primal"]) <= 0.0).all()
    assert (np.diff(history["iteration"]) > 0).all()
    assert history["gap"][-1] == model.dual_gap_
    assert history["iteration"][-1] == model.n_iter_ <= model.max_iter
    return P - D
