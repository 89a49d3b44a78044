"""Judges answers of long vectors by certificates in extended precision, and exactly where these leave a doubt.

Exact fractions take some 40 microseconds an entry, decimals ten times as much. The certificates of
`refsolve.certificates` are the same formulas on whole arrays of long doubles: what they prove of an answer
is within a few roundings of long doubles of what is exact, and those are a small part of the bound that an
answer of this length is judged by. An answer passes only where they prove it; every other verdict is exact.
"""

import math

import numpy as np

from refsolve import catalogue
from refsolve import certificates as proofs
from refsolve.errors import RefsolveError
from refsolve.proofs.certificate import Array, Certificate, norm
from refsolve.proofs.projection import projection_gap
from verification.certificates import core as cores
from verification.certificates import tolerance
from verification.certificates.core import EXTENDED, Core
from verification.certificates.dispatch import certify
from verification.instances.instance import Instance
from verification.verdicts.verdict import Candidate, Judgement, Verdict

#: Share of the bound that a proof may take.
SHARE = 0.5
#: How far outside of the domain a point is beyond any doubt.
OUTSIDE = 1e-6


def judge_long(instance: Instance, candidate: Candidate) -> Judgement:
    """The judgement, from extended precision where that proves the answer right."""
    return proven(instance, np.asarray(candidate.x)) or certify(instance, candidate)


def proven(instance: Instance, answer: np.ndarray) -> Judgement | None:
    """A pass, if a certificate in long doubles shows it."""
    problem = instance.problem
    main = instance[problem.data]
    plain = answer.dtype.kind == "f" and (answer.shape == main.shape or not problem.point)
    if problem.kind not in ("sets", "losses") or not (plain and main.dtype == float):
        return None
    name = {"value": "loss_value"}.get(problem.operation, problem.operation)
    given = {n: v for n, v in instance.params.items() if v is not None}
    found: Certificate
    try:
        rational = problem.kind == "sets" or (problem.unique and problem.generator.rational)
        if problem.point and rational:
            core = cores.core(instance, EXTENDED)
            weightless = problem.kind == "losses" and cores.weight(instance) == 0
            if core.linear or weightless:
                return None
            return _passed(instance, _first_order(instance, core, answer))
        found = getattr(proofs, name)(
            problem.object_name, answer if problem.point else answer.item(), **given
        )
    except (RefsolveError, ArithmeticError, ValueError):
        return None
    if problem.operation == "conjugate" and answer.item() == math.inf:
        return Judgement(Verdict.PASS, accuracy=0.0) if found.violation > OUTSIDE else None
    least, off = found.relative_gap, found.violation
    if problem.point:
        size = float(given["t"] if problem.operation == "prox" else np.abs(answer).sum())
        if not problem.generator.rational:
            # an error of the scores is a relative one of x, and the gap shows that of the small ones
            size *= 1 + float(np.abs(main).max())
            off = max(off, math.sqrt(2 * found.gap))
        if problem.unique:
            least = 0.0
            off = max(off, found.distance)
        least = max(least, off / size if size else math.inf)
    return _passed(instance, least)


def _passed(instance: Instance, least: float) -> Judgement | None:
    """A pass, where a relative error is a small part of what is allowed."""
    relative = tolerance.relative(instance, instance[instance.problem.data].size)
    if not least <= SHARE * relative:
        return None
    return Judgement(Verdict.PASS, distance=least, distance_tolerance=relative, accuracy=least)


def _first_order(instance: Instance, core: Core, answer: Array) -> float:
    """Repair and gap beside their bounds, of first order as in `points.by_gap`, in units of what is allowed.

    The bounds are at most those: without what underflow excuses.
    """
    domain, b, d = core.domain, core.b, core.b.size
    x, unbalance, _ = cores.dual_point(instance, answer, EXTENDED)
    feasible = domain.repair(x)
    gradient = feasible - b + core.rho * feasible.sum()
    if domain.cone:
        gap = projection_gap(
            catalogue.load(domain.object_name), feasible, b, rho=core.rho, **domain.params
        )
    else:
        gap = domain.around(feasible, gradient).residual(feasible, -gradient)
    eps, mass = tolerance.precision(instance), float(np.abs(feasible).sum())
    allowed = tolerance.distance(eps, d, core.spread, mass) * tolerance.slack(instance, d)
    radius = float(domain.params.get("r", mass))
    sizes = float(norm(gradient)), float(core.rho), float(norm(feasible)), radius
    limit = float(tolerance.fw_gap(allowed, d, *sizes))
    moved = float(norm(x - feasible)) + abs(float(unbalance))
    if tolerance.coarse(instance, d, allowed, domain.params):
        value = tolerance.scores(instance, d, core.spread + sizes[0], mass + radius)
        near = tolerance.distance(eps, d, 0.0, mass) + 2 * moved + abs(radius - float(feasible.sum()))
        limit = min(limit, float(value + tolerance.fw_gap(near, d, *sizes)))
    share = max(moved / allowed, float(gap) / limit)
    return share * tolerance.relative(instance, d)
