"""Sparsemax loss: the squared distance to the simplex in place of softmax's entropy.

L(y, f) = max over p in the simplex of <f + c,p> - ||p||^2/2 + 1/2 - f_y; over the m - 1 others it is
the max of <z,x> - ||x||^2/2 - (1-s)^2/2 + 1/2 over {x >= 0, s <= 1}, s = <1,x>, z_j = f_j - f_y + c_j.
"""

from dataclasses import dataclass

import numpy as np

from fast._numba import kernel
from fast._simd import larger, plus
from fast._validation import LIMIT
from fast.families import Loss, module_functions
from fast.kernels.hinges import divided
from fast.kernels.projections import uncapped_row
from fast.kernels.rows import compiled


@kernel
def value_row(p, z, x, work):
    """<z - x/2,x> + s (1 - s/2) at the maximiser x: terms >= 0 but for those of z < 0."""
    gradient_row(p, z, x, work)
    s, inner = 0.0, 0.0
    for j in range(z.shape[0]):
        s = plus(s, x[j])
        inner = plus(inner, (z[j] - 0.5 * x[j]) * x[j])
    return larger(inner + s * (1.0 - 0.5 * s), 0.0)


@kernel
def gradient_row(p, z, x, work):
    """The probabilities of the others: ||x - z||^2 + (1 - s)^2 is least."""
    return step_row(p, z, 0.0, 0.0, x, work)


@kernel
def conjugate_row(p, x, costs, known, slack):
    """||x||^2/2 + (1-s)^2/2 - 1/2 - <costs,x> on {x >= 0, s <= 1}."""
    s, square, inner, least = 0.0, 0.0, 0.0, 0.0
    for j in range(x.shape[0]):
        s = plus(s, x[j])
        square = plus(square, x[j] * x[j])
        inner = plus(inner, costs[j] * x[j])
        least = larger(least, -x[j])
    inside = s <= 1.0 + slack and least <= slack
    return 0.5 * square - s * (1.0 - 0.5 * s) - inner if inside else np.inf


@kernel
def step_row(p, b, a, rho, x, work):
    """(a + 1)/2 ||x||^2 + (a rho + 1)/2 s^2 - <b + 1,x>: a projection of (b + 1)/(a + 1)."""
    den = min(a + 1.0, LIMIT)
    for j in range(b.shape[0]):
        x[j] = b[j] + 1.0
    uncapped_row(x, den, (min(a, LIMIT) * rho + 1.0) / den, False, x, work)
    return 1.0 - divided(x, den)


@dataclass(frozen=True)
class Sparsemax(Loss):
    """The loss, with its parameters."""

    cost = 0.0
    smooth = True
    kernels = compiled(globals(), __file__)


value, gradient, conjugate, prox, sdca_update = module_functions(
    Sparsemax,
    value="""
Losses <z,x> - ||x||^2/2 - (1-s)^2/2 + 1/2 at x = sparsemax(f + c) over the others.

Martins and Astudillo 2016; zero exactly if f_y >= f_j + c_j + 1 for all other classes.
""",
    gradient="x is the projection of f + c on the simplex, less its entry at y; it is 1-Lipschitz.",
    conjugate="L*(x) = ||x||^2/2 + (1-s)^2/2 - 1/2 - <c,x> on {x >= 0, s <= 1}.",
    prox="""
It is v - t x with x = argmin ||x - b||^2 + <1,x>^2/(1 + t), b = (v + c + 1)/(1 + t), over
{x >= 0, s <= 1}.
""",
    sdca_update="""
With a = w C k_ii and b = q_j - q_y + c_j + 1 over the others, x = argmin ||x - b/(1 + a)||^2 + <1,x>^2
over {x >= 0, s <= 1}; the block is -w C x.
""",
)
_warmup = Sparsemax.warm_up
