"""Top-k hinge, beta variant: mean of the k largest margin violations, each cut at 0.

L(y, f) = S_k(max(z, 0))/k, z_j = f_j - f_y + c_j over the m - 1 other classes, S_k the sum of
the k largest.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast.kernels.hinges import BETA
from fast.losses import _batch
from fast.losses._docs import documented


@documented(BETA)
def value(
    scores: ArrayLike,
    y: ArrayLike,
    k: int = 1,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Losses S_k(max(z, 0))/k.

    Lapin, Hein and Schiele 2015, equation (5).
    """
    return _batch.value(BETA, scores, y, k, 0.0, costs, sample_weight)


@documented(BETA)
def gradient(
    scores: ArrayLike,
    y: ArrayLike,
    k: int = 1,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Subgradients with respect to the m scores.

    1/k at those of the k largest z_j that are positive (ties: the first classes).
    """
    return _batch.gradient(BETA, scores, y, k, 0.0, costs, sample_weight)


@documented(BETA)
def conjugate(
    x: ArrayLike,
    k: int = 1,
    costs: ArrayLike | None = None,
) -> Any:
    """Convex conjugate of the loss as a function of u (u_j = f_j - f_y, j != y).

    L*(x) = -<c,x> on Delta_k^beta(1) = {0 <= x_i <= 1/k, <1,x> <= 1}.
    """
    return _batch.conjugate(BETA, x, k, 0.0, costs)


@documented(BETA)
def prox(
    v: ArrayLike,
    k: int = 1,
    t: ArrayLike = 1.0,
    costs: ArrayLike | None = None,
) -> NDArray[Any]:
    """Proximal point: argmin over u of loss(u + costs) + ||u - v||^2/(2t).

    It is v - t x with x the projection of (v + costs)/(t) on Delta_k^beta(1).
    """
    return _batch.prox(BETA, v, k, t, 0.0, costs)


@documented(BETA)
def sdca_update(
    q: ArrayLike,
    y: ArrayLike,
    k_ii: ArrayLike,
    C: float = 1.0,
    k: int = 1,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Maximiser of the dual of ||W||^2/2 + C sum_i w_i L_i over one example's block.

    With r = w C, den = k_ii and b = (q_j - q_y + c_j)/den over the others,
    x = argmin ||x - b||^2 + (k_ii/den) <1,x>^2 over Delta_k^beta(r).
    For k_ii = 0 all mass that is allowed goes to the largest costs.
    """
    return _batch.sdca_update(BETA, q, y, k_ii, C, k, 0.0, costs, sample_weight)


def _warmup() -> None:
    _batch.warmup(BETA, 0.0)
