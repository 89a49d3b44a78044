"""Judges a loss over rankings: its value, and loss-augmented inference.

An answer to inference is the triple (value, counts, coefficients) or the coefficients alone. These must
be those of a ranking, up to the rounding of each; the objective of that ranking is then an exact number,
and the optimum minus it an exact gap >= 0. A candidate that compares rankings in floats may pick one
whose gap is of the size of the rounding in that comparison, and no worse.
"""

import functools
from dataclasses import replace
from fractions import Fraction

import numpy as np

from refsolve import catalogue
from refsolve.errors import UncertainError
from refsolve.proofs import ranking_truth
from refsolve.proofs.ranking_losses import RankingLoss
from refsolve.proofs.ranking_truth import Array, mask
from refsolve.proofs.rationals import exact, number
from verification.certificates import loss, tolerance
from verification.certificates.text import brief, not_finite
from verification.instances.instance import Instance
from verification.verdicts import accuracy_contract
from verification.verdicts.verdict import Candidate, Judgement, Terms, Verdict, if_certain

#: Roundings in 2 c/(PN), with a margin.
ROUNDINGS = 8


def loss_of(instance: Instance) -> RankingLoss:
    """Delta of an instance's loss."""
    declared: RankingLoss = catalogue.load(instance.object_name).LOSS
    return declared


@functools.lru_cache(maxsize=20000)
def optimum(instance: Instance) -> ranking_truth.Optimum:
    """The optimum of an instance's scores and labels."""
    return ranking_truth.solve(instance["scores"], instance["y"], of=loss_of(instance))


def spread(instance: Instance) -> float:
    """Size of the terms of an objective: Delta <= 1, and coefficients whose absolute sum is at most 4."""
    return 1.0 + 4.0 * number(max(abs(exact(s)) for s in instance["scores"].tolist()))


def allowed(instance: Instance) -> float:
    """Rounding-error bound for an objective, or that of the promise."""
    return tolerance.relative(instance, instance["scores"].size) * spread(instance)


@if_certain
def judge(instance: Instance, candidate: Candidate) -> Judgement:
    """A value against the exact optimum, or the gap of the ranking that coefficients mean."""
    best = optimum(instance)
    if instance.operation == "value":
        return _value(instance, candidate.x, best.value, allowed(instance) + best.error, "value")
    return _inference(instance, candidate, best)


def inversions(instance: Instance, coefficients: Array) -> Array:
    """The integers that coefficients mean; ValueError says why they mean none."""
    y, within = instance["y"], closeness(instance)
    if coefficients.shape != y.shape:
        raise ValueError(f"coefficients of shape {coefficients.shape}, expected {y.shape}")
    if not np.isfinite(coefficients).all():
        raise ValueError(f"coefficients {not_finite(coefficients)}")
    P, N = _sizes(y)
    signed, whole, off = _whole(y, coefficients)
    if (off > within).any() or np.abs(whole).max() > P * N:
        i = int(np.argmax(off))
        raise ValueError(
            f"coefficient {i} is {float(coefficients[i])!r} = {float(signed[i])!r} times 2/(PN) in "
            "absolute value, expected a whole number of inversions"
        )
    counts = whole.astype(np.int64)
    if defect := ranking_truth.ranking_defect(y, counts):
        raise ValueError(defect)
    return counts


def _whole(y: Array, coefficients: Array) -> tuple[Array, Array, Array]:
    """Coefficients in inversions, the nearest whole numbers, and how far off these, relatively."""
    P, N = _sizes(y)
    signed = np.where(mask(y), -1, 1) * coefficients.astype(np.longdouble) * (P * N) / 2
    whole = np.rint(signed)
    return signed, whole, np.abs(signed - whole) / np.maximum(1, np.abs(whole))


def closeness(instance: Instance) -> float:
    """Relative error of coefficients: a few roundings, or what is promised."""
    return max(ROUNDINGS * tolerance.precision(instance), accuracy_contract.current() or 0.0)


