"""Certificates of the operations of a loss of margins: what `refsolve.certificates` says of convex ones.

Every gap is a sum of nonnegative Fenchel-Young terms in ``numpy.longdouble``.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve._types import Float, Floats, Label
from refsolve.arguments import check_complement, check_example, check_point
from refsolve.checking import LARGEST, check_vector
from refsolve.errors import InvalidParameterError
from refsolve.generators import WithRest
from refsolve.operations import BOX, GRAM, STEP, WEIGHT
from refsolve.proofs.certificate import (
    Array,
    Certificate,
    Real,
    candidate,
    norm,
    number_error,
    roundoff,
    up,
)
from refsolve.proofs.loss import Loss

#: Per entry: points no further outside a domain may be points of it, rounded to float64.
DOMAIN_SLACK = 64 * float(np.finfo(float).eps)


def loss_value(
    object_name: str,
    value: float,
    scores: ArrayLike,
    y: Label,
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
    scores, y, loss = check_example(object_name, "scores", scores, y, params)
    z = loss.margins(scores.astype(Real), y, loss.check_costs(costs, y))
    weight = Real(WEIGHT.check(sample_weight))
    lower: Any
    upper: Any
    lower, upper = loss.value_bounds(z)
    if x is not None:
        x = loss.repair(candidate("x", x, z.size))
        lower = max(0, z @ x - loss.conjugate(x))
        upper = lower + loss.fenchel_young(z, x)
    error = number_error(value, weight * lower, weight * upper)
    return Certificate(error, 0.0, error, float(weight * upper), float(weight * loss.size(z)))


def gradient(
    object_name: str,
    g: ArrayLike,
    scores: ArrayLike,
    y: Label,
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
    scores, y, loss = check_example(object_name, "scores", scores, y, params)
    m = scores.size
    z = loss.margins(scores.astype(Real), y, loss.check_costs(costs, y))
    weight = Real(WEIGHT.check(sample_weight))
    given = candidate("g", g, m)
    raw = loss.family.coordinates(-given, y) / weight if weight > 0 else 0 * z
    x, rest = loss.balance(loss.repair(raw), _complement(loss, complement))
    best = loss.maximum(z)
    gap = weight * loss.fenchel_young(z, x, best, rest)
    distance: Any = norm(given) if weight == 0 else np.nan
    if loss.modulus > 0 and weight > 0:

        def through(point: Array, bound: Floats) -> Any:
            # strongly convex in x; the entry at y adds at most d ||dx||^2
            error = np.sqrt(2 * bound / loss.modulus * loss.spread)
            return norm(given + weight * loss.block(point, y)) + weight * error

        rounding = weight * np.sqrt(loss.spread) * roundoff(m, norm(z)) / loss.modulus
        proposal = best.x - loss.target
        own = loss.fenchel_young(z, proposal, best, loss.complement_of(best))
        distance = min(through(x, gap / weight), through(proposal, own)) + rounding
    violation = max(loss.family.unbalance(given), weight * loss.violation(raw))
    scale = float(weight * loss.size(z))
    value = float(weight * (z @ x))
    error = _complement_error(loss, complement, z, Real(0))
    return Certificate(up(gap), float(violation), up(distance), value, scale, complement=error)


def _complement(loss: Loss, complement: ArrayLike | None) -> Any:
    """Checked 1 - s, or None; only a loss with the entropy of (x, 1 - s) has one."""
    if complement is None:
        return None
    if loss.generator.complement != "sum":
        raise InvalidParameterError(
            "complement", complement, "no complement: this conjugate has no 1 - s", "drop it"
        )
    return check_complement(complement)


def _complement_error(
    loss: Loss, complement: ArrayLike | None, b: Array, beta: Float, coupled: bool = False
) -> float:
    """Bound on the relative error of 1 - s at argmin beta/2 (...) - <b,x> + conjugate(x)."""
    given = _complement(loss, complement)
    if given is None:
        return np.nan
    assert isinstance(loss.generator, WithRest)
    low, high = loss.generator.rest_bounds(loss.domain, b, beta, coupled)
    smallest = np.log(Real(np.finfo(float).tiny))
    if given <= np.finfo(float).tiny:  # float64 ends there, gradually
        return 0.0 if high <= smallest + 1e-9 else np.inf
    return up(np.expm1(max(np.log(given) - low, high - np.log(given), 0)))


def conjugate(
    object_name: str,
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
    x = candidate("x", x, check_vector("x", x).size)
    loss = check_point(object_name, x.size, y, params)
    c = loss.check_own_costs(costs).astype(Real)
    rest = _complement(loss, complement)
    violation = abs(float(loss.violation(x)))
    if rest is not None:
        violation = max(violation, abs(float(x.sum() + rest - 1)))
    if value == np.inf and violation > x.size * DOMAIN_SLACK:
        return Certificate(0.0, violation, 0.0, np.inf, np.inf)
    own = loss.conjugate(x if loss.generator.rational else loss.repair(x), rest)
    exact = own - c @ x
    error = number_error(value, exact, exact)
    scale = float(abs(own) + abs(c) @ abs(x) + loss.size(0 * x))
    return Certificate(error, violation, error, float(exact), scale)


def prox(
    object_name: str,
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
    v = check_vector("v", v).astype(Real)
    u = candidate("u", u, v.size)
    t = Real(STEP.check(t))
    loss = check_point(object_name, v.size, y, params)
    c = loss.check_own_costs(costs).astype(Real)

    def gap_at(point: Array, x: Array, rest: Array | None = None) -> Any:
        square = ((point - v + t * x) ** 2).sum() / (2 * t)
        return loss.fenchel_young(point + c, x, complement=rest) + square

    gap = gap_at(u, *loss.balance(loss.repair((v - u) / t), _complement(loss, complement)))
    distance = np.sqrt(2 * t * gap)
    proposal = loss.propose(v + c, t)  # the dual problem
    if proposal is not None:
        gap = min(gap, gap_at(u, *proposal))
        better = v - t * proposal[0]
        through = norm(u - better) + np.sqrt(2 * t * gap_at(better, *proposal))
        distance = min(np.sqrt(2 * t * gap), through)
    rounding = roundoff(v.size, norm(v), norm(c), norm(u), t)
    distance += rounding
    steepest = loss.domain.largest_sum + norm(u - v) / t  # of the envelope, in v
    gap += rounding * min(distance / t, steepest)
    value = loss.value_bounds(u + c)[1] + ((u - v) ** 2).sum() / (2 * t)
    scale = float(loss.size(v + c))
    wrong = _complement_error(loss, complement, v + c, t)
    return Certificate(up(gap), 0.0, up(distance), float(value), scale, complement=wrong)


def sdca_update(
    object_name: str,
    a: ArrayLike,
    q: ArrayLike,
    y: Label,
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
    q, y, loss = check_example(object_name, "q", q, y, params)
    m = q.size
    given = candidate("a", a, m)
    gram, mass, b = update_data(loss, q, y, k_ii, C, costs, sample_weight)
    raw = loss.family.coordinates(given, y)
    if mass == 0:
        size = float(norm(given))
        return Certificate(0.0, size, size, 0.0, 0.0)
    # in units of the mass: x in the domain, beta/2 ||block(x)||^2 - <b,x> + conjugate(x)
    beta = gram * mass
    x, rest = loss.balance(loss.repair(raw / mass), _complement(loss, complement))

    def gap_at(x: Array, rest: Array | None = None) -> Any:
        # the loss at z = b - beta M M'x has x as its gradient
        return loss.fenchel_young(b - beta * loss.family.pull(x), x, complement=rest)

    def error(gap: Float) -> Any:
        # beta-strongly convex in the block, modulus-strongly in x alone
        bounds = [np.inf if beta == 0 else 2 * gap / beta]
        bounds += [] if loss.modulus == 0 else [2 * gap * loss.spread / loss.modulus]
        return np.sqrt(min(bounds))

    gap = gap_at(x, rest)
    distance = norm(given - mass * loss.block(x, y)) + mass * error(gap)
    den = beta + loss.modulus
    proposal = loss.propose(b, beta, coupled=loss.family.coupled)
    if proposal is not None:
        better = proposal[0]
        through = norm(given - mass * loss.block(better, y)) + mass * error(gap_at(*proposal))
        distance = min(distance, through)
        # the proposal's dual point, for the candidate
        dual = b - beta * loss.family.pull(better)
        bound = loss.fenchel_young(dual, x, complement=rest)
        gap = min(gap, bound + beta / 2 * loss.square(x - better))
    if den > 0:
        rounding = roundoff(m, norm(b), beta * m * loss.domain.largest_sum, loss.modulus) / den
        distance += mass * np.sqrt(m) * rounding
        gap += den * rounding * min(distance / mass, 2 * loss.domain.largest_sum)  # and so norms
    value = beta / 2 * loss.square(x) + loss.conjugate(x, rest) - b @ x
    violation = max(loss.family.unbalance(given), mass * loss.violation(raw / mass))
    return Certificate(
        up(mass * gap),
        float(violation),
        up(distance) if np.isfinite(distance) else np.nan,
        float(mass * value),
        float(mass * loss.size(b)),
        complement=_complement_error(loss, complement, b, beta, coupled=True),
    )


def update_data(
    loss: Loss,
    q: Array,
    y: Label,
    k_ii: float,
    C: float,
    costs: ArrayLike | None,
    sample_weight: float,
) -> tuple[Any, Any, Array]:
    """Checked K_ii, mass w C, and b = q - q_y + c over the others."""
    gram = Real(GRAM.check(k_ii))
    mass = Real(BOX.check(C)) * Real(WEIGHT.check(sample_weight))
    if gram * mass > LARGEST:
        fix = "rescale the examples, or lower C or the weight"
        raise InvalidParameterError("k_ii", k_ii, f"k_ii * C * weight <= {LARGEST:g}", fix)
    return gram, mass, loss.margins(q.astype(Real), y, loss.check_costs(costs, y))
