"""Solvers in other processes: programs in any language, and Python functions in isolation.

``external("./my_solver", problem="simplex.projection")`` is a callable for `verification.verify`
that asks a program by JSON lines (docs/protocol.md). `isolated` does the same with a Python
function, so that a hang in compiled code, a segmentation fault or ``os._exit`` ends that process,
and becomes a verdict in this one.
"""

import sys
from types import ModuleType
from typing import Any

from verification.external.isolation import isolated
from verification.external.solver import External
from verification.external.wire import VERSION

__all__ = ["VERSION", "External", "command", "isolated"]


def command(text: str, problem: str, **options: Any) -> External:
    """Start the program of a command line, split as a shell would; `External` has the options."""
    return External(text, problem, **options)


class _CallableModule(ModuleType):
    """``from verification import external`` gives something to call and to import from."""

    def __call__(self, command: Any, problem: str, **options: Any) -> External:
        """Start a program; see `External`."""
        return External(command, problem, **options)


sys.modules[__name__].__class__ = _CallableModule
