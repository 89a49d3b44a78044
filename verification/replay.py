"""A failure as a file: everything needed to run it again, with no other file around.

``python -m verification.replay FILE [module:function]`` runs it again; the exit code is 1 while
the failure is there.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from verification import checks
from verification.calling import Caller
from verification.errors import InvalidArgumentError
from verification.instances import Instance
from verification.kit import run_one
from verification.problems import lookup
from verification.verdicts import Report, Result

SCHEMA = 1


@dataclass(frozen=True)
class Replay:
    """One stored failure.

    Attributes
    ----------
    check : name of the check that failed.
    candidate : dotted name of the callable.
    instance : Instance
    verdict, message : what was found.
    code : the failure as code to paste.
    environment : versions under which it was found.
    """

    check: str
    candidate: str
    instance: Instance
    verdict: str
    message: str
    code: str
    environment: dict[str, str]

    def run(self, candidate: Callable[..., Any] | str | None = None) -> Result:
        """Run the check again.

        Parameters
        ----------
        candidate : callable or "module:function", optional
            By default the one that failed, imported by its name.
        """
        if candidate is None or isinstance(candidate, str):
            candidate = load_callable(candidate or self.candidate)
        call = Caller(candidate, lookup(self.instance.problem))
        found = checks.discover()
        if self.check not in found:
            raise InvalidArgumentError(f"check={self.check!r}: this version has {', '.join(found)}")
        return run_one(self.check, found[self.check], call, self.instance)


def save(report: Report, path: str | os.PathLike[str]) -> Path:
    """Write the smallest failure of a report to a JSON file.

    Raises
    ------
    InvalidArgumentError
        If the report holds no failure with an instance.
    """
    result = report.counterexample_result
    if result is None:
        result = next((r for r in report.failures if r.instance is not None), None)
    if result is None or result.instance is None:
        raise InvalidArgumentError(f"report on {report.problem}: expected one with a failure")
    data = {
        "schema": SCHEMA,
        "check": result.check,
        "candidate": report.candidate,
        "verdict": result.verdict.value,
        "message": result.message,
        "code": report.counterexample or "",
        "environment": {"python": platform.python_version(), "numpy": np.__version__},
        "instance": result.instance.to_dict(),
    }
    target = Path(path)
    target.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return target


def load(path: str | os.PathLike[str]) -> Replay:
    """Read a file written by `save`."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        schema = data["schema"]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidArgumentError(f"path={os.fspath(path)!r}: expected a replay file") from error
    if schema != SCHEMA:
        raise InvalidArgumentError(
            f"path={os.fspath(path)!r} has schema {schema!r}: this version reads {SCHEMA}"
        )
    return Replay(
        check=data["check"],
        candidate=data["candidate"],
        instance=Instance.from_dict(data["instance"]),
        verdict=data["verdict"],
        message=data["message"],
        code=data["code"],
        environment=data["environment"],
    )


def load_callable(name: str) -> Callable[..., Any]:
    """Import ``"module:function"`` or ``"module.function"``."""
    module, _, attribute = name.partition(":") if ":" in name else name.rpartition(".")
    try:
        target: Any = importlib.import_module(module)
        for part in attribute.split("."):
            target = getattr(target, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidArgumentError(
            f"candidate={name!r}: expected an importable 'module:function' ({error})"
        ) from error
    if not callable(target):
        raise InvalidArgumentError(f"candidate={name!r}: expected a function, got {target!r:.80}")
    return target


def main(arguments: list[str]) -> int:
    """Run a replay file again; 0 if it passes now."""
    if not 1 <= len(arguments) <= 2:
        print("usage: python -m verification.replay FILE [module:function]", file=sys.stderr)
        return 2
    replay = load(arguments[0])
    result = replay.run(arguments[1] if len(arguments) == 2 else None)
    print(replay.code)
    print(
        f"now: {result.verdict}: {result.message}" if result.message else f"now: {result.verdict}"
    )
    return int(result.verdict.is_bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
