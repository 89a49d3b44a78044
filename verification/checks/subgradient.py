"""L(h) >= L(f) + <g, h - f> for scores h near and far, both values exact."""

import zlib
from dataclasses import replace

import numpy as np

from refsolve.proofs.rationals import number, vector
from verification.certificates import points, ranking, tolerance, truth
from verification.certificates.loss import subgradient_defect
from verification.certificates.text import brief
from verification.checks._plain import in_parts
from verification.instances.instance import Instance
from verification.kit.solver_call import Caller
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement, Verdict

ORDER = 25
COUNTS = {"quick": 40, "thorough": 250}


def applies(problem: Problem) -> bool:
    """Convex losses: gradient, and the coefficients of a ranking."""
    return problem.operation in ("gradient", "loss_augmented_inference") and problem.convex


instances = in_parts(COUNTS, "random", "ties", offset=4)


def other_scores(instance: Instance) -> list[np.ndarray]:
    """Scores to compare with: each class raised and lowered by turns, then random ones."""
    f = instance["scores"].astype(float)
    rng = np.random.default_rng(zlib.crc32(f.tobytes()))
    steps = [np.eye(f.size)[j] * s for j in range(min(f.size, 4)) for s in (0.25, -0.25)]
    return [f + step for step in steps] + [rng.normal(size=f.size) * s for s in (1.0, 4.0)]


def examine(call: Caller, instance: Instance) -> Judgement:
    """Call once; no comparison point may violate the inequality by more than rounding."""
    answer = call(instance).x
    if defect := points.shape_defect(instance, answer):
        return Judgement(Verdict.FAIL, message=defect)
    g = vector(answer)
    defect_at = ranking.subgradient_defect if instance.problem.ranking else subgradient_defect
    worst = Judgement(Verdict.PASS)
    try:
        for h in other_scores(instance):
            defect_there, allowed = defect_at(instance, g, h)
            size = max(0.0, number(defect_there))
            terms = {"subgradient inequality": (size, allowed)}
            found = Judgement(Verdict.PASS, size, allowed, terms=terms)
            if size > allowed:
                message = (
                    f"L(h) < L(f) + <g, h - f> by {size:.3g} at h = {brief(h)}, g = "
                    f"{brief(answer)}; {tolerance.named(instance, g.size)} is {allowed:.3g}"
                )
                found = replace(found, verdict=Verdict.FAIL, message=message)
            worst = max(worst, found, key=lambda each: (not each.ok, each.ratio or 0.0))
    except truth.UncertainError as error:
        return Judgement(Verdict.INCONCLUSIVE, message=str(error))
    return replace(worst, gap=None, gap_tolerance=None)
