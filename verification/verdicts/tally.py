"""Counts and worst figures of any number of results, without keeping them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verification.verdicts.verdict import Result


#: Distinct reasons that are kept per check and verdict; the rest is counted as one.
REASONS = 20
OTHER = "other reasons"


@dataclass
class Figures:
    """Worst shares of a tolerance, gap or distance, of passes and of all else; and seconds."""

    worst_pass: float | None = None
    worst_other: float | None = None
    seconds: float = 0.0

    @property
    def worst(self) -> float | None:
        """Of all results."""
        return _larger(self.worst_pass, self.worst_other)


@dataclass
class Tally:
    """Verdicts per check and the worst certified figures among the passes.

    Attributes
    ----------
    by_check : counts of verdicts (by value) per check, in the order in which the checks came.
    by_family : the same per check and family of instances.
    worst_gap, worst_distance : largest of the passes in double precision; None if there is none.
    worst_distance_ratio : largest distance divided by its tolerance, among the passes.
    figures : `Figures` per check and family.
    reasons : how often what was said, per verdict and check, of results that judged nothing.
    least, within : the result that needs the least accurate promise (`Judgement.accuracy`) of those below
        1 that rounding does not excuse, and the least accurate one of those that it does.
    beyond : per check, how many results no promise makes pass.
    undecided : inconclusive results on small instances, per check and family.
    """

    by_check: dict[str, dict[str, int]] = field(default_factory=dict)
    by_family: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    worst_gap: float | None = None
    worst_distance: float | None = None
    worst_distance_ratio: float | None = None
    figures: dict[tuple[str, str], Figures] = field(default_factory=dict)
    reasons: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    least: Result | None = None
    within: Result | None = None
    beyond: dict[str, int] = field(default_factory=dict)
    undecided: dict[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Iterable[Result]) -> Tally:
        """Count a sequence of results."""
        tally = cls()
        for result in results:
            tally.add(result)
        return tally

    def add(self, result: Result) -> None:
        """Count one result."""
        verdict = result.verdict.value
        for counts in (
            self.by_check.setdefault(result.check, {}),
            self.by_family.setdefault((result.check, result.family), {}),
        ):
            counts[verdict] = counts.get(verdict, 0) + 1
        if result.undecided:
            key = (result.check, result.family)
            self.undecided[key] = self.undecided.get(key, 0) + 1
        figures = self.figures.setdefault((result.check, result.family), Figures())
        figures.seconds += result.seconds
        if verdict == "pass":
            figures.worst_pass = _larger(figures.worst_pass, result.ratio)
        else:
            figures.worst_other = _larger(figures.worst_other, result.ratio)
        if not result.verdict.judges:
            said = self.reasons.setdefault((verdict, result.check), {})
            reason = result.message if result.message in said or len(said) < REASONS else OTHER
            said[reason] = said.get(reason, 0) + 1
        if result.accuracy is not None and not result.accuracy < 1:
            self.beyond[result.check] = self.beyond.get(result.check, 0) + 1
        elif result.accuracy:
            which = "within" if result.excused else "least"
            known = getattr(self, which)
            if known is None or result.accuracy > known.accuracy:
                setattr(self, which, result)
        if result.in_double_precision:
            self.worst_gap = _larger(self.worst_gap, result.gap)
            self.worst_distance = _larger(self.worst_distance, result.distance)
        passed = verdict == "pass" and result.distance is not None
        if passed and result.distance_tolerance:
            ratio = result.distance / result.distance_tolerance  # type: ignore[operator]
            self.worst_distance_ratio = _larger(self.worst_distance_ratio, ratio)

    @property
    def worst_ratio(self) -> float | None:
        """Largest gap or distance in units of its tolerance, among the passes."""
        shares = [f.worst_pass for f in self.figures.values() if f.worst_pass is not None]
        return max(shares, default=None)

    def count(self, *verdicts: str) -> int:
        """How many results have one of these verdicts; without any, all results."""
        return sum(
            number
            for counts in self.by_check.values()
            for name, number in counts.items()
            if not verdicts or name in verdicts
        )


def _larger(one: float | None, other: float | None) -> float | None:
    if other is None:
        return one
    return float(other) if one is None else max(one, float(other))
