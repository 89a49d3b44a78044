"""One-vs-all losses at scores, entry by entry: dual variables, curvature, slopes along a line, objectives.

For a hinge x = argmax over [0, r] of z x - (width/2r)(x - c)^2 - (gamma/2r) x^2, z = 1 - s f: the loss's
own dual point where width = 0, else a step of the proximal point method in the dual from the centre c.
For the logistic loss (gamma < 0) x = r/(1 + e^-z), z = -s f.
"""

from fast._numba import REORDER, kernel
from fast._simd import choose, larger, smaller


@kernel(fastmath=REORDER)
def _mass(z, r, c, width, gamma):
    return smaller(larger((r * z + width * c) / (width + gamma), 0.0), r)


@kernel(fastmath=REORDER)
def dual_variables(own, F, r, centre, width, gamma, wanted, A, T):
    """Write A = s x and the curvature T at scores F, for the classes that are ``wanted``."""
    for i in range(F.shape[0]):
        steep = r[i] / (width + gamma)
        for j in range(F.shape[1]):
            if wanted[j]:
                s = choose(own[i, j], 1.0, -1.0)
                z = 1.0 - s * F[i, j]
                v = _mass(z, r[i], s * centre[i, j], width, gamma)
                A[i, j] = s * v
                T[i, j] = choose(v > 0.0 and v < r[i], steep, 0.0)


@kernel(fastmath=REORDER)
def slopes(own, F, G, t, r, centre, width, gamma, wanted, out):
    """Write the sums over the rows of -a(F + t G) G, class by class."""
    for j in range(F.shape[1]):
        out[j] = 0.0
    for i in range(F.shape[0]):
        for j in range(F.shape[1]):
            if wanted[j]:
                s = choose(own[i, j], 1.0, -1.0)
                z = 1.0 - s * (F[i, j] + t[j] * G[i, j])
                out[j] -= s * _mass(z, r[i], s * centre[i, j], width, gamma) * G[i, j]


@kernel(fastmath=REORDER)
def objectives(own, F, r, gamma, A, losses, gains):
    """Write the sums over the rows of r l(z) and of what the dual variables gain, class by class."""
    for j in range(F.shape[1]):
        losses[j] = gains[j] = 0.0
    for i in range(F.shape[0]):
        for j in range(F.shape[1]):
            s = choose(own[i, j], 1.0, -1.0)
            z, x = 1.0 - s * F[i, j], s * A[i, j]
            loss = larger(z, 0.0)
            if gamma > 0.0:
                p = smaller(loss, gamma)
                loss = p * (z - 0.5 * p) / gamma
            losses[j] += r[i] * loss
            gains[j] += x - 0.5 * gamma * x * x / r[i]
