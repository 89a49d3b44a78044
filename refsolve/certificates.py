"""Certificates: what formulas alone prove about a candidate, whoever computed it.

Every gap is a sum of nonnegative Fenchel-Young terms in ``numpy.longdouble``. No solver is called;
the proposals that sharpen a bound (`nearest` of a set) are themselves only judged, never believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve._multiclass import (
    WEIGHT,
    Loss,
    block,
    check_costs,
    check_other_costs,
    check_scores,
    margins,
    others,
)
from refsolve.errors import InvalidParameterError
from refsolve.spec import LARGEST, Symbol, check_vector

Real = np.longdouble
Array = np.ndarray[Any, Any]
RHO = Symbol("rho", "weight of the squared sum", low=0, default=0.0)
STEP = Symbol("t", "step of the prox", low=0, low_open=True, default=1.0)
GRAM = Symbol("k_ii", "squared norm of the example", low=0)
BOX = Symbol("C", "1/(lambda n)", low=0, low_open=True, default=1.0)
#: Per entry: points no further outside a domain may be points of it, rounded to float64.
DOMAIN_SLACK = 64 * float(np.finfo(float).eps)


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


def _up(bound: Any) -> float:
    """A bound rounded to float64 without getting smaller."""
    value = float(bound)
    return value * (1 + 2.0**-50) if np.isfinite(value) else value


def _norm(v: Array) -> Any:
    """Euclidean norm without underflow of the squares."""
    top = abs(v).max(initial=0)
    return top * np.sqrt(((v / top) ** 2).sum()) if top > 0 else Real(0)


def _rounding(d: int, *norms: Any) -> Any:
    """How far the data would have to move to excuse the rounding of the formulas.

    A gap computed in longdouble is exact for data perturbed by this much, and the solutions here
    depend on their data without expansion: it is added to every distance.
    """
    return (8 + np.log2(d)) * np.finfo(Real).eps * sum(norms)


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
    if hasattr(module, "radius"):  # the part with s <= r that holds x and the solution suffices
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
    given = _candidate("x", x, a.size)
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
    sums = rho * max(s, proposal.sum()) * np.sqrt(a.size)
    rounding = _rounding(a.size, _norm(a), _norm(given), _norm(proposal), sums)
    # no two points of the set that matter are further apart than their norms
    size = projection_size(stem, a, rho=float(rho), **checked)
    distance = min(distance + rounding, _norm(given) + size)
    gap += rounding * min(distance, s + size)
    value = (((repaired - a) ** 2).sum() + rho * s**2) / 2
    scale = float(abs(a).max()) * size
    return Certificate(_up(gap), abs(float(violation)), _up(distance), float(value), scale)


def _candidate(name: str, value: Any, size: int) -> Array:
    """A candidate as longdouble; longdouble candidates keep their digits."""
    check_vector(name, value, size=size, largest=np.inf)
    return np.asarray(value, Real)


def _number_error(value: Any, low: Any, high: Any) -> float:
    """Bound on |value - v| for a v in [low, high]; inf for a value that is no number."""
    given = Real(value)
    return max(0.0, float(given - low), float(high - given)) if np.isfinite(given) else np.inf


def loss_value(
    stem: str,
    value: Any,
    scores: Any,
    y: Any,
    *,
    costs: Any = None,
    sample_weight: Any = 1.0,
    x: Any = None,
    **params: Any,
) -> Certificate:
    """Certificate of a number as weighted loss sample_weight * L(y, scores).

    The loss lies between <z,x> - conjugate(x) and a bound of Moreau type at a point x of the
    domain: the given one, or a proposal. ``gap`` and ``distance`` bound the candidate's error.
    """
    scores, y = check_scores("scores", scores, y)
    loss = Loss(stem, params, scores.size - 1)
    z = margins(scores.astype(Real), y, check_costs(costs, y, scores.size))
    weight = Real(WEIGHT.check(sample_weight))
    lower: Any
    upper: Any
    lower, upper = loss.value_bounds(z)
    if x is not None:
        x = loss.repair(_candidate("x", x, z.size))
        lower = max(0, z @ x - loss.conjugate(x))
        upper = lower + loss.fenchel_young(z, x)
    error = _number_error(value, weight * lower, weight * upper)
    return Certificate(error, 0.0, error, float(weight * upper), float(weight * abs(z).max()))


def gradient(
    stem: str,
    g: Any,
    scores: Any,
    y: Any,
    *,
    costs: Any = None,
    sample_weight: Any = 1.0,
    **params: Any,
) -> Certificate:
    """Certificate of g, (m,), as (sub)gradient of the weighted loss in the scores.

    ``gap`` is the Fenchel-Young gap of x = (g without y)/weight: 0 if and only if it is a
    subgradient; ``violation`` covers the domain and <1,g> = 0. For gamma > 0 the gradient is
    unique and ``distance`` bounds the error.
    """
    scores, y = check_scores("scores", scores, y)
    m = scores.size
    loss = Loss(stem, params, m - 1)
    z = margins(scores.astype(Real), y, check_costs(costs, y, m))
    weight = Real(WEIGHT.check(sample_weight))
    given = _candidate("g", g, m)
    raw = others(given, y) / weight if weight > 0 else 0 * z
    x = loss.repair(raw)
    gap = weight * loss.fenchel_young(z, x)
    distance: Any = _norm(given) if weight == 0 else np.nan
    if loss.gamma > 0 and weight > 0:

        def through(point: Array) -> Any:
            # gamma-strongly convex in x; the entry at y adds at most d ||dx||^2
            rest = np.sqrt(2 * loss.fenchel_young(z, point) / loss.gamma * m)
            return _norm(given + weight * block(point, y)) + weight * rest

        rounding = weight * np.sqrt(m) * _rounding(m, _norm(z)) / loss.gamma
        distance = min(through(x), through(loss.maximiser(z))) + rounding
    violation = max(abs(given.sum()), weight * loss.violation(raw))
    scale = float(weight * abs(z).max())
    return Certificate(_up(gap), float(violation), _up(distance), float(weight * (z @ x)), scale)


def conjugate(stem: str, value: Any, x: Any, *, costs: Any = None, **params: Any) -> Certificate:
    """Certificate of a number as conjugate(x) - <c,x>; ``violation`` is that of x.

    A finite number is compared with the formula. +inf is right, with gap 0, where x violates the
    domain by more than rounding explains (the violation is a formula too); elsewhere its gap is inf.
    """
    x = _candidate("x", x, check_vector("x", x).size)
    loss = Loss(stem, params, x.size)
    c = check_other_costs(costs, x.size).astype(Real)
    violation = abs(float(loss.violation(x)))
    if value == np.inf and violation > x.size * DOMAIN_SLACK:
        return Certificate(0.0, violation, 0.0, np.inf, np.inf)
    exact = loss.conjugate(x) - c @ x
    error = _number_error(value, exact, exact)
    scale = float(loss.conjugate(x) + abs(c) @ abs(x))
    return Certificate(error, violation, error, float(exact), scale)


def prox(
    stem: str, u: Any, v: Any, *, t: Any = 1.0, costs: Any = None, **params: Any
) -> Certificate:
    """Certificate of u as argmin phi(u + c) + ||u - v||^2/(2t), over the m - 1 others.

    gap = value(z) + conjugate(x) - <z,x> + ||u - v + t x||^2/(2t) at z = u + c and a dual point x
    of the domain, (v - u)/t repaired or a proposal; ||u - u*||^2 <= 2 t gap.
    """
    v = check_vector("v", v).astype(Real)
    u = _candidate("u", u, v.size)
    t = Real(STEP.check(t))
    loss = Loss(stem, params, v.size)
    c = check_other_costs(costs, v.size).astype(Real)

    def gap_at(point: Array, x: Array) -> Any:
        square = ((point - v + t * x) ** 2).sum() / (2 * t)
        return loss.fenchel_young(point + c, x) + square

    gap = gap_at(u, loss.repair((v - u) / t))
    distance = np.sqrt(2 * t * gap)
    proposal = loss.nearest((v + c) / (t + loss.gamma))  # the dual is a projection
    if proposal is not None:
        gap = min(gap, gap_at(u, proposal))
        better = v - t * proposal
        through = _norm(u - better) + np.sqrt(2 * t * gap_at(better, proposal))
        distance = min(np.sqrt(2 * t * gap), through)
    rounding = _rounding(v.size, _norm(v), _norm(c), _norm(u), t)
    distance += rounding
    gap += rounding * min(distance / t, 1 + _norm(u - v) / t)  # the envelope is 1-Lipschitz in v
    value = loss.value_bounds(u + c)[1] + ((u - v) ** 2).sum() / (2 * t)
    return Certificate(_up(gap), 0.0, _up(distance), float(value), float(abs(v + c).max()))


def sdca_update(
    stem: str,
    a: Any,
    q: Any,
    y: Any,
    k_ii: Any,
    *,
    C: Any = 1.0,
    costs: Any = None,
    sample_weight: Any = 1.0,
    **params: Any,
) -> Certificate:
    """Certificate of a, (m,), as the block that maximises the dual, the others fixed.

    With x = -a over the others it is the minimiser of K/2 (||x||^2 + s^2) - <b,x> +
    gamma/(2 w C) ||x||^2 over the dual set scaled to r = w C, b = q - q_y + c, w the weight.
    ``distance`` is nan for K = gamma = 0, where the block need not be unique.
    """
    q, y = check_scores("q", q, y)
    m = q.size
    loss = Loss(stem, params, m - 1)
    given = _candidate("a", a, m)
    gram, mass, b = update_data(loss, q, y, k_ii, C, costs, sample_weight)
    raw = others(given, y)
    if mass == 0:
        size = float(_norm(given))
        return Certificate(0.0, size, size, 0.0, 0.0)
    # in units of the mass: x in the domain, beta/2 (||x||^2 + s^2) - <b,x> + gamma/2 ||x||^2
    beta, x = gram * mass, loss.repair(-raw / mass)

    def gap_at(x: Array) -> Any:
        # the loss at z = b - beta (x + s 1) has x as its gradient
        return loss.fenchel_young(b - beta * (x + x.sum()), x)

    def error(gap: Any) -> Any:
        # beta-strongly convex in the block, gamma-strongly in x alone
        bounds = [np.inf if beta == 0 else 2 * gap / beta]
        bounds += [] if loss.gamma == 0 else [2 * gap * m / loss.gamma]
        return np.sqrt(min(bounds))

    gap = gap_at(x)
    distance = _norm(given - mass * block(x, y)) + mass * error(gap)
    den = beta + loss.gamma
    proposal = None if den == 0 else loss.nearest(b / den, rho=beta / den)
    if proposal is not None:
        through = _norm(given - mass * block(proposal, y)) + mass * error(gap_at(proposal))
        distance = min(distance, through)
        e = x - proposal  # the proposal's dual point, for the candidate
        dual = b - beta * (proposal + proposal.sum())
        bound = loss.fenchel_young(dual, x) + beta / 2 * (e @ e + e.sum() ** 2)
        gap = min(gap, bound)
    if den > 0:
        rounding = _rounding(m, _norm(b), beta * m, loss.gamma) / den
        distance += mass * np.sqrt(m) * rounding
        gap += den * rounding * min(distance / mass, 2)  # norms in the domain are at most 1
    s = x.sum()
    value = (beta * (x @ x + s * s) + loss.gamma * (x @ x)) / 2 - b @ x
    violation = max(abs(given.sum()), mass * loss.violation(-raw / mass))
    return Certificate(
        _up(mass * gap),
        float(violation),
        _up(distance) if np.isfinite(distance) else np.nan,
        float(mass * value),
        float(mass * abs(b).max()),
    )


def update_data(
    loss: Loss, q: Array, y: int, k_ii: Any, C: Any, costs: Any, sample_weight: Any
) -> tuple[Any, Any, Array]:
    """Checked K_ii, mass w C, and b = q - q_y + c over the others."""
    gram = Real(GRAM.check(k_ii))
    mass = Real(BOX.check(C)) * Real(WEIGHT.check(sample_weight))
    if gram * mass > LARGEST:
        fix = "rescale the examples, or lower C or the weight"
        raise InvalidParameterError("k_ii", k_ii, f"k_ii * C * weight <= {LARGEST:g}", fix)
    return gram, mass, margins(q.astype(Real), y, check_costs(costs, y, q.size))


def erm(*args: Any, **kwargs: Any) -> Any:
    """Primal-dual gap of a trained model: `refsolve.models.multiclass_erm.certificate`."""
    from refsolve.models import multiclass_erm  # the model is built on this module

    return multiclass_erm.certificate(*args, **kwargs)
