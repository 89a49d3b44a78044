"""Certificates: what formulas alone prove about a candidate, whoever computed it.

Every gap is a sum of nonnegative Fenchel-Young terms in ``numpy.longdouble``. No solver is called;
the proposals that sharpen a bound (`nearest` of a set) are themselves only judged, never believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve._families import check_indicator
from refsolve._multiclass import WEIGHT, Loss, check_complement, check_example, check_point
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
    complement : float
        Bound on the relative error of the candidate's 1 - s, if it was given, else nan.
    """

    gap: float
    violation: float
    distance: float
    value: float
    scale: float
    complement: float = field(default=np.nan, kw_only=True)

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
    given = _candidate("x", x, a.size)
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
    rho = RHO.check(rho)
    if labelled:
        if y is None:
            raise InvalidParameterError("y", "missing", "a 0/1 row", "pass y=...")
        checked["y"] = check_indicator(y, d)
    return rho, checked


def _candidate(name: str, value: Any, size: int) -> Array:
    """A candidate as longdouble; longdouble candidates keep their digits."""
    check_vector(name, value, size=size, largest=np.inf)
    return np.asarray(value, Real)


def _number_error(value: Any, low: Any, high: Any) -> float:
    """Bound on |value - v| for a v in [low, high]; inf for a value that is no number."""
    given = Real(value)
    return max(0.0, float(given - low), float(high - given)) if np.isfinite(given) else np.inf


def _of_pieces(stem: str) -> Any:
    """The certificates of a loss that is the least of convex pieces; None for the others."""
    if not hasattr(catalogue.load(stem), "pieces"):
        return None
    from refsolve import _pieces  # built on this module

    return _pieces


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
    given = {"scores": scores, "y": y, "costs": costs, "sample_weight": sample_weight}
    if (pieces := _of_pieces(stem)) is not None:
        return pieces.value(stem, value, **given, **params)
    scores, y, loss = check_example(stem, "scores", scores, y, params)
    z = loss.margins(scores.astype(Real), y, loss.check_costs(costs, y))
    weight = Real(WEIGHT.check(sample_weight))
    lower: Any
    upper: Any
    lower, upper = loss.value_bounds(z)
    if x is not None:
        x = loss.repair(_candidate("x", x, z.size))
        lower = max(0, z @ x - loss.conjugate(x))
        upper = lower + loss.fenchel_young(z, x)
    error = _number_error(value, weight * lower, weight * upper)
    return Certificate(error, 0.0, error, float(weight * upper), float(weight * loss.size(z)))


def gradient(
    stem: str,
    g: Any,
    scores: Any,
    y: Any,
    *,
    costs: Any = None,
    sample_weight: Any = 1.0,
    complement: Any = None,
    **params: Any,
) -> Certificate:
    """Certificate of g, (m,), as (sub)gradient of the weighted loss in the scores.

    ``gap`` is the Fenchel-Young gap of x = (g without y)/weight: 0 if and only if it is a
    subgradient; ``violation`` covers the domain and <1,g> = 0. For gamma > 0 the gradient is
    unique and ``distance`` bounds the error.
    """
    if (pieces := _of_pieces(stem)) is not None:
        example = {"scores": scores, "y": y, "costs": costs, "sample_weight": sample_weight}
        return pieces.gradient(stem, g, **example, complement=complement, **params)
    scores, y, loss = check_example(stem, "scores", scores, y, params)
    m = scores.size
    z = loss.margins(scores.astype(Real), y, loss.check_costs(costs, y))
    weight = Real(WEIGHT.check(sample_weight))
    given = _candidate("g", g, m)
    raw = loss.family.coordinates(-given, y) / weight if weight > 0 else 0 * z
    x, rest = loss.balance(loss.repair(raw), _complement(loss, complement))
    best = loss.maximum(z)
    gap = weight * loss.fenchel_young(z, x, best, rest)
    distance: Any = _norm(given) if weight == 0 else np.nan
    if loss.modulus > 0 and weight > 0:

        def through(point: Array, bound: Any) -> Any:
            # strongly convex in x; the entry at y adds at most d ||dx||^2
            error = np.sqrt(2 * bound / loss.modulus * loss.spread)
            return _norm(given + weight * loss.block(point, y)) + weight * error

        rounding = weight * np.sqrt(loss.spread) * _rounding(m, _norm(z)) / loss.modulus
        proposal = best.x - loss.target
        own = loss.fenchel_young(z, proposal, best, loss.complement_of(best))
        distance = min(through(x, gap / weight), through(proposal, own)) + rounding
    violation = max(loss.family.unbalance(given), weight * loss.violation(raw))
    scale = float(weight * loss.size(z))
    value = float(weight * (z @ x))
    error = _complement_error(loss, complement, z, Real(0))
    return Certificate(_up(gap), float(violation), _up(distance), value, scale, complement=error)


