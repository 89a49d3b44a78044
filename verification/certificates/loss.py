"""Judges answers that are numbers: values and conjugates of losses.

A value is right iff it equals <z,x> − conjugate(x) at a point x that attains the supremum; x is
certified exactly (to 60 digits for the entropies). A conjugate is right iff no z gives more than
it, and one gives just as much; outside the domain a ray along which <x,z> − loss(z) grows without
end is the proof of +inf.
"""

import functools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve.exact.decimals import rational
from refsolve.proofs import rationals
from refsolve.proofs.rationals import Vector, dot, exact, number, total, vector
from verification.certificates import core as cores
from verification.certificates import entropy_numbers, tolerance, truth
from verification.certificates.text import brief
from verification.instances.instance import Instance
from verification.verdicts.verdict import Judgement, Terms, Verdict, if_certain


def _flat(instance: Instance) -> float:
    """Size of what the equations of the domain compare: hardly any vector of floats fulfils them exactly."""
    domain, x = cores.loss(instance).domain, [abs(Fraction(v)) for v in instance["x"].tolist()]
    if hasattr(domain.module, "room"):
        return 0.0
    rows = domain.module.halfspaces(len(x), **domain.params)
    compared = [max(abs(h), sum(abs(a) * v for a, v in zip(g, x, strict=True)))
                for g, h, equal in rows if equal]  # fmt: skip
    return number(max(compared, default=Fraction(0)))


def exact_number(instance: Instance) -> float | Fraction:
    """The right value or conjugate; math.inf outside the domain."""
    if instance.operation == "value":
        return _value(instance)[0]
    outside, rounding = _outside(instance)
    if outside > rounding * min(_flat(instance), 1.0):
        return math.inf
    return _conjugate(instance)[0]


def value_at(instance: Instance, z: Vector) -> Fraction:
    """The unweighted loss of an instance at margins z."""
    if cores.is_curved(instance):
        return rational(entropy_numbers.value(instance, z)[0])
    return rationals.loss(cores.generator(instance), cores.loss(instance).domain, z)[0]


@functools.lru_cache(maxsize=20000)
def _solved(instance: Instance) -> tuple[Any, ...]:
    """Size and spread of z, the unweighted loss and what its bound is made of: nothing that depends on a promise."""
    z, spread = cores.margins(instance)
    if cores.is_curved(instance):
        return z.size, spread, *entropy_numbers.value(instance, z)
    form = cores.generator(instance)
    found, x = rationals.loss(form, cores.loss(instance).domain, z)
    # a change of z moves the loss by x times it
    domain = cores.loss(instance).domain
    reach = number(total(x) if domain.cone else exact(domain.largest_sum))
    return z.size, spread, found, reach * (spread + number(exact(form.ell)))


def _value(instance: Instance) -> tuple[Fraction, float]:
    """The right value with its rounding-error bound."""
    d, spread, found, moves = _solved(instance)
    weight = cores.weight(instance)
    if cores.is_curved(instance):
        bound = entropy_numbers.value_error(instance, found, moves, spread, d)
        return weight * rational(found), bound
    loss = weight * found
    eps = tolerance.precision(instance)
    lost = number(tolerance.underflow(instance, d, 1, weight))
    lost += tolerance.value(eps, d, number(weight), moves)
    lost += tolerance.value(eps, d, 1.0, abs(number(loss)))
    return loss, lost * tolerance.slack(instance, d)


def _conjugate(instance: Instance) -> tuple[Fraction, float]:
    """The conjugate at a point of the domain, and its rounding-error bound."""
    slack = tolerance.slack(instance, instance["x"].size)
    if cores.is_curved(instance):
        right, bound = entropy_numbers.conjugate(instance)
        return Fraction(right), bound * slack
    x, c = vector(instance["x"]), cores.costs(instance)
    quadratic = cores.generator(instance).number(x)
    terms = number(cores.generator(instance).terms(x)) + number(dot(abs(c), abs(x)))
    eps = tolerance.precision(instance)
    lost = number(tolerance.underflow(instance, x.size, 1))
    return quadratic - dot(c, x), slack * (lost + tolerance.value(eps, x.size, 1.0, terms))


def _outside(instance: Instance) -> tuple[Fraction, float]:
    """How far x is outside the domain, and how far rounding alone may put it there."""
    x = vector(instance["x"])
    sizes = [abs(number(v)) for v in x.tolist()]
    eps = tolerance.precision(instance)
    rounding = tolerance.size_factor(x.size) * eps * max(1.0, sum(sizes))
    return entropy_numbers.violation(instance), rounding


def _place(instance: Instance, outside: Fraction, met: float) -> str:
    """Where a point of the domain is: how far inside, or what counts as inside."""
    if outside > 0:
        return f"outside by {number(outside):.3g}, and its equations count as met up to {met:.3g}"
    x, _ = entropy_numbers.coordinates_of(instance)
    domain = cores.loss(instance).domain
    if hasattr(domain.module, "room"):
        room = Fraction(domain.module.room(x, **domain.params))
    else:
        rows = domain.module.halfspaces(x.size, **domain.params)
        room = min(h - dot(vector(g), x) for g, h, equal in rows if not equal)
    return f"{number(room):.3g} inside the nearest inequality, with no tolerance there"


