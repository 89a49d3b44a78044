"""Judges values and conjugates of the entropies, to the accuracy that their conditioning allows.

A loss moves by <x, dz> when z moves by dz: with x small it is small itself, and still right relatively.
"""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from refsolve.exact.decimals import ONE, decimal_of, digits, total
from refsolve.proofs import curved as entropy
from refsolve.proofs.rationals import Vector, dot, vector
from verification.certificates import core as cores
from verification.certificates import tolerance, truth
from verification.certificates.entropy_points import growth, smallest, solution, unit
from verification.instances.instance import Instance


def value(instance: Instance, z: Vector) -> tuple[Decimal, Decimal]:
    """The loss at margins z, and <1,x> there, i.e. how much the loss moves with z."""
    core = cores.curved_of(instance, z)
    found = solution(core)
    with entropy.precision(core):
        return entropy.value(core, found), total(found.x)


def value_error(instance: Instance, right: Decimal, moves: Decimal, spread: float, d: int) -> float:
    """Rounding-error bound of a loss: of z, of the logarithm of a sum, and of the answer."""
    weight = decimal_of(cores.weight(instance))
    inner = decimal_of(spread + 1.0 + math.log(d))
    moves *= inner * growth(instance, d, float(inner))
    return float(unit(instance, d) * weight * (moves + right) + smallest(instance, d))


def coordinates_of(instance: Instance) -> tuple[Vector, list[Fraction]]:
    """X (p on the simplex) of a conjugate's instance, exact, and the shift from the x given."""
    x, target = vector(instance["x"]), cores.loss(instance).target
    return x + target, (target + vector(np.zeros(x.size))).tolist()


def violation(instance: Instance) -> Fraction:
    """How far the x of an instance is outside the domain."""
    x, _ = coordinates_of(instance)
    return Fraction(cores.loss(instance).domain.violation(x))


def conjugate(instance: Instance) -> tuple[Decimal, float]:
    """h(x) - <c,x> at an x of the domain, and its rounding-error bound."""
    x, _ = coordinates_of(instance)
    given, c = vector(instance["x"]), cores.costs(instance)
    with digits():
        right = cores.generator(instance).number(x.tolist()) - decimal_of(dot(c, given))
        eps = tolerance.precision(instance)
        terms = float(decimal_of(dot(abs(c), abs(given))))
        # what rounding of p = x + t and of 1 - s does to h
        terms += cores.generator(instance).rounded([float(abs(v)) for v in x.tolist()], eps)
    return right, tolerance.value(eps, x.size, 1.0, terms)


def certify_conjugate(instance: Instance) -> None:
    """Prove h(x) from the losses: attained in the limit at z = grad h, and never exceeded.

    UncertainError if <x,z> - L(z) falls short of h(x) at grad h of an interior point beside x.
    """
    x, shift = coordinates_of(instance)
    h = cores.generator(instance)
    with digits():
        z = h.slopes(*h.inner(x.tolist()))
        exact_z = vector([Fraction(v) for v in z])
        loss, _ = value(instance, exact_z)
        inner = sum((v * (a - t) for v, a, t in zip(exact_z, x, shift, strict=True)), Fraction(0))
        short = h.number(x.tolist()) - (decimal_of(inner) - loss)
        outside = decimal_of(violation(instance))
        if abs(short) > entropy.CERTAIN + 200 * outside * (ONE + total(abs(v) for v in z)):
            raise truth.UncertainError(f"the supremum is attained up to {short:.2e} only")
