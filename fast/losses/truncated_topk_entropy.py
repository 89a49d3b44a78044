"""Truncated top-k entropy loss: softmax over all but the k - 1 largest other classes.

L(y, f) = log(1 + sum_{j in J} e^{u_j}), u_j = f_j - f_y + c_j, J the m - k smallest of the m - 1
other classes. Not convex for k >= 2, and its biconjugate is 0: no dual. k = 1 is softmax.
"""

from __future__ import annotations

from dataclasses import dataclass

from fast._numba import inlined
from fast.families import faces
from fast.families.entropies import Entropy
from fast.kernels import entropies, entropy_steps
from fast.kernels.entropies import TRUNCATED
from fast.kernels.rows import compiled


@inlined
def value_row(p, z, x, work):
    """The loss of margins z; p is (variant, k)."""
    return entropies.truncated_value_row(z, p[1], work)


@inlined
def gradient_row(p, z, x, work):
    """Write the gradient; returns 1 - <1,x>."""
    return entropies.truncated_gradient_row(z, p[1], x, work)[1]


@inlined
def conjugate_row(p, x, costs, known, slack):
    """Conjugate less <costs,x>."""
    return entropies.truncated_conjugate_row(x, costs, p[1], known, slack)


@inlined
def prox_at(p, row, y, costs, t, out, space):
    """Write the proximal point; returns 1 - <1,x>."""
    z, x, work = space[1], space[2], space[3]
    return entropy_steps.truncated_prox_row(row, costs, p[1], t, out, z, x, work)[1]


@dataclass(frozen=True)
class TruncatedTopKEntropy(Entropy):
    """The loss, with its parameters."""

    k: int = 1
    kernels = compiled(globals(), __file__)
    variant = TRUNCATED
    bounded = True
    operations = ("value", "gradient", "conjugate", "prox")


value, gradient, conjugate, prox = faces(
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
