"""What a certificate file holds of a verdict: multipliers or a ray, in floats."""

from __future__ import annotations

import numpy as np

from refsolve._types import Array
from refsolve.cones.bounds import Bounds
from refsolve.cones.dyadic import up
from refsolve.cones.ranges import Ranges
from refsolve.cones.rays import direction
from refsolve.cones.solving import indifferent, proposal
from refsolve.cones.travelling import Proof, outside, proof
from refsolve.cones.upper import MARGINS, Point
from refsolve.cones.verdict import Verdict


def file_proof(bounds: Bounds, status: Verdict, lifted: Array | None) -> tuple[Proof | None, str]:
    """The best proof of a status that a file holds, or why there is none."""
    program, n = bounds.program, len(bounds.program.q)
    if status is Verdict.UNBOUNDED:
        return _falling(bounds), "the direction is certain to exist, but not known exactly"
    infeasible = status is Verdict.INFEASIBLE
    x = None if infeasible else lifted
    if x is None and not infeasible:
        return None, "the variables have no values"
    ranges, asked = Ranges(program), indifferent(program) if infeasible else program
    if x is None:
        ranges.narrow()
    else:
        value = Point(x, np.zeros(n)).objective(program)
        ranges.narrow(level=up(value + abs(value) / 10**9), curvature=bounds.curvature)
    if ranges.empty:
        ranges = Ranges(program)
    best = None
    for reward in MARGINS:
        found = proposal(asked, reward=reward * (1 + float(np.abs(asked.q).max(initial=0))))
        if found is None or (infeasible and not np.any(found.z)):
            continue
        size = float(np.abs(found.z).max(initial=0.0)) if infeasible else 1.0
        made = proof(program, x, found.z / size, bounds.curvature, (ranges.lo, ranges.hi))
        if made is not None and (best is None or made.bound < best.bound):
            best = made
    return best, "no multipliers were found"


def _falling(bounds: Bounds) -> Proof | None:
    """A feasible point, about, and a direction."""
    d = direction(bounds.program)
    for margin in MARGINS[1:] if d is not None else ():
        point = bounds.anywhere.completed(np.zeros(len(bounds.program.q)), margin)
        if point is not None and d is not None:
            x, free = point.x, np.full(len(d), np.inf)
            slope = float(bounds.program.q @ d) / 2
            return Proof(
                "unbounded",
                slope,
                outside(bounds.program, x),
                {"x": x, "ray": d},
                -free,
                free,
            )
    return None
