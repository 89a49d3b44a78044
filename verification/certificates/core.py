"""The projection inside every operation.

Projections, proxes, dual updates and gradients all ask for one x:

    minimise  curvature/2 (||x - b||^2 + rho <1,x>^2)  over the dual set of radius r,

or, where the curvature is 0 (subgradients of hinges, updates of zero rows), for a maximiser of
<b,x> there; for the entropies, for its entropic twin (`verification.certificates.entropy`). This
file says, in exact arithmetic, which b, rho and r an instance means, and which x an answer means.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

from refsolve import catalogue
from verification.certificates import coordinates
from verification.certificates._rational import Vector, exact, number, vector
from verification.certificates.entropy import EntropyCore
from verification.instances.instance import Instance
from verification.problems.problem import lookup


@dataclass(frozen=True)
class Core:
    """An instance as a projection, all numbers exact.

    Attributes
    ----------
    stem : name of the set.
    params : its parameters (k, r, y), as the set declares them.
    b, rho : point and weight of the squared sum; ``linear`` means: maximise <b,x> instead.
    spread : size of the floats from which b is computed, in the units of b.
    unit : one unit of these floats, in the units of b.
    """

    stem: str
    params: dict[str, Any]
    b: Vector
    rho: Fraction
    linear: bool
    spread: float
    unit: Fraction = Fraction(1)

    @property
    def module(self) -> ModuleType:
        """Declaration of the set."""
        return catalogue.load(self.stem)


def dual_set(stem: str) -> tuple[str, dict[str, Any]]:
    """Set on which a loss's conjugate is finite, and its parameters that the loss fixes."""
    module = catalogue.load(stem)
    return module.dual_set, dict(getattr(module, "dual_params", {}))


def set_params(stem: str, given: dict[str, Any]) -> dict[str, Any]:
    """Those of the given parameters that the set takes, reals exact."""
    module = catalogue.load(stem)
    names = {*module.SPEC.names, *getattr(module, "arguments", ())}
    found = {n: v if np.ndim(v) or isinstance(v, int) else exact(v) for n, v in given.items()}
    return {
        n: v.astype(bool) if isinstance(v, np.ndarray) else v
        for n, v in found.items()
        if n in names
    }


def unit_set(instance: Instance) -> tuple[str, dict[str, Any]]:
    """Domain of the conjugate of an instance's loss."""
    stem, fixed = dual_set(instance.stem)
    given = {n: instance[n] for n in ("k", "y") if instance.get(n) is not None}
    return stem, set_params(stem, {**given, **fixed, "r": Fraction(1)})


def costs(instance: Instance) -> Vector:
    """Margins c over the coordinates of x; the loss's default unless given."""
    size = instance[lookup(instance.problem).data].size
    y, layout = instance.get("y"), coordinates.layout(instance.stem)
    d = size - 1 if layout == "others" and y is not None else size
    return coordinates.costs(instance.stem, instance.get("costs"), y, d)


def weight(instance: Instance) -> Fraction:
    """Sample weight, 1 unless given."""
    given = instance.get("sample_weight")
    return exact(1.0 if given is None else given)


def mass(instance: Instance) -> Fraction:
    """Factor w (gradients) or w C (updates) between x and an answer over the classes."""
    return weight(instance) * (exact(instance["C"]) if instance.operation == "sdca_update" else 1)


def smoothing(instance: Instance) -> Fraction:
    """Smoothing gamma of the loss, 0 for a hinge."""
    return (
        exact(instance["gamma"]) if "gamma" in lookup(instance.problem).arguments else Fraction(0)
    )


def is_entropic(instance: Instance) -> bool:
    """Whether the instance's loss has an entropy for its conjugate."""
    if lookup(instance.problem).kind != "losses":
        return False
    return coordinates.generator(instance.stem) != "quadratic"


def margins(instance: Instance) -> tuple[Vector, float]:
    """Margins z of the scores (or of the point of a prox), and the size of the terms in them."""
    main = vector(instance[lookup(instance.problem).data])
    c = costs(instance)
    parts = [main, c]
    if instance.operation == "prox":
        z = main + c
    else:
        z = coordinates.margins(instance.stem, main, instance["y"], c)
        if coordinates.layout(instance.stem) == "others":
            y = instance["y"]
            parts = [np.delete(main, y), c, main[y : y + 1]]
    return z, sum(max((number(abs(v)) for v in p.tolist()), default=0.0) for p in parts)


@functools.lru_cache(maxsize=20000)
def core(instance: Instance) -> Core:
    """The projection that an instance of projection, gradient, prox or sdca_update asks for."""
    if instance.operation == "projection":
        a = vector(instance["a"])
        given = {n: instance[n] for n in ("k", "r", "y") if instance.get(n) is not None}
        params = set_params(instance.stem, given)
        spread = max((number(abs(v)) for v in a.tolist()), default=0.0)
        return Core(instance.stem, params, a, exact(instance.get("rho", 0.0)), False, spread)
    z, spread = margins(instance)
    stem, params = unit_set(instance)
    gamma = smoothing(instance)
    rho, curvature = Fraction(0), gamma
    if instance.operation == "prox":
        curvature = gamma + exact(instance["t"])
    elif instance.operation == "sdca_update":
        radius = mass(instance)
        k_ii = exact(instance["k_ii"])
        # zero weight: the dual block is 0 whatever the smoothing is
        curvature = k_ii + (gamma / radius if radius > 0 else gamma)
        if coordinates.layout(instance.stem) == "others":
            rho = k_ii / curvature if curvature > 0 else Fraction(0)
        params = {**params, "r": radius}
    if curvature > 0:
        unit = 1 / curvature
        b_spread = number(exact(spread) * unit)
        return Core(stem, params, z * unit, rho, False, b_spread, unit)
    return Core(stem, params, z, Fraction(0), True, spread)


@functools.lru_cache(maxsize=20000)
def entropy_core(instance: Instance) -> EntropyCore:
    """The entropic problem that an instance asks for, in units of its weight."""
    z, spread = margins(instance)
    alpha, rho = Fraction(0), 0
    if instance.operation == "prox":
        alpha = exact(instance["t"])
    elif instance.operation == "sdca_update":
        alpha = mass(instance) * exact(instance["k_ii"])
        rho = int(coordinates.layout(instance.stem) == "others")
    return entropy_of(instance, z, spread, alpha, rho)


def entropy_of(
    instance: Instance,
    z: Vector,
    spread: float = 0.0,
    alpha: Fraction = Fraction(0),
    rho: int = 0,
) -> EntropyCore:
    """The entropic problem of an instance's loss at other margins z."""
    generator = coordinates.generator(instance.stem)
    stem, params = unit_set(instance)
    plain = tuple((n, v if isinstance(v, int) else 1) for n, v in params.items() if n in ("k", "r"))
    b, target = tuple(z.tolist()), ()
    if generator == "simplex_entropy":
        target = tuple(coordinates.target(instance["y"], z.size).tolist())
    return EntropyCore(generator, stem, plain, b, alpha, rho, spread, target)


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
    entropic = is_entropic(instance)
    sign = -1 if instance.operation == "sdca_update" else 1
    x, defect = coordinates.pull(instance.stem, sign * out, instance["y"])
    w = mass(instance)
    # the blocks of hinges are compared in the units of C, on a set of that radius
    if w > 0 and (entropic or instance.operation == "gradient"):
        return x / w, defect / w, w
    return x, defect, one
