"""Options of the commands that read a replay file: which failure, and what is run instead of what failed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verification.app.options import argument, option

if TYPE_CHECKING:
    from verification.failures.replay import Replay


@dataclass(frozen=True, kw_only=True)
class ReplayFile:
    """A stored failure."""

    file: Path = argument("Replay file, as `refsolve verify --output` writes.")

    def stored(self) -> Replay:
        """What the file says."""
        from verification.failures import replay

        return replay.load(self.file)


@dataclass(frozen=True, kw_only=True)
class Rerun(ReplayFile):
    """A stored failure, and the solver to run."""

    solver: str | None = option("package.module:function to run instead of the one that failed.")
    program: str | None = option("Program to run instead of the one that failed.", None, "--exec")
    trust: bool = option("Run what the file names: you know where it is from.", False, "--trust")

    def opened(self, problem: str) -> AbstractContextManager[Callable[..., Any] | None]:
        """What is run; None for what the file names. A solver in the current folder is found."""
        from verification.app import command_line

        if self.trust or self.solver is not None:
            sys.path.insert(0, str(Path.cwd()))
        return command_line.opened(self.solver, self.program, problem)
