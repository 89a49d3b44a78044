"""Certificates: what formulas alone prove about a candidate, whoever computed it.

Every gap is a sum of nonnegative Fenchel-Young terms in ``numpy.longdouble``. No solver is called;
the proposals that sharpen a bound (`nearest` of a set) are themselves only judged, never believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve.spec import Symbol, check_vector

Real = np.longdouble
Array = np.ndarray[Any, Any]
RHO = Symbol("rho", "weight of the squared sum", low=0, default=0.0)


@dataclass(frozen=True)
class Certificate:
    """Bounds on how wrong a candidate is.

    Attributes
    ----------
    gap : float
        Bound on objective(repaired candidate) - optimum, in units of the objective; >= 0.
    violation : float
        Largest violated constraint of the candidate as given.
    distance : float
        Bound on the Euclidean distance of the candidate as given from the solution, or nan where
        the objective is not strongly convex.
    value : float
        Objective at the repaired candidate.
    scale : float
        Natural size of the objective, to judge ``gap`` by.
    """

    gap: float
    violation: float
    distance: float
    value: float
    scale: float

    @property
    def relative_gap(self) -> float:
        """``gap / scale``; 0 if both are 0."""
        return self.gap / self.scale if self.scale > 0 else (0.0 if self.gap == 0 else np.inf)


def _norm(v: Array) -> Any:
    """Euclidean norm without underflow of the squares."""
    top = abs(v).max(initial=0)
    return top * np.sqrt(((v / top) ** 2).sum()) if top > 0 else Real(0)


def projection_size(stem: str, a: Any, *, rho: float = 0.0, **params: Any) -> float:
    """Bound on <1,x> at the solution: r, and max|a|/(rho + 1/d) if 0 is in the set.

    The second from ||x||^2 + rho s^2 <= <a,x>; times max|a| it is the size of the objective's
    variation over the set, by which a gap is to be judged.
    """
    a = np.asarray(a)
    size = float(params.get("r", np.inf))
    if catalogue.load(stem).violation(np.zeros(a.size), **params) == 0:
        size = min(size, float(abs(a).max()) / (rho + 1 / a.size))
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
    if hasattr(module, "radius"):  # unbounded: the part with s <= r holds x and the solution
        params = {**params, "r": np.maximum(module.radius(a, rho=rho, **params), s)}
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
    given = _candidate(x, a.size)
    checked = module.SPEC.check(params, a.size)
    rho = Real(RHO.check(rho))
    violation = module.violation(given, **checked)
    repaired = module.repair(given, **checked)
    s = repaired.sum()
    gap = projection_gap(stem, repaired, a, rho=rho, **checked)
    proposal = module.nearest(a, rho=rho, **checked)
    better = projection_gap(stem, proposal, a, rho=rho, **checked)
    # the same dual point, now for the candidate: sharp to second order
    w = a - proposal - rho * proposal.sum()
    gap = min(gap, projection_gap(stem, repaired, a, w, rho=rho, **checked))
    distance = min(
        _norm(given - repaired) + np.sqrt(2 * gap), _norm(given - proposal) + np.sqrt(better)
    )
    value = (((repaired - a) ** 2).sum() + rho * s**2) / 2
    scale = float(abs(a).max()) * projection_size(stem, a, rho=float(rho), **checked)
    return Certificate(float(gap), abs(float(violation)), float(distance), float(value), scale)


def _candidate(x: Any, size: int) -> Array:
    """A candidate as longdouble; longdouble candidates keep their digits."""
    check_vector("x", x, size=size)
    return np.asarray(x, Real)
