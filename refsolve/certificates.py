"""Certificates: what formulas alone prove about a candidate, whoever computed it.

Every gap is a sum of nonnegative Fenchel-Young terms in ``numpy.longdouble``. No solver is called;
the proposals that sharpen a bound (`nearest` of a set) are themselves only judged, never believed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import _pieces as pieces
from refsolve import catalogue
from refsolve import margin_certificates as margins
from refsolve._ranking_proof import loss_augmented_inference, ranking_value
from refsolve._types import Float
from refsolve.arguments import set_arguments as set_arguments
from refsolve.margin_certificates import DOMAIN_SLACK as DOMAIN_SLACK
from refsolve.models import multiclass_erm
from refsolve.operations import STEP as STEP
from refsolve.proofs import families
from refsolve.proofs import projection as projections
from refsolve.proofs.certificate import (
    Array,
    Certificate,
    Real,
    candidate,
)
from refsolve.proofs.loss import Loss
from refsolve.spec import check_vector

__all__ = [
    "Certificate",
    "conjugate",
    "erm",
    "function_value",
    "gradient",
    "loss_augmented_inference",
    "loss_value",
    "projection",
    "projection_gap",
    "projection_size",
    "prox",
    "sdca_update",
    "set_arguments",
    "update_data",
]


def projection_size(stem: str, a: ArrayLike, *, rho: float = 0.0, **params: Any) -> float:
    """Bound on <1,x> at the solution; see `refsolve.proofs.projection.projection_size`."""
    return projections.projection_size(catalogue.load(stem), np.asarray(a), rho=rho, **params)


def projection_gap(
    stem: str, x: ArrayLike, a: ArrayLike, w: Any = None, *, rho: Any = 0, **params: Any
) -> Any:
    """Fenchel-Young gap of a *feasible* x; see `refsolve.proofs.projection.projection_gap`."""
    return projections.projection_gap(
        catalogue.load(stem), np.asarray(x), np.asarray(a), w, rho=rho, **params
    )


def projection(
    stem: str, x: ArrayLike, a: ArrayLike, *, rho: Any = 0.0, **params: Any
) -> Certificate:
    """Certificate of ``x`` as minimiser of 1/2||x - a||^2 + rho/2 <1,x>^2 over the set ``stem``.

    Parameters
    ----------
    stem : str
        A set, e.g. "topk_simplex_alpha".
    x, a : (d,) array
        Candidate and point.
    rho : float
        Weight of the squared sum, >= 0.
    **params
        ``k``, ``r`` and others as the set declares them.
    """
    module = catalogue.load(stem)
    a = check_vector("a", a).astype(Real)
    given = candidate("x", x, a.size)
    rho, checked = set_arguments(module, rho, params, a.size)
    return projections.projection(module, given, a, Real(rho), **checked)


def function_value(stem: str, value: float, t: Float) -> Certificate:
    """Certificate of a number as value of a function; see `refsolve.proofs.projection`."""
    t = Real(catalogue.load(stem).SPEC.check({"t": t})["t"])
    return projections.function_value(value, t)


def loss_value(
    stem: str,
    value: float,
    scores: ArrayLike,
    y: ArrayLike,
    *,
    costs: ArrayLike | None = None,
    sample_weight: float = 1.0,
    x: ArrayLike | None = None,
    **params: Any,
) -> Certificate:
    """Certificate of a number as weighted loss sample_weight * L(y, scores).

    The loss lies between <z,x> - conjugate(x) and a bound of Moreau type at a point x of the
    domain: the given one, or a proposal. ``gap`` and ``distance`` bound the candidate's error.
    The loss of a query takes its ``scores`` and relevance ``y``, and x as coefficients.
    """
    given: dict[str, Any] = {
        "scores": scores,
        "y": y,
        "costs": costs,
        "sample_weight": sample_weight,
    }
    if families.is_ranking(catalogue.load(stem)):
        return ranking_value(stem, value, coefficients=x, **given, **params)
    if _of_pieces(stem):
        return pieces.value(stem, value, **given, **params)
    return margins.loss_value(stem, value, x=x, **given, **params)


def gradient(
    stem: str,
    g: ArrayLike,
    scores: ArrayLike,
    y: ArrayLike,
    *,
    costs: ArrayLike | None = None,
    sample_weight: float = 1.0,
    complement: ArrayLike | None = None,
    **params: Any,
) -> Certificate:
    """Certificate of g, (m,), as (sub)gradient of the weighted loss in the scores.

    ``gap`` is the Fenchel-Young gap of x = (g without y)/weight: 0 if and only if it is a
    subgradient; ``violation`` covers the domain and <1,g> = 0. For gamma > 0 the gradient is
    unique and ``distance`` bounds the error.
    """
    given: dict[str, Any] = {
        "scores": scores,
        "y": y,
        "costs": costs,
        "sample_weight": sample_weight,
    }
    proofs = pieces if _of_pieces(stem) else margins
    return proofs.gradient(stem, g, **given, complement=complement, **params)


def conjugate(
    stem: str,
    value: float,
    x: ArrayLike,
    *,
    y: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    complement: ArrayLike | None = None,
    **params: Any,
) -> Certificate:
    """Certificate of a number as conjugate(x) - <c,x>; ``violation`` is that of x.

    A finite number is compared with the formula. +inf is right, with gap 0, where x violates the
    domain by more than rounding explains (the violation is a formula too); elsewhere its gap is inf.
    """
    given = {"costs": costs, "complement": complement, **params}
    if _of_pieces(stem):
        return pieces.conjugate(stem, value, x, **given)
    return margins.conjugate(stem, value, x, y=y, **given)


def prox(
    stem: str,
    u: ArrayLike,
    v: ArrayLike,
    *,
    t: Float = 1.0,
    y: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    complement: ArrayLike | None = None,
    **params: Any,
) -> Certificate:
    """Certificate of u as argmin phi(u + c) + ||u - v||^2/(2t), over the m - 1 others.

    gap = value(z) + conjugate(x) - <z,x> + ||u - v + t x||^2/(2t) at z = u + c and a dual point x
    of the domain, (v - u)/t repaired or a proposal; ||u - u*||^2 <= 2 t gap.
    """
    given = {"t": t, "costs": costs, "complement": complement, **params}
    return (
        pieces.prox(stem, u, v, **given)
        if _of_pieces(stem)
        else margins.prox(stem, u, v, y=y, **given)
    )


def sdca_update(
    stem: str,
    a: ArrayLike,
    q: ArrayLike,
    y: ArrayLike,
    k_ii: float,
    *,
    C: float = 1.0,
    costs: ArrayLike | None = None,
    sample_weight: float = 1.0,
    complement: ArrayLike | None = None,
    **params: Any,
) -> Certificate:
    """Certificate of a, (m,), as the block that maximises the dual, the others fixed.

    With x = -a over the others it is the minimiser of K/2 (||x||^2 + s^2) - <b,x> +
    gamma/(2 w C) ||x||^2 over the dual set scaled to r = w C, b = q - q_y + c, w the weight.
    ``distance`` is nan for K = gamma = 0, where the block need not be unique.
    """
    given: dict[str, Any] = {
        "y": y,
        "k_ii": k_ii,
        "C": C,
        "costs": costs,
        "sample_weight": sample_weight,
        "complement": complement,
    }
    return margins.sdca_update(stem, a, q, **given, **params)


def update_data(
    loss: Loss,
    q: Array,
    y: int,
    k_ii: float,
    C: float,
    costs: ArrayLike | None,
    sample_weight: float,
) -> tuple[Any, Any, Array]:
    """Checked K_ii, mass w C, and b = q - q_y + c over the others."""
    return margins.update_data(loss, q, y, k_ii, C, costs, sample_weight)


def _of_pieces(stem: str) -> bool:
    """Whether a loss is the least of convex pieces."""
    return hasattr(catalogue.load(stem), "pieces")


def erm(*args: Any, **kwargs: Any) -> Any:
    """Primal-dual gap of a trained model: `refsolve.models.multiclass_erm.certificate`."""
    return multiclass_erm.certificate(*args, **kwargs)
