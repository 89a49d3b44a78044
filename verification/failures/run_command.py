"""A run as one line to type: whatever decides about its results stands in it, or there is no line."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from verification.kit.solver_call import TIMEOUT

#: What stands in the place of a solver where none was given.
FAST = "fast"


def solver(function: Callable[..., Any]) -> str:
    """``"module:name"`` under which exactly this function is imported; empty if there is none.

    A name alone is not enough: that of a closure, a bound method or an adapter may be the name of
    something else.
    """
    if hasattr(function, "deaths"):  # a process of its own, which imported the function
        return str(getattr(function, "imported", ""))
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None)
    if not (isinstance(module, str) and isinstance(name, str)):
        return ""
    if module in ("__main__", "__mp_main__") or not name.replace(".", "_").isidentifier():
        return ""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}:{name}" if found is function else ""


def settings_of(function: Callable[..., Any]) -> dict[str, Any]:
    """How a candidate is had again: the command line of a program, or the name of a function."""
    if not getattr(function, "origin", ""):
        return {"solver": solver(function)}
    started = dict(getattr(function, "started", {}))
    program = {"program": tuple(getattr(function, "command", ()))}
    return {**program, "started": started} if started else program


class Described(Protocol):
    """What a line is made of: a run, or the replay of a stored failure."""

    @property
    def profile(self) -> str:
        """Which instances."""

    @property
    def seed(self) -> int | None:
        """Of the instances."""

    @property
    def candidate(self) -> str:
        """Name of the solver."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What else `verify` was given."""


def command(run: Described) -> str:
    """The run as one line; empty if the command line cannot say it.

    That is so for a function without a name to import, and for a program that was started with
    options of its own (``cwd``, ``env``, ...), which only Python has. ``shrink=False`` is left out:
    it decides about no verdict.
    """
    settings = run.settings
    instance = getattr(run, "instance", None)  # of one that was stored
    if instance is not None and "checks" not in settings:  # by a version that did not record it
        return ""
    problem = getattr(run if instance is None else instance, "problem", "")
    words = ["refsolve", "verify", "--problem", str(problem)]
    program = settings.get("program") or getattr(run, "program", ())
    name = settings.get("solver")
    if program:
        if settings.get("started"):
            return ""
        words += ["--exec", shlex.join(program)]
    elif name != FAST:
        name = _by_name(run.candidate) if name is None else name
        if not name:
            return ""
        words += ["--solver", name]
    words += ["--profile", run.profile, "--seed", str(run.seed)]
    for check in settings.get("checks") or ():
        words += ["--check", check]
    for key in settings.get("xfail") or ():
        words += ["--xfail", key]
    for argument, value in (settings.get("fixed") or {}).items():
        words += ["--set", f"{argument}={_text(value)}"]
    for option in ("count", "seconds"):
        if settings.get(option) is not None:
            words += [f"--{option}", str(settings[option])]
    if settings.get("accuracy") is not None:
        words += ["--accuracy", str(settings["accuracy"])]
    if settings.get("dtype") is not None:
        words += ["--dtype", settings["dtype"]]
    for name in settings.get("refuses") or ():
        words += ["--refuses", name]
    timeout = settings.get("timeout")
    if timeout is not None and timeout != TIMEOUT:
        words += ["--timeout", str(timeout)]
    batch = settings.get("batch")
    if batch is False or (batch is not None and name != FAST):
        words.append("--batch" if batch else "--no-batch")
    # a function that is named is isolated unless that is declined
    isolate = bool(settings.get("isolate"))
    if isolate is not (not program and name != FAST):
        words.append("--isolate" if isolate else "--no-isolate")
    return shlex.join(words)


def _by_name(candidate: str) -> str:
    """For reports that say nothing else: the name of a candidate, if it may be one to import."""
    module, _, name = candidate.rpartition(".")
    if not module or not name.isidentifier() or "<" in module or module == "__main__":
        return ""
    return f"{module}:{name}"


def _text(value: Any) -> str:
    """A value as ``--set`` reads it back."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str):
        try:
            json.loads(value)
        except (ValueError, RecursionError):
            return value  # a word
    return json.dumps(value)
