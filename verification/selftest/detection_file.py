"""A file of a detection matrix in the making: a line of JSON per row, so that a run may be stopped and resumed."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from verification.report.environment import commit
from verification.selftest import lines
from verification.selftest.detection_rows import RightSolver, Row

#: Field of a line -> what stands in it.
KINDS: dict[str, type[Row] | type[RightSolver]] = {"row": Row, "right": RightSolver}
FIELDS: dict[str, dict[str, type]] = {
    "row": {"name": str, "problem": str, "defect": str, "cells": dict},
    "right": {"name": str, "problem": str, "ok": bool, "counts": dict},
}
COMMAND = "refsolve selftest --file"


class KillFile:
    """Rows of one profile, seed and manner; those of other runs stay in the file unseen.

    Parameters
    ----------
    path : Path
        Is made where it does not exist; lines are appended.
    run : dict
        What a line must agree with: profile, seed, until_killed.
    """

    def __init__(self, path: Path, run: dict[str, Any]) -> None:
        self.path, self.run = path, run
        self.commits: list[str] = []
        self.found: dict[tuple[str, str], Row | RightSolver] = {}
        for i, line in enumerate(lines.read(path, COMMAND), start=1):
            try:
                self._keep(line)
            except (ValueError, KeyError, TypeError) as error:
                raise lines.refused(path, i, COMMAND, repr(error)) from None

    def _keep(self, data: dict[str, Any]) -> None:
        lines.check(data, {"kind": str, "commit": str})
        kind, run, commits = data["kind"], data["run"], data["commit"]
        lines.check(data["found"], FIELDS[kind])
        found = KINDS[kind](**data["found"])
        if run == self.run:
            self._remember(found, commits)

    def _remember(self, found: Row | RightSolver, of: str) -> None:
        if of not in self.commits:
            self.commits.append(of)
        self.found[found.name, found.problem] = found

    def add(self, found: list[Row | RightSolver]) -> None:
        """Append what a task found."""
        now = commit()
        kinds = {of: kind for kind, of in KINDS.items()}
        with lines.appended(self.path) as stream:
            for one in found:
                line = {"run": self.run, "commit": now, "kind": kinds[type(one)]}
                print(json.dumps({**line, "found": asdict(one)}), file=stream)
                self._remember(one, now)
