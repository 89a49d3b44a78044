"""Judges gradients, proxes and updates of the entropies, every entry by its own rounding-error bound.

An error in the scores moves log x_j and log(1-s) by at most twice itself. So each x_j, however small,
and 1 - s, where it is returned, must be right relatively, up to rounding of the scores and of theta;
only what the answer's own form rounds away (v - t x, p - t, numbers below the smallest normal float)
is excused besides.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from refsolve.exact.decimals import decimal_of, total, ulp
from refsolve.proofs import curved as entropy
from refsolve.proofs.curved import Curved, Solution
from refsolve.proofs.rationals import Vector, vector
from verification.certificates import core as cores
from verification.certificates import tolerance
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

    given: Vector
    right: Vector
    bounds: Vector
    defect: Decimal
    found: Solution
    linear: Vector
    named: str

    @property
    def worst(self) -> tuple[Decimal, int]:
        """Largest error in units of its bound, and the entry that has it."""
        errors = abs(self.given - self.right) / self.bounds
        i = int(np.argmax(errors))
        return errors[i], i

    @property
    def needed(self) -> float:
        """Largest error in units of bounds that grow in proportion to what is promised."""
        return float(max(abs(self.given - self.right) / self.linear))

    def term(self, i: int) -> tuple[float, float]:
        """Error of an entry, and its bound."""
        return float(abs(self.given[i] - self.right[i])), float(self.bounds[i])


def growth(instance: Instance, d: int, size: float) -> Decimal:
    """How much more than in proportion an exponential moves with a promise: (e^t - 1)/t; 1 for rounding."""
    t = unit(instance, d) * decimal_of(size)
    own = tolerance.slack(instance, d) == 1.0
    return Decimal(1) if own else (min(t, Decimal(1000)).exp() - 1) / t


def decimals(values: Iterable[Any]) -> Vector:
    """Numbers in the precision of the context."""
    return np.array([decimal_of(v) for v in values], dtype=object)


def unit(instance: Instance, d: int) -> Decimal:
    """Rounding of a sum of d terms, or what is promised, relative to them."""
    return decimal_of(tolerance.relative(instance, d))


def smallest(instance: Instance, d: int) -> Decimal:
    """Rounding of numbers below the smallest normal one, where floats lose their digits."""
    return unit(instance, d) * decimal_of(tolerance.smallest(instance))


def read(instance: Instance, core: Curved, found: Solution, answer: np.ndarray) -> Reading:
    """Compare an answer with a solution, entry by entry."""
    x, defect, scale = cores.dual_point(instance, answer)
    given, right = decimals(x), decimals(found.x)
    eps, factor = unit(instance, right.size), decimal_of(scale)
    moves = np.array(core.generator.moves(core, found, eps * decimal_of(found.size)))
    # below it not even the way there has digits
    least = decimal_of(tolerance.smallest(instance) * tolerance.slack(instance, right.size))
    bounds = eps * np.abs(right) + moves + least + least / factor
    if instance.operation == "prox":
        bounds = bounds + eps * np.abs(decimals(vector(instance["v"]))) / factor
    if core.target:
        target = decimals(core.target)
        given, bounds = given + target, bounds + eps * target
    named = tolerance.named(instance, right.size)
    more = moves * (growth(instance, right.size, found.size) - 1)
    return Reading(given, right, bounds + more, decimal_of(defect), found, bounds, named)


@if_certain
def by_truth(instance: Instance, answer: np.ndarray, complement: Any = None) -> Judgement:
    """Relative distance of every entry from the certified solution, and of 1 - s if it is given."""
    core = cores.curved_core(instance)
    found = solution(core)
    with entropy.precision(core):
        seen = read(instance, core, found, answer)
        eps = unit(instance, len(found.x))
        ratio, i = seen.worst
        balance = total(seen.bounds) + eps * total(abs(seen.right))
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
        needed = max(seen.needed, float(abs(seen.defect) / balance))
        if complement is not None:
            right = found.complement[0]
            off = abs(decimal_of(complement) - right)
            moves = eps * decimal_of(found.size) * right
            least = smallest(instance, len(found.x))
            allowed = moves * growth(instance, len(found.x), found.size) + least
            needed = max(needed, float(off / (moves + least)))
            if off > allowed and verdict is Verdict.PASS:
                verdict = Verdict.FAIL
                message = (
                    f"1 - s is returned as {float(complement)!r}, right is {right:.17g}: off by "
                    f"{off:.3g}, more than {seen.named} {allowed:.3g}"
                )
            ratio = max(ratio, off / allowed)
            terms["error of 1 - s"] = (float(off), float(allowed))
        gap, limit = _gap(core, seen, _repair(core, seen.given))
        terms["Fenchel-Young gap"] = (float(gap), float(limit))
        relative = float(eps)
        share = float(gap / limit) if limit else 0.0
        figures = share * relative, relative, float(ratio) * relative, relative
        return Judgement(verdict, *figures, message, terms, accuracy=needed * relative)


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
        gap, limit = _gap(core, seen, repaired)
        reach = 2 * total(seen.bounds)
        moved = abs(repaired - seen.given).max()
        verdict, message = Verdict.PASS, ""
        terms = {
            "repair distance": (float(moved), float(reach)),
            "Fenchel-Young gap": (float(gap), float(limit)),
        }
        if moved > reach or abs(seen.defect) > reach + eps * total(abs(seen.right)):
            verdict = Verdict.FAIL
            message = (
                f"infeasible: the repair moves {brief(seen.given.astype(float))} by {moved:.3g}"
            )
        elif gap > limit:
            verdict = Verdict.FAIL
            message = f"gap {gap:.3g} exceeds {seen.named} {limit:.3g}"
        relative = float(eps)
        share = float(gap / limit) if limit else 0.0
        # entries within their bounds explain any gap and repair that passes
        needed = relative * max(seen.needed, float(abs(seen.defect) / reach))
        figures = share * relative, relative, None, None
        return Judgement(verdict, *figures, message, terms, accuracy=needed)


def _repair(core: Curved, x: Vector) -> Vector:
    """Feasible point near x, by the set's own formula in exact arithmetic."""
    return decimals(vector(core.domain.repair(vector(x))))


