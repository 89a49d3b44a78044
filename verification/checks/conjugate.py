"""The conjugate against its definition: no z gives more, one gives as much, +inf by a ray."""

import math
import zlib
from fractions import Fraction

import numpy as np

from refsolve.proofs.rationals import Vector, dot, exact, floats, number, vector
from verification import certificates
from verification.certificates import core, loss, tolerance, truth
from verification.certificates.text import brief
from verification.checks._plain import in_parts
from verification.instances.instance import Instance
from verification.kit.solver_call import Caller
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement, Verdict

ORDER = 20
COUNTS = {"quick": 120, "thorough": 800}


def applies(problem: Problem) -> bool:
    """Losses: conjugate."""
    return problem.operation == "conjugate"


#: Points in, on the border of and outside the domain.
instances = in_parts(COUNTS, "random", "planted", "ties", offset=5)


def examine(call: Caller, instance: Instance) -> Judgement:
    """Judge the number, then sample sup_z <x,z> − L(z) − <c,x> for a larger value."""
    candidate = call(instance)
    judgement = certificates.judge(instance, candidate)
    convex = instance.problem.convex
    if not judgement.ok or not convex or not np.isfinite(candidate.x).all():
        return judgement
    got = exact(float(candidate.x.ravel()[0]))
    x = vector(instance["x"])
    rng = np.random.default_rng(zlib.crc32(instance["x"].tobytes()))
    for scale in (0.1, 1.0, 10.0):
        z = vector(rng.normal(size=x.size) * scale)
        try:
            excess, allowed = _excess(instance, x, z, got, scale)
        except truth.UncertainError as error:
            return Judgement(Verdict.INCONCLUSIVE, message=str(error))
        if excess > allowed or not math.isfinite(excess):
            message = (
                f"returned {float(got)!r}, but <x,z> − L(z) − <c,x> is larger by {excess:.3g} at "
                f"z = {brief(floats(z))}"
            )
            terms = {"excess of <x,z> - L(z)": (excess, allowed)}
            return Judgement(Verdict.FAIL, message=message, terms=terms)
    return judgement


def _excess(
    instance: Instance, x: Vector, z: Vector, got: Fraction, scale: float
) -> tuple[float, float]:
    """<x,z> − L(z) − <c,x> − got, positive if the conjugate is too small, and its tolerance."""
    shift = dot(core.costs(instance), x)
    value = loss.value_at(instance, z)
    terms = (abs(number(dot(x, z))), abs(number(value)), abs(number(shift)))
    # x may be outside by rounding, and is then judged as if it were inside
    allowed = tolerance.relative(instance, x.size) * (sum(terms) + scale * 4)
    return number(dot(x, z) - value - shift - got), allowed
