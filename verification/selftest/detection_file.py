"""A file of a detection matrix in the making: a line of JSON per row, so that a run may be stopped and resumed."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from verification.report.environment import commit
from verification.report.lines import Lines, check
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
        Lines(path).read(COMMAND, self._keep)

    def _keep(self, data: dict[str, Any]) -> None:
        check(data, {"kind": str, "commit": str})
        kind, run, commits = data["kind"], data["run"], data["commit"]
        check(data["found"], FIELDS[kind])
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
        for one in found:
            line = {"run": self.run, "commit": now, "kind": kinds[type(one)]}
            Lines(self.path).add({**line, "found": asdict(one)})
            self._remember(one, now)
