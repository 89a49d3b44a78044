"""A run of `verify` as data: what was tried, what was found."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from verification.errors import VerificationFailedError
from verification.verdicts.tally import Tally
from verification.verdicts.verdict import Result, Verdict, plain

#: Characters of an instance in a sentence.
LONGEST = 100
#: An accuracy above it is no accuracy: none is recommended.
USEFUL = 0.01


@dataclass(frozen=True)
class Run:
    """Everything a run of `verify` found.

    Attributes
    ----------
    problem, profile, seed : what was run.
    results : tuple of Result, in the order of the checks; of a soak run only bad ones.
    elapsed : seconds.
    candidate : name of the callable under test.
    counterexample : code to paste that shows the smallest failure found, or None.
    counterexample_result : the Result of that smallest instance, or None.
    settings : what else `verify` was given (timeout, batch, fixed, ...), for a replay.
    tally : counts and worst figures of all results, also of those that a soak run does not keep.
    refused : how many instances the candidate refused, by what these have in common ("k > 64").
    known : the known failures (xfail) that the run was told of, each with how often it failed.
    """

    problem: str
    profile: str
    seed: int
    results: tuple[Result, ...]
    elapsed: float = 0.0
    candidate: str = ""
    counterexample: str | None = None
    counterexample_result: Result | None = field(default=None, repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    tally: Tally = field(default_factory=Tally, hash=False, repr=False)
    refused: Mapping[str, int] = field(default_factory=dict, hash=False)
    known: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)

    def __post_init__(self) -> None:
        if self.results and not self.tally.by_check:
            object.__setattr__(self, "tally", Tally.of(self.results))

    @property
    def counts(self) -> dict[str, int]:
        """How often each verdict was given; every verdict is listed, also those with none."""
        return {v.value: self.tally.count(v.value) for v in Verdict}

    @property
    def checked(self) -> int:
        """Results in which something was really judged (passes, failures, expected failures)."""
        return self.tally.count(*(v.value for v in Verdict if v.judges))

    @property
    def ok(self) -> bool:
        """True iff something was judged, nothing failed, crashed or timed out, and nothing is undecided."""
        return self.checked > 0 and not self._bad and not self.undecided

    @property
    def _bad(self) -> int:
        return self.tally.count(*(v.value for v in Verdict if v.is_bad))

    @property
    def undecided(self) -> int:
        """Inconclusive results on small instances: no reference could certify itself there."""
        return sum(self.tally.undecided.values())

    @property
    def inconclusive(self) -> bool:
        """Whether nothing failed, and some small instances are undecided."""
        return self.undecided > 0 and not self._bad

    def undecided_line(self, check: str = "", family: str = "") -> str:
        """How many small instances are inconclusive, and why; empty where none is. Of all, or of one case."""
        found = {
            key: n
            for key, n in self.tally.undecided.items()
            if check in ("", key[0]) and family in ("", key[1])
        }
        if not found:
            return ""
        first = next(iter(found))[0]
        why = next(iter(self.tally.reasons.get((Verdict.INCONCLUSIVE.value, first), {})), "")
        return f"{sum(found.values())} small instances are inconclusive: {why}"

    @property
    def failures(self) -> tuple[Result, ...]:
        """All fails, crashes, timeouts and unexpected passes that were kept."""
        return tuple(r for r in self.results if r.verdict.is_bad)

    @property
    def promised(self) -> float | None:
        """The relative accuracy by which answers were judged; None: rounding was all that was excused."""
        return self.settings.get("accuracy") or self.settings.get("announced")

    @property
    def passes_at(self) -> float | None:
        """Least accuracy, to two digits, whose promise all results keep; inf: none, None: not measured."""
        least = self.least_accurate
        accuracy = None if least is None else least.accuracy
        return math.inf if self.tally.beyond else accuracy and round_up(accuracy)

    @property
    def least_accurate(self) -> Result | None:
        """The result that decides which promise passes; the least accurate one where any would."""
        return self.tally.least or self.tally.within

    def accuracy_lines(self) -> list[str]:
        """What was promised or excused, whether it was kept, and which accuracy would have passed."""
        announced = " (announced by the program)" if self.settings.get("announced") else ""
        by = "the floating-point error bound"
        if self.promised:
            by = f"the declared tolerance {self.promised:g}{announced}"
        failed, passed = (self.tally.count(v.value) for v in (Verdict.FAIL, Verdict.PASS))
        kept = "not met" if failed else "met" if passed else "-"
        lines = [f"judged by {by}: {kept}"]
        if (least := self.least_accurate) is not None and least.accuracy is not None:
            what = "" if least.instance is None else least.instance.arguments_code()
            what = what if len(what) <= LONGEST else what[:LONGEST] + " ..."
            who = "all others pass" if self.tally.beyond else "passes"
            said = f"{who} at --accuracy {round_up(least.accuracy):g}"
            if least.accuracy > USEFUL:
                said = f"no --accuracy up to {USEFUL:g} passes"
            lines[0] += f"; {said} (worst in {least.check}, {least.family}: {what})"
        if self.tally.beyond:
            found = ", ".join(f"{n} in {check}" for check, n in self.tally.beyond.items())
            lines.append(f"results that no declared tolerance lets pass: {found}")
        lines += [
            f"{what}: {n} skipped, as the candidate refuses" for what, n in self.refused.items()
        ]
        return lines

    def known_lines(self, check: str = "") -> list[str]:
        """What failed as it was expected to; ``check``: of this one."""
        return [
            f"xfail: {each['failed']} in {each['key']}"
            + (f" when {each['when']}" if each["when"] else "")
            + f": {each['reason']}"
            for each in self.known
            if each["failed"] and check in ("", each["key"].partition("/")[0])
        ]

    @property
    def worst_gap(self) -> float | None:
        """Largest relative certified gap among the passes in double precision."""
        return self.tally.worst_gap

    @property
    def worst_distance(self) -> float | None:
        """Largest relative certified distance among the passes in double precision."""
        return self.tally.worst_distance

    @property
    def worst_ratio(self) -> float | None:
        """Largest certified gap or distance in units of its tolerance, among the passes."""
        return self.tally.worst_ratio

    @property
    def worst_distance_ratio(self) -> float | None:
        """Largest certified distance divided by its rounding-error tolerance, among the passes."""
        return self.tally.worst_distance_ratio

    def by_check(self) -> dict[str, dict[str, int]]:
        """Counts of verdicts per check."""
        return {
            name: {v.value: found.get(v.value, 0) for v in Verdict}
            for name, found in self.tally.by_check.items()
        }

    def __repr__(self) -> str:
        """The summary: a notebook shows what a call returns, and the results are thousands."""
        return self.summary()

    def summary(self) -> str:
        """Plain text of a few lines; the counterexample comes last."""
        tally = ", ".join(f"{n} {name}" for name, n in self.counts.items() if n) or "nothing"
        state = "ok" if self.ok else "INCONCLUSIVE" if self.inconclusive else "FAILED"
        lines = [f"{self.problem} ({self.profile}, seed {self.seed}): {state}: {tally}"]
        if self.checked == 0:
            lines.append("nothing was judged, which counts as a failure")
        if self.undecided:
            lines.append(self.undecided_line())
        for name, value in (("gap", self.worst_gap), ("distance", self.worst_distance)):
            if value is not None:
                lines.append(f"worst certified {name} {value:.3g}")
        if self.least_accurate is not None or self.tally.beyond or self.promised or self.refused:
            lines += self.accuracy_lines()
        lines += self.known_lines()
        seen: set[str] = set()
        for result in self.failures:
            if result.check not in seen:
                seen.add(result.check)
                where = f"{result.check} ({result.family})"
                lines.append(f"{result.verdict} in {where}: {result.message}")
        if self.counterexample:
            lines += ["", "smallest counterexample found, as code:", self.counterexample]
        return "\n".join(lines)

    def raise_if_failed(self) -> Self:
        """Return self, or raise VerificationFailedError with the summary and the counterexample."""
        if not self.ok:
            raise VerificationFailedError(self.summary())
        return self

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``; instances are written out for failures only."""
        return {
            "problem": self.problem,
            "candidate": self.candidate,
            "profile": self.profile,
            "seed": self.seed,
            "ok": self.ok,
            "inconclusive": self.inconclusive,
            "undecided": self.undecided,
            "elapsed": self.elapsed,
            "counts": self.counts,
            "by_check": self.by_check(),
            "promised": self.promised,
            "passes_at": plain(self.passes_at),
            "least_accurate": None if (least := self.least_accurate) is None else least.to_dict(),
            "refused": dict(self.refused),
            "xfail": [dict(each) for each in self.known],
            "worst_gap": plain(self.worst_gap),
            "worst_distance": plain(self.worst_distance),
            "worst_distance_ratio": plain(self.worst_distance_ratio),
            "worst_ratio": plain(self.worst_ratio),
            "failures": [r.to_dict() for r in self.failures],
            "counterexample": self.counterexample,
        }


def round_up(accuracy: float, digits: int = 2) -> float:
    """Up to so many digits, so that what passes at the number shown does."""
    unit = 10.0 ** (math.floor(math.log10(accuracy)) - digits + 1) if accuracy > 0 else 1.0
    found = (float(f"{n * unit:.{digits}g}") for n in itertools.count(math.floor(accuracy / unit)))
    return next(each for each in found if each >= accuracy)
