"""How trained models are judged: beside the oracle's bracket of the optimum, or by their descent.

The oracle's D <= P* <= P and that of the trained model come from formulas and hold whatever was solved, so
that two that do not overlap prove one of them wrong. What a trainer has of its own stands in its module: the
instances, how it is called, and its objective.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from refsolve.proofs.model import ModelCertificate
from verification.instances.instance import Instance
from verification.verdicts.report import Report
from verification.verdicts.verdict import Judgement, Result, Verdict

TOL = 1e-6
EPS = float(np.finfo(float).eps)


def beside_oracle(
    problem: str,
    given: Mapping[str, Any],
    ours: ModelCertificate,
    apart: Callable[[np.ndarray], float],
    unit: float = 1.0,
    least: float = 1.0,
    name: str = "w",
) -> Judgement:
    """Whether the brackets overlap, and the weights are as near as both gaps allow.

    P is 1-strongly convex in the weights: each of the two is within sqrt(2 gap) of the one minimiser.
    ``apart`` is their distance, ``unit`` P in units of the oracle's, ``least`` a size of what both are made of.
    """
    import refsolve
    from refsolve.errors import OracleUncertainError, Status

    try:
        oracle = refsolve.solve(problem, **given)
    except OracleUncertainError as error:
        return Judgement(Verdict.INCONCLUSIVE, message=str(error))
    proof: Any = oracle.certificate
    upper, lower = proof.primal * unit, proof.dual * unit
    slack = 64 * len(given["y"]) * EPS * max(abs(upper), abs(ours.primal), least)
    if max(lower, ours.dual) > min(upper, ours.primal) + slack:
        message = f"the oracle has P* in [{lower!r}, {upper!r}], the trainer in [{ours.dual!r}, {ours.primal!r}]"
        return Judgement(Verdict.FAIL, message=message)
    if oracle.status is not Status.CERTIFIED:  # too wide a bracket to agree with
        message = f"{oracle.solver} has gap {proof.gap:.3g}"
        return Judgement(Verdict.INCONCLUSIVE, message=message)
    gap = max(proof.gap, 0.0) * unit
    bound = float(np.sqrt(2 * (ours.gap + slack)) + np.sqrt(2 * (gap + slack)))
    far = float(apart(oracle.x))
    verdict = Verdict.PASS if far <= bound else Verdict.FAIL
    message = f"||{name} - {name}_oracle|| = {far:.3g} exceeds the certified {bound:.3g}"
    said = "" if far <= bound else message
    return Judgement(verdict, ours.relative_gap, 2 * TOL, far, bound, said)


def descended(what: str, path: np.ndarray, final: float, step: float, slack: float) -> str:
    """What is wrong with a descent: it never rises, ends where it claims, and not above its convex step."""
    if np.diff(path).max(initial=0.0) > slack:
        return f"the {what} rises: {path.tolist()}"
    if abs(path[-1] - final) > slack:
        return f"the {what} is {final!r}, claimed {float(path[-1])!r}"
    if final > step + slack:
        return f"the {what} {final!r} exceeds that of its convex step, {step!r}"
    return ""


def too_wide(ours: ModelCertificate) -> Judgement | None:
    """The judgement of a model that did not get to the tolerance asked for, else None."""
    if ours.relative_gap <= 2 * TOL:
        return None
    message = f"trained to a relative gap of {ours.relative_gap:.3g}, asked for {TOL:g}"
    return Judgement(Verdict.FAIL, ours.relative_gap, 2 * TOL, message=message)


def report(
    problem: str,
    check: str,
    drawn: Iterable[Instance],
    examine: Callable[[Instance], Judgement],
    profile: str,
    seed: int,
) -> Report:
    """A report like those of `verification.verify`, on the instances of one model.

    Gaps are relative; the distance is that of the weights, its tolerance the certified bound.
    """
    start = time.perf_counter()
    results = tuple(Result.of(check, each, examine(each)) for each in drawn)
    return Report(problem, profile, seed, results, time.perf_counter() - start, "fast")