def _complement(loss: Loss, complement: Any) -> Any:
    """Checked 1 - s, or None; only a loss with the entropy of (x, 1 - s) has one."""
    if complement is None:
        return None
    if loss.generator != "entropy":
        raise InvalidParameterError(
            "complement", complement, "no complement: this conjugate has no 1 - s", "drop it"
        )
    return check_complement(complement)


def _complement_error(
    loss: Loss, complement: Any, b: Array, beta: Any, coupled: bool = False
) -> float:
    """Bound on the relative error of 1 - s at argmin beta/2 (...) - <b,x> + conjugate(x)."""
    given = _complement(loss, complement)
    if given is None:
        return np.nan
    low, high = loss.root(b, beta, coupled).complement()
    smallest = np.log(Real(np.finfo(float).tiny))
    if given <= np.finfo(float).tiny:  # float64 ends there, gradually
        return 0.0 if high <= smallest + 1e-9 else np.inf
    return _up(np.expm1(max(np.log(given) - low, high - np.log(given), 0)))


def conjugate(
    stem: str,
    value: Any,
    x: Any,
    *,
    y: Any = None,
    costs: Any = None,
    complement: Any = None,
    **params: Any,
) -> Certificate:
    """Certificate of a number as conjugate(x) - <c,x>; ``violation`` is that of x.

    A finite number is compared with the formula. +inf is right, with gap 0, where x violates the
    domain by more than rounding explains (the violation is a formula too); elsewhere its gap is inf.
    """
    x = _candidate("x", x, check_vector("x", x).size)
    if (pieces := _of_pieces(stem)) is not None:
        return pieces.conjugate(stem, value, x, costs=costs, complement=complement, **params)
    loss = check_point(stem, x.size, y, params)
    c = loss.check_own_costs(costs).astype(Real)
    rest = _complement(loss, complement)
    violation = abs(float(loss.violation(x)))
    if rest is not None:
        violation = max(violation, abs(float(x.sum() + rest - 1)))
    if value == np.inf and violation > x.size * DOMAIN_SLACK:
        return Certificate(0.0, violation, 0.0, np.inf, np.inf)
    own = loss.conjugate(loss.repair(x) if loss.generator != "quadratic" else x, rest)
    exact = own - c @ x
    error = _number_error(value, exact, exact)
    least = 0 if loss.generator == "quadratic" else np.log(loss.d + 1.0)
    scale = float(abs(own) + abs(c) @ abs(x) + least)
    return Certificate(error, violation, error, float(exact), scale)


