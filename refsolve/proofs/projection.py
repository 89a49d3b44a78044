"""Certificates of projections, and of the values of functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve.errors import InvalidParameterError
from refsolve.operations import RHO
from refsolve.proofs.certificate import Certificate, Real, candidate, norm, roundoff, up
from refsolve.proofs.families import check_indicator
from refsolve.spec import check_vector


def projection_size(stem: str, a: Any, *, rho: float = 0.0, **params: Any) -> float:
    """Bound on <1,x> at the solution: its largest value, and max|a|/(rho + 1/d) if 0 is in the set.

    The second from ||x||^2 + rho s^2 <= <a,x>; times max|a| it is the size of the objective's
    variation over the set, by which a gap is to be judged.
    """
    a = np.asarray(a)
    module = catalogue.load(stem)
    ones = np.ones(a.size)
    size = float(
        max(params.get("r", 0.0), module.support(ones, **params), module.support(-ones, **params))
    )
    if module.violation(np.zeros(a.size), **params) == 0:
        size = min(size, float(abs(a).max()) / (rho + 1 / a.size))
    if not np.isfinite(size):  # two points of the set are no further apart than this
        size = float(abs(a).sum() + 2 * abs(module.repair(a, **params)).sum())
    return size


def projection_gap(stem: str, x: Any, a: Any, w: Any = None, *, rho: Any = 0, **params: Any) -> Any:
    """Fenchel-Young gap of a *feasible* x for min 1/2||x - a||^2 + rho/2 s^2 over the set.

    With g = x - a + rho s 1 and a dual point w (default -g): 1/2 (g+w)' (I + rho 11')^-1 (g+w)
    + support(w) - <w,x> bounds objective(x) - optimum. For w = -g it also bounds ||x - x*||^2,
    otherwise twice the gap does.
    """
    module = catalogue.load(stem)
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
    return quadratic / 2 + module.residual(x, w, **params)


def projection(stem: str, x: Any, a: Any, *, rho: Any = 0.0, **params: Any) -> Certificate:
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
        ``k`` and ``r`` as the set declares them.

    Returns
    -------
    Certificate
        ``distance`` takes the better of two routes: the gap of the repaired candidate, or the
        distance to a proposal plus the gap of that proposal.
    """
    module = catalogue.load(stem)
    a = check_vector("a", a).astype(Real)
    given = candidate("x", x, a.size)
    rho, checked = set_arguments(module, rho, params, a.size)
    rho = Real(rho)
    violation = module.violation(given, **checked)
    repaired = module.repair(given, **checked)
    s = repaired.sum()
    gap = projection_gap(stem, repaired, a, rho=rho, **checked)
    biased = {"rho": rho} if catalogue.has_rho(module) else {}
    proposal = module.nearest(a, **biased, **checked)
    better = projection_gap(stem, proposal, a, rho=rho, **checked)
    # the same dual point, now for the candidate: sharp to second order
    w = a - proposal - rho * proposal.sum()
    gap = min(gap, projection_gap(stem, repaired, a, w, rho=rho, **checked))
    distance = min(
        norm(given - repaired) + np.sqrt(2 * gap), norm(given - proposal) + np.sqrt(better)
    )
    sums = rho * max(s, proposal.sum()) * np.sqrt(a.size)
    rounding = roundoff(a.size, norm(a), norm(given), norm(proposal), sums)
    # no two points of the set that matter are further apart than their norms
    size = projection_size(stem, a, rho=float(rho), **checked)
    distance = min(distance + rounding, norm(given) + size)
    gap += rounding * min(distance, norm(repaired) + size)
    value = (((repaired - a) ** 2).sum() + rho * s**2) / 2
    scale = float(abs(a).max()) * size
    return Certificate(up(gap), abs(float(violation)), up(distance), float(value), scale)


def set_arguments(
    module: Any, rho: Any, params: Mapping[str, Any], d: int
) -> tuple[float, dict[str, Any]]:
    """Checked rho (0 for a set without it) and parameters, y among them where the set has one."""
    params = dict(params)
    if rho != 0 and not catalogue.has_rho(module):
        raise InvalidParameterError("rho", rho, "no rho: this set has none", "drop rho")
    labelled = "y" in catalogue.arguments(module)
    y = params.pop("y", None) if labelled else None
    checked = module.SPEC.check(params, d)
    catalogue.admit(module.__name__.rpartition(".")[2], d, checked)
    rho = RHO.check(rho)
    if labelled:
        if y is None:
            raise InvalidParameterError("y", "missing", "a 0/1 row", "pass y=...")
        checked["y"] = check_indicator(y, d)
    return rho, checked


def function_value(stem: str, value: Any, t: Any) -> Certificate:
    """Certificate of a number w as lambert_w_exp(t), the root of w + log w = t.

    ``gap`` and ``distance`` bound |w - w*|, ``complement`` is not used, ``scale`` is w, so that
    `relative_gap` is the relative error. With r = w + log w - t: as a function of log w the residual
    has slope 1 + w, so log w is off by at most |r|/(1 + w e^-|r|); as a function of w it has slope
    1 + 1/w, so w is off by at most |r| b/(1 + b), b = w for r > 0, else w + |r|.
    """
    t = Real(catalogue.load(stem).SPEC.check({"t": t})["t"])
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
        error = min(w * np.expm1(r / (1 + w * np.exp(-r))), r * bound / (1 + bound))
    return Certificate(up(error), 0.0, up(error), float(w), float(w))


def _number(value: Any) -> Any:
    """A real number as longdouble, nan for anything else."""
    array = np.asarray(value)
    return Real(array[()]) if array.ndim == 0 and array.dtype.kind in "fiu" else Real(np.nan)
