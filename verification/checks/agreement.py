"""Agreement with the CVXPY oracle, as far as the oracle's own certificate reaches."""

import math

import numpy as np

import refsolve
from refsolve.errors import OracleUncertainError, Status
from refsolve.proofs.rationals import norm, number, vector
from verification.certificates import core as cores
from verification.certificates import points, ranking, tolerance
from verification.certificates.text import brief
from verification.checks import amount
from verification.instances.families import draw
from verification.instances.instance import Instance
from verification.kit.solver_call import Caller
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement, Verdict

ORDER = 80
COUNTS = {"quick": 12, "thorough": 90}
#: The term of its certificate: what rounding, or the promise, has to excuse.
BEYOND = "distance to the oracle, beyond its own bound"


def applies(problem: Problem) -> bool:
    """Operations whose answer is unique (on random instances, for a loss that is no convex one).

    Rankings are compared by their objective.
    """
    return problem.unique or not problem.convex or problem.ranking


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Random ones of few shapes: the oracle compiles once per shape."""
    return draw(problem.name, "random", amount(problem, COUNTS[profile]), seed + 8, largest=6)


def examine(call: Caller, instance: Instance) -> Judgement:
    """Both answers lie within their certified distances of the same solution."""
    candidate = call(instance)
    answer = candidate.x
    if instance.problem.kind == "functions":
        if answer.shape != instance["t"].shape:
            message = f"shape {answer.shape}, expected {instance['t'].shape}"
            return Judgement(Verdict.FAIL, message=message)
        return _entries(instance, answer)
    try:
        given = {name: v for name, v in instance.params.items() if v is not None}
        oracle = refsolve.solve(instance.problem.name, **given)
    except OracleUncertainError as error:
        return Judgement(Verdict.INCONCLUSIVE, message=str(error))
    if oracle.status is not Status.CERTIFIED:
        message = f"{oracle.solver} has gap {oracle.certificate.gap:.3g}"
        return Judgement(Verdict.INCONCLUSIVE, message=message)
    if instance.operation == "loss_augmented_inference":
        judgement = ranking.judge(instance, candidate)
        if not judgement.ok:
            return judgement
        answer = np.asarray(number(ranking.attained(instance, answer)[0]))
    if instance.operation in ("value", "conjugate", "loss_augmented_inference"):
        return _numbers(instance, answer, oracle)
    if defect := points.shape_defect(instance, answer):
        return Judgement(Verdict.FAIL, message=defect)
    if cores.is_curved(instance):  # the threshold adds to the sizes of the scores
        spread, linear, conditioning = cores.margins(instance)[1] + 1.0, False, 1
    else:
        conditioning = cores.core(instance).domain.conditioning
        spread, linear = cores.core(instance).spread, cores.core(instance).linear
    x, _, scale = cores.dual_point(instance, answer)
    reference, _, _ = cores.dual_point(instance, np.asarray(oracle.x, dtype=float))
    apart = norm(x - reference) * number(scale)
    reach = oracle.certificate.distance
    if linear or not math.isfinite(reach):
        message = "the oracle's certificate bounds no distance here"
        return Judgement(Verdict.INCONCLUSIVE, message=message)
    eps = tolerance.precision(instance)
    mass = number(sum(abs(v) for v in reference.tolist()) * conditioning)
    allowed = tolerance.distance(eps, x.size, spread, mass) * number(scale)
    # rounding of the answer that there is, not of the one that was given
    allowed += tolerance.size_factor(x.size) * eps * (mass + reach) * number(scale)
    if instance.operation == "prox":
        allowed += tolerance.size_factor(x.size) * eps * norm(vector(instance["v"]))
    allowed *= tolerance.slack(instance, x.size)
    terms = {BEYOND: (apart - reach, allowed)}
    if not apart - reach <= allowed:
        message = (
            f"{apart:.3g} away from the oracle ({oracle.solver}), which is within {reach:.3g} of "
            f"the solution {brief(oracle.x)}"
        )
        return Judgement(Verdict.FAIL, message=message, terms=terms)
    return Judgement(Verdict.PASS, terms=terms)


def _entries(instance: Instance, answer: np.ndarray) -> Judgement:
    """A function, number by number."""
    for t, got in zip(instance["t"].tolist(), np.asarray(answer, float).ravel(), strict=True):
        oracle = refsolve.solve(instance.problem.name, t=t)
        if oracle.status is not Status.CERTIFIED:
            message = f"{oracle.solver} has gap {oracle.certificate.gap:.3g}"
            return Judgement(Verdict.INCONCLUSIVE, message=message)
        right = float(oracle.value)
        apart = abs(got - right) - oracle.certificate.distance
        size = right + tolerance.smallest(instance) * tolerance.slack(instance, 1)
        allowed = tolerance.relative(instance, 1) * size
        if not apart <= allowed:  # also if it is no number
            reach = oracle.certificate.distance + allowed
            message = f"returned {got!r} at t = {t!r}, the oracle says {right!r} within {reach:.3g}"
            return Judgement(Verdict.FAIL, message=message, terms={BEYOND: (apart, allowed)})
    return Judgement(Verdict.PASS)


def _numbers(instance: Instance, answer: np.ndarray, oracle: refsolve.OracleResult) -> Judgement:
    if np.size(answer) != 1 or np.isnan(answer).any():
        return Judgement(Verdict.FAIL, message=f"returned {brief(answer)}, expected one number")
    got, right = float(np.asarray(answer).ravel()[0]), float(oracle.value)
    if math.isinf(got) or math.isinf(right):
        same = got == right
        message = "" if same else f"returned {got}, the oracle says {right}"
        return Judgement(Verdict.PASS if same else Verdict.FAIL, message=message)
    sizes = [float(np.abs(vector(v)).sum()) for v in instance.params.values() if np.ndim(v) == 1]
    eps, d = tolerance.precision(instance), max(len(instance[instance.items[0][0]]), 1)
    weight = number(cores.weight(instance))
    allowed = tolerance.value(eps, d, max(1.0, weight), 1.0, *sizes)
    allowed *= tolerance.slack(instance, d)
    apart, reach = abs(got - right), oracle.certificate.gap
    terms = {BEYOND: (apart - reach, allowed)}
    if not apart - reach <= allowed:
        message = f"returned {got!r}, the oracle says {right!r} within {reach + allowed:.3g}"
        return Judgement(Verdict.FAIL, message=message, terms=terms)
    return Judgement(Verdict.PASS, terms=terms)
