"""Smooth top-k hinge, alpha variant: Moreau envelope of the top-k hinge.

L(y, f) = (<z,p> - ||p||^2/2)/gamma with p the projection of z on Delta_k^alpha(gamma),
z_j = f_j - f_y + c_j over the m - 1 other classes.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast.losses import _batch
from fast.losses._batch import positive_gamma
from fast.losses._kernels import ALPHA


def value(
    scores: ArrayLike,
    y: ArrayLike,
    k: int = 1,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Loss of each row, not averaged.

    (<z,p> - ||p||^2/2)/gamma; at most gamma/(2k) below the hinge. Lapin, Hein and Schiele 2016,
    Propositions 6 and 10.

    Parameters
    ----------
    scores : array_like, shape (m,) or (n, m)
        Scores of all classes; float64, float32 or integers (computed as float64). Never changed.
    y : int or array_like of int, shape (n,)
        True classes, 0 to m - 1.
    k : int, default 1
        1 <= k <= m - 1: more than the other classes cannot be summed.
    gamma : float, default 1.0
        Smoothing > 0, in units of z.
    costs : array_like, shape (m,) or (n, m), optional
        Margins c_j, 0 at the true class (one vector for several rows is read as 0 there);
        default 1 at the others.
    sample_weight : float or array_like, shape (n,), optional
        Factors >= 0 of the losses.

    Returns
    -------
    float or ndarray, shape (n,)
        sample_weight * loss, in the dtype of the scores.

    Raises
    ------
    fast.errors.InvalidParameterError
        An entry or parameter out of range, or shapes that do not match.
    """
    return _batch.value(ALPHA, scores, y, k, positive_gamma(gamma), costs, sample_weight)


def gradient(
    scores: ArrayLike,
    y: ArrayLike,
    k: int = 1,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[Any]:
    """Gradient of each row's loss with respect to its m scores.

    x = p/gamma; it is 1/gamma-Lipschitz in z.

    Parameters
    ----------
    scores : array_like, shape (m,) or (n, m)
        Scores of all classes; float64, float32 or integers (computed as float64). Never changed.
    y : int or array_like of int, shape (n,)
        True classes, 0 to m - 1.
    k : int, default 1
        1 <= k <= m - 1: more than the other classes cannot be summed.
    gamma : float, default 1.0
        Smoothing > 0, in units of z.
    costs : array_like, shape (m,) or (n, m), optional
        Margins c_j, 0 at the true class (one vector for several rows is read as 0 there);
        default 1 at the others.
    sample_weight : float or array_like, shape (n,), optional
        Factors >= 0 of the losses.

    Returns
    -------
    ndarray, shape (m,) or (n, m)
        x_j at the other classes and -<1,x> at y, times sample_weight: rows sum to 0.

    Raises
    ------
    fast.errors.InvalidParameterError
        An entry or parameter out of range, or shapes that do not match.
    """
    return _batch.gradient(ALPHA, scores, y, k, positive_gamma(gamma), costs, sample_weight)


def conjugate(
    x: ArrayLike,
    k: int = 1,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
) -> Any:
    """Convex conjugate of the loss as a function of u (u_j = f_j - f_y, j != y).

    L*(x) = gamma/2 ||x||^2 - <c,x> on the top-k simplex {x >= 0, <1,x> <= 1, x_i <= <1,x>/k}.

    Parameters
    ----------
    x : array_like, shape (d,) or (n, d)
        Dual points over the d = m - 1 other classes.
    k : int, default 1
        1 <= k <= m - 1: more than the other classes cannot be summed.
    gamma : float, default 1.0
        Smoothing > 0, in units of z.
    costs : array_like, shape (d,) or (n, d), optional
        Margins of the other classes; default 1.

    Returns
    -------
    float or ndarray, shape (n,)
        +inf outside the domain; 2 (d + 2) units of rounding, relative to the radius and to the
        cap, are allowed.

    Raises
    ------
    fast.errors.InvalidParameterError
        An entry or parameter out of range, or shapes that do not match.
    """
    return _batch.conjugate(ALPHA, x, k, positive_gamma(gamma), costs)


def prox(
    v: ArrayLike,
    k: int = 1,
    t: ArrayLike = 1.0,
    gamma: float = 1.0,
    costs: ArrayLike | None = None,
) -> NDArray[Any]:
    """Proximal point: argmin over u of loss(u + costs) + ||u - v||^2/(2 t).

    It is v - t x with x the projection of (v + costs)/(gamma + t) on Delta_k^alpha(1).

    Parameters
    ----------
    v : array_like, shape (d,) or (n, d)
        Points over the d = m - 1 other classes.
    k : int, default 1
        1 <= k <= m - 1: more than the other classes cannot be summed.
    t : float or array_like, shape (n,), default 1.0
        Step > 0.
    gamma : float, default 1.0
        Smoothing > 0, in units of z.
    costs : array_like, shape (d,) or (n, d), optional
        Margins of the other classes; default 1.

    Returns
    -------
    ndarray
        As ``v`` in shape and dtype.

    Raises
    ------
    fast.errors.InvalidParameterError
        An entry or parameter out of range, or shapes that do not match.
    """
    return _batch.prox(ALPHA, v, k, t, positive_gamma(gamma), costs)


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
    """Maximiser of the dual over one example's block, the others fixed.

    The model minimises ||W||^2/2 + C sum_i w_i L_i (C = 1/(lambda n)). With r = w C,
    den = k_ii + gamma/r and b = (q_j - q_y + c_j)/den over the others,
    x = argmin ||x - b||^2 + (k_ii/den) <1,x>^2 over Delta_k^alpha(r); the block is -x, and
    <1,x> at y. For den = 0 all mass that is allowed goes to the largest b.

    Parameters
    ----------
    q : array_like, shape (m,) or (n, m)
        Scores W'x_i less the example's own part k_ii a_i.
    y : int or array_like of int, shape (n,)
        True classes, 0 to m - 1.
    k_ii : float or array_like, shape (n,)
        Squared norms ||x_i||^2 >= 0.
    C : float, default 1.0
        Weight > 0 of a loss against ||W||^2/2.
    k : int, default 1
        1 <= k <= m - 1: more than the other classes cannot be summed.
    gamma : float, default 1.0
        Smoothing > 0, in units of z.
    costs : array_like, shape (m,) or (n, m), optional
        Margins c_j, 0 at the true class (one vector for several rows is read as 0 there);
        default 1 at the others.
    sample_weight : float or array_like, shape (n,), optional
        Weights w_i >= 0 of the examples; weight 0 gives the block 0.

    Returns
    -------
    ndarray, shape (m,) or (n, m)
        New blocks a_i; rows sum to 0. Each row is solved by itself.

    Raises
    ------
    fast.errors.InvalidParameterError
        An entry or parameter out of range, or shapes that do not match.
    """
    return _batch.sdca_update(ALPHA, q, y, k_ii, C, k, positive_gamma(gamma), costs, sample_weight)


def _warmup() -> None:
    _batch.warmup(ALPHA, 1.0)