def _certify_conjugate(instance: Instance, outside: Fraction) -> None:
    """Prove what the formula says; UncertainError if that fails."""
    x, _ = entropy_numbers.coordinates_of(instance)
    domain = cores.loss(instance).domain
    if outside > 0:
        ray = x - rationals.project(domain, x)
        growth = dot(ray, x) - Fraction(domain.cut(Fraction(1)).support(ray))
        if growth <= 0:
            raise truth.UncertainError("no ray was found that proves the point to be outside")
    elif cores.is_curved(instance):
        entropy_numbers.certify_conjugate(instance)
    else:
        # attained at z = grad h(x), where the loss's own maximiser is x
        form = cores.generator(instance)
        attained = form.gradient(x)
        if dot(x, attained) - value_at(instance, attained) != form.number(x):
            raise truth.UncertainError("the supremum is not attained at the gradient of h")


def _scalar(x: np.ndarray) -> float | None:
    return float(x.ravel()[0]) if x.size == 1 else None


def judge_value(instance: Instance, answer: np.ndarray) -> Judgement:
    """Value of the loss against the Fenchel–Young equality."""
    got = _scalar(answer)
    malformed = got is None or not math.isfinite(got)
    message = f"returned {brief(answer)}, expected one finite number"
    try:
        right, allowed = _value(instance)
    except truth.UncertainError as error:
        if malformed:  # wrong, whatever is right
            return Judgement(Verdict.FAIL, message=message)
        return Judgement(Verdict.INCONCLUSIVE, message=str(error))
    if got is None or malformed:
        terms = {} if got is None else {"error of the number": (math.inf, allowed)}
        return Judgement(Verdict.FAIL, message=f"{message}: {number(right)!r}", terms=terms)
    return compare(instance, got, right, allowed)


@if_certain
def judge_conjugate(instance: Instance, answer: np.ndarray) -> Judgement:
    """Conjugate against its definition sup_u <x,u> − L(u + c)."""
    got = _scalar(answer)
    if got is None or math.isnan(got):
        return Judgement(Verdict.FAIL, message=f"returned {brief(answer)}, expected one number")
    # a point outside by rounding, or by what is promised, may count as inside; in a flat domain one
    # outside by the rounding of doubles must: whoever computes in them sees what float32 has rounded
    outside, rounding = _outside(instance)
    double = rounding * float(np.finfo(float).eps) / tolerance.precision(instance)
    met = double * min(_flat(instance), 1.0) / tolerance.size_factor(1)
    rounding *= tolerance.slack(instance, instance["x"].size)
    _certify_conjugate(instance, outside)
    terms: Terms = {"distance to the domain": (number(outside), float(rounding))}
    if math.isinf(got):
        terms = {"distance to the domain": (number(outside), None)}  # which may be any
        if got > 0 and outside > met:
            return Judgement(Verdict.PASS, terms=terms)
        message = (
            f"returned {got}, but the point lies in the domain: {_place(instance, outside, met)}"
        )
        return Judgement(Verdict.FAIL, message=message, terms=terms)
    if outside > rounding:
        message = f"returned {got:.6g}, but the point is outside the domain by {number(outside):.3g}: +inf"
        terms = {**terms, **_compared(instance, got).terms}
        return Judgement(Verdict.FAIL, message=message, terms=terms)
    found = _compared(instance, got)
    return replace(found, terms={**terms, **found.terms})


def _compared(instance: Instance, got: float) -> Judgement:
    """A conjugate beside its formula, which may end outside of the domain."""
    try:
        return compare(instance, got, *_conjugate(instance))
    except ArithmeticError as error:
        raise truth.UncertainError(f"outside of the domain no number is right: {error}") from error


def compare(
    instance: Instance,
    got: float,
    right: Fraction,
    allowed: float,
    what: str = "returned",
    term: str = "error of the number",
) -> Judgement:
    """A number beside the right one."""
    d = instance[cores.lookup(instance.problem).data].size
    relative = tolerance.relative(instance, d)
    off = abs(number(exact(got) - right))
    unit = allowed / relative or 1.0
    terms = {term: (off, allowed)}
    if off <= allowed:
        return Judgement(Verdict.PASS, off / unit, relative, terms=terms)
    message = (
        f"{what} {got!r}, right is {number(right)!r}: off by {off:.3g}, more than "
        f"{tolerance.named(instance, d)} {allowed:.3g}"
    )
    return Judgement(Verdict.FAIL, off / unit, relative, message=message, terms=terms)


def subgradient_defect(instance: Instance, g: Vector, point: np.ndarray) -> tuple[Fraction, float]:
    """L(f) + <g, h − f> − L(h) for other scores h (positive is a violation), and its tolerance."""
    f = vector(instance["scores"])
    h = vector(point)
    there = instance.with_params(scores=point)
    z, spread = cores.margins(instance)
    z_there, spread_there = cores.margins(there)
    modulus = exact(cores.loss(instance).modulus)
    here, other = value_at(instance, z), value_at(instance, z_there)
    weight = cores.weight(instance)
    defect = weight * here + dot(g, h - f) - weight * other
    eps = tolerance.precision(instance)
    allowed = tolerance.value(eps, z.size, number(weight), spread, spread_there)
    if cores.is_curved(instance):  # every x_j is known to eps times the size of z
        allowed += tolerance.value(eps, z.size, number(weight), 1 + spread) * number(
            total(abs(h - f))
        )
    elif modulus > 0:  # x itself is only known to eps times z/gamma
        step = number(total(abs(h - f)))
        error = tolerance.distance(eps, z.size, spread / number(modulus), 1.0)
        allowed += number(weight) * 2 * error * step
    return defect, allowed * tolerance.slack(instance, z.size)
