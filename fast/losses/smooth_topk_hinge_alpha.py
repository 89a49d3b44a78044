"""Smooth top-k hinge, alpha variant: Moreau envelope of the top-k hinge.

L(y, f) = (<z,p> - ||p||^2/2)/gamma with p the projection of z on Delta_k^alpha(gamma),
z_j = f_j - f_y + c_j over the m - 1 other classes.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast.kernels.hinges import ALPHA
from fast.losses import _batch
from fast.losses._batch import positive_gamma
from fast.losses._docs import documented


@documented(ALPHA)
def value(
    scores: ArrayLike,
    y: ArrayLike,
    k: int = 1,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Losses (<z,p> - ||p||^2/2)/gamma, at most gamma/(2k) below the hinge.

    Lapin, Hein and Schiele 2016, Propositions 6 and 10.
    """
    return _batch.value(ALPHA, scores, y, k, positive_gamma(gamma), costs, sample_weight)


@documented(ALPHA)
def gradient(
    scores: ArrayLike,
    y: ArrayLike,
    k: int = 1,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Gradients with respect to the m scores.

    x = p/gamma over the other classes; it is 1/gamma-Lipschitz in z.
    """
    return _batch.gradient(ALPHA, scores, y, k, positive_gamma(gamma), costs, sample_weight)


@documented(ALPHA)
def conjugate(
    x: ArrayLike,
    k: int = 1,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
) -> Any:
    """Convex conjugate of the loss as a function of u (u_j = f_j - f_y, j != y).

    L*(x) = gamma/2 ||x||^2 - <c,x> on Delta_k^alpha(1) = {x >= 0, <1,x> <= 1, x_i <= <1,x>/k}.
    """
    return _batch.conjugate(ALPHA, x, k, positive_gamma(gamma), costs)


@documented(ALPHA)
def prox(
    v: ArrayLike,
    k: int = 1,
    t: ArrayLike = 1.0,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
) -> NDArray[Any]:
    """Proximal point: argmin over u of loss(u + costs) + ||u - v||^2/(2t).

    It is v - t x with x the projection of (v + costs)/(gamma + t) on Delta_k^alpha(1).
    """
    return _batch.prox(ALPHA, v, k, t, positive_gamma(gamma), costs)


@documented(ALPHA)
def sdca_update(
    q: ArrayLike,
    y: ArrayLike,
    k_ii: ArrayLike,
    C: float = 1.0,
    k: int = 1,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Maximiser of the dual of ||W||^2/2 + C sum_i w_i L_i over one example's block.

    With r = w C, den = k_ii + gamma/r and b = (q_j - q_y + c_j)/den over the others,
    x = argmin ||x - b||^2 + (k_ii/den) <1,x>^2 over Delta_k^alpha(r).
    """
    return _batch.sdca_update(ALPHA, q, y, k_ii, C, k, positive_gamma(gamma), costs, sample_weight)


def _warmup() -> None:
    _batch.warmup(ALPHA, 1.0)
