"""Multilabel hinge: the worst violation of a margin between a wrong and a right label.

L(y, f) = max{0, max z_N + max z_P}, z_j = f_j + c_j on N = {y = 0}, z_l = c_l - f_l on P = {y = 1}.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast.kernels.signed import BIPARTITE
from fast.losses import _signed_batch as _batch
from fast.losses._drivers import GRADIENT, VALUE
from fast.losses._signed_docs import documented


@documented(BIPARTITE)
def value(
    scores: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Losses max{0, max over j in N, l in P of f_j - f_l + c_j + c_l}.

    Crammer and Singer 2003; Lapin, Hein and Schiele 2018, "Analysis and Optimization of Loss
    Functions for Multiclass, Top-k, and Multilabel Classification".
    """
    return _batch.at_scores(VALUE, BIPARTITE, scores, y, 0.0, costs, sample_weight)


@documented(BIPARTITE)
def gradient(
    scores: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Subgradients with respect to the m scores.

    x is 1 at the largest z of N and of P (ties: the first labels); 0 where the loss is 0.
    """
    return _batch.at_scores(GRADIENT, BIPARTITE, scores, y, 0.0, costs, sample_weight)


@documented(BIPARTITE)
def conjugate(
    x: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
) -> Any:
    """Convex conjugate of the loss as a function of z without costs.

    L*(x) = -<c,x> on {x >= 0, <1,x_N> = <1,x_P> <= 1}.
    """
    return _batch.conjugate(BIPARTITE, x, y, 0.0, costs)


@documented(BIPARTITE)
def prox(
    v: ArrayLike,
    y: ArrayLike,
    t: ArrayLike = 1.0,
    costs: ArrayLike | None = None,
) -> NDArray[Any]:
    """Proximal point: argmin over u of loss(u + costs) + ||u - v||^2/(2t), in the coordinates z.

    v - t x with x the projection of (v + costs)/t on {x >= 0, <1,x_N> = <1,x_P> <= 1}.
    """
    return _batch.prox(BIPARTITE, v, y, t, 0.0, costs)


@documented(BIPARTITE)
def sdca_update(
    q: ArrayLike,
    y: ArrayLike,
    k_ii: ArrayLike,
    C: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Maximiser of the dual of ||W||^2/2 + C sum_i w_i L_i over one example's block.

    With r = w C, b = q + c on N and -q + c on P:
    x = argmin ||x - b/(r k_ii)||^2 over {x >= 0, <1,x_N> = <1,x_P> <= 1}; a = -r x on N, r x on P.
    For k_ii = 0 all mass that is allowed goes to the largest b of both sides.
    """
    return _batch.sdca_update(BIPARTITE, q, y, k_ii, C, 0.0, costs, sample_weight)


def _warmup() -> None:
    _batch.warmup(BIPARTITE)
