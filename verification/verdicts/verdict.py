"""What a verification run says: verdicts, single results, and the report that collects them."""

from __future__ import annotations

import enum
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from verification.errors import InvalidArgumentError, VerificationFailedError
from verification.instances.instance import Instance
from verification.verdicts.tally import Tally

#: Terms of a certificate: name -> (value, tolerance); None where a term has no tolerance of its own,
#: because only the sum has one.
Terms = Mapping[str, tuple[float, float | None]]


class Verdict(enum.StrEnum):
    """The outcomes of one check on one instance.

    An unexpected pass is a failure that was announced (xfail) and did not come.
    """

    PASS = "pass"
    FAIL = "fail"
    EXPECTED_FAILURE = "expected failure"
    UNEXPECTED_PASS = "unexpected pass"
    SKIPPED = "skipped"
    ORACLE_UNCERTAIN = "oracle uncertain"
    TIMEOUT = "timeout"
    CRASH = "crash"

    @property
    def is_bad(self) -> bool:
        """True for outcomes that make a run fail."""
        return self in (Verdict.FAIL, Verdict.UNEXPECTED_PASS, Verdict.TIMEOUT, Verdict.CRASH)

    @property
    def judges(self) -> bool:
        """False where no answer was judged: skipped, uncertain, or an xfail that did not come."""
        unjudged = (Verdict.SKIPPED, Verdict.ORACLE_UNCERTAIN, Verdict.UNEXPECTED_PASS)
        return self not in unjudged


@dataclass(frozen=True)
class Candidate:
    """What a solver under test returned: the primal answer and, if it has one, a dual point.

    Parameters
    ----------
    x : array or float
        The answer, in the shape of the operation (see `verification.problems`).
    dual : array, optional
        A normal of the set at x (see `verification.certificates.points.by_gap`); it can sharpen
        the certified gap, and is never believed.
    complement : float or array, optional
        1 - s of an entropy's point, which x alone does not determine once s is close to 1.
    value, counts : float and array of int, optional
        What loss-augmented inference returns beside the coefficients x.
    parts : mapping of arrays
        The unknowns of a model by name, e.g. W and A, primal and dual ones; x is then the first.
    """

    x: Any
    dual: Any = None
    complement: Any = None
    value: Any = None
    counts: Any = None
    parts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def plain(self, parts: bool = True) -> Any:
        """The answer as lists of numbers; with ``parts`` all that was returned of inference."""
        if self.parts:
            return {name: np.asarray(value).tolist() for name, value in self.parts.items()}
        x = np.asarray(self.x).tolist()
        if self.value is None or not parts:
            return x
        return np.asarray(self.value).tolist(), np.asarray(self.counts).tolist(), x


@dataclass(frozen=True)
class Judgement:
    """A certificate's opinion of one candidate.

    ``gap`` bounds the suboptimality, ``distance`` is ||x - x*|| (None where the notion does not
    apply); both are relative to the sizes of the numbers that enter them, so that they compare
    with eps at every scale. Each is to be read beside its tolerance, a rounding-error bound for
    the precision of the input.

    ``terms`` are the numbers of the certificate as they were computed, each with its tolerance, in
    the units of the problem: repair distance, Fenchel-Young gap, distance to the solution, ...

    ``rows``: the instances that were asked for in one call, where it was not the one at hand alone.
    """

    verdict: Verdict
    gap: float | None = None
    gap_tolerance: float | None = None
    distance: float | None = None
    distance_tolerance: float | None = None
    message: str = ""
    terms: Terms = field(default_factory=dict, hash=False)
    rows: tuple[Instance, ...] = field(default=(), compare=False, repr=False)

    @property
    def ok(self) -> bool:
        """True for a pass."""
        return self.verdict is Verdict.PASS


