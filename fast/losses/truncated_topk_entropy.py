"""Truncated top-k entropy loss: softmax over all but the k - 1 largest other classes.

L(y, f) = log(1 + sum_{j in J} e^{u_j}), u_j = f_j - f_y + c_j, J the m - k smallest of the m - 1
other classes. Not convex for k >= 2, and its biconjugate is 0: no dual. k = 1 is softmax.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from fast.kernels.entropies import TRUNCATED
from fast.losses import _batch
from fast.losses._docs import documented


@documented(TRUNCATED)
def value(
    scores: ArrayLike,
    y: ArrayLike,
    k: int = 1,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Losses log(1 + sum_J e^{u_j}).

    Lapin, Hein and Schiele 2016, equation (15) (arXiv version: 22).
    """
    return _batch.value(TRUNCATED, scores, y, k, 0.0, costs, sample_weight)


@documented(TRUNCATED)
def gradient(
    scores: ArrayLike,
    y: ArrayLike,
    k: int = 1,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    return_complement: bool = False,
) -> Any:
    """Gradients with respect to the m scores, of the piece that is kept.

    x_j = e^{u_j}/(1 + sum_J e^{u_l}) on J, 0 on the k - 1 largest (ties: the first classes are
    dropped first).
    """
    return _batch.gradient(TRUNCATED, scores, y, k, 0.0, costs, sample_weight, return_complement)


@documented(TRUNCATED)
def conjugate(
    x: ArrayLike,
    k: int = 1,
    costs: ArrayLike | None = None,
    complement: ArrayLike | None = None,
) -> Any:
    """Convex conjugate of the loss as a function of u (u_j = f_j - f_y, j != y).

    For k >= 2 it is 0 at x = 0 and +inf elsewhere: a dropped class can grow for free. For k = 1 it
    is that of softmax.
    """
    return _batch.conjugate(TRUNCATED, x, k, 0.0, costs, complement)


@documented(TRUNCATED)
def prox(
    v: ArrayLike,
    k: int = 1,
    t: ArrayLike = 1.0,
    costs: ArrayLike | None = None,
    return_complement: bool = False,
) -> Any:
    """Proximal point: a global argmin over u of loss(u + costs) + ||u - v||^2/(2t).

    The prox of softmax on the m - k smallest entries of v + costs (ties: the first classes are
    dropped first); the others stay. The envelope of a piece J grows with every entry of v + costs,
    so that the smallest entries are the best piece.
    """
    return _batch.prox(TRUNCATED, v, k, t, 0.0, costs, return_complement)


def _warmup() -> None:
    _batch.warmup(TRUNCATED, 0.0)
