"""Smooth one-vs-all hinge: the sum of the m smooth binary hinges.

L(y, f) = sum_j (z_j p_j - p_j^2/2)/gamma with p = clip(z, 0, gamma), over all m classes,
z_j = f_j + c_j at j != y, z_y = c_y - f_y.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast.kernels.signed import BOX
from fast.losses import _signed_batch as _batch
from fast.losses._batch import positive_gamma
from fast.losses._drivers import GRADIENT, VALUE
from fast.losses._signed_docs import documented


@documented(BOX, "1")
def value(
    scores: ArrayLike,
    y: ArrayLike,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Losses sum_j (z_j p_j - p_j^2/2)/gamma, p = clip(z, 0, gamma).

    Each term is at most gamma/2 below the hinge: 0 for z <= 0, z^2/(2 gamma) up to gamma, then
    z - gamma/2. Lapin, Hein and Schiele 2016, equation (9) of the long version, at alpha = 1 - z.
    """
    return _batch.at_scores(VALUE, BOX, scores, y, positive_gamma(gamma), costs, sample_weight)


@documented(BOX, "1")
def gradient(
    scores: ArrayLike,
    y: ArrayLike,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Gradients with respect to the m scores.

    x = p/gamma; it is 1/gamma-Lipschitz.
    """
    return _batch.at_scores(GRADIENT, BOX, scores, y, positive_gamma(gamma), costs, sample_weight)


@documented(BOX, "1")
def conjugate(
    x: ArrayLike,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
) -> Any:
    """Convex conjugate of the loss as a function of z without costs.

    L*(x) = gamma/2 ||x||^2 - <c,x> on 0 <= x_j <= 1. In the paper the argument is beta = -x.
    """
    return _batch.conjugate(BOX, x, None, positive_gamma(gamma), costs)


@documented(BOX, "1")
def prox(
    v: ArrayLike,
    t: ArrayLike = 1.0,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
) -> NDArray[Any]:
    """Proximal point: argmin over u of loss(u + costs) + ||u - v||^2/(2t), in the coordinates z.

    v - t x with x = clip((v + costs)/(gamma + t), 0, 1).
    """
    return _batch.prox(BOX, v, None, t, positive_gamma(gamma), costs)


@documented(BOX, "1")
def sdca_update(
    q: ArrayLike,
    y: ArrayLike,
    k_ii: ArrayLike,
    C: float = 1.0,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Maximiser of the dual of ||W||^2/2 + C sum_i w_i L_i over one example's block.

    With r = w C, b_j = q_j + c_j at j != y and b_y = -q_y + c_y: x = clip(b/(r k_ii + gamma), 0, 1).
    Blocks do not sum to 0.
    """
    return _batch.sdca_update(BOX, q, y, k_ii, C, positive_gamma(gamma), costs, sample_weight)


def _warmup() -> None:
    _batch.warmup(BOX)