@dataclass(frozen=True)
class Result:
    """One check on one instance."""

    check: str
    family: str
    instance: Instance | None
    verdict: Verdict
    gap: float | None = None
    gap_tolerance: float | None = None
    distance: float | None = None
    distance_tolerance: float | None = None
    message: str = ""
    terms: Terms = field(default_factory=dict, hash=False)
    answer: Candidate | None = field(default=None, compare=False, repr=False)
    seconds: float = field(default=0.0, compare=False)
    rows: tuple[Instance, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(
        cls,
        check: str,
        instance: Instance | None,
        judgement: Judgement,
        answer: Candidate | None = None,
        seconds: float = 0.0,
    ) -> Result:
        """File a judgement under its check and instance; ``answer``: what was judged."""
        family = instance.family if instance is not None else ""
        return cls(
            check,
            family,
            instance,
            judgement.verdict,
            judgement.gap,
            judgement.gap_tolerance,
            judgement.distance,
            judgement.distance_tolerance,
            judgement.message,
            judgement.terms,
            answer,
            seconds,
            judgement.rows,
        )

    @property
    def ratio(self) -> float | None:
        """Largest of gap and distance in units of its tolerance; None where neither has one."""
        pairs = ((self.gap, self.gap_tolerance), (self.distance, self.distance_tolerance))
        return _largest(v / t for v, t in pairs if v is not None and t)

    @property
    def in_double_precision(self) -> bool:
        """A pass on an instance without float32 arrays."""
        if self.verdict is not Verdict.PASS:
            return False
        return self.instance is None or not self.instance.has_dtype("float32")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``; floats that are not finite become strings."""
        return {
            "check": self.check,
            "family": self.family,
            "verdict": self.verdict.value,
            "gap": _plain(self.gap),
            "gap_tolerance": _plain(self.gap_tolerance),
            "distance": _plain(self.distance),
            "distance_tolerance": _plain(self.distance_tolerance),
            "message": self.message,
            "terms": {n: [_plain(v), _plain(t)] for n, (v, t) in self.terms.items()},
            "instance": None if self.instance is None else self.instance.to_dict(),
        }


@dataclass(frozen=True)
class Report:
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
        """True iff something was judged and nothing failed, crashed or timed out."""
        bad = self.tally.count(*(v.value for v in Verdict if v.is_bad))
        return self.checked > 0 and bad == 0

    @property
    def failures(self) -> tuple[Result, ...]:
        """All fails, crashes, timeouts and unexpected passes that were kept."""
        return tuple(r for r in self.results if r.verdict.is_bad)

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
        state = "ok" if self.ok else "FAILED"
        lines = [f"{self.problem} ({self.profile}, seed {self.seed}): {state}: {tally}"]
        if self.checked == 0:
            lines.append("nothing was judged, which counts as a failure")
        for name, value in (("gap", self.worst_gap), ("distance", self.worst_distance)):
            if value is not None:
                lines.append(f"worst certified {name} {value:.3g}")
        seen: set[str] = set()
        for result in self.failures:
            if result.check not in seen:
                seen.add(result.check)
                where = f"{result.check} ({result.family})"
                lines.append(f"{result.verdict} in {where}: {result.message}")
        if self.counterexample:
            lines += ["", "smallest counterexample found, as code:", self.counterexample]
        return "\n".join(lines)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """One page without scripts or outside resources; ``path``: write it there as well."""
        from verification.report.page import render_html
        from verification.report.run_report import report_document

        return _written(render_html(report_document(self)), path)

    def to_junit(self, path: str | os.PathLike[str] | None = None) -> str:
        """JUnit XML, one test case per (check, family); ``path``: write it there as well."""
        from verification.report.junit import render_junit

        return _written(render_junit([self]), path)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Strict JSON of everything that the report says; ``path``: write it there as well."""
        from verification.report.document import render_json
        from verification.report.run_report import report_document

        return _written(render_json(report_document(self)) + "\n", path)

    def raise_if_failed(self) -> Report:
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
            "elapsed": self.elapsed,
            "counts": self.counts,
            "by_check": self.by_check(),
            "worst_gap": _plain(self.worst_gap),
            "worst_distance": _plain(self.worst_distance),
            "worst_distance_ratio": _plain(self.worst_distance_ratio),
            "worst_ratio": _plain(self.worst_ratio),
            "failures": [r.to_dict() for r in self.failures],
            "counterexample": self.counterexample,
        }


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InvalidArgumentError(
                f"path={os.fspath(path)!r}: expected a file that can be written ({error.strerror})"
            ) from None
    return text


def _largest(values: Iterable[float | None]) -> float | None:
    return max((float(v) for v in values if v is not None), default=None)


def _plain(value: float | None) -> float | str | None:
    if value is None:
        return None
    number = float(value)
    return number if abs(number) < float("inf") else str(number)
