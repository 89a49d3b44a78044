"""What a certificate file holds of a verdict: multipliers or a ray, in floats."""

from __future__ import annotations

import numpy as np

from refsolve._types import Array
from refsolve.cones.bounds import Bounds
from refsolve.cones.certificate_file import Proof, outside, proof
from refsolve.cones.dyadic import up
from refsolve.cones.ranges import Ranges
from refsolve.cones.rays import direction
from refsolve.cones.solving import indifferent, proposal
from refsolve.cones.upper import MARGINS, Completion, Point
from refsolve.cones.verdict import Verdict


def file_proof(
    bounds: Bounds, status: Verdict, lifted: Array | None, fixed: Array
) -> tuple[Proof | None, str]:
    """The best proof of a status that a file holds, or why there is none.

    ``lifted`` is a point whose entries in ``fixed`` are the user's; the others are what follows from
    these for certain, or what a solver finds for them, which may be better by more than it is violated.
    """
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
    points = [x]
    if x is not None and not np.all(fixed):
        points.append(Completion(program, fixed).solved(x, 0.0)[0])
    best = None
    for reward in MARGINS:
        found = proposal(asked, reward=reward * (1 + float(np.abs(asked.q).max(initial=0))))
        if found is None or (infeasible and not np.any(found.z)):
            continue
        size = float(np.abs(found.z).max(initial=0.0)) if infeasible else 1.0
        for point in points:
            made = proof(program, point, found.z / size, bounds.curvature, (ranges.lo, ranges.hi))
            if made is not None and (best is None or _error(made) < _error(best)):
                best = made
    return best, "no multipliers were found"


def _error(made: Proof) -> tuple[float, float]:
    """What a proof leaves open: of the objective or of the constraints, then of the objective."""
    return max(made.bound, made.violation), made.bound


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
