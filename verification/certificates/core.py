"""The projection inside every operation.

Projections, proxes, dual updates and gradients all ask for one x:

    minimise  curvature/2 (||x - b||^2 + rho <1,x>^2)  over the dual set of radius r,

or, where the curvature is 0 (subgradients of hinges, updates of zero rows), for a maximiser of
<b,x> there; where the generator is not rational, for the twin in decimals (`refsolve.proofs.curved`). This
file says which b, rho and r an instance means, and which x an answer means: in exact arithmetic, or in
long doubles, for vectors that are long.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, cast

import numpy as np

from refsolve import catalogue
from refsolve import formulas as f
from refsolve.generators.quadratic import Quadratic
from refsolve.proofs import families, rationals
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.curved import Curved
from refsolve.proofs.domain import Domain, plain
from refsolve.proofs.loss import Loss, generator_of
from refsolve.proofs.rationals import Vector, exact, number, vector
from verification.instances.instance import Instance
from verification.problems.problem import lookup


class Numbers(NamedTuple):
    """What numbers are: how floats become some, and how they are summed."""

    vector: Callable[[Any], Array]
    scalar: Callable[[Any], Any]
    total: Callable[[Array], Any]
    #: A vector of which entries may be infinite.
    parameter: Callable[[Any], Array]


def _extended(values: Any) -> Array:
    return np.asarray(values).astype(Real)


EXACT = Numbers(vector, exact, rationals.total, lambda v: f.rationals(v.tolist()))
EXTENDED = Numbers(_extended, Real, np.sum, _extended)


@dataclass(frozen=True)
class Core:
    """An instance as a projection.

    Attributes
    ----------
    domain : the set with its parameters (k, r, y), as it declares them.
    b, rho : point and weight of the squared sum; ``linear`` means: maximise <b,x> - rho/2 s^2 instead.
    spread : size of the floats from which b is computed, in the units of b.
    unit : one unit of these floats, in the units of b.
    excess : what a linear objective lacks at x of that of a conjugate with kinks, if it has some.
    """

    domain: Domain
    b: Vector
    rho: Any
    linear: bool
    spread: float
    unit: Fraction = Fraction(1)
    excess: Callable[[Vector], Any] | None = None


def _plain(module: Any, given: Mapping[str, Any], numbers: Numbers = EXACT) -> dict[str, Any]:
    """Integers as they are, labels as booleans, reals of a kind, integers given for them too."""
    kinds = {symbol.name: symbol.kind for symbol in module.SPEC.symbols}
    found: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            real = value.dtype.kind == "f"
            found[name] = numbers.parameter(value) if real else value.astype(bool)
        elif value is not None:
            found[name] = value if kinds.get(name) == "integer" else numbers.scalar(value)
    return found


def own_domain(instance: Instance, numbers: Numbers = EXACT) -> Domain:
    """The set of a projection's instance."""
    module = catalogue.load(instance.object_name)
    names = {*module.SPEC.names, *getattr(module, "arguments", ())} - {"a", "rho"}
    given = {n: instance[n] for n in lookup(instance.problem).arguments if n in names}
    return Domain(instance.object_name, _plain(module, given, numbers))


class _Exact(Loss):
    """A loss with exact parameters: its formulas act on fractions as they do on floats."""

    def __init__(self, object_name: str, params: Mapping[str, Any], d: int, y: Any) -> None:
        super().__init__(object_name, params, d, y)
        real: Any = exact if self.generator.rational else Decimal
        numbers = {n: v for n, v in self.params.items() if not isinstance(v, np.ndarray)}
        bound = {n: v if isinstance(v, int) else real(v) for n, v in numbers.items()}
        self.generator = generator_of(self.module).bind(bound)
        own = self.domain.module
        given = _plain(own, self.domain.params)
        if "r" in own.SPEC.names or own is self.module:
            given["r"] = Fraction(1)
        if "y" in given:
            given["y"] = np.asarray(y).astype(bool)
        self.domain = Domain(self.domain.object_name, given)
        if isinstance(self.family, families.MultilabelDistribution):
            mask = vector(np.asarray(y) != 0)
            self.target = mask / max(1, rationals.total(mask))


@functools.lru_cache(maxsize=20000)
def loss(instance: Instance, numbers: Numbers = EXACT) -> Loss:
    """The formulas of an instance's loss; exact, its radius is 1 where the dual set has one."""
    module, y = catalogue.load(instance.object_name), instance.get("y")
    params = {n: v for n in module.SPEC.names if (v := instance.get(n)) is not None}
    size = instance[lookup(instance.problem).data].size
    d = size if y is None else families.of(module).size(size)
    return (_Exact if numbers is EXACT else Loss)(instance.object_name, params, d, y)