def prox(
    stem: str,
    u: Any,
    v: Any,
    *,
    t: Any = 1.0,
    y: Any = None,
    costs: Any = None,
    complement: Any = None,
    **params: Any,
) -> Certificate:
    """Certificate of u as argmin phi(u + c) + ||u - v||^2/(2t), over the m - 1 others.

    gap = value(z) + conjugate(x) - <z,x> + ||u - v + t x||^2/(2t) at z = u + c and a dual point x
    of the domain, (v - u)/t repaired or a proposal; ||u - u*||^2 <= 2 t gap.
    """
    v = check_vector("v", v).astype(Real)
    u = _candidate("u", u, v.size)
    t = Real(STEP.check(t))
    if (pieces := _of_pieces(stem)) is not None:
        return pieces.prox(stem, u, v, t=t, costs=costs, complement=complement, **params)
    loss = check_point(stem, v.size, y, params)
    c = loss.check_own_costs(costs).astype(Real)

    def gap_at(point: Array, x: Array, rest: Any = None) -> Any:
        square = ((point - v + t * x) ** 2).sum() / (2 * t)
        return loss.fenchel_young(point + c, x, complement=rest) + square

    gap = gap_at(u, *loss.balance(loss.repair((v - u) / t), _complement(loss, complement)))
    distance = np.sqrt(2 * t * gap)
    proposal = loss.propose(v + c, t)  # the dual problem
    if proposal is not None:
        gap = min(gap, gap_at(u, *proposal))
        better = v - t * proposal[0]
        through = _norm(u - better) + np.sqrt(2 * t * gap_at(better, *proposal))
        distance = min(np.sqrt(2 * t * gap), through)
    rounding = _rounding(v.size, _norm(v), _norm(c), _norm(u), t)
    distance += rounding
    gap += rounding * min(distance / t, 1 + _norm(u - v) / t)  # the envelope is 1-Lipschitz in v
    value = loss.value_bounds(u + c)[1] + ((u - v) ** 2).sum() / (2 * t)
    scale = float(loss.size(v + c))
    wrong = _complement_error(loss, complement, v + c, t)
    return Certificate(_up(gap), 0.0, _up(distance), float(value), scale, complement=wrong)


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
    complement: Any = None,
    **params: Any,
) -> Certificate:
    """Certificate of a, (m,), as the block that maximises the dual, the others fixed.

    With x = -a over the others it is the minimiser of K/2 (||x||^2 + s^2) - <b,x> +
    gamma/(2 w C) ||x||^2 over the dual set scaled to r = w C, b = q - q_y + c, w the weight.
    ``distance`` is nan for K = gamma = 0, where the block need not be unique.
    """
    q, y, loss = check_example(stem, "q", q, y, params)
    m = q.size
    given = _candidate("a", a, m)
    gram, mass, b = update_data(loss, q, y, k_ii, C, costs, sample_weight)
    raw = loss.family.coordinates(given, y)
    if mass == 0:
        size = float(_norm(given))
        return Certificate(0.0, size, size, 0.0, 0.0)
    # in units of the mass: x in the domain, beta/2 ||block(x)||^2 - <b,x> + conjugate(x)
    beta = gram * mass
    x, rest = loss.balance(loss.repair(raw / mass), _complement(loss, complement))

    def gap_at(x: Array, rest: Any = None) -> Any:
        # the loss at z = b - beta M M'x has x as its gradient
        return loss.fenchel_young(b - beta * loss.family.pull(x), x, complement=rest)

    def error(gap: Any) -> Any:
        # beta-strongly convex in the block, modulus-strongly in x alone
        bounds = [np.inf if beta == 0 else 2 * gap / beta]
        bounds += [] if loss.modulus == 0 else [2 * gap * loss.spread / loss.modulus]
        return np.sqrt(min(bounds))

    gap = gap_at(x, rest)
    distance = _norm(given - mass * loss.block(x, y)) + mass * error(gap)
    den = beta + loss.modulus
    proposal = loss.propose(b, beta, coupled=loss.family.coupled)
    if proposal is not None:
        better = proposal[0]
        through = _norm(given - mass * loss.block(better, y)) + mass * error(gap_at(*proposal))
        distance = min(distance, through)
        # the proposal's dual point, for the candidate
        dual = b - beta * loss.family.pull(better)
        bound = loss.fenchel_young(dual, x, complement=rest)
        gap = min(gap, bound + beta / 2 * loss.square(x - better))
    if den > 0:
        rounding = _rounding(m, _norm(b), beta * m, loss.modulus) / den
        distance += mass * np.sqrt(m) * rounding
        gap += den * rounding * min(distance / mass, 2)  # norms in the domain are at most 1
    value = beta / 2 * loss.square(x) + loss.conjugate(x, rest) - b @ x
    violation = max(loss.family.unbalance(given), mass * loss.violation(raw / mass))
    return Certificate(
        _up(mass * gap),
        float(violation),
        _up(distance) if np.isfinite(distance) else np.nan,
        float(mass * value),
        float(mass * loss.size(b)),
        complement=_complement_error(loss, complement, b, beta, coupled=True),
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
    return gram, mass, loss.margins(q.astype(Real), y, loss.check_costs(costs, y))


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
        return Certificate(_up(error), 0.0, _up(error), float(w), float(tiny))
    if w == 0:
        return Certificate(np.inf, 0.0, np.inf, 0.0, 1.0)
    noise = 4 * np.finfo(Real).eps * (w + abs(np.log(w)) + abs(t))
    residual = w + np.log(w) - t
    r = abs(residual) + noise
    bound = w if residual > noise else w + r
    with np.errstate(over="ignore"):
        error = min(w * np.expm1(r / (1 + w * np.exp(-r))), r * bound / (1 + bound))
    return Certificate(_up(error), 0.0, _up(error), float(w), float(w))


def _number(value: Any) -> Any:
    """A real number as longdouble, nan for anything else."""
    array = np.asarray(value)
    return Real(array[()]) if array.ndim == 0 and array.dtype.kind in "fiu" else Real(np.nan)


def erm(*args: Any, **kwargs: Any) -> Any:
    """Primal-dual gap of a trained model: `refsolve.models.multiclass_erm.certificate`."""
    from refsolve.models import multiclass_erm  # the model is built on this module

    return multiclass_erm.certificate(*args, **kwargs)
