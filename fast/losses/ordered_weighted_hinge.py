"""Ordered weighted hinge: margin violations, each weighted by its rank.

L_beta(y, f) = sum_i beta_i max(z_[i], 0), z_j = f_j - f_y + c_j over the m - 1 other classes, the
largest first, beta_1 >= ... >= beta_{m-1} >= 0.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fast._docs import Entry
from fast._numba import inlined, kernel
from fast._rows import read_only
from fast._validation import LIMIT, MAGNITUDE
from fast.families import Loss, module_functions
from fast.kernels.hinges import divided, others, with_own
from fast.kernels.rows import compiled
from fast.sets import cardinality_polymatroid

Array = np.ndarray[Any, Any]


@inlined
def parts(space, first):
    """Of the scratch, from a column on: z, x, and what sorting takes (the negatives, two of integers)."""
    z, x, negative = space[1, first:], space[2, first:], space[3, first:]
    return z, x, negative, space[4, first:].view(np.int64), space[5, first:].view(np.int64)


@kernel
def sort_falling(z, negative, order, ends):
    """Write the places of z from the largest to the smallest, ties in their order."""
    for j in range(z.shape[0]):
        negative[j] = -z[j]
    cardinality_polymatroid.sort_places(negative, order, ends)


@kernel
def attained(beta, z, x, negative, order, ends):
    """Write x = argmax <z,x> over the polymatroid, 0 where z is not positive; returns <z,x>."""
    sort_falling(z, negative, order, ends)
    x[:] = 0.0
    total = 0.0
    for p in range(z.shape[0]):
        if not z[order[p]] > 0.0:
            break
        x[order[p]] = beta[p]
        total += beta[p] * z[order[p]]
    return total


@kernel
def step(beta, b, a, rho, x, rest, order, ends):
    """Write x = argmin a/2 (||x||^2 + rho <1,x>^2) - <b,x> over the polymatroid; returns 1 - <1,x>."""
    if a > 0.0:
        cardinality_polymatroid.project_row(b, beta, a, rho, x, rest, order, ends)
        return 1.0 - divided(x, a)
    attained(beta, b, x, rest, order, ends)
    return 1.0 - x.sum()


@inlined
def value_at(p, row, y, costs, space):
    """Loss of a row of scores."""
    z, x, negative, order, ends = parts(space, 1)
    others(row, y, costs, z)
    return attained(p[0], z, x, negative, order, ends)


@inlined
def gradient_at(p, row, y, costs, weight, out, space):
    """Write ``weight`` times the gradient in the scores; returns 1 - <1,x>."""
    z, x, negative, order, ends = parts(space, 1)
    others(row, y, costs, z)
    rest = step(p[0], z, 0.0, 0.0, x, negative, order, ends)
    with_own(x, y, weight, out)
    return rest


@inlined
def update_at(p, row, y, costs, r, norm, out, space):
    """Write the dual block of an example; returns 1 - <1,x>."""
    z, x, rest, order, ends = parts(space, 1)
    others(row, y, costs, z)
    found = step(p[0], z, min(r * norm, LIMIT), 1.0, x, rest, order, ends)
    with_own(x, y, -r, out)
    return found


@inlined
def prox_at(p, row, y, costs, t, out, space):
    """Write the proximal point v - t x of a row over the others; returns 1 - <1,x>."""
    z, x, rest, order, ends = parts(space, 0)
    for j in range(row.shape[0]):
        z[j] = row[j] + costs[j]
    found = step(p[0], z, t, 0.0, x, rest, order, ends)
    for j in range(row.shape[0]):
        out[j] = row[j] - t * x[j]
    return found


@inlined
def conjugate_at(p, row, y, costs, known, slack, space):
    """-<costs,x> on the polymatroid, +inf outside; sums may exceed their bounds by ``slack`` times these."""
    _, _, negative, order, ends = parts(space, 0)
    beta, total, bound, inner = p[0], 0.0, 0.0, 0.0
    sort_falling(row, negative, order, ends)
    inside = True
    for q in range(row.shape[0]):
        v = row[order[q]]
        total += v
        bound += beta[q]
        inner += costs[order[q]] * v
        inside = inside and total <= bound * (1.0 + slack) and -v <= beta[0] * slack
    return 0.0 - inner if inside else np.inf


@dataclass(frozen=True)
class OrderedWeightedHinge(Loss):
    """The loss, with its parameters."""

    beta: Any = 1.0
    kernels = compiled(globals(), __file__)

    def __post_init__(self) -> None:
        """Weights in an array are kept as a tuple, which can be compared."""
        if isinstance(self.beta, np.ndarray | list):
            given = self.beta if isinstance(self.beta, list) else self.beta.tolist()
            object.__setattr__(self, "beta", tuple(given) if isinstance(given, list) else given)

    def weights(self, others: int) -> Array:
        """The weights of so many other classes."""
        return cardinality_polymatroid.check_weights(self.beta, (others,), MAGNITUDE)[0]

    def parameters(self, others: int, *, given: bool = True) -> tuple[Array]:
        """The weights."""
        return (read_only(self.weights(others)),)

    @classmethod
    def describe(cls, operation: str) -> tuple[dict[str, Entry], Entry]:
        """With the weights."""
        about, returns = super().describe(operation)
        text = "Weights beta_1 >= ... >= beta_{m-1} >= 0 of the violations, the largest first; one number for all."
        return about | {"beta": ("float or array_like, shape (m - 1,), default 1.0", text)}, returns

    def at_zero(self, m: int) -> float:
        """Loss at W = 0, where all margins are 1."""
        return float(self.weights(m - 1).sum())

    def values(self, f: Array, y: Array) -> Array:
        """Loss of each row of scores, by a sort of numpy's."""
        own = np.arange(len(y)), y
        z = f - (f[own] - 1.0)[:, None]
        z[own] = 0.0
        z = np.sort(np.maximum(z, 0.0), axis=1)[:, :0:-1]
        return np.asarray(z @ self.weights(f.shape[1] - 1))

    def conjugates(self, dual_variables: Any, r: Array) -> Array:
        """-<1,x_i>."""
        return -np.asarray(dual_variables.sum(axis=1)).ravel()


value, gradient, conjugate, prox, sdca_update = module_functions(
    OrderedWeightedHinge,
    value="""
Losses sum_i beta_i max(z_[i], 0), z_[1] >= z_[2] >= ...

beta = (1/k, ..., 1/k, 0, ..., 0) is `topk_hinge_beta`, (1, 0, ..., 0) `multiclass_hinge`, and equal
weights the sum of all violations of Weston and Watkins 1999. Usunier, Buffoni and Gallinari 2009;
Lapin, Hein and Schiele 2015, section 2.3. A sort per row.
""",
    gradient="""
beta_i at the class of z_[i], where that is positive (ties: the first classes first).
""",
    conjugate="L*(x) = -<c,x> on the polymatroid of `fast.sets.cardinality_polymatroid`.",
    prox="It is v - t x with x the projection of (v + costs)/t on that polymatroid.",
    sdca_update="""
With r = w C and b = (q_j - q_y + c_j)/(r k_ii) over the others, x = argmin ||x - b||^2 + <1,x>^2 over
the polymatroid; the block is -w C x. For k_ii = 0 the largest costs have the largest weights.
""",
)
_warmup = OrderedWeightedHinge.warm_up
