"""Certificates of projections, and of the values of functions."""

from types import ModuleType
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve._types import Array, Float, Floats
from refsolve.proofs.certificate import Certificate, Real, norm, roundoff, up


def projection_size(module: ModuleType, a: Array, *, rho: float = 0.0, **params: Any) -> float:
    """Bound on <1,x> at the solution: its largest value, and max|a|/(rho + 1/d) if 0 is in the set.

    The second from ||x||^2 + rho s^2 <= <a,x>; times max|a| it is the size of the objective's
    variation over the set, by which a gap is to be judged.
    """
    a = np.asarray(a)
    ones = np.ones(a.size)
    largest = float(
        max(params.get("r", 0.0), module.support(ones, **params), module.support(-ones, **params))
    )
    if module.violation(np.zeros(a.size), **params) == 0:
        largest = min(largest, float(abs(a).max()) / (rho + 1 / a.size))
    if hasattr(module, "part"):  # the solution is no further from a than any point of the set
        apart = norm(module.repair(a.astype(Real), **params) - a)
        largest = min(largest, float((norm(a) + apart) * np.sqrt(a.size)))
    return largest


def projection_gap(
    module: ModuleType,
    x: Array,
    a: Array,
    w: Array | None = None,
    *,
    rho: Floats = 0,
    **params: Any,
) -> Any:
    """Fenchel-Young gap of a *feasible* x for min 1/2||x - a||^2 + rho/2 s^2 over the set.

    With g = x - a + rho s 1 and a dual point w (default -g): 1/2 (g+w)' (I + rho 11')^-1 (g+w)
    + support(w) - <w,x> bounds objective(x) - optimum. For w = -g it also bounds ||x - x*||^2,
    otherwise twice the gap does.
    """
    x, a, rho = (np.asarray(v, Real) for v in (x, a, rho))
    s = x.sum()
    g = x - a + rho * s
    w = -g if w is None else np.asarray(w, Real)
    if hasattr(module, "radius"):  # the part with s <= r that holds x and the solution suffices
        biased = {"rho": rho} if catalogue.has_rho(module) else {}
        bound = np.maximum(module.radius(a, **biased, **params), s)
        params = {**params, "r": np.minimum(params.get("r", np.inf), bound)}
    e = g + w
    quadratic = ((e - e.mean()) ** 2).sum() + e.sum() ** 2 / (e.size * (1 + rho * e.size))
    whole, gap = params, norm(g) ** 2 / 2  # the solution is no further from x than g is long
    for _ in range(3 if hasattr(module, "part") else 0):  # nor than the gap says
        params = module.part(x, np.sqrt(2 * gap), **whole)
        gap = quadratic / 2 + module.residual(x, w, **params)
    return quadratic / 2 + module.residual(x, w, **params)


def projection(
    module: ModuleType, given: Array, a: Array, rho: Float, **checked: Any
) -> Certificate:
    """Certificate of ``given`` as minimiser of 1/2||x - a||^2 + rho/2 <1,x>^2, in longdouble.

    ``distance`` takes the better of two routes: the gap of the repaired candidate, or the distance to
    a proposal plus the gap of that proposal.
    """
    violation = module.violation(given, **checked)
    repaired = module.repair(given, **checked)
    s = repaired.sum()
    gap = projection_gap(module, repaired, a, rho=rho, **checked)
    biased = {"rho": rho} if catalogue.has_rho(module) else {}
    proposal = module.nearest(a, **biased, **checked)
    better = projection_gap(module, proposal, a, rho=rho, **checked)
    # the same dual point, now for the candidate: sharp to second order
    w = a - proposal - rho * proposal.sum()
    gap = min(gap, projection_gap(module, repaired, a, w, rho=rho, **checked))
    distance = min(
        norm(given - repaired) + np.sqrt(2 * gap), norm(given - proposal) + np.sqrt(better)
    )
    sums = rho * max(s, proposal.sum()) * np.sqrt(a.size)
    spread = module.conditioning(**checked) if hasattr(module, "conditioning") else 1
    rounding = roundoff(a.size, norm(a), spread * norm(given), spread * norm(proposal), sums)
    # no two points of the set that matter are further apart than their norms
    size = projection_size(module, a, rho=float(rho), **checked)
    distance = min(distance + rounding, norm(given) + size)
    gap += rounding * min(distance, norm(repaired) + size)
    value = (((repaired - a) ** 2).sum() + rho * s**2) / 2
    far = size**2 if hasattr(module, "part") else 0.0  # from the set, while a is small
    scale = max(float(abs(a).max()) * size, far)
    return Certificate(up(gap), abs(float(violation)), up(distance), float(value), scale)


def function_value(value: object, t: Float) -> Certificate:
    """Certificate of a number w as W(e^t), the root of w + log w = t.

    ``gap`` and ``distance`` bound |w - w*|, ``complement`` is not used, ``scale`` is w, so that
    `relative_gap` is the relative error. With r = w + log w - t: as a function of log w the residual
    has slope 1 + w, so log w is off by at most |r|/(1 + w e^-|r|); as a function of w it has slope
    1 + 1/w, so w is off by at most |r| b/(1 + b), b = w for r > 0, else w + |r|.
    """
    w = _number(value)
    if not np.isfinite(w) or w < 0:
        return Certificate(np.inf, float(max(0, -w)), np.inf, float(w), 1.0)
    tiny = Real(np.finfo(float).tiny)
    if w <= tiny and t <= np.log(tiny):  # e^t is what float64 can hold of it, gradually
        error = max(abs(w - np.exp(t)) - Real(5e-324), Real(0))
        return Certificate(up(error), 0.0, up(error), float(w), float(tiny))
    if w == 0:
        return Certificate(np.inf, 0.0, np.inf, 0.0, 1.0)
    noise = 4 * np.finfo(Real).eps * (w + abs(np.log(w)) + abs(t))
    residual = w + np.log(w) - t
    r = abs(residual) + noise
    bound = w if residual > noise else w + r
    with np.errstate(over="ignore"):
        error = min(w * np.expm1(r / (1 + w * np.exp(-r))), r * (bound / (1 + bound)))
    return Certificate(up(error), 0.0, up(error), float(w), float(w))


def _number(value: object) -> Any:
    """A real number as longdouble, nan for anything else."""
    array = np.asarray(value)
    return Real(array[()]) if array.ndim == 0 and array.dtype.kind in "fiu" else Real(np.nan)