def generator(instance: Instance) -> Any:
    """The smooth part of the conjugate, its parameters exact."""
    return loss(instance).generator


def costs(instance: Instance, numbers: Numbers = EXACT) -> Vector:
    """Margins c over the coordinates of x; the loss's default unless given."""
    form, y, given = loss(instance, numbers), instance.get("y"), instance.get("costs")
    if given is None:
        return numbers.vector(form.family.default_costs(form.default_cost, y, form.d))
    return numbers.vector(given if given.size == form.d else families.others(given, y))


def weight(instance: Instance) -> Fraction:
    """Sample weight, 1 unless given."""
    given = instance.get("sample_weight")
    return exact(1.0 if given is None else given)


def mass(instance: Instance) -> Fraction:
    """Factor w (gradients) or w C (updates) between x and an answer over the classes."""
    return weight(instance) * (exact(instance["C"]) if instance.operation == "sdca_update" else 1)


def is_curved(instance: Instance) -> bool:
    """Whether the instance's loss has a conjugate that is no quadratic form: decimals are needed."""
    return not lookup(instance.problem).generator.rational


def margins(instance: Instance, numbers: Numbers = EXACT) -> tuple[Vector, float]:
    """Margins z of the scores (or of the point of a prox), and the size of the terms in them."""
    main, c = numbers.vector(instance[lookup(instance.problem).data]), costs(instance, numbers)
    parts = [main, c]
    if instance.operation == "prox":
        z = main + c
    else:
        family, y = loss(instance, numbers).family, instance["y"]
        z = family.margins(main, y, c)
        if family.coupled:
            parts = [families.others(main, y), c, main[y : y + 1]]
    return z, sum(map(_largest, parts))


def _largest(v: Vector) -> float:
    return float(np.array([abs(number(x)) for x in v.tolist()]).max(initial=0.0))


@functools.lru_cache(maxsize=20000)
def core(instance: Instance, numbers: Numbers = EXACT) -> Core:
    """The projection that an instance of projection, gradient, prox or sdca_update asks for."""
    if instance.operation == "projection":
        a, rho = numbers.vector(instance["a"]), numbers.scalar(instance.get("rho", 0.0))
        return Core(own_domain(instance, numbers), a, rho, False, _largest(a))
    z, spread = margins(instance, numbers)
    form = loss(instance, numbers)
    beta, coupled = curvature_of(instance)
    quadratic = cast(Quadratic, form.generator)
    b, rho, curvature = quadratic.reduced(z, numbers.scalar(beta), coupled)
    linear = bool(curvature == 0)
    unit = Fraction(1) if linear else 1 / exact(curvature)
    spread += float(getattr(quadratic, "unit", 0.0))  # of slopes that are in b
    b_spread = spread if linear else number(exact(spread) * unit)
    excess = None
    if linear and (kinks := getattr(quadratic, "excess", None)):
        excess = functools.partial(kinks, q=quadratic.weights(z))  # type: ignore[attr-defined]
    return Core(form.domain, b, numbers.scalar(rho), linear, b_spread, unit, excess)


def curvature_of(instance: Instance) -> tuple[Fraction, bool]:
    """What a prox or an update adds to the conjugate: beta/2 (||x||^2 + [coupled] s^2)."""
    if instance.operation == "prox":
        return exact(instance["t"]), False
    if instance.operation == "sdca_update":
        return mass(instance) * exact(instance["k_ii"]), loss(instance).family.coupled
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
    form, h = loss(instance), generator(instance)
    target = tuple(form.target.tolist()) if h.shifted else ()
    params = plain(form.domain.params)
    return Curved(h, form.domain.object_name, params, tuple(z.tolist()), alpha, rho, spread, target)


def dual_point(
    instance: Instance, answer: np.ndarray, numbers: Numbers = EXACT
) -> tuple[Vector, Any, Fraction]:
    """The x that an answer means, the defect of its ground-truth entry, and its scale.

    The scale is the factor from x to the answer: a distance of x times it is one of the answer.
    """
    out, none = numbers.vector(answer), numbers.scalar(0)
    if instance.operation == "projection":
        return out, none, Fraction(1)
    if instance.operation == "prox":
        t = exact(instance["t"])
        return (numbers.vector(instance["v"]) - out) / numbers.scalar(t), none, t
    family = loss(instance, numbers).family
    x = family.coordinates(out if instance.operation == "sdca_update" else -out, instance["y"])
    defect = numbers.total(out) if family.coupled else none
    w = mass(instance)
    if w == 0:
        return x, defect, Fraction(1)
    return x / numbers.scalar(w), defect / numbers.scalar(w), w


def pushed(instance: Instance, x: Vector) -> Vector:
    """Gradient over the classes that x means."""
    return -loss(instance).family.block(x, instance["y"])
