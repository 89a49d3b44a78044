"""Known failures (xfail): what is expected of a run, and what of it did not happen."""

from collections.abc import Iterable, Mapping

from verification.errors import InvalidArgumentError
from verification.verdicts.verdict import Judgement, Result, Verdict


class Expectations:
    """Known failures as "check" or "check/family", with a reason.

    Parameters
    ----------
    xfail : mapping or iterable of str
    checks : iterable of str
        Names of the checks that are run.
    """

    def __init__(self, xfail: Mapping[str, str] | Iterable[str], checks: Iterable[str]) -> None:
        if isinstance(xfail, str):
            xfail = (xfail,)
        given = xfail if isinstance(xfail, Mapping) else dict.fromkeys(xfail, "known")
        self.reasons: dict[str, str] = dict(given)
        self._seen: set[str] = set()
        self._judged: set[str] = set()
        known = list(checks)
        for key in self.reasons:
            if key.partition("/")[0] not in known:
                raise InvalidArgumentError(
                    f"xfail={key!r}: expected 'check' or 'check/family' with a check among "
                    f"{', '.join(known)}"
                )

    def key(self, result: Result) -> str | None:
        """The entry that covers a result."""
        keys = (f"{result.check}/{result.family}", result.check)
        return next((key for key in keys if key in self.reasons), None)

    def apply(self, result: Result) -> Result:
        """The result, or an expected failure in its place."""
        key = self.key(result)
        if key is None:
            return result
        if result.verdict is Verdict.PASS:
            self._judged.add(key)
        if not result.verdict.is_bad:
            return result
        self._seen.add(key)
        message = f"{self.reasons[key]}: {result.message}"
        judgement = Judgement(Verdict.EXPECTED_FAILURE, message=message)
        return Result.of(result.check, result.instance, judgement, seconds=result.seconds)

    def unmet(self) -> list[Result]:
        """One unexpected pass for every entry that nothing failed for."""
        found = []
        for key, reason in self.reasons.items():
            if key in self._seen:
                continue
            what = "it did not" if key in self._judged else "nothing of it was judged"
            message = f"{key} was expected to fail ({reason}), but {what}: remove it from xfail"
            judgement = Judgement(Verdict.UNEXPECTED_PASS, message=message)
            found.append(Result.of(key.partition("/")[0], None, judgement))
        return found
