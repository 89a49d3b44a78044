"""What is said of one answer: the verdict, a certificate's judgement, and the result of a check."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ParamSpec

import numpy as np

from refsolve.errors import UncertainError
from verification.instances.instance import Instance

P = ParamSpec("P")
#: Terms of a certificate: name -> (value, tolerance); None where a term has no tolerance of its own,
#: because only the sum has one.
Terms = Mapping[str, tuple[float, float | None]]

#: Terms that are only shown where there is a distance: it decides.
BESIDE_DISTANCE = frozenset({"Fenchel-Young gap", "suboptimality after repair"})
#: Most numbers of an instance on which a reference that cannot certify itself is a defect of ours.
SMALL = 256


class Verdict(enum.StrEnum):
    """The outcomes of one check on one instance.

    An unexpected pass is a failure that was announced (xfail) and did not come.
    """

    PASS = "pass"
    FAIL = "fail"
    EXPECTED_FAILURE = "expected failure"
    UNEXPECTED_PASS = "unexpected pass"
    SKIPPED = "skipped"
    INCONCLUSIVE = "inconclusive"
    TIMEOUT = "timeout"
    CRASH = "crash"

    @property
    def is_bad(self) -> bool:
        """True for outcomes that make a run fail."""
        return self in (Verdict.FAIL, Verdict.UNEXPECTED_PASS, Verdict.TIMEOUT, Verdict.CRASH)

    @property
    def judges(self) -> bool:
        """False where no answer was judged: skipped, inconclusive, or an xfail that did not come."""
        unjudged = (Verdict.SKIPPED, Verdict.INCONCLUSIVE, Verdict.UNEXPECTED_PASS)
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

    ``accuracy``: see `least_promise`, where the terms do not say it; ``excused``: rounding excuses all of
    it, whatever is promised.
    """

    verdict: Verdict
    gap: float | None = None
    gap_tolerance: float | None = None
    distance: float | None = None
    distance_tolerance: float | None = None
    message: str = ""
    terms: Terms = field(default_factory=dict, hash=False)
    rows: tuple[Instance, ...] = field(default=(), compare=False, repr=False)
    accuracy: float | None = field(default=None, compare=False)
    excused: bool = field(default=False, compare=False)

    @property
    def ok(self) -> bool:
        """True for a pass."""
        return self.verdict is Verdict.PASS

    @property
    def ratio(self) -> float | None:
        """Largest of gap and distance in units of its tolerance; None where neither has one."""
        pairs = ((self.gap, self.gap_tolerance), (self.distance, self.distance_tolerance))
        return _largest(v / t for v, t in pairs if v is not None and t)

    def least_promise(self, relative: float) -> float | None:
        """The relative accuracy that, promised, would just pass: inf if none would; None if unknown.

        ``relative`` is the one that the terms were judged by, to which their bounds are in proportion.
        Those that are only shown beside the distance that decides do not count, unless it is they that fail.
        """
        if self.verdict in (Verdict.CRASH, Verdict.TIMEOUT):
            return float("inf")
        if self.verdict not in (Verdict.PASS, Verdict.FAIL):
            return None
        if self.accuracy is not None:
            return (min if self.ok else max)(relative, self.accuracy)
        shares, beside = [0.0], [0.0]
        for name, (value, allowed) in self.terms.items():
            if allowed is None or value <= 0:
                continue
            shown = name in BESIDE_DISTANCE and self.distance is not None
            share = float(value / allowed) if allowed > 0 and not np.isnan(value) else float("inf")
            if not (self.ok and share > 1):  # what is beyond did not decide
                (beside if shown else shares).append(share)
        worst = max(shares)
        worst = max(beside) if not self.ok and worst <= 1 else worst
        return relative * worst if self.ok or worst > 1 else float("inf")


def if_certain(judge: Callable[P, Judgement]) -> Callable[P, Judgement]:
    """The same judge, who calls it *inconclusive* where what is right does not certify itself."""

    @functools.wraps(judge)
    def judged(*args: P.args, **given: P.kwargs) -> Judgement:
        try:
            return judge(*args, **given)
        except UncertainError as error:
            return Judgement(Verdict.INCONCLUSIVE, message=str(error))

    return judged


@dataclass(frozen=True, kw_only=True)
class Result(Judgement):
    """One check on one instance: the judgement, and of what."""

    check: str
    family: str
    instance: Instance | None
    answer: Candidate | None = field(default=None, compare=False, repr=False)
    seconds: float = field(default=0.0, compare=False)

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
        said = {each.name: getattr(judgement, each.name) for each in fields(Judgement)}
        family = instance.family if instance is not None else ""
        return cls(
            check=check, family=family, instance=instance, answer=answer, seconds=seconds, **said
        )

    @property
    def undecided(self) -> bool:
        """Inconclusive on a small instance: no pass, as a wrong declaration shows itself in this way."""
        if self.verdict is not Verdict.INCONCLUSIVE or self.instance is None:
            return self.verdict is Verdict.INCONCLUSIVE
        return sum(np.size(value) for value in self.instance.params.values()) <= SMALL

    @property
    def in_double_precision(self) -> bool:
        """A pass on an instance without float32 arrays."""
        if self.verdict is not Verdict.PASS:
            return False
        return self.instance is None or not self.instance.has_dtype("float32")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``; floats that are not finite become strings."""
        figures = ("gap", "gap_tolerance", "distance", "distance_tolerance")
        return {
            "check": self.check,
            "family": self.family,
            "verdict": self.verdict.value,
            **{name: plain(getattr(self, name)) for name in figures},
            "accuracy": plain(self.accuracy),
            "message": self.message,
            "terms": {n: [plain(v), plain(t)] for n, (v, t) in self.terms.items()},
            "instance": None if self.instance is None else self.instance.to_dict(),
        }


def _largest(values: Iterable[float | None]) -> float | None:
    return max((float(v) for v in values if v is not None), default=None)


def plain(value: float | None) -> float | str | None:
    """A number that JSON knows; one that is not finite as text."""
    if value is None:
        return None
    number = float(value)
    return number if abs(number) < float("inf") else str(number)
