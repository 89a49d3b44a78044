"""Judges gradients, proxes and updates of the entropies, every entry by its own rounding-error bound.

An error in the scores moves log x_j and log(1-s) by at most twice itself. So each x_j, however small,
and 1 - s, where it is returned, must be right relatively, up to rounding of the scores and of theta;
only what the answer's own form rounds away (v - t x, p - t, numbers below the smallest normal float)
is excused besides.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve.exact.decimals import decimal_of, total, ulp
from refsolve.proofs import curved as entropy
from refsolve.proofs.curved import Curved, Solution
from refsolve.proofs.rationals import Vector, vector
from verification.certificates import coordinates, tolerance
from verification.certificates import core as cores
from verification.certificates.text import brief
from verification.instances.instance import Instance
from verification.verdicts.verdict import Judgement, Verdict, if_certain


@functools.lru_cache(maxsize=20000)
def solution(core: Curved) -> Solution:
    """The certified minimiser, kept."""
    return entropy.solve(core)


@dataclass(frozen=True)
class Reading:
    """An answer beside the solution: entries of x (p on the simplex), errors and their bounds."""

    given: list[Decimal]
    bounds: list[Decimal]
    found: Solution
    defect: Decimal
    scale: Decimal

    @property
    def worst(self) -> tuple[Decimal, int]:
        """Largest error in units of its bound, and the entry that has it."""
        errors = [
            abs(x - right) / bound
            for x, right, bound in zip(self.given, self.found.x, self.bounds, strict=True)
        ]
        i = max(range(len(errors)), key=errors.__getitem__)
        return errors[i], i

    def term(self, i: int) -> tuple[float, float]:
        """Error of an entry, and its bound."""
        return float(abs(self.given[i] - self.found.x[i])), float(self.bounds[i])


def unit(instance: Instance, d: int) -> Decimal:
    """Rounding of a sum of d terms, relative to them."""
    return decimal_of(tolerance.size_factor(d) * tolerance.precision(instance))


def smallest(instance: Instance, d: int) -> Decimal:
    """Rounding of numbers below the smallest normal one, where floats lose their digits."""
    return unit(instance, d) * decimal_of(tolerance.smallest(instance))


def read(instance: Instance, core: Curved, found: Solution, answer: np.ndarray) -> Reading:
    """Compare an answer with a solution, entry by entry."""
    x, defect, scale = cores.dual_point(instance, answer)
    d = len(found.x)
    eps = unit(instance, d)
    size, factor = decimal_of(found.size), decimal_of(scale)
    given = [decimal_of(v) for v in x.tolist()]
    moves = core.generator.moves(core, found, eps * size)
    least = decimal_of(tolerance.smallest(instance))  # below it not even the way there has digits
    bounds = [
        eps * abs(xi) + v + least + least / factor for xi, v in zip(found.x, moves, strict=True)
    ]
    if instance.operation == "prox":
        v = [abs(decimal_of(w)) for w in vector(instance["v"]).tolist()]
        bounds = [bound + eps * vi / factor for bound, vi in zip(bounds, v, strict=True)]
    if core.target:
        target = [decimal_of(t) for t in core.target]
        given = [xi + ti for xi, ti in zip(given, target, strict=True)]
        bounds = [bound + eps * ti for bound, ti in zip(bounds, target, strict=True)]
    return Reading(given, bounds, found, decimal_of(defect), factor)


def by_truth(instance: Instance, answer: np.ndarray, complement: Any = None) -> Judgement:
    """Relative distance of every entry from the certified solution, and of 1 - s if it is given."""
    return judge(instance, cores.curved_core(instance), answer, complement)


@if_certain
def judge(
    instance: Instance, core: Curved, answer: np.ndarray, complement: Any = None
) -> Judgement:
    """As `by_truth`, for a problem given apart (the piece of a loss that an answer means)."""
    found = solution(core)
    with entropy.precision(core):
        seen = read(instance, core, found, answer)
        eps = unit(instance, len(found.x))
        ratio, i = seen.worst
        balance = total(seen.bounds) + eps * total(abs(v) for v in found.x)
        verdict, message = Verdict.PASS, ""
        terms: dict[str, tuple[float, float | None]] = {f"error of x_{i}": seen.term(i)}
        if seen.defect:
            terms["sum of the entries"] = (float(abs(seen.defect)), float(balance))
        if ratio > 1:
            verdict = Verdict.FAIL
            message = _worst(seen)
        elif abs(seen.defect) > balance:
            verdict = Verdict.FAIL
            message = f"the entries sum to {seen.defect:.3g} instead of 0"
        elif complement is not None:
            right = found.complement[0]
            off = abs(decimal_of(complement) - right)
            allowed = eps * decimal_of(found.size) * right + smallest(instance, len(found.x))
            if off > allowed:
                verdict = Verdict.FAIL
                message = (
                    f"1 - s is returned as {float(complement)!r}, right is {right:.17g}: off by "
                    f"{off:.3g}, more than the rounding-error bound {allowed:.3g}"
                )
            ratio = max(ratio, off / allowed)
            terms["error of 1 - s"] = (float(off), float(allowed))
        gap, limit = _gap(core, seen)
        terms["Fenchel-Young gap"] = (float(gap), float(limit))
        relative = float(eps)
        share = float(gap / limit) if limit else 0.0
        return Judgement(
            verdict, share * relative, relative, float(ratio) * relative, relative, message, terms
        )


@if_certain
def by_gap(instance: Instance, answer: np.ndarray) -> Judgement:
    """Certified gap at the repaired answer against what errors within their bounds cause.

    Bregman divergence from any interior point and Fenchel-Young residual there bound the gap.
    """
    core = cores.curved_core(instance)
    found = solution(core)
    with entropy.precision(core):
        seen = read(instance, core, found, answer)
        repaired = _repair(core, seen.given)
        eps = unit(instance, len(found.x))
        gap, limit = _gap(core, seen)
        reach = 2 * total(seen.bounds)
        moved = max(abs(a - b) for a, b in zip(repaired, seen.given, strict=True))
        verdict, message = Verdict.PASS, ""
        terms = {
            "repair distance": (float(moved), float(reach)),
            "Fenchel-Young gap": (float(gap), float(limit)),
        }
        if moved > reach or abs(seen.defect) > reach + eps * total(abs(v) for v in found.x):
            verdict = Verdict.FAIL
            message = (
                f"infeasible: the repair moves {brief(entropy.floats(seen.given))} by {moved:.3g}"
            )
        elif gap > limit:
            verdict = Verdict.FAIL
            message = f"gap {gap:.3g} exceeds the rounding-error bound {limit:.3g}"
        relative = float(eps)
        share = float(gap / limit) if limit else 0.0
        return Judgement(verdict, share * relative, relative, message=message, terms=terms)


def _repair(core: Curved, x: Sequence[Decimal]) -> list[Decimal]:
    """Feasible point near x, by the set's own formula in exact arithmetic."""
    array = vector([Fraction(v) for v in x])
    repaired: Vector = np.asarray(core.domain.repair(array), dtype=object)
    return [decimal_of(Fraction(v)) for v in repaired.tolist()]


