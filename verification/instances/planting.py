"""Instances whose solution is known because it was put there."""

from fractions import Fraction

import numpy as np

from refsolve.exact.decimals import rational
from refsolve.proofs.families import OneVsAll
from refsolve.proofs.rationals import Vector, exact, floats, total, vector
from verification.certificates import core as cores
from verification.certificates import entropy_points, truth
from verification.instances.instance import Instance
from verification.problems.problem import lookup


def plant(start: Instance, multiple: float) -> Instance:
    """Change the main vector so that the solution is the one of ``start``, with another multiplier.

    The solution x of ``start`` has the normal w = b − x − rho <1,x> 1; every b' = b + (λ−1) w has
    the same solution. λ = 0 leaves all active constraints without a multiplier, which is where
    case distinctions go wrong (rounding b' to floats moves it a little to either side). For the
    entropies w consists of the multipliers of the caps. Operations without a strictly convex
    projection keep their vector.
    """
    problem = lookup(start.problem)
    if not problem.convex or problem.kind == "functions":
        return start
    if start.operation == "conjugate":
        return _into_domain(start, multiple)
    if start.operation == "value":
        return start
    try:
        b, w = _normal(start)
    except truth.UncertainError:
        return start
    if w is None:
        return start
    return start.with_params(**{problem.data: _main(start, b, (exact(multiple) - 1) * w)})


def _normal(start: Instance) -> tuple[Vector, Vector | None]:
    """The point b of the projection inside, and the normal of its set at the solution."""
    if cores.is_curved(start):
        curved = cores.curved_core(start)
        mu = vector([rational(v) for v in entropy_points.solution(curved).mu])
        if mu.size == 0:
            return vector(curved.b), None
        if getattr(curved.domain.module, "caps", "") == "sum":
            mu = mu - total(mu) / curved.domain.params["k"]
        return vector(curved.b), mu
    core = cores.core(start)
    if core.linear:
        return core.b, None
    x = truth.solution(start)
    return core.b, core.b - x - core.rho * total(x)


def _into_domain(start: Instance, multiple: float) -> Instance:
    """Move x into the domain: onto its border, or (multiple > 0) a little towards a uniform x."""
    x = vector(start["x"])
    form = cores.loss(start)
    x = np.asarray(form.domain.repair(x + form.target), dtype=object)
    if multiple > 0 and start.get("y") is None:
        x = (7 * x + total(x) / x.size) / 8 * Fraction(15, 16)
    elif multiple > 0 and not form.generator.shifted:
        x = x * Fraction(15, 16)
    return start.with_params(x=floats(x - form.target))


def _main(start: Instance, b: Vector, step: Vector) -> np.ndarray:
    """Main vector whose projection inside has the point b + ``step``."""
    name, y = lookup(start.problem).data, start.get("y")
    if start.operation == "projection":
        return floats(b + step)
    current = vector(start[name])
    moved = step * _curvature(start, b)
    if start.operation != "prox":
        own = cores.loss(start).family
        if isinstance(own, OneVsAll):
            moved = own.signs(y, current.size) * moved
        else:
            moved = np.insert(moved, y, 0)
    return floats(current + moved)


def _curvature(start: Instance, b: Vector) -> Fraction:
    """Factor from the core's point to margins: margins z = curvature · b."""
    z, _ = cores.margins(start)
    for zi, bi in zip(z.tolist(), b.tolist(), strict=True):
        if bi != 0:
            return Fraction(zi / bi)
    return Fraction(1)
