"""Top-k hinge, alpha variant: hinge of the mean of the k largest margin violations.

L(y, f) = max{0, S_k(z)/k}, z_j = f_j - f_y + c_j over the m - 1 *other* classes, S_k the sum of
the k largest.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast.kernels.hinges import ALPHA
from fast.losses import _batch
from fast.losses._docs import documented


@documented(ALPHA)
def value(
    scores: ArrayLike,
    y: ArrayLike,
    k: int = 1,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Losses max{0, S_k(z)/k}.

    Lapin, Hein and Schiele 2015, equation (3), over the other classes.
    """
    return _batch.value(ALPHA, scores, y, k, 0.0, costs, sample_weight)


@documented(ALPHA)
def gradient(
    scores: ArrayLike,
    y: ArrayLike,
    k: int = 1,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Subgradients with respect to the m scores.

    1/k at the k largest z_j (ties: the first classes); 0 where the loss is 0.
    """
    return _batch.gradient(ALPHA, scores, y, k, 0.0, costs, sample_weight)


@documented(ALPHA)
def conjugate(
    x: ArrayLike,
    k: int = 1,
    costs: ArrayLike | None = None,
) -> Any:
    """Convex conjugate of the loss as a function of u (u_j = f_j - f_y, j != y).

    L*(x) = -<c,x> on Delta_k^alpha(1) = {x >= 0, <1,x> <= 1, x_i <= <1,x>/k}.
    """
    return _batch.conjugate(ALPHA, x, k, 0.0, costs)


@documented(ALPHA)
def prox(
    v: ArrayLike,
    k: int = 1,
    t: ArrayLike = 1.0,
    costs: ArrayLike | None = None,
) -> NDArray[Any]:
    """Proximal point: argmin over u of loss(u + costs) + ||u - v||^2/(2t).

    It is v - t x with x the projection of (v + costs)/(t) on Delta_k^alpha(1).
    """
    return _batch.prox(ALPHA, v, k, t, 0.0, costs)


@documented(ALPHA)
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
    x = argmin ||x - b||^2 + (k_ii/den) <1,x>^2 over Delta_k^alpha(r).
    For k_ii = 0 all mass that is allowed goes to the largest costs.
    """
    return _batch.sdca_update(ALPHA, q, y, k_ii, C, k, 0.0, costs, sample_weight)


def _warmup() -> None:
    _batch.warmup(ALPHA, 0.0)
