"""Judges the truncated top-k entropy: softmax on the classes that are kept, the best choice of them.

The loss is the least softmax loss over all ways to drop k - 1 of the other classes. It grows with
every margin, so that dropping the largest is best; its prox is the softmax prox on the smallest,
because the least Moreau envelope grows with every entry too. Where margins tie within rounding, any
choice is right: the one that an answer makes is read off it.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve.proofs.rationals import Vector, number, vector
from verification.certificates import core as cores
from verification.certificates import entropy_points, loss, tolerance
from verification.certificates.text import brief
from verification.instances.instance import Instance
from verification.problems.problem import lookup
from verification.verdicts.verdict import Judgement, Verdict


def rounding(instance: Instance) -> float:
    """What rounding of the scores, or a promise, does to a margin."""
    z, spread = cores.margins(instance)
    return tolerance.relative(instance, z.size) * spread


def dropped(instance: Instance, x: Vector | None = None) -> np.ndarray:
    """Positions among the others of the k - 1 largest margins.

    ``x``: an answer's dual point; where margins tie within rounding, its zeros are dropped first.
    """
    count = instance["k"] - 1
    if count == 0:
        return np.empty(0, dtype=int)
    z, _ = cores.margins(instance)
    order = sorted(range(z.size), key=lambda j: -z[j])
    border, within = z[order[count - 1]], Fraction(rounding(instance))
    sure = [j for j in order if z[j] > border + within]
    open_ = [j for j in order if abs(z[j] - border) <= within]
    if x is not None:
        open_.sort(key=lambda j: abs(x[j]))
    return np.array(sorted([*sure, *open_[: count - len(sure)]]), dtype=int)


def reduced(instance: Instance, out: np.ndarray) -> Instance:
    """The softmax instance on the classes that are kept."""
    params = instance.params
    params.pop("k")
    name = lookup(instance.problem).data
    y = params.get("y")
    classes = _classes(instance, out)
    for each in (name, "costs"):
        if params.get(each) is not None:
            params[each] = np.delete(params[each], classes)
    if y is not None:
        params["y"] = int(y - (classes < y).sum())
    return Instance.of(
        f"{lookup(instance.problem).declaration().pieces}.{instance.operation}",
        instance.family,
        **params,
    )


def _classes(instance: Instance, out: np.ndarray) -> np.ndarray:
    """Positions among the others as classes."""
    y = instance.get("y")
    return out if y is None else out + (out >= y)


def _read(instance: Instance, answer: np.ndarray) -> tuple[Instance, np.ndarray, np.ndarray]:
    """The piece that an answer means, the classes that it drops, and its entries on the others."""
    x, _, _ = cores.dual_point(instance, answer)
    out = dropped(instance, x)
    classes = _classes(instance, out)
    return reduced(instance, out), classes, np.delete(answer, classes)


def judge(instance: Instance, answer: np.ndarray, complement: Any = None) -> Judgement:
    """Value, gradient, conjugate or prox; ``complement`` is the 1 - s that came with a point."""
    if instance.operation == "value":
        return loss.judge_value(reduced(instance, dropped(instance)), answer)
    if instance.operation == "conjugate":
        return _conjugate(instance, answer)
    simple, classes, rest = _read(instance, answer)
    main = instance[lookup(instance.problem).data]
    judged = entropy_points.by_truth(simple, rest, complement)
    for j in classes.tolist():
        stays = 0.0 if instance.operation == "gradient" else float(main[j])
        # v + c - c need not be v to the last bit
        allowed = 0.0 if instance.operation == "gradient" else rounding(instance)
        if (off := abs(float(answer[j]) - stays)) > allowed:
            message = f"entry {j} is dropped and must be {stays!r}, it is {float(answer[j])!r}"
            terms = {**judged.terms, f"entry {j}, dropped": (off, allowed)}
            needed = off / allowed * tolerance.relative(instance, main.size) if allowed else np.inf
            worst = max(needed, judged.accuracy or 0.0)
            judged = Judgement(Verdict.FAIL, message=message, terms=terms, accuracy=worst)
    return judged


def _conjugate(instance: Instance, answer: np.ndarray) -> Judgement:
    """K = 1 is softmax; else 0 at 0 and +inf elsewhere, since one large margin is dropped."""
    if instance["k"] == 1:
        return loss.judge_conjugate(reduced(instance, dropped(instance)), answer)
    if answer.size != 1 or math.isnan(float(answer.ravel()[0])):
        return Judgement(Verdict.FAIL, message=f"returned {brief(answer)}, expected one number")
    got = float(answer.ravel()[0])
    largest = max(abs(number(v)) for v in vector(instance["x"]).tolist())
    near = largest <= tolerance.relative(instance, instance["x"].size)
    c = cores.costs(instance)
    shift = near * largest * sum(abs(number(v)) for v in c.tolist())
    if near and abs(got) <= shift:
        return Judgement(Verdict.PASS)
    if largest > 0 and got == math.inf:
        return Judgement(Verdict.PASS)
    right = "0 at 0" if largest == 0 else "+inf away from 0"
    return Judgement(Verdict.FAIL, message=f"returned {got!r}; the conjugate is {right}")


def expected(instance: Instance) -> np.ndarray:
    """One right answer."""
    if instance.operation == "conjugate" and instance["k"] > 1:
        return np.asarray(0.0 if not instance["x"].any() else math.inf)
    out = dropped(instance)
    simple = reduced(instance, out)
    if instance.operation in ("value", "conjugate"):
        return np.asarray(float(loss.exact_number(simple)))
    main = instance[lookup(instance.problem).data]
    whole = np.zeros(main.size) if instance.operation == "gradient" else main.astype(float)
    kept = np.delete(np.arange(main.size), _classes(instance, out))
    whole[kept] = entropy_points.expected(simple)
    return whole


def by_gap(instance: Instance, answer: np.ndarray) -> Judgement:
    """The certified gap of the piece that the answer means."""
    verdict = judge(instance, answer)
    if not verdict.ok:
        return verdict
    simple, _, rest = _read(instance, answer)
    return entropy_points.by_gap(simple, rest)
