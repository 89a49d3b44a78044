"""The projection inside every operation.

Projections, proxes, dual updates and gradients all ask for one x:

    minimise  curvature/2 (||x - b||^2 + rho <1,x>^2)  over the dual set of radius r,

or, where the curvature is 0 (subgradients of hinges, updates of zero rows), for a maximiser of
<b,x> there; where the generator is not rational, for the twin in decimals (`refsolve.proofs.curved`). This
file says, in exact arithmetic, which b, rho and r an instance means, and which x an answer means.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve import formulas as f
from refsolve.generators.quadratic import Quadratic
from refsolve.proofs.curved import Curved, Twin
from refsolve.proofs.domain import Domain
from refsolve.proofs.loss import dual_params, generator_of
from refsolve.proofs.rationals import Vector, exact, number, vector
from verification.certificates import coordinates
from verification.instances.instance import Instance
from verification.problems.problem import lookup


@dataclass(frozen=True)
class Core:
    """An instance as a projection, all numbers exact.

    Attributes
    ----------
    domain : the set with its parameters (k, r, y), as it declares them.
    b, rho : point and weight of the squared sum; ``linear`` means: maximise <b,x> - rho/2 s^2 instead.
    spread : size of the floats from which b is computed, in the units of b.
    unit : one unit of these floats, in the units of b.
    """

    domain: Domain
    b: Vector
    rho: Fraction
    linear: bool
    spread: float
    unit: Fraction = Fraction(1)


def _plain(module: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Integers as they are, labels as booleans, reals exact, integers given for them too; infinite ones as they are."""
    kinds = {symbol.name: symbol.kind for symbol in module.SPEC.symbols}
    found: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            real = value.dtype.kind == "f"
            found[name] = f.rationals(value.tolist()) if real else value.astype(bool)
        elif value is not None:
            found[name] = value if kinds.get(name) == "integer" else exact(value)
    return found


def own_domain(instance: Instance) -> Domain:
    """The set of a projection's instance."""
    module = catalogue.load(instance.stem)
    names = {*module.SPEC.names, *getattr(module, "arguments", ())} - {"a", "rho"}
    given = {n: instance[n] for n in lookup(instance.problem).arguments if n in names}
    return Domain(instance.stem, _plain(module, given))


def given_params(instance: Instance) -> dict[str, Any]:
    """The loss's own parameters in an instance, defaults filled in."""
    module = catalogue.load(instance.stem)
    params = {n: instance.get(n) for n in module.SPEC.names}
    return module.SPEC.check({n: v for n, v in params.items() if v is not None})


def domain_of(stem: str, params: dict[str, Any], y: Any = None) -> Domain:
    """Domain of the conjugate of a loss, with r = 1 where the set has a radius."""
    module = catalogue.load(stem)
    stem = module.dual_set
    own = catalogue.load(stem)
    found = _plain(own, dual_params(module, params))
    if "r" in own.SPEC.names or own is module:
        found["r"] = Fraction(1)
    if y is not None and "y" in catalogue.arguments(own):
        found["y"] = np.asarray(y).astype(bool)
    return Domain(stem, found)


def unit_set(instance: Instance) -> Domain:
    """Domain of the conjugate of an instance's loss."""
    return domain_of(instance.stem, given_params(instance), instance.get("y"))


def generator(instance: Instance) -> Any:
    """The generator of an instance's loss, its parameters exact."""
    declared = generator_of(catalogue.load(instance.stem))
    number = exact if declared.rational else Decimal
    params = given_params(instance)
    return declared.bind({n: v if isinstance(v, int) else number(v) for n, v in params.items()})


def costs(instance: Instance) -> Vector:
    """Margins c over the coordinates of x; the loss's default unless given."""
    size, y = instance[lookup(instance.problem).data].size, instance.get("y")
    d = size if y is None else coordinates.family(instance.stem).size(size)
    return coordinates.costs(instance.stem, instance.get("costs"), y, d)


def weight(instance: Instance) -> Fraction:
    """Sample weight, 1 unless given."""
    given = instance.get("sample_weight")
    return exact(1.0 if given is None else given)


