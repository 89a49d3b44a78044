"""Judges values and conjugates of the entropies, to the accuracy that their conditioning allows.

A loss moves by <x, dz> when z moves by dz: with x small it is small itself, and still right relatively.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from refsolve import catalogue
from verification.certificates import core as cores
from verification.certificates import entropy, tolerance, truth
from verification.certificates._rational import Vector, dot, vector
from verification.certificates.decimals import (
    ONE,
    decimal_of,
    digits,
    total,
)
from verification.certificates.decimals import (
    entropy as x_log_x,
)
from verification.certificates.entropy_points import smallest, solution, unit
from verification.instances.instance import Instance

#: Added to zeros of x where its logarithm is taken.
FLOOR = Decimal("1e-55")


def value(instance: Instance, z: Vector) -> tuple[Decimal, Decimal]:
    """The loss at margins z, and <1,x> there, i.e. how much the loss moves with z."""
    core = cores.entropy_of(instance, z)
    found = solution(core)
    with entropy.precision(core):
        return entropy.value(core, found), total(found.x)


def value_error(instance: Instance, right: Decimal, moves: Decimal, spread: float, d: int) -> float:
    """Rounding-error bound of a loss: of z, of the logarithm of a sum, and of the answer."""
    weight = decimal_of(cores.weight(instance))
    inner = decimal_of(spread + 1.0 + math.log(d))
    return float(unit(instance, d) * weight * (moves * inner + right) + smallest(instance, d))


def coordinates_of(instance: Instance) -> tuple[Vector, list[Fraction]]:
    """X (p on the simplex) of a conjugate's instance, exact, and the shift from the x given."""
    x = vector(instance["x"])
    if cores.coordinates.generator(instance.stem) != "simplex_entropy":
        return x, [Fraction(0)] * x.size
    t = cores.coordinates.target(instance["y"], x.size)
    return x + t, t.tolist()


def violation(instance: Instance) -> Fraction:
    """How far the x of an instance is outside the domain."""
    stem, params = cores.unit_set(instance)
    x, _ = coordinates_of(instance)
    return Fraction(catalogue.load(stem).violation(x, **params))


def generator(instance: Instance, x: Sequence[Fraction]) -> Decimal:
    """H at a feasible x, in the context's precision; 1 - s is taken exactly."""
    kind = cores.coordinates.generator(instance.stem)
    found = total(x_log_x(decimal_of(max(v, Fraction(0)))) for v in x)
    if kind == "entropy":
        found += x_log_x(decimal_of(max(1 - sum(x), Fraction(0))))
    if kind == "binary_entropy":
        found += total(x_log_x(decimal_of(max(1 - v, Fraction(0)))) for v in x)
    return found


def conjugate(instance: Instance) -> tuple[Decimal, float]:
    """h(x) - <c,x> at an x of the domain, and its rounding-error bound."""
    x, _ = coordinates_of(instance)
    given, c = vector(instance["x"]), cores.costs(instance)
    with digits():
        right = generator(instance, x.tolist()) - decimal_of(dot(c, given))
        eps = tolerance.precision(instance)
        terms = float(decimal_of(dot(abs(c), abs(given))))
        # what rounding of p = x + t and of 1 - s does to p log p
        rounded = [float(abs(v)) for v in x.tolist()]
        if cores.coordinates.generator(instance.stem) == "entropy":
            rounded.append(1.0 - min(1.0, sum(rounded)))
        if cores.coordinates.generator(instance.stem) == "binary_entropy":
            rounded += [1.0 - min(1.0, v) for v in rounded]
        terms += sum(1.0 - math.log(min(1.0, max(v, eps))) for v in rounded)
    return right, tolerance.value(eps, x.size, 1.0, terms)


def certify_conjugate(instance: Instance) -> None:
    """Prove h(x) from the losses: attained in the limit at z = grad h, and never exceeded.

    UncertainError if <x,z> - L(z) falls short of h(x) at grad h of an interior point beside x.
    """
    x, shift = coordinates_of(instance)
    kind = cores.coordinates.generator(instance.stem)
    with digits():
        at = [max(decimal_of(v), FLOOR) for v in x.tolist()]
        rest: list[Decimal] = []
        if kind == "entropy":
            rest = [max(decimal_of(1 - sum(x.tolist())), FLOOR)] * len(at)
        elif kind == "binary_entropy":
            rest = [max(decimal_of(1 - v), FLOOR) for v in x.tolist()]
        z = [v.ln() for v in at]
        if rest:
            z = [v - w.ln() for v, w in zip(z, rest, strict=True)]
        exact_z = vector([Fraction(v) for v in z])
        loss, _ = value(instance, exact_z)
        inner = sum((v * (a - t) for v, a, t in zip(exact_z, x, shift, strict=True)), Fraction(0))
        short = generator(instance, x.tolist()) - (decimal_of(inner) - loss)
        outside = decimal_of(violation(instance))
        if abs(short) > entropy.CERTAIN + 200 * outside * (ONE + total(abs(v) for v in z)):
            raise truth.UncertainError(f"the supremum is attained up to {short:.2e} only")
