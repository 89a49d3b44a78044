"""Agreement with the CVXPY oracle, as far as the oracle's own certificate reaches."""

from __future__ import annotations

import math

import numpy as np

import refsolve
from refsolve.errors import OracleUncertainError, Status
from verification.calling import Caller
from verification.certificates import core as cores
from verification.certificates import points, tolerance
from verification.certificates._rational import norm, number, vector
from verification.families import draw
from verification.instances import Instance
from verification.problems import Problem
from verification.verdicts import Judgement, Verdict

ORDER = 80
COUNTS = {"quick": 12, "thorough": 90}


def applies(problem: Problem) -> bool:
    """Operations whose answer is unique: points of strictly convex problems, and numbers."""
    smooth = "gamma" in problem.arguments
    return problem.operation != "gradient" or smooth


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Random ones of few shapes: the oracle compiles once per shape."""
    return draw(problem.name, "random", COUNTS[profile], seed + 8, largest=6)


def examine(call: Caller, instance: Instance) -> Judgement:
    """Both answers lie within their certified distances of the same solution."""
    answer = call(instance).x
    try:
        given = {name: v for name, v in instance.params.items() if v is not None}
        oracle = refsolve.solve(instance.problem, **given)
    except OracleUncertainError as error:
        return Judgement(Verdict.ORACLE_UNCERTAIN, message=str(error))
    if oracle.status is not Status.CERTIFIED:
        message = f"{oracle.solver} has gap {oracle.certificate.gap:.3g}"
        return Judgement(Verdict.ORACLE_UNCERTAIN, message=message)
    if instance.operation in ("value", "conjugate"):
        return _numbers(instance, answer, oracle)
    if defect := points.shape_defect(instance, answer):
        return Judgement(Verdict.FAIL, message=defect)
    core = cores.core(instance)
    x, _, scale = cores.dual_point(instance, answer)
    reference, _, _ = cores.dual_point(instance, np.asarray(oracle.x, dtype=float))
    apart = norm(x - reference) * number(scale)
    reach = oracle.certificate.distance
    if core.linear or not math.isfinite(reach):
        message = "the oracle's certificate bounds no distance here"
        return Judgement(Verdict.ORACLE_UNCERTAIN, message=message)
    eps = tolerance.precision(instance)
    mass = number(sum(abs(v) for v in reference.tolist()))
    allowed = tolerance.distance(eps, x.size, core.spread, mass) * number(scale)
    allowed += tolerance.size_factor(x.size) * eps * float(np.linalg.norm(answer))
    if apart > reach + allowed:
        message = (
            f"{apart:.3g} away from the oracle ({oracle.solver}), which is within {reach:.3g} of "
            f"the solution {np.asarray(oracle.x).tolist()}"
        )
        return Judgement(Verdict.FAIL, message=message)
    return Judgement(Verdict.PASS)


def _numbers(instance: Instance, answer: np.ndarray, oracle: refsolve.OracleResult) -> Judgement:
    got, right = float(np.asarray(answer).ravel()[0]), float(oracle.value)
    if math.isinf(got) or math.isinf(right):
        same = got == right
        message = "" if same else f"returned {got}, the oracle says {right}"
        return Judgement(Verdict.PASS if same else Verdict.FAIL, message=message)
    sizes = [float(np.abs(vector(v)).sum()) for v in instance.params.values() if np.ndim(v) == 1]
    eps, d = tolerance.precision(instance), max(len(instance[instance.items[0][0]]), 1)
    weight = number(cores.weight(instance))
    allowed = oracle.certificate.gap + tolerance.value(eps, d, max(1.0, weight), 1.0, *sizes)
    apart = abs(got - right)
    if apart > allowed:
        message = f"returned {got!r}, the oracle says {right!r} within {allowed:.3g}"
        return Judgement(Verdict.FAIL, message=message)
    return Judgement(Verdict.PASS)
