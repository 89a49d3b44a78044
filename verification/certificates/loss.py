"""Judges answers that are numbers: values and conjugates of losses.

A value is right iff it equals <z,x> − conjugate(x) at a point x that attains the supremum; x is
certified exactly. A conjugate is right iff no z gives more than it, and one gives just as much;
outside the domain a ray along which <x,z> − loss(z) grows without end is the proof of +inf.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from verification.certificates import core as cores
from verification.certificates import tolerance, truth
from verification.certificates._rational import Vector, dot, exact, number, total, vector
from verification.instances import Instance
from verification.verdicts import Judgement, Verdict


def exact_number(instance: Instance) -> float | Fraction:
    """The right value or conjugate; math.inf outside the domain."""
    return _value(instance) if instance.operation == "value" else _conjugate(instance)


def _params(instance: Instance) -> dict[str, int]:
    k = instance.get("k")
    return {} if k is None else {"k": k}


def _value(instance: Instance) -> Fraction:
    z, _ = cores.margins(instance)
    gamma = cores.smoothing(instance)
    loss = truth.loss_value(instance.stem, z, gamma, _params(instance))
    return cores.weight(instance) * loss


def _domain(instance: Instance) -> tuple[str, dict[str, object]]:
    stem, fixed = cores.dual_set(instance.stem)
    return stem, cores.set_params(stem, {**_params(instance), **fixed, "r": Fraction(1)})


def _conjugate(instance: Instance) -> float | Fraction:
    x = vector(instance["x"])
    stem, params = _domain(instance)
    if cores.catalogue.load(stem).violation(x, **params) > 0:
        return math.inf
    c = cores.costs_of_others(instance, x.size)
    return cores.smoothing(instance) * dot(x, x) / 2 - dot(c, x)


def _scalar(x: np.ndarray) -> float | None:
    return float(x.ravel()[0]) if x.size == 1 else None


def judge_value(instance: Instance, answer: np.ndarray) -> Judgement:
    """Value of the loss against the Fenchel–Young equality."""
    got = _scalar(answer)
    if got is None or not math.isfinite(got):
        return Judgement(Verdict.FAIL, message=f"returned {answer!r}, expected one finite number")
    try:
        right = _value(instance)
    except truth.UncertainError as error:
        return Judgement(Verdict.ORACLE_UNCERTAIN, message=str(error))
    z, spread = cores.margins(instance)
    weight = number(cores.weight(instance))
    eps = tolerance.precision(instance)
    allowed = tolerance.value(eps, z.size, weight, spread, abs(number(right)))
    return _compare(exact(got) - right, allowed, eps * tolerance.size_factor(z.size), got, right)


def judge_conjugate(instance: Instance, answer: np.ndarray) -> Judgement:
    """Conjugate against its definition sup_u <x,u> − L(u + c)."""
    got = _scalar(answer)
    if got is None or math.isnan(got):
        return Judgement(Verdict.FAIL, message=f"returned {answer!r}, expected one number")
    x = vector(instance["x"])
    c = cores.costs_of_others(instance, x.size)
    gamma = cores.smoothing(instance)
    stem, params = _domain(instance)
    sizes = [abs(number(v)) for v in x.tolist()]
    eps = tolerance.precision(instance)
    # a point that is outside by rounding only may count as inside
    rounding = tolerance.size_factor(x.size) * eps * max(1.0, sum(sizes))
    outside = number(Fraction(cores.catalogue.load(stem).violation(x, **params)))
    try:
        if outside > 0:
            ray = x - truth.project(stem, x, Fraction(0), params)
            growth = dot(ray, x) - Fraction(cores.catalogue.load(stem).support(ray, **params))
            if growth <= 0:
                raise truth.UncertainError("no ray was found that proves the point to be outside")
        else:
            # attained at z = gamma x, where the loss's own maximiser is x
            attained = gamma * x
            loss = truth.loss_value(instance.stem, attained, gamma, _params(instance))
            if dot(x, attained) - loss != gamma * dot(x, x) / 2:
                raise truth.UncertainError("the supremum is not attained at gamma x")
    except truth.UncertainError as error:
        return Judgement(Verdict.ORACLE_UNCERTAIN, message=str(error))
    if math.isinf(got):
        if got > 0 and outside > 0:
            return Judgement(Verdict.PASS)
        message = f"returned {got}, but the point lies in the domain"
        return Judgement(Verdict.FAIL, message=message)
    if outside > rounding:
        message = f"returned {got:.6g}, but the point is outside the domain by {outside:.3g}: +inf"
        return Judgement(Verdict.FAIL, message=message)
    right = gamma * dot(x, x) / 2 - dot(c, x)
    terms = number(gamma * dot(x, x) / 2) + number(dot(abs(c), abs(x)))
    allowed = tolerance.value(eps, x.size, 1.0, terms)
    return _compare(exact(got) - right, allowed, eps * tolerance.size_factor(x.size), got, right)


def _compare(
    difference: Fraction, allowed: float, relative: float, got: float, right: Fraction
) -> Judgement:
    off = abs(number(difference))
    unit = allowed / relative or 1.0
    if off <= allowed:
        return Judgement(Verdict.PASS, off / unit, relative)
    message = (
        f"returned {got!r}, right is {number(right)!r}: off by {off:.3g}, more than the rounding-error "
        f"bound {allowed:.3g}"
    )
    return Judgement(Verdict.FAIL, off / unit, relative, message=message)


def subgradient_defect(instance: Instance, g: Vector, point: np.ndarray) -> tuple[Fraction, float]:
    """L(f) + <g, h − f> − L(h) for other scores h (positive is a violation), and its tolerance."""
    f = vector(instance["scores"])
    h = vector(point)
    there = instance.with_params(scores=point)
    z, spread = cores.margins(instance)
    z_there, spread_there = cores.margins(there)
    gamma, params = cores.smoothing(instance), _params(instance)
    here = truth.loss_value(instance.stem, z, gamma, params)
    other = truth.loss_value(instance.stem, z_there, gamma, params)
    weight = cores.weight(instance)
    defect = weight * here + dot(g, h - f) - weight * other
    eps = tolerance.precision(instance)
    allowed = tolerance.value(eps, z.size, number(weight), spread, spread_there)
    if gamma > 0:  # x itself is only known to eps times z/gamma
        step = number(total(abs(h - f)))
        error = tolerance.distance(eps, z.size, spread / number(gamma), 1.0)
        allowed += number(weight) * 2 * error * step
    return defect, allowed
