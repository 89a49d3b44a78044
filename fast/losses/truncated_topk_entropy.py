"""Truncated top-k entropy loss: softmax over all but the k - 1 largest other classes.

L(y, f) = log(1 + sum_{j in J} e^{u_j}), u_j = f_j - f_y + c_j, J the m - k smallest of the m - 1
other classes. Not convex for k >= 2, and its biconjugate is 0: no dual. k = 1 is softmax.
"""

from dataclasses import dataclass

import numpy as np

from fast._elementary import exp
from fast._numba import inlined, kernel
from fast._simd import choose, larger
from fast.families import module_functions
from fast.families.entropies import Entropy
from fast.kernels import entropies
from fast.kernels.entropies import TRUNCATED, keep_row, level, log_one_plus, tail
from fast.kernels.entropy_steps import step_row
from fast.kernels.hinges import ALPHA
from fast.kernels.rows import compiled


@inlined
def value_row(p, u, x, work):
    """Return log(1 + sum of e^u over all but the k - 1 largest), k <= d; p is (variant, k)."""
    base, z = tail(u, p[1], work)
    return log_one_plus(base, z)


@kernel
def gradient_row(p, u, x, work):
    """Write the gradient of the piece that is kept; returns 1 - <1,x>."""
    k = p[1]
    base, z = tail(u, k, work)
    top, total = level(base, z)
    keep_row(u, k, x, work)
    for i in range(u.shape[0]):
        x[i] = choose(x[i] > 0.0, exp(u[i] - top) / total, 0.0)
    return exp(-top) / total


@kernel
def conjugate_row(p, x, costs, complement, slack):
    """Return 0 at x = 0 and +inf elsewhere: a dropped class can grow for free. k = 1 is softmax."""
    if p[1] == 1:
        return entropies.conjugate_row((ALPHA, 1), x, costs, complement, slack)
    largest = 0.0
    for i in range(x.shape[0]):
        largest = larger(abs(x[i]), largest)
    return 0.0 if largest == 0.0 else np.inf


@inlined
def prox_at(p, v, y, costs, t, out, space):
    """Write a global minimiser over u of the truncated loss of u + costs plus ||u - v||^2/(2t).

    The prox of softmax moves the entries of v + costs but for the k - 1 largest, which stay.
    Returns 1 - <1,x>.
    """
    z, x, work = space[1], space[2], space[3]
    for i in range(v.shape[0]):
        z[i] = v[i] + costs[i]
    keep_row(z, p[1], out, work)
    d = 0
    for i in range(v.shape[0]):
        if out[i] > 0.0:
            z[d] = z[i]
            d += 1
    rest = step_row((ALPHA, 1), z[:d], t, 0.0, x[:d], work[:d])
    d = 0
    for i in range(v.shape[0]):
        kept = out[i] > 0.0
        out[i] = v[i] - t * x[d] if kept else v[i]
        d += kept
    return rest


@dataclass(frozen=True)
class TruncatedTopKEntropy(Entropy):
    """The loss, with its parameters."""

    k: int = 1
    kernels = compiled(globals(), __file__)
    variant = TRUNCATED
    bounded = True
    operations = ("value", "gradient", "conjugate", "prox")


value, gradient, conjugate, prox = module_functions(
    TruncatedTopKEntropy,
    value="""
Losses log(1 + sum_J e^{u_j}).

Lapin, Hein and Schiele 2016, equation (15) (arXiv version: 22).
""",
    gradient="""

Gradients with respect to the m scores, of the piece that is kept.

x_j = e^{u_j}/(1 + sum_J e^{u_l}) on J, 0 on the k - 1 largest (ties: the first classes are
dropped first).
""",
    conjugate="""
For k >= 2 it is 0 at x = 0 and +inf elsewhere: a dropped class can grow for free. For k = 1 it
is that of softmax.
""",
    prox="""

Proximal point: a global argmin over u of loss(u + costs) + ||u - v||^2/(2t).

The prox of softmax on the m - k smallest entries of v + costs (ties: the first classes are
dropped first); the others stay. The envelope of a piece J grows with every entry of v + costs,
so that the smallest entries are the best piece.
""",
)
_warmup = TruncatedTopKEntropy.warm_up
