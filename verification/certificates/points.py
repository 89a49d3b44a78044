"""Judges answers that are points: projections, proxes, updates, gradients.

Two certificates. `by_gap` repairs the point to feasibility and bounds the suboptimality by the
gap <g,x> + support(-g), from formulas alone; it is of first order in the error. `by_truth`
measures the distance to an exact solution, which is believed for its own gap being exactly zero.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve.proofs import rationals
from refsolve.proofs.domain import Domain
from refsolve.proofs.rationals import Vector, dot, exact, floats, norm, number, total, vector
from verification.certificates import core as cores
from verification.certificates import tolerance, truth
from verification.certificates.core import Core
from verification.certificates.text import brief, not_finite
from verification.instances.instance import Instance
from verification.verdicts.verdict import Judgement, Verdict, if_certain


def shape_defect(instance: Instance, x: np.ndarray) -> str | None:
    """Why an answer cannot be judged at all: wrong shape, or not finite."""
    main = instance[cores.lookup(instance.problem).data]
    if x.shape != main.shape:
        return f"shape {x.shape}, expected {main.shape}"
    if not np.isfinite(x).all():
        return not_finite(x)
    return None


def without_core(instance: Instance, answer: np.ndarray) -> Judgement | None:
    """Verdict on answers that need no certificate: malformed, or of an example without weight."""
    if defect := shape_defect(instance, answer):
        lost = float(np.sum(~np.isfinite(answer)))
        terms: dict[str, tuple[float, float | None]] = {"entries not finite": (lost, 0.0)}
        return Judgement(Verdict.FAIL, message=defect, terms=terms if lost else {})
    if instance.operation in ("gradient", "sdca_update") and cores.weight(instance) == 0:
        message = f"returned {brief(answer)} for sample_weight=0, expected zeros"
        off = {"largest entry": (float(np.abs(answer).max()), 0.0)}
        if answer.any():
            return Judgement(Verdict.FAIL, message=message, terms=off)
        return Judgement(Verdict.PASS, terms=off)
    return None


def repair(core: Core, x: Vector) -> Vector:
    """Feasible point near x, exactly feasible."""
    return vector(np.asarray(core.domain.repair(x), dtype=object))


def gradient(core: Core, x: Vector) -> Vector:
    """Gradient at x of what is minimised."""
    return (0 if core.linear else x) - core.b + core.rho * total(x)


def _near(core: Core, x: Vector, g: Vector) -> Domain:
    """The part of the set that holds the solution where it is unique."""
    return core.domain if core.linear else core.domain.around(x, g)


def _radius(core: Core, x: Vector) -> Fraction:
    """Bound on the sum of the solution."""
    if not core.domain.cone:
        return Fraction(core.domain.params.get("r", max(total(abs(x)), core.domain.largest_sum)))
    if core.linear:  # <b,x> = rho s^2 there
        bound = core.domain.cut(1).support(core.b) / core.rho
    else:
        declared = catalogue.load(core.domain.object_name)
        bound = declared.radius(core.b, rho=core.rho, **core.domain.params)
    return max(Fraction(bound), total(x))


@if_certain
def by_gap(instance: Instance, answer: np.ndarray, dual: Any = None) -> Judgement:
    """Certified gap at the repaired point, judged against its rounding-error bound.

    ``dual`` is a normal w of the set for which x − b + rho <1,x> 1 + w = 0 at the solution; of a
    projection's own it can only sharpen the gap.
    """
    core = cores.core(instance)
    x, imbalance, scale = cores.dual_point(instance, answer)
    feasible = repair(core, x)
    d = x.size
    point = norm(feasible)
    mass = number(total(abs(feasible)) * core.domain.conditioning)
    eps = tolerance.relative(instance, d)
    spread = 0.0 if core.linear else core.spread
    allowed = rounding(instance, core, mass, scale, spread)
    moved = norm(x - feasible) + abs(number(imbalance))
    terms: dict[str, tuple[float, float | None]] = {"repair distance": (moved, allowed)}
    g = gradient(core, feasible)
    radius = _radius(core, feasible)
    gap = rationals.fw_gap(_near(core, feasible, g), feasible, g, radius)
    if dual is not None and not core.linear:
        sharper = _gap_of(core, feasible, g, dual)
        gap = gap if sharper is None else min(gap, sharper)
    steep = norm(g)
    if core.excess is not None:
        gap += core.excess(feasible)
        steep += 2 * d**0.5  # and the truth's
    known = d, steep, number(core.rho), point, number(radius)
    value = tolerance.scores(instance, d, core.spread + steep, mass + number(radius))
    slack = tolerance.slack(instance, d)
    # where nothing is curved, an error of the scores costs value, not distance
    bound = tolerance.fw_gap(allowed, *known) + (value if core.linear else 0)
    large = not core.linear and tolerance.coarse(instance, d, allowed, core.domain.params)
    if large and steep < tolerance.LARGEST:
        # thresholds have the rounding of the scores, so that a sum may be off, within the set as well
        off = rounding(instance, core, mass, scale, 0.0) + 2 * moved
        off += abs(number(Fraction(core.domain.params["r"]) - total(feasible)))
        bound = min(bound, value + tolerance.fw_gap(off, *known))
    limit = number(bound)
    # in proportion to rounding: what is of second order in a promise is not counted on for another
    first = exact(slack) * tolerance.fw_gap(allowed / slack, *known) + (value if core.linear else 0)
    terms["Fenchel-Young gap"] = (number(gap), limit)
    if moved > allowed:
        verdict = Verdict.FAIL
        message = _infeasible(core, x, imbalance, moved)
        message += f", more than {tolerance.named(instance, d)} {allowed:.3g}"
    elif gap > bound:
        verdict = Verdict.FAIL
        message = f"gap {number(gap):.3g} exceeds {tolerance.named(instance, d)} {limit:.3g}"
    else:
        verdict, message = Verdict.PASS, ""
    share = number(gap / bound) * eps if bound else number(gap)
    needed = eps * max(moved / allowed, number(gap / first)) if allowed and first else None
    return Judgement(verdict, share, eps, message=message, terms=terms, accuracy=needed)


def _gap_of(core: Core, x: Vector, g: Vector, dual: Any) -> Fraction | None:
    """Fenchel–Young gap at the dual point given; None if it is no use."""
    given = np.asarray(dual)
    if given.shape != x.shape or given.dtype.kind not in "fiu" or not np.isfinite(given).all():
        return None
    w = vector(given)
    if core.domain.cone and Fraction(core.domain.cut(1).support(w)) > 0:
        return None
    # 1/2 e'(I + rho 11')^-1 e with e = g + w
    e, d = g + w, x.size
    mean = total(e) / d
    quadratic = dot(e - mean, e - mean) + total(e) ** 2 / (d * (1 + core.rho * d))
    left = np.asarray(_near(core, x, g).residual(x, w)).item()
    return Fraction(quadratic / 2 + exact(left))


@if_certain
def by_truth(instance: Instance, answer: np.ndarray) -> Judgement:
    """Distance to the exact solution, judged against its rounding-error bound."""
    core = cores.core(instance)
    x, imbalance, scale = cores.dual_point(instance, answer)
    if core.linear:
        return by_gap(instance, answer)  # not unique: the gap is the whole story
    right = truth.solution(instance)
    d = x.size
    mass = number(total(abs(right)) * core.domain.conditioning)
    allowed = rounding(instance, core, mass, scale, core.spread)
    off = norm(x - right)
    feasible = repair(core, x)
    gap, steep = _suboptimality(core, feasible, right), norm(gradient(core, right))
    gap_limit = allowed * (steep + allowed * (1 + d * number(core.rho)))
    large = tolerance.coarse(instance, d, allowed, core.domain.params)
    if large and max(steep, gap) < tolerance.LARGEST:
        # however large scores make the distance that is allowed, what is feasible has their value up to rounding
        radius, moved = number(_radius(core, right)), norm(x - feasible) + abs(number(imbalance))
        value = tolerance.scores(instance, d, core.spread + steep, mass + radius)
        moved += abs(number(total(x) - total(right)))  # thresholds have the rounding of the scores
        own = rounding(instance, core, mass, scale, 0.0) + 2 * moved
        known = d, steep, number(core.rho), norm(right), radius
        gap_limit = min(gap_limit, number(value + tolerance.fw_gap(own, *known)))
    verdict, message = Verdict.PASS, ""
    factor = number(scale)
    terms: dict[str, tuple[float, float | None]] = {
        "distance to the solution": (off * factor, allowed * factor),
        "suboptimality after repair": (gap, gap_limit),
    }
    if imbalance:
        terms["sum of the entries"] = (abs(number(imbalance)), allowed)
    if off > allowed:
        verdict = Verdict.FAIL
        message = (
            f"distance {off * factor:.3g} to the exact solution exceeds "
            f"{tolerance.named(instance, d)} {allowed * factor:.3g}"
        )
        violation = number(Fraction(core.domain.violation(x)))
        terms["primal violation"] = (violation, allowed)
        if violation > allowed:
            message += f" (infeasible by {violation:.3g})"
    elif abs(number(imbalance)) > allowed:
        verdict = Verdict.FAIL
        message = f"the entries sum to {number(imbalance):.3g} instead of 0"
    elif gap > gap_limit:
        verdict = Verdict.FAIL
        message = f"suboptimal by {gap:.3g}, more than {tolerance.named(instance, d)} {gap_limit:.3g}"
    relative = tolerance.relative(instance, d)
    unit, gap_unit = allowed / relative or 1.0, gap_limit / relative or 1.0
    return Judgement(verdict, gap / gap_unit, relative, off / unit, relative, message, terms)


def rounding(instance: Instance, core: Core, mass: float, scale: Fraction, spread: float) -> float:
    """Bound on how far rounding, or a promise, takes an answer's x, of the sum ``mass``, from the solution.

    ``spread``: size of the scores, or 0 for what x itself is rounded to, as where nothing is curved: the set is not
    moved by scores. Products may underflow in the units of the scores, of x, of the set and of the answer.
    """
    d = core.b.size
    eps = tolerance.precision(instance)
    allowed = tolerance.distance(eps, d, spread, mass)
    if instance.operation == "prox":
        allowed += tolerance.size_factor(d) * _prox_rounding(instance, scale)
    r = Fraction(core.domain.params.get("r", 0))
    units = (core.unit, core.domain.conditioning, r, 1 / scale)
    allowed += d**0.5 * number(tolerance.underflow(instance, d, *units))
    return allowed * tolerance.slack(instance, d)


def _suboptimality(core: Core, x: Vector, right: Vector) -> float:
    """Objective at x minus the optimum, as a sum of nonnegative terms, exact until the end."""
    step = x - right
    linear = dot(gradient(core, right), step)
    return number(linear + dot(step, step) / 2 + core.rho * total(step) ** 2 / 2)


def _prox_rounding(instance: Instance, t: Fraction) -> float:
    """Rounding of u = v − t x, seen as a distance in x."""
    v = cores.vector(instance["v"])
    return tolerance.precision(instance) * norm(v) / number(t)


def _infeasible(core: Core, x: Vector, imbalance: Fraction, moved: float) -> str:
    if imbalance and 2 * abs(number(imbalance)) > moved:
        return f"the entries sum to {number(imbalance):.3g} instead of 0"
    violation = number(Fraction(core.domain.violation(x)))
    return f"infeasible by {violation:.3g}: the repair moves {brief(floats(x))} by {moved:.3g}"


def expected(instance: Instance) -> np.ndarray:
    """The right answer as floats; one of them, where it is not unique."""
    x = truth.solution(instance)
    if instance.operation == "projection":
        return floats(x)
    if instance.operation == "prox":
        return floats(vector(instance["v"]) - exact(instance["t"]) * x)
    factor = cores.mass(instance) * (1 if instance.operation == "gradient" else -1)
    return floats(cores.pushed(instance, x * factor))