def _gap(core: Curved, seen: Reading, x: Vector) -> tuple[Decimal, Decimal]:
    """Certified gap of the repaired answer, and what entries off by twice their bounds may cause."""
    found, off = seen.found, 2 * seen.bounds
    entries = x.tolist()
    complements = core.generator.complements(entries)
    gap = entropy.gap(core, entries, complements, found.x, found.complement)
    reach = total(off)
    first = entropy.slope(core, found.x, found.complement)
    curved = core.generator.spread(found.x, found.complement, off.tolist())
    alpha = decimal_of(core.alpha)
    curved += alpha / 2 * (total(off * off) + core.rho * reach**2)
    # what the formula shows at the solution itself: at s = 1e-300 its sums resolve no more
    own = entropy.gap(core, found.x, found.complement, found.x, found.complement)
    # and the last digit of the numbers in its sums
    digit = 4 * (len(x) + 4) * decimal_of(found.size) * ulp()
    return gap, reach * first + curved + found.error + 2 * own + digit


def _worst(seen: Reading) -> str:
    _, i = seen.worst
    x, right, bound = (float(v[i]) for v in (seen.given, seen.right, seen.bounds))
    return (
        f"x_{i} = {x!r}, right is {right!r}: off by {abs(x - right):.3g}, more than {seen.named} "
        f"{bound:.3g} (x = {brief(seen.given.astype(float))}, right {brief(seen.right.astype(float))})"
    )


def expected(instance: Instance) -> np.ndarray:
    """The right answer as floats."""
    core = cores.curved_core(instance)
    with entropy.precision(core):
        x = np.array(solution(core).x)
        if core.target:
            x = x - decimals(core.target)
        if instance.operation == "prox":
            t = decimal_of(cores.exact(instance["t"]))
            return (decimals(vector(instance["v"])) - t * x).astype(float)
        sign = -1 if instance.operation == "sdca_update" else 1
        factor = sign * decimal_of(cores.mass(instance))
        return np.asarray(cores.pushed(instance, x) * factor, dtype=float)
