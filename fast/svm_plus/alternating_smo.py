"""Sequential minimal optimisation for the dual of SVM1+, which has two equality constraints.

max D = 1'alpha + h'(alpha + beta) - 1/2 alpha'K_y alpha - 1/2 (alpha + beta)'R(alpha + beta)
    alpha, beta >= 0,   alpha'y = 0,   1'(alpha + beta) = total

The directions of few entries that keep both constraints are: alpha_i up and alpha_j down for two
examples of one class; beta_i up and beta_j down; two alphas of different classes one way, and a
beta twice as far the other way (Pechyony et al. 2010). Each step takes the steepest of them.

Kept in step: a = alpha y, p = 1 - y (K a) and r = h - R(alpha + beta); the gradients are p + r and r.
"""

import numpy as np

from fast._numba import kernel

FLAT = (
    1e-12  # curvature, relative to the diagonal, that counts as none: the step goes to the boundary
)


@kernel
def steps(K, R, y, alpha, beta, p, r, tol, most, with_beta):
    """Steps on alpha, beta, p, r in place until no slope exceeds ``tol``; how many were taken."""
    n = len(y)
    for taken in range(most):
        # highest and lowest gradients: positives, negatives, betas
        up0, up1, up2 = -1, -1, -1
        down0, down1, down2 = -1, -1, -1
        high0, high1, high2 = -np.inf, -np.inf, -np.inf
        low0, low1, low2 = np.inf, np.inf, np.inf
        for t in range(n):
            g = p[t] + r[t]
            if y[t] > 0.0:
                if g > high0:
                    up0, high0 = t, g
                if alpha[t] > 0.0 and g < low0:
                    down0, low0 = t, g
            else:
                if g > high1:
                    up1, high1 = t, g
                if alpha[t] > 0.0 and g < low1:
                    down1, low1 = t, g
            if with_beta:
                if r[t] > high2:
                    up2, high2 = t, r[t]
                if beta[t] > 0.0 and r[t] < low2:
                    down2, low2 = t, r[t]
        # slopes per unit of change, the triple moves by (1/2, 1/2, 1)
        slopes = (
            high0 - low0 if down0 >= 0 else -np.inf,
            high1 - low1 if down1 >= 0 else -np.inf,
            high2 - low2 if down2 >= 0 else -np.inf,
            0.5 * (high0 + high1) - low2 if down2 >= 0 else -np.inf,
            high2 - 0.5 * (low0 + low1) if with_beta and down0 >= 0 and down1 >= 0 else -np.inf,
        )
        kind, slope = 0, slopes[0]
        for t in range(1, 5):
            if slopes[t] > slope:
                kind, slope = t, slopes[t]
        if not slope > tol:
            return taken
        if kind <= 1:
            i, j = (up0, down0) if kind == 0 else (up1, down1)
            j = partner(K, R, y, alpha, p, r, i)
            slope = p[i] + r[i] - p[j] - r[j]
            curvature = K[i, i] + K[j, j] - 2.0 * K[i, j] + R[i, i] + R[j, j] - 2.0 * R[i, j]
            step = min(slope / max(curvature, FLAT * (K[i, i] + R[i, i])), alpha[j])
            alpha[i] += step
            alpha[j] -= step  # 0 where the step is all of it
            for t in range(n):
                p[t] -= y[t] * y[i] * step * (K[i, t] - K[j, t])
                r[t] -= step * (R[i, t] - R[j, t])
        elif kind == 2:
            i, j = up2, down2
            curvature = R[i, i] + R[j, j] - 2.0 * R[i, j]
            step = min(slope / max(curvature, FLAT * R[i, i]), beta[j])
            beta[i] += step
            beta[j] -= step
            for t in range(n):
                r[t] -= step * (R[i, t] - R[j, t])
        else:
            i, j, k = (up0, up1, down2) if kind == 3 else (down0, down1, up2)
            side = 1.0 if kind == 3 else -1.0
            curvature = 0.25 * (K[i, i] + K[j, j] - 2.0 * K[i, j])
            curvature += 0.25 * (R[i, i] + R[j, j] + 2.0 * R[i, j]) + R[k, k] - R[i, k] - R[j, k]
            step = slope / max(curvature, FLAT * (K[i, i] + R[k, k]))
            if kind == 3:
                step = min(step, beta[k])
                beta[k] -= step
                alpha[i] += 0.5 * step
                alpha[j] += 0.5 * step
            else:
                step = min(step, 2.0 * alpha[i], 2.0 * alpha[j])
                beta[k] += step
                alpha[i] -= 0.5 * step
                alpha[j] -= 0.5 * step
            step *= side
            for t in range(n):
                p[t] -= 0.5 * step * y[t] * (K[i, t] - K[j, t])
                r[t] -= step * (0.5 * (R[i, t] + R[j, t]) - R[k, t])
    return most


@kernel
def partner(K, R, y, alpha, p, r, i):
    """Example of the class of i whose alpha may fall, with the largest gain of a Newton step."""
    best, found = -1.0, i
    here = K[i, i] + R[i, i]
    flat = FLAT * here
    for t in range(len(y)):
        if alpha[t] > 0.0 and y[t] == y[i]:
            slope = p[i] + r[i] - p[t] - r[t]
            curvature = here + K[t, t] + R[t, t] - 2.0 * (K[i, t] + R[i, t])
            gain = slope * slope / max(curvature, flat) if slope > 0.0 else -1.0
            if gain > best:
                best, found = gain, t
    return found


def _warmup() -> None:
    """Compile the kernels of this module."""
    y = np.array([1.0, -1.0])
    half = np.full(2, 0.5)
    steps(np.eye(2), np.eye(2), y, half.copy(), half.copy(), y * y, y * y, 1e-3, 1, True)
