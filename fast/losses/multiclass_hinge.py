"""Multiclass hinge of Crammer and Singer: the worst margin violation.

L(y, f) = max{0, max_j z_j}, z_j = f_j - f_y + c_j over the m - 1 other classes.
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
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Losses max{0, max_j z_j}: both top-k hinges with k = 1.

    Crammer and Singer 2001.
    """
    return _batch.value(ALPHA, scores, y, 1, 0.0, costs, sample_weight)


@documented(ALPHA)
def gradient(
    scores: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Subgradients with respect to the m scores.

    All mass on the largest z_j (ties: the first class); 0 where the loss is 0.
    """
    return _batch.gradient(ALPHA, scores, y, 1, 0.0, costs, sample_weight)


@documented(ALPHA)
def conjugate(
    x: ArrayLike,
    costs: ArrayLike | None = None,
) -> Any:
    """Convex conjugate of the loss as a function of u (u_j = f_j - f_y, j != y).

    L*(x) = -<c,x> on {x >= 0, <1,x> <= 1}.
    """
    return _batch.conjugate(ALPHA, x, 1, 0.0, costs)


@documented(ALPHA)
def prox(
    v: ArrayLike,
    t: ArrayLike = 1.0,
    costs: ArrayLike | None = None,
) -> NDArray[Any]:
    """Proximal point: argmin over u of loss(u + costs) + ||u - v||^2/(2t).

    It is v - t x with x the projection of (v + costs)/(t) on {x >= 0, <1,x> <= 1}.
    """
    return _batch.prox(ALPHA, v, 1, t, 0.0, costs)


@documented(ALPHA)
def sdca_update(
    q: ArrayLike,
    y: ArrayLike,
    k_ii: ArrayLike,
    C: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Maximiser of the dual of ||W||^2/2 + C sum_i w_i L_i over one example's block.

    With r = w C, den = k_ii and b = (q_j - q_y + c_j)/den over the others,
    x = argmin ||x - b||^2 + (k_ii/den) <1,x>^2 over {x >= 0, <1,x> <= r}.
    For k_ii = 0 all mass that is allowed goes to the largest costs.
    """
    return _batch.sdca_update(ALPHA, q, y, k_ii, C, 1, 0.0, costs, sample_weight)


def _warmup() -> None:
    _batch.warmup(ALPHA, 0.0)
