"""The detection matrix as data: a row per mutant, the right solvers beside them, and what is required."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from verification import checks

#: Share of the mutants that each profile must kill.
REQUIRED = {"quick": 0.95, "thorough": 1.0}


@dataclass(frozen=True)
class Row:
    """What the checks found out about one mutant.

    ``cells``: check -> number of the first instance that failed, 0 if none did; checks that do not
    apply are absent. ``why``: the verdict and its message, of the checks that killed.
    """

    name: str
    problem: str
    defect: str
    cells: Mapping[str, int]
    why: Mapping[str, str] = field(default_factory=dict)
    judged: int = 0
    seconds: float = 0.0

    @property
    def killed(self) -> bool:
        """Whether some check caught it."""
        return any(self.cells.values())


@dataclass(frozen=True)
class RightSolver:
    """A right solver's run: whether it passed, with its tally."""

    name: str
    problem: str
    ok: bool
    counts: Mapping[str, int]
    summary: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Matrix:
    """A run of the library of mutants: a row per mutant, and the right solvers.

    ``complete``: all cells are known, not only those up to the first kill. ``commits``: what was checked
    out while it was written to a file, which may take several runs.
    """

    profile: str
    seed: int
    rows: tuple[Row, ...]
    right: tuple[RightSolver, ...] = ()
    seconds: float = 0.0
    complete: bool = True
    commits: tuple[str, ...] = ()

    @property
    def survivors(self) -> tuple[Row, ...]:
        """Mutants that no check caught."""
        return tuple(row for row in self.rows if not row.killed)

    @property
    def share(self) -> float:
        """Share of the mutants that were killed."""
        return 1 - len(self.survivors) / len(self.rows) if self.rows else 0.0

    @property
    def ok(self) -> bool:
        """Enough mutants killed for the profile, and every right solver passed."""
        return self.share >= REQUIRED[self.profile] and all(r.ok for r in self.right)

    @property
    def checks(self) -> tuple[str, ...]:
        """Checks that ran on some mutant, in their order."""
        ran = {check for row in self.rows for check in row.cells}
        return tuple(name for name in checks.discover() if name in ran)

    def killed_by(self, check: str) -> int:
        """Number of mutants that a check caught."""
        return sum(bool(row.cells.get(check)) for row in self.rows)

    def only_by(self, check: str) -> tuple[str, ...]:
        """Mutants that no other check caught."""
        return tuple(r.name for r in self.rows if [c for c, n in r.cells.items() if n] == [check])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json`` and for the record in the documentation."""
        return {
            "profile": self.profile,
            "seed": self.seed,
            "mutants": len(self.rows),
            "killed": len(self.rows) - len(self.survivors),
            "survivors": [row.name for row in self.survivors],
            "complete": self.complete,
            "seconds": round(self.seconds, 1),
            **({"commits": list(self.commits)} if self.commits else {}),
            "rows": {
                row.name: {"problem": row.problem, "cells": dict(row.cells)} for row in self.rows
            },
            "right": {
                f"{r.problem} ({r.name})": {"ok": r.ok, **{k: n for k, n in r.counts.items() if n}}
                for r in self.right
            },
        }
