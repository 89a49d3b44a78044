"""Top-k entropy loss, beta variant: softmax with its dual restricted to caps 1/k.

L(y, f) = max of <u,x> - <x,log x> - (1-s) log(1-s) over Delta_k^beta(1), s = <1,x>,
u_j = f_j - f_y + c_j over the m - 1 other classes. k = 1 is softmax.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from fast.kernels.entropies import ENTROPY_BETA
from fast.losses import _batch
from fast.losses._docs import documented


@documented(ENTROPY_BETA)
def value(
    scores: ArrayLike,
    y: ArrayLike,
    k: int = 1,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Losses rho log k + sum_U u/k + (1-rho) t, t = log((1 + Z)/(1-rho)), rho = |U|/k.

    U are the capped classes, the fewest of the largest u for which the others satisfy
    (k-|U|) e^{u_j} <= 1 + Z, Z = sum of e^u over them. Lapin, Hein and Schiele 2016 name this
    variant in section 2.4 and leave it to future work.
    """
    return _batch.value(ENTROPY_BETA, scores, y, k, 0.0, costs, sample_weight)


@documented(ENTROPY_BETA)
def gradient(
    scores: ArrayLike,
    y: ArrayLike,
    k: int = 1,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    return_complement: bool = False,
) -> Any:
    """Gradients with respect to the m scores.

    x_j = min(e^{u_j - t}, 1/k) over the other classes, and 1 - s = e^{-t}.
    """
    return _batch.gradient(ENTROPY_BETA, scores, y, k, 0.0, costs, sample_weight, return_complement)


@documented(ENTROPY_BETA)
def conjugate(
    x: ArrayLike,
    k: int = 1,
    costs: ArrayLike | None = None,
    complement: ArrayLike | None = None,
) -> Any:
    """Convex conjugate of the loss as a function of u (u_j = f_j - f_y, j != y).

    L*(x) = <x,log x> + (1-s) log(1-s) - <c,x>, s = <1,x>, on
    Delta_k^beta(1) = {0 <= x_i <= 1/k, s <= 1}; +inf also where ``complement`` is not 1 - s.
    """
    return _batch.conjugate(ENTROPY_BETA, x, k, 0.0, costs, complement)


@documented(ENTROPY_BETA)
def prox(
    v: ArrayLike,
    k: int = 1,
    t: ArrayLike = 1.0,
    costs: ArrayLike | None = None,
    return_complement: bool = False,
) -> Any:
    """Proximal point: argmin over u of loss(u + costs) + ||u - v||^2/(2t).

    It is v - t x with x = argmin t/2 ||x||^2 - <v + c,x> + <x,log x> + (1-s) log(1-s) over
    Delta_k^beta(1) = {0 <= x_i <= 1/k, s <= 1}, by Newton's method in one variable around W(e^t).
    """
    return _batch.prox(ENTROPY_BETA, v, k, t, 0.0, costs, return_complement)


@documented(ENTROPY_BETA)
def sdca_update(
    q: ArrayLike,
    y: ArrayLike,
    k_ii: ArrayLike,
    C: float = 1.0,
    k: int = 1,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    return_complement: bool = False,
) -> Any:
    """Maximiser of the dual of ||W||^2/2 + C sum_i w_i L_i over one example's block.

    With a = w C k_ii and b = q_j - q_y + c_j over the others, x is the argmin of
    a/2 (||x||^2 + s^2) - <b,x> + <x,log x> + (1-s) log(1-s) over Delta_k^beta(1) = {0 <= x_i <= 1/k, s <= 1};
    the block is -w C x. For a = 0, x is the gradient of the loss at b.
    Lapin, Hein and Schiele 2016, Proposition 11 (arXiv version: 12) has it for the alpha variant.
    """
    return _batch.sdca_update(
        ENTROPY_BETA, q, y, k_ii, C, k, 0.0, costs, sample_weight, return_complement
    )


def _warmup() -> None:
    _batch.warmup(ENTROPY_BETA, 0.0)
