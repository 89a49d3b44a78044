"""What ``xfail`` may be: keys, "check" or "check/family", and files that list known failures of any problem.

A file is TOML, any number of ::

    [[xfail]]
    problem = "simplex.projection"   # or an object, or a pattern with *
    check = "extremes"               # or "extremes/huge", or a list of such
    when = "r == 0"                  # optional: only where the arguments are such
    reason = "divides by r: github.com/you/solver/issues/12"
    strict = false                   # optional, default xfail_strict, or true

and ``xfail_strict = false`` before them, if one that does not fail any more is to be said but not to
fail the run. `verification.verdicts.condition` says what ``when`` understands.
"""

import fnmatch
import functools
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from verification import checks, problems
from verification.errors import InvalidArgumentError, UnknownProblemError
from verification.instances import files
from verification.verdicts import condition
from verification.verdicts.expectations import Known

Xfail: TypeAlias = Mapping[str, str] | Iterable[str | os.PathLike[str]] | str | os.PathLike[str]
FIELDS = {"problem": str, "check": (str, list), "reason": str, "when": str, "strict": bool}
REQUIRED = ("problem", "check", "reason")


def reasons(xfail: Xfail) -> dict[str, str]:
    """Keys and names of files, each with its reason."""
    if isinstance(xfail, Mapping):
        return {os.fspath(key): reason for key, reason in xfail.items()}
    given = (xfail,) if isinstance(xfail, (str, os.PathLike)) else xfail
    return {os.fspath(key): "known" for key in given}


def entries(xfail: Xfail, problem: str, selected: Iterable[str]) -> list[Known]:
    """All that is known of a problem; of files, what is about the checks that are run.

    Raises
    ------
    InvalidArgumentError
        For a key that is no check, and for a file that cannot be read as one.
    """
    run, found = list(selected), []
    for key, reason in reasons(xfail).items():
        if key.endswith(".toml"):
            listed = [known for names, known in read(key) if problem in names]
            found += [known for known in listed if known.key.partition("/")[0] in run]
        elif key.partition("/")[0] in run:
            found.append(Known(key, reason))
        else:
            raise InvalidArgumentError(
                f"xfail={key!r}: expected a file *.toml, or 'check' or 'check/family' with a check "
                f"among {', '.join(run)}"
            )
    return found


def read(path: str | os.PathLike[str]) -> list[tuple[frozenset[str], Known]]:
    """The entries of a file, each with the problems that it is about; the whole file is checked."""
    name = os.fspath(path)
    try:
        data = tomllib.loads(files.text(Path(path)))
    except OSError as error:
        raise InvalidArgumentError(f"xfail={name!r}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"xfail={name!r}: no TOML file: {error}") from None
    strict, listed = data.pop("xfail_strict", True), data.pop("xfail", [])
    if data or not isinstance(strict, bool) or not _tables(listed):
        raise InvalidArgumentError(
            f"xfail={name!r}: expected [[xfail]] tables, and perhaps xfail_strict = false before "
            f"them; found {', '.join(data) or 'other values'}"
        )
    found = []
    for place, entry in enumerate(listed, 1):
        try:
            found += _entry(entry, strict, name)
        except (InvalidArgumentError, UnknownProblemError) as error:
            where = f"xfail={name!r}, [[xfail]] number {place}"
            raise InvalidArgumentError(f"{where}: {error}") from None
    return found


def _tables(listed: Any) -> bool:
    return isinstance(listed, list) and all(isinstance(each, dict) for each in listed)


def _entry(entry: dict[str, Any], strict: bool, name: str) -> list[tuple[frozenset[str], Known]]:
    if unknown := [key for key in entry if key not in FIELDS]:
        raise InvalidArgumentError(f"{unknown[0]} is not known; expected {', '.join(FIELDS)}")
    if missing := [key for key in REQUIRED if not entry.get(key)]:
        raise InvalidArgumentError(f"{missing[0]} is missing; expected {', '.join(REQUIRED)}")
    for key, value in entry.items():
        if not isinstance(value, FIELDS[key]):  # type: ignore[arg-type]
            raise InvalidArgumentError(f"{key}={value!r}: expected another type")
    named = entry["check"] if isinstance(entry["check"], list) else [entry["check"]]
    for key in named:
        if not isinstance(key, str) or key.partition("/")[0] not in checks.discover():
            raise InvalidArgumentError(
                f"check={key!r}: expected CHECK or CHECK/FAMILY with a check among "
                f"{', '.join(checks.discover())}"
            )
    about, when = _problems(entry["problem"]), entry.get("when", "")
    if when:
        _, arguments = condition.parse(when)
        known = {argument for each in about for argument in problems.lookup(each).arguments}
        if unknown := sorted(arguments - known):
            raise InvalidArgumentError(
                f"when={when!r}: {entry['problem']} has no {unknown[0]}; expected some of "
                f"{', '.join(sorted(known))}"
            )
    rest = (entry["reason"], when, entry.get("strict", strict), name)
    return [(about, Known(key, *rest)) for key in named]


@functools.cache
def _problems(pattern: str) -> frozenset[str]:
    """Problems whose name or object matches."""
    hits = [
        name
        for name in problems.names()
        if fnmatch.fnmatchcase(name, pattern)
        or fnmatch.fnmatchcase(name.rpartition(".")[0], pattern)
    ]
    return frozenset(hits or [problems.lookup(pattern).name])
