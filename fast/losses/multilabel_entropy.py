"""Multilabel cross-entropy: softmax against the uniform distribution on the right labels.

L(y, f) = log sum_j e^{z_j} - <t,z>, z = f + c, t = 1/|P| on P = {y = 1}, 0 elsewhere.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast.kernels.signed import ENTROPY
from fast.losses import _signed_batch as _batch
from fast.losses._drivers import GRADIENT, VALUE
from fast.losses._signed_docs import documented


@documented(ENTROPY)
def value(
    scores: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Losses: the mean over P of log sum_j e^{z_j - z_l}, at least log |P|.

    Lapin, Hein and Schiele 2018, "Analysis and Optimization of Loss Functions for Multiclass,
    Top-k, and Multilabel Classification". With one right label it is the softmax loss.
    """
    return _batch.at_scores(VALUE, ENTROPY, scores, y, 0.0, costs, sample_weight)


@documented(ENTROPY)
def gradient(
    scores: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Gradients with respect to the m scores.

    x = p - t, p_j = e^{z_j}/sum e^z; rows sum to 0.
    """
    return _batch.at_scores(GRADIENT, ENTROPY, scores, y, 0.0, costs, sample_weight)


@documented(ENTROPY)
def conjugate(
    x: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None = None,
) -> Any:
    """Convex conjugate of the loss as a function of z without costs.

    L*(x) = <p,log p> - <c,x> with p = x + t, on {p >= 0, <1,p> = 1}.
    """
    return _batch.conjugate(ENTROPY, x, y, 0.0, costs)


@documented(ENTROPY)
def prox(
    v: ArrayLike,
    y: ArrayLike,
    t: ArrayLike = 1.0,
    costs: ArrayLike | None = None,
) -> NDArray[Any]:
    """Proximal point: argmin over u of loss(u + costs) + ||u - v||^2/(2t), in the coordinates z.

    v - t x with t x_j + log(x_j + 1/|P| on P) = v_j + c_j - lambda, <1,x> = 0 (t: the step).
    """
    return _batch.prox(ENTROPY, v, y, t, 0.0, costs)


@documented(ENTROPY)
def sdca_update(
    q: ArrayLike,
    y: ArrayLike,
    k_ii: ArrayLike,
    C: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Maximiser of the dual of ||W||^2/2 + C sum_i w_i L_i over one example's block.

    With r = w C and b = q + c: alpha x_j + log(x_j + t_j) = b_j - lambda, alpha = r k_ii, with the
    lambda at which <1,x> = 0, by Newton's method; a = -r x, rows sum to 0.
    """
    return _batch.sdca_update(ENTROPY, q, y, k_ii, C, 0.0, costs, sample_weight)


def _warmup() -> None:
    _batch.warmup(ENTROPY)
