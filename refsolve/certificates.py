"""Certificates: what formulas alone prove about a candidate, whoever computed it.

Every gap is a sum of nonnegative Fenchel-Young terms in ``numpy.longdouble``. No solver is called;
the proposals that sharpen a bound (`nearest` of a set) are themselves only judged, never believed.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import numpy as np
from numpy.typing import ArrayLike

from refsolve import _pieces as pieces
from refsolve import catalogue
from refsolve import margin_certificates as margins
from refsolve._ranking_proof import loss_augmented_inference, ranking_value
from refsolve._types import Float
from refsolve.arguments import set_arguments as set_arguments
from refsolve.margin_certificates import DOMAIN_SLACK as DOMAIN_SLACK
from refsolve.margin_certificates import sdca_update, update_data
from refsolve.models.multiclass_erm import certificate as erm
from refsolve.operations import STEP as STEP
from refsolve.proofs import families
from refsolve.proofs import projection as projections
from refsolve.proofs.certificate import Certificate, Real, candidate
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

P = ParamSpec("P")
Proved = Callable[Concatenate[str, P], Certificate]


def projection_size(object_name: str, a: ArrayLike, *, rho: float = 0.0, **params: Any) -> float:
    """Bound on <1,x> at the solution; see `refsolve.proofs.projection.projection_size`."""
    return projections.projection_size(
        catalogue.load(object_name), np.asarray(a), rho=rho, **params
    )


def projection_gap(
    object_name: str, x: ArrayLike, a: ArrayLike, w: Any = None, *, rho: Any = 0, **params: Any
) -> Any:
    """Fenchel-Young gap of a *feasible* x; see `refsolve.proofs.projection.projection_gap`."""
    return projections.projection_gap(
        catalogue.load(object_name), np.asarray(x), np.asarray(a), w, rho=rho, **params
    )


def projection(
    object_name: str, x: ArrayLike, a: ArrayLike, *, rho: Any = 0.0, **params: Any
) -> Certificate:
    """Certificate of ``x`` as minimiser of 1/2||x - a||^2 + rho/2 <1,x>^2 over the set ``object``.

    Parameters
    ----------
    object_name : str
        A set, e.g. "topk_simplex_alpha".
    x, a : (d,) array
        Candidate and point.
    rho : float
        Weight of the squared sum, >= 0.
    **params
        ``k``, ``r`` and others as the set declares them.
    """
    module = catalogue.load(object_name)
    a = check_vector("a", a).astype(Real)
    given = candidate("x", x, a.size)
    rho, checked = set_arguments(module, rho, params, a.size)
    return projections.projection(module, given, a, Real(rho), **checked)


def function_value(object_name: str, value: float, t: Float) -> Certificate:
    """Certificate of a number as value of a function; see `refsolve.proofs.projection`."""
    t = Real(catalogue.load(object_name).SPEC.check({"t": t})["t"])
    return projections.function_value(value, t)


def _of_every_loss(
    proof: Proved[P], of_pieces: Proved[...], of_rankings: Proved[...] | None = None
) -> Proved[P]:
    """The certificate of a loss of margins, or of the least of convex pieces, or over rankings."""

    @wraps(proof)
    def certify(object_name: str, *args: P.args, **given: P.kwargs) -> Certificate:
        module = catalogue.load(object_name)
        if of_rankings is not None and families.is_ranking(module):
            return of_rankings(object_name, *args, **given)
        if hasattr(module, "pieces"):
            return of_pieces(object_name, *args, **given)
        return proof(object_name, *args, **given)

    return certify


loss_value = _of_every_loss(margins.loss_value, pieces.value, ranking_value)
gradient = _of_every_loss(margins.gradient, pieces.gradient)
conjugate = _of_every_loss(margins.conjugate, pieces.conjugate)
prox = _of_every_loss(margins.prox, pieces.prox)
