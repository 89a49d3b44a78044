"""The projection inside every operation.

Projections, proxes, dual updates and gradients all ask for one x:

    minimise  curvature/2 (||x - b||^2 + rho <1,x>^2)  over the dual set of radius r,

or, where the curvature is 0 (subgradients of hinges, updates of zero rows), for a maximiser of
<b,x> there. This file says, in exact arithmetic, which b, rho and r an instance means, and which
x an answer means.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

from refsolve import catalogue
from verification.certificates._rational import Vector, exact, number, vector
from verification.instances import Instance
from verification.problems import lookup


@dataclass(frozen=True)
class Core:
    """An instance as a projection, all numbers exact.

    Attributes
    ----------
    stem : name of the set.
    params : its parameters (k, r), as the set declares them.
    b, rho : point and weight of the squared sum; ``linear`` means: maximise <b,x> instead.
    spread : size of the floats from which b is computed, in the units of b.
    """

    stem: str
    params: dict[str, Any]
    b: Vector
    rho: Fraction
    linear: bool
    spread: float

    @property
    def module(self) -> ModuleType:
        """Declaration of the set."""
        return catalogue.load(self.stem)


def dual_set(stem: str) -> tuple[str, dict[str, Any]]:
    """Set on which a loss's conjugate is finite, and its parameters that the loss fixes."""
    module = catalogue.load(stem)
    return module.dual_set, dict(getattr(module, "dual_params", {}))


def set_params(stem: str, given: dict[str, Any]) -> dict[str, Any]:
    """Those of the given parameters that the set declares, reals exact."""
    names = catalogue.load(stem).SPEC.names
    return {n: v if isinstance(v, int) else exact(v) for n, v in given.items() if n in names}


def others(array: np.ndarray, y: int | None) -> np.ndarray:
    """The entries without the ground truth's."""
    return array if y is None else np.delete(array, y)


def costs_of_others(instance: Instance, d: int) -> Vector:
    """Margins c_j of the other classes; 1 unless given."""
    costs = instance.get("costs")
    y = instance.get("y")
    return vector(np.ones(d) if costs is None else others(costs, y))


def weight(instance: Instance) -> Fraction:
    """Sample weight, 1 unless given."""
    given = instance.get("sample_weight")
    return exact(1.0 if given is None else given)


def smoothing(instance: Instance) -> Fraction:
    """Smoothing gamma of the loss, 0 for a hinge."""
    return (
        exact(instance["gamma"]) if "gamma" in lookup(instance.problem).arguments else Fraction(0)
    )


def margins(instance: Instance) -> tuple[Vector, float]:
    """Margins z = f_others - f_y + c, and the size of the terms in them."""
    problem = lookup(instance.problem)
    y = instance.get("y")
    main = vector(instance[problem.data])
    if y is None:
        c = costs_of_others(instance, main.size)
        parts: tuple[Vector, ...] = (main, c)
        z = main + c
    else:
        rest = np.delete(main, y)
        c = costs_of_others(instance, rest.size)
        parts = (rest, c, main[y : y + 1])
        z = rest - main[y] + c
    return z, sum(max((number(abs(v)) for v in p.tolist()), default=0.0) for p in parts)


@functools.lru_cache(maxsize=20000)
def core(instance: Instance) -> Core:
    """The projection that an instance of projection, gradient, prox or sdca_update asks for."""
    if instance.operation == "projection":
        a = vector(instance["a"])
        given = {n: instance[n] for n in ("k", "r") if instance.get(n) is not None}
        params = set_params(instance.stem, given)
        spread = max((number(abs(v)) for v in a.tolist()), default=0.0)
        return Core(instance.stem, params, a, exact(instance.get("rho", 0.0)), False, spread)
    z, spread = margins(instance)
    stem, fixed = dual_set(instance.stem)
    gamma = smoothing(instance)
    radius, rho, curvature = Fraction(1), Fraction(0), gamma
    if instance.operation == "prox":
        curvature = gamma + exact(instance["t"])
    elif instance.operation == "sdca_update":
        radius = weight(instance) * exact(instance["C"])
        k_ii = exact(instance["k_ii"])
        # zero weight: the dual block is 0 whatever the smoothing is
        curvature = k_ii + (gamma / radius if radius > 0 else gamma)
        rho = k_ii / curvature if curvature > 0 else Fraction(0)
    params = set_params(stem, {"k": instance.get("k"), **fixed, "r": radius})
    if curvature > 0:
        return Core(stem, params, z / curvature, rho, False, spread / number(curvature))
    return Core(stem, params, z, Fraction(0), True, spread)


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
    y = instance["y"]
    rest = np.delete(out, y)
    defect = sum(out.tolist(), zero)
    if instance.operation == "gradient":
        w = weight(instance)
        return (rest / w, defect / w, w) if w > 0 else (rest, defect, one)
    return -rest, defect, one