def mass(instance: Instance) -> Fraction:
    """Factor w (gradients) or w C (updates) between x and an answer over the classes."""
    return weight(instance) * (exact(instance["C"]) if instance.operation == "sdca_update" else 1)


def modulus(instance: Instance) -> Fraction:
    """Strong convexity of the conjugate, 0 for a hinge."""
    return exact(generator(instance).modulus)


def is_curved(instance: Instance) -> bool:
    """Whether the instance's loss has a conjugate that is no quadratic form: decimals are needed."""
    return not lookup(instance.problem).generator.rational


def margins(instance: Instance) -> tuple[Vector, float]:
    """Margins z of the scores (or of the point of a prox), and the size of the terms in them."""
    main = vector(instance[lookup(instance.problem).data])
    c = costs(instance)
    parts = [main, c]
    if instance.operation == "prox":
        z = main + c
    else:
        family, y = coordinates.family(instance.stem), instance["y"]
        z = family.margins(main, y, c)
        if family.coupled:
            parts = [np.delete(main, y), c, main[y : y + 1]]
    return z, sum(max((abs(number(v)) for v in p.tolist()), default=0.0) for p in parts)


@functools.lru_cache(maxsize=20000)
def core(instance: Instance) -> Core:
    """The projection that an instance of projection, gradient, prox or sdca_update asks for."""
    if instance.operation == "projection":
        a = vector(instance["a"])
        spread = max((abs(number(v)) for v in a.tolist()), default=0.0)
        rho = exact(instance.get("rho", 0.0))
        return Core(own_domain(instance), a, rho, False, spread)
    z, spread = margins(instance)
    form: Quadratic = generator(instance)
    beta, coupled = curvature_of(instance)
    b, rho, curvature = form.reduced(z, beta, coupled)
    linear = curvature == 0
    unit = Fraction(1) if linear else Fraction(1 / Fraction(curvature))
    b_spread = spread if linear else number(exact(spread) * unit)
    return Core(unit_set(instance), b, Fraction(rho), linear, b_spread, unit)


def curvature_of(instance: Instance) -> tuple[Fraction, bool]:
    """What a prox or an update adds to the conjugate: beta/2 (||x||^2 + [coupled] s^2)."""
    if instance.operation == "prox":
        return exact(instance["t"]), False
    if instance.operation == "sdca_update":
        coupled = coordinates.family(instance.stem).coupled
        return mass(instance) * exact(instance["k_ii"]), coupled
    return Fraction(0), False


@functools.lru_cache(maxsize=20000)
def curved_core(instance: Instance) -> Curved:
    """The problem in decimals that an instance asks for, in units of its weight."""
    z, spread = margins(instance)
    alpha, coupled = curvature_of(instance)
    return curved_of(instance, z, spread, alpha, int(coupled))


def curved_of(
    instance: Instance, z: Vector, spread: float = 0.0, alpha: Fraction = Fraction(0), rho: int = 0
) -> Curved:
    """The problem in decimals of an instance's loss at other margins z."""
    h: Twin = generator(instance)
    domain = unit_set(instance)
    target = tuple(coordinates.target(instance["y"]).tolist()) if h.shifted else ()
    return Curved(h, domain.stem, domain.plain(), tuple(z.tolist()), alpha, rho, spread, target)


def dual_point(instance: Instance, answer: np.ndarray) -> tuple[Vector, Fraction, Fraction]:
    """The x that an answer means, the defect of its ground-truth entry, and its scale.

    The scale is the factor from x to the answer: a distance of x times it is one of the answer.
    """
    out = vector(answer)
    one, zero = Fraction(1), Fraction(0)
    if instance.operation == "projection":
        return out, zero, one
    if instance.operation == "prox":
        t = exact(instance["t"])
        return (vector(instance["v"]) - out) / t, zero, t
    sign = -1 if instance.operation == "sdca_update" else 1
    x, defect = coordinates.pull(instance.stem, sign * out, instance["y"])
    w = mass(instance)
    return (x / w, defect / w, w) if w > 0 else (x, defect, one)