def attained(instance: Instance, coefficients: Array) -> tuple[Fraction, float]:
    """The exact objective of the ranking that coefficients mean, and its error."""
    counts = inversions(instance, coefficients)
    return ranking_truth.objective(instance["scores"], instance["y"], counts, of=loss_of(instance))


def expected(instance: Instance) -> Array:
    """The value, or the coefficients of the optimal ranking with fewest inversions."""
    best = optimum(instance)
    if instance.operation == "value":
        return np.asarray(float(best.value))
    y = instance["y"]
    P, N = _sizes(y)
    return np.where(mask(y), -1, 1) * (2 * best.inversions / (P * N))


def expected_answer(instance: Instance) -> Candidate:
    """The right answer with all of its parts."""
    x = expected(instance)
    if instance.operation == "value":
        return Candidate(x)
    best = optimum(instance)
    return Candidate(x, value=float(best.value), counts=best.inversions[mask(instance["y"])])


def subgradient_defect(instance: Instance, g: Array, h: Array) -> tuple[Fraction, float]:
    """L(f) + <g, h - f> - L(h) for other scores h (positive is a violation), and its tolerance.

    g holds the floats as they were returned, not the ranking that they mean.
    """
    there = instance.with_params(scores=np.asarray(h, dtype=float))
    here, other = optimum(instance), optimum(there)
    f = instance["scores"].tolist()
    line = sum(
        (c * (exact(b) - exact(a)) for c, a, b in zip(g.tolist(), f, h.tolist(), strict=True)),
        Fraction(0),
    )
    slack = allowed(instance) + allowed(there) + here.error + other.error
    return here.value + line - other.value, slack


def _sizes(y: Array) -> tuple[int, int]:
    P = int(mask(y).sum())
    return P, len(y) - P


def _inference(instance: Instance, candidate: Candidate, best: ranking_truth.Optimum) -> Judgement:
    y = instance["y"]
    fits = candidate.x.shape == y.shape and np.isfinite(candidate.x).all()
    off, within = (float(_whole(y, candidate.x)[2].max()) if fits else 0.0), closeness(instance)
    terms: Terms = {"error of a coefficient": (off, within)} if fits else {}
    try:
        counts = inversions(instance, candidate.x)
    except ValueError as error:
        needed = off if off > within else np.inf
        return Judgement(Verdict.FAIL, message=str(error), terms=terms, accuracy=needed)
    reached, slack = ranking_truth.objective(instance["scores"], y, counts, of=loss_of(instance))
    slack += best.error
    if reached > best.value + exact(slack):
        raise UncertainError("a ranking was found above the bound")
    limit = allowed(instance) + slack
    if candidate.counts is not None:
        given = np.asarray(candidate.counts)
        right = counts[mask(y)]
        if given.dtype.kind not in "iu" or given.shape != right.shape or (given != right).any():
            message = (
                f"counts {brief(given)} of dtype {given.dtype}, but the coefficients mean "
                f"{brief(right)} negatives above the positives"
            )
            return Judgement(Verdict.FAIL, message=message)
    gap = _value(instance, np.asarray(number(reached)), best.value, limit, "ranking of value")
    terms = {**terms, **gap.terms}
    gap = replace(gap, terms=terms, accuracy=max(off, gap.gap or 0.0))
    if not gap.ok or candidate.value is None:
        return gap
    value = _value(instance, np.asarray(candidate.value), best.value, limit, "value")
    if value.gap is None:
        return value
    worst = max(gap.accuracy or 0.0, value.gap)
    return replace(gap if value.ok else value, terms={**terms, **value.terms}, accuracy=worst)


def _value(
    instance: Instance, answer: Array, right: Fraction, limit: float, what: str
) -> Judgement:
    if answer.size != 1 or answer.dtype.kind not in "fiu" or not np.isfinite(answer).all():
        return Judgement(
            Verdict.FAIL, message=f"returned {brief(answer)}, expected one finite number"
        )
    term = "error of the value" if what == "value" else "gap of the ranking"
    return loss.compare(instance, float(answer.ravel()[0]), right, limit, what, term)
