"""Softmax (cross-entropy, multinomial logistic) loss.

L(y, f) = log(1 + sum_j e^{u_j}), u_j = f_j - f_y + c_j over the m - 1 other classes.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from fast.kernels.entropies import ENTROPY_ALPHA
from fast.losses import _batch
from fast.losses._docs import documented


@documented(ENTROPY_ALPHA)
def value(
    scores: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Losses log(1 + sum_j e^{u_j}), free of overflow and accurate where they are tiny.

    Lapin, Hein and Schiele 2016, equations (5) and (14).
    """
    return _batch.value(ENTROPY_ALPHA, scores, y, 1, 0.0, costs, sample_weight)


@documented(ENTROPY_ALPHA)
def gradient(
    scores: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    return_complement: bool = False,
) -> Any:
    """Gradients with respect to the m scores.

    x_j = e^{u_j}/(1 + sum_l e^{u_l}) over the other classes: their probabilities.
    """
    return _batch.gradient(
        ENTROPY_ALPHA, scores, y, 1, 0.0, costs, sample_weight, return_complement
    )


@documented(ENTROPY_ALPHA)
def conjugate(
    x: ArrayLike,
    costs: ArrayLike | None = None,
    complement: ArrayLike | None = None,
) -> Any:
    """Convex conjugate of the loss as a function of u (u_j = f_j - f_y, j != y).

    L*(x) = <x,log x> + (1-s) log(1-s) - <c,x>, s = <1,x>, on
    {x >= 0, s <= 1}; +inf also where ``complement`` is not 1 - s.
    """
    return _batch.conjugate(ENTROPY_ALPHA, x, 1, 0.0, costs, complement)


@documented(ENTROPY_ALPHA)
def prox(
    v: ArrayLike,
    t: ArrayLike = 1.0,
    costs: ArrayLike | None = None,
    return_complement: bool = False,
) -> Any:
    """Proximal point: argmin over u of loss(u + costs) + ||u - v||^2/(2t).

    It is v - t x with x = argmin t/2 ||x||^2 - <v + c,x> + <x,log x> + (1-s) log(1-s) over
    {x >= 0, s <= 1}, by Newton's method in one variable around W(e^t).
    """
    return _batch.prox(ENTROPY_ALPHA, v, 1, t, 0.0, costs, return_complement)


@documented(ENTROPY_ALPHA)
def sdca_update(
    q: ArrayLike,
    y: ArrayLike,
    k_ii: ArrayLike,
    C: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    return_complement: bool = False,
) -> Any:
    """Maximiser of the dual of ||W||^2/2 + C sum_i w_i L_i over one example's block.

    With a = w C k_ii and b = q_j - q_y + c_j over the others, x is the argmin of
    a/2 (||x||^2 + s^2) - <b,x> + <x,log x> + (1-s) log(1-s) over {x >= 0, s <= 1};
    the block is -w C x. For a = 0, x is the gradient of the loss at b.
    Lapin, Hein and Schiele 2016, Proposition 11 (arXiv version: 12) at k = 1.
    """
    return _batch.sdca_update(
        ENTROPY_ALPHA, q, y, k_ii, C, 1, 0.0, costs, sample_weight, return_complement
    )


def _warmup() -> None:
    _batch.warmup(ENTROPY_ALPHA, 0.0)
