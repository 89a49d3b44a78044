"""One-vs-all hinge: the sum of the m binary hinges, one for each class against the rest.

L(y, f) = sum_j max{0, z_j} over all m classes, z_j = f_j + c_j at j != y, z_y = c_y - f_y.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast.kernels.signed import BOX
from fast.losses import _signed_batch as _batch
from fast.losses._drivers import GRADIENT, VALUE
from fast.losses._signed_docs import documented


@documented(BOX, "1")
def value(
    scores: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Losses sum_j max{0, z_j}: a sum, not a mean, over the classes.

    Lapin, Hein and Schiele 2016, Table 1 and equation (2); the margin there is 1 - z_j.
    """
    return _batch.at_scores(VALUE, BOX, scores, y, 0.0, costs, sample_weight)


@documented(BOX, "1")
def gradient(
    scores: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Subgradients with respect to the m scores.

    x_j = 1 where z_j > 0, else 0.
    """
    return _batch.at_scores(GRADIENT, BOX, scores, y, 0.0, costs, sample_weight)


@documented(BOX, "1")
def conjugate(
    x: ArrayLike,
    costs: ArrayLike | None = None,
) -> Any:
    """Convex conjugate of the loss as a function of z without costs.

    L*(x) = -<c,x> on 0 <= x_j <= 1.
    """
    return _batch.conjugate(BOX, x, None, 0.0, costs)


@documented(BOX, "1")
def prox(
    v: ArrayLike,
    t: ArrayLike = 1.0,
    costs: ArrayLike | None = None,
) -> NDArray[Any]:
    """Proximal point: argmin over u of loss(u + costs) + ||u - v||^2/(2t), in the coordinates z.

    v - t x with x = clip((v + costs)/t, 0, 1).
    """
    return _batch.prox(BOX, v, None, t, 0.0, costs)


@documented(BOX, "1")
def sdca_update(
    q: ArrayLike,
    y: ArrayLike,
    k_ii: ArrayLike,
    C: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Maximiser of the dual of ||W||^2/2 + C sum_i w_i L_i over one example's block.

    With r = w C, b_j = q_j + c_j at j != y and b_y = -q_y + c_y: x = clip(b/(r k_ii), 0, 1).
    For k_ii = 0 all x_j with b_j > 0 become 1. Blocks do not sum to 0.
    """
    return _batch.sdca_update(BOX, q, y, k_ii, C, 0.0, costs, sample_weight)


def _warmup() -> None:
    _batch.warmup(BOX)
