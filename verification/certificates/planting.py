"""Instances whose solution is known because it was put there."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from verification.certificates import core as cores
from verification.certificates import truth
from verification.certificates._rational import Vector, exact, floats, total, vector
from verification.instances import Instance
from verification.problems import lookup


def plant(start: Instance, multiple: float) -> Instance:
    """Change the main vector so that the solution is the one of ``start``, with another multiplier.

    The solution x of ``start`` has the normal w = b − x − rho <1,x> 1; every b' = b + (λ−1) w has
    the same solution. λ = 0 leaves all active constraints without a multiplier, which is where
    case distinctions go wrong (rounding b' to floats moves it a little to either side).
    Operations without a strictly convex projection keep their vector.
    """
    if start.operation == "conjugate":
        return _into_domain(start, multiple)
    if start.operation == "value":
        return start
    try:
        core = cores.core(start)
        if core.linear:
            return start
        x = truth.solution(start)
    except truth.UncertainError:
        return start
    w = core.b - x - core.rho * total(x)
    target = core.b + (exact(multiple) - 1) * w
    return start.with_params(**{lookup(start.problem).data: _main(start, core, target)})


def _into_domain(start: Instance, multiple: float) -> Instance:
    """Move x into the domain: onto its border, or (multiple > 0) a little towards a uniform x."""
    stem, fixed = cores.dual_set(start.stem)
    params = cores.set_params(stem, {"k": start.get("k"), **fixed, "r": Fraction(1)})
    x = np.asarray(cores.catalogue.load(stem).repair(vector(start["x"]), **params), dtype=object)
    if multiple > 0:
        x = (7 * x + total(x) / x.size) / 8 * Fraction(15, 16)
    return start.with_params(x=floats(x))


def _main(start: Instance, core: cores.Core, target: Vector) -> np.ndarray:
    """Main vector whose core has the point ``target``."""
    name = lookup(start.problem).data
    if start.operation == "projection":
        return floats(target)
    current = vector(start[name])
    y = start.get("y")
    if y is None:
        ratio = _curvature(start, core, current)
        return floats(current + (target - core.b) * ratio)
    rest = np.delete(current, y)
    shifted = rest + (target - core.b) * _curvature(start, core, current)
    return floats(np.insert(shifted, y, current[y]))


def _curvature(start: Instance, core: cores.Core, current: Vector) -> Fraction:
    """Factor from the core's point to margins: margins z = curvature · b."""
    z, _ = cores.margins(start)
    for zi, bi in zip(z.tolist(), core.b.tolist(), strict=True):
        if bi != 0:
            return Fraction(zi / bi)
    return Fraction(1)