def _gap(core: Curved, seen: Reading) -> tuple[Decimal, Decimal]:
    """Certified gap of the repaired answer, and what entries off by twice their bounds may cause."""
    found = seen.found
    x = _repair(core, seen.given)
    gap = entropy.gap(core, x, core.generator.complements(x), found.x, found.complement)
    off = [2 * bound for bound in seen.bounds]
    reach = total(off)
    first = entropy.slope(core, found.x, found.complement)
    curved = core.generator.spread(found.x, found.complement, off)
    alpha = decimal_of(core.alpha)
    curved += alpha / 2 * (total(e * e for e in off) + core.rho * reach**2)
    # what the formula shows at the solution itself: at s = 1e-300 its sums resolve no more
    own = entropy.gap(core, found.x, found.complement, found.x, found.complement)
    # and the last digit of the numbers in its sums
    digit = 4 * (len(x) + 4) * decimal_of(found.size) * ulp()
    return gap, reach * first + curved + found.error + 2 * own + digit


def _worst(seen: Reading) -> str:
    _, i = seen.worst
    x, right, bound = (float(v[i]) for v in (seen.given, seen.found.x, seen.bounds))
    return (
        f"x_{i} = {x!r}, right is {right!r}: off by {abs(x - right):.3g}, more than the "
        f"rounding-error bound {bound:.3g} (x = {brief(entropy.floats(seen.given))}, right "
        f"{brief(entropy.floats(seen.found.x))})"
    )


def expected(instance: Instance, core: Curved | None = None) -> np.ndarray:
    """The right answer as floats."""
    core = core or cores.curved_core(instance)
    found = solution(core)
    with entropy.precision(core):
        x = list(found.x)
        if core.target:
            x = [xi - decimal_of(t) for xi, t in zip(x, core.target, strict=True)]
        if instance.operation == "prox":
            t = decimal_of(cores.exact(instance["t"]))
            v = [decimal_of(w) for w in vector(instance["v"]).tolist()]
            return entropy.floats([vi - t * xi for vi, xi in zip(v, x, strict=True)])
        sign = -1 if instance.operation == "sdca_update" else 1
        factor = sign * decimal_of(cores.mass(instance))
        array = np.empty(len(x), dtype=object)
        array[:] = x
        block = coordinates.push(instance.stem, array, instance["y"])
        return entropy.floats([v * factor for v in block.tolist()])
