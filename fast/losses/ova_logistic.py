"""One-vs-all logistic loss: the sum of the m binary logistic losses.

L(y, f) = sum_j log(1 + e^{z_j}) over all m classes, z_j = f_j + c_j at j != y, z_y = c_y - f_y.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast.kernels.signed import LOGISTIC
from fast.losses import _signed_batch as _batch
from fast.losses._drivers import GRADIENT, VALUE
from fast.losses._signed_docs import documented


@documented(LOGISTIC, "0")
def value(
    scores: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Losses sum_j log(1 + e^{z_j}): a sum, not a mean, over the classes.

    Lapin, Hein and Schiele 2016, Table 1 and equation (3), with margin -z_j.
    """
    return _batch.at_scores(VALUE, LOGISTIC, scores, y, 0.0, costs, sample_weight)


@documented(LOGISTIC, "0")
def gradient(
    scores: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Gradients with respect to the m scores.

    x_j = 1/(1 + e^{-z_j}).
    """
    return _batch.at_scores(GRADIENT, LOGISTIC, scores, y, 0.0, costs, sample_weight)


@documented(LOGISTIC, "0")
def conjugate(
    x: ArrayLike,
    costs: ArrayLike | None = None,
) -> Any:
    """Convex conjugate of the loss as a function of z without costs.

    L*(x) = sum_j x_j log x_j + (1 - x_j) log(1 - x_j) - <c,x> on 0 <= x_j <= 1.
    """
    return _batch.conjugate(LOGISTIC, x, None, 0.0, costs)


@documented(LOGISTIC, "0")
def prox(
    v: ArrayLike,
    t: ArrayLike = 1.0,
    costs: ArrayLike | None = None,
) -> NDArray[Any]:
    """Proximal point: argmin over u of loss(u + costs) + ||u - v||^2/(2t), in the coordinates z.

    v - t x with x_j the root of t x + log(x/(1-x)) = v_j + c_j.
    """
    return _batch.prox(LOGISTIC, v, None, t, 0.0, costs)


@documented(LOGISTIC, "0")
def sdca_update(
    q: ArrayLike,
    y: ArrayLike,
    k_ii: ArrayLike,
    C: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Maximiser of the dual of ||W||^2/2 + C sum_i w_i L_i over one example's block.

    With r = w C, b_j = q_j + c_j at j != y and b_y = -q_y + c_y: x_j is the root of
    r k_ii x + log(x/(1-x)) = b_j, by Newton's method for the logit, started at W(e^t).
    """
    return _batch.sdca_update(LOGISTIC, q, y, k_ii, C, 0.0, costs, sample_weight)


def _warmup() -> None:
    _batch.warmup(LOGISTIC)
