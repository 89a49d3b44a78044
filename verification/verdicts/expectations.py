"""Known failures (xfail): what is expected of a run, and what of it did not happen."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from verification.instances.instance import Instance
from verification.verdicts import condition
from verification.verdicts.verdict import Judgement, Result, Verdict


@dataclass(frozen=True)
class Known:
    """One known failure.

    Attributes
    ----------
    key : "check" or "check/family".
    reason : why it fails, or where that is discussed.
    when : condition on the arguments, see `verification.verdicts.condition`; empty for all instances.
    strict : whether a run in which it does not fail has failed.
    source : the file that lists it; empty for one that was given by its key.
    """

    key: str
    reason: str = "known"
    when: str = ""
    strict: bool = True
    source: str = ""

    def __str__(self) -> str:
        """What it covers."""
        return f"{self.key} when {self.when}" if self.when else self.key

    def covers(self, check: str, instance: Instance | None, family: str) -> bool:
        """Whether a failure of this check on this instance is this one."""
        if self.key not in (check, f"{check}/{family}"):
            return False
        if not self.when:
            return True
        return instance is not None and condition.holds(self.when, instance.params)


class Expectations:
    """Known failures, and which of them were seen."""

    def __init__(self, entries: Iterable[Known]) -> None:
        self.failed: dict[Known, int] = dict.fromkeys(entries, 0)
        self._judged: set[Known] = set()

    def apply(self, result: Result) -> Result:
        """The result, or an expected failure in its place."""
        if not result.verdict.judges:
            return result
        covering = [
            k for k in self.failed if k.covers(result.check, result.instance, result.family)
        ]
        covering.sort(key=lambda known: ("/" not in known.key, not known.when))  # narrowest first
        self._judged.update(covering)
        if not covering or not result.verdict.is_bad:
            return result
        for each in covering:
            self.failed[each] += 1
        message = f"{covering[0].reason}: {result.message}"
        judgement = Judgement(Verdict.EXPECTED_FAILURE, message=message)
        return Result.of(result.check, result.instance, judgement, seconds=result.seconds)

    def unmet(self) -> list[Result]:
        """One unexpected pass for every entry that nothing failed for; a word where it is not strict."""
        found = []
        for each, times in self.failed.items():
            if times:
                continue
            what = "it did not" if each in self._judged else "nothing of it was judged"
            message = (
                f"XPASS: {each} was expected to fail ({each.reason}), but {what}: "
                f"remove it from {each.source or 'xfail'}"
            )
            verdict = Verdict.UNEXPECTED_PASS if each.strict else Verdict.SKIPPED
            check = each.key.partition("/")[0]
            found.append(Result.of(check, None, Judgement(verdict, message=message)))
        return found

    def listed(self) -> tuple[dict[str, Any], ...]:
        """Every entry as plain data, with how often it failed."""
        return tuple({**vars(each), "failed": times} for each, times in self.failed.items())
