"""An external program as a callable with the arguments of a problem."""

from __future__ import annotations

import inspect
import itertools
import os
import shlex
import shutil
import threading
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from verification.errors import CandidateSignatureError, InvalidArgumentError
from verification.external import replies, wire
from verification.external.process import MOST_NOISE, Child, Folder, GoneError, LateError
from verification.external.replies import word
from verification.kit.signatures import in_order
from verification.kit.solver_call import (
    CandidateCrashError,
    CandidateTimeoutError,
    RefusedError,
    current_limit,
)
from verification.problems.problem import Problem, lookup
from verification.verdicts import accuracy_contract

# After so many ends that nobody asked for, a program is not started again.
DEATHS_ALLOWED = 5
# Seconds that a program may take to start, beside the time allowed for its first answer.
STARTUP = 10.0
DEFAULTS = {"startup": STARTUP, "npz": wire.LARGE, "hexadecimal": False}
# How many times longer than at first it may take to start again.
SLACK = 4.0
# Statuses with which a program says that it was not made for an instance.
NOT_APPLICABLE = frozenset({"unsupported", "not applicable"})


class External:
    """A program that solves instances of one problem, one process for all of them.

    Parameters
    ----------
    command : str or sequence of str
        The program with its arguments; a string is split as a shell would.
    problem : str or Problem
        ``"<object>.<operation>"``.
    arguments : iterable of str, optional
        Those that the program takes; by default all of the problem. Instances that need another
        are counted as skipped.
    timeout : float
        Seconds per answer, where `verify` does not say otherwise.
    startup : float
        Seconds more for the first answer of a process.
    npz : int or None
        Arrays with more entries travel as .npz files; None: never.
    hexadecimal : bool
        Send floats as hexadecimal strings.
    cwd, env : optional
        Working directory, and variables to add to the environment.

    Raises
    ------
    InvalidArgumentError
        If there is no such program.
    UnknownProblemError

    Notes
    -----
    A call raises `CandidateTimeoutError`, `CandidateCrashError` (both with the evidence) or
    `NotApplicableError`. The process is killed, with all that it started, after a timeout and
    after any line that is not of the protocol; the next call starts another. It ends with `close`,
    at the end of a ``with`` block, when the object is forgotten, and when the interpreter ends.
    """

    def __init__(
        self,
        command: str | os.PathLike[str] | Sequence[str],
        problem: str | Problem,
        *,
        arguments: Iterable[str] | None = None,
        timeout: float = 10.0,
        startup: float = STARTUP,
        npz: int | None = wire.LARGE,
        hexadecimal: bool = False,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ):
        self.command = split(command, cwd)
        self.problem = lookup(problem)
        self.timeout = timeout
        self.startup = startup
        self.npz = npz
        self.hexadecimal = hexadecimal
        arguments = None if arguments is None else tuple(arguments)
        given = {
            "arguments": arguments, "startup": startup, "npz": npz, "hexadecimal": hexadecimal,
            "cwd": None if cwd is None else os.fspath(cwd), "env": dict(env) if env else None,
        }  # fmt: skip
        #: What it was started with that is not the default, beside the timeout.
        self.started = {n: v for n, v in given.items() if v != DEFAULTS.get(n)}
        self.deaths = 0
        self.status = ""  # of the last answer; recorded, never believed
        self.hello: Mapping[str, Any] = {}
        self.announced: float | None = None  # the accuracy that its hello promises
        self.options: tuple[str, ...] = ()
        self._cwd, self._env = cwd, env
        self._identifiers = itertools.count(1)
        self._lock = threading.Lock()
        self._fresh = True
        self._took: float | None = None  # seconds to the first answer
        self._late = False
        self._last_death = ""
        self._last: weakref.ref[np.ndarray] | None = None
        self._folder: Folder | None = None
        self.__signature__ = signature(self.problem, arguments)
        self._child: Child | None = None
        self._start()

    @property
    def label(self) -> str:
        """The command line."""
        return shlex.join(self.command)

    @property
    def origin(self) -> str:
        """How to get this callable, as code."""
        name, problem = self.problem.function, self.problem.name
        options = "".join(f", {name}={value!r}" for name, value in self.started.items())
        return (
            "from verification import external\n\n"
            f"{name} = external({list(self.command)!r}, problem={problem!r}{options})"
        )

    @property
    def allowance(self) -> float:
        """Seconds more than usual that the next answer may take: for a process to start."""
        if not self._fresh and self._child is not None:
            return 0.0
        if self._took is not None:  # it has shown how long that takes
            return min(self.startup, SLACK * self._took + 1.0)
        return min(self.startup, STARTUP) if self._late else self.startup

    @property
    def pid(self) -> int | None:
        """Number of the running process."""
        child = self._child
        return child.popen.pid if child is not None and child.alive else None

    @property
    def exhausted(self) -> str:
        """Why the program is not started again; empty while it is."""
        if self.deaths < DEATHS_ALLOWED:
            return ""
        return f"not run after {self.deaths} ends of the process"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Solve an instance."""
        try:
            given = self.__signature__.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise CandidateSignatureError(f"{self.problem.name}: {error}") from error
        if current_limit() is None:
            self.prepare()
        limit = current_limit() or self.timeout + self.allowance
        with self._lock:
            if self.exhausted:
                raise CandidateCrashError(f"{self.exhausted}, the last: {self._last_death}")
            self.status = ""
            return self._solve(given, time.monotonic() + limit, limit)

    def __enter__(self) -> External:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process and everything that it started; remove the temporary files."""
        child, self._child = self._child, None
        if child is not None:
            child.close()
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.remove()

    def prepare(self) -> None:
        """Start the process again if that has to be waited for before the next call."""

    # -- one exchange -------------------------------------------------------------------------

    def _start(self) -> Child:
        self._child = Child(self.command, self._cwd, self._env)
        self._fresh = True
        self._last = None
        return self._child

    def _solve(self, given: dict[str, Any], deadline: float, limit: float) -> Any:
        reply = self._exchange(given, deadline, limit)
        if word(reply, "status") in NOT_APPLICABLE and self._sent_files(given):
            self.npz = None  # it may be the files that it does not read
            reply = self._exchange(given, deadline, limit)
        self.status = word(reply, "status")
        if self.status in NOT_APPLICABLE:
            raise RefusedError(word(reply, "message") or f"status {self.status!r}")
        if self.status == "error":
            crash = CandidateCrashError(word(reply, "message") or "status 'error'")
            raised = reply.get("raised")
            crash.raised = tuple(map(str, raised)) if isinstance(raised, list) else ()
            raise crash
        try:
            last = None if self._last is None else self._last()
            replies.mirror(reply, given, last, self._files)
            found = replies.answer(reply, given, bool(self.problem.parts), self._files)
        except wire.MalformedError as error:
            raise CandidateCrashError(f"malformed answer: {error}") from error
        main = replies.main_array(found)
        self._last = None if main is None else weakref.ref(main)
        return found

    def _exchange(self, given: dict[str, Any], deadline: float, limit: float) -> dict[str, Any]:
        identifier = next(self._identifiers)
        noise = bytearray()
        line, files = self._request(identifier, given)
        child = self._child or self._start()
        began = time.monotonic()
        try:
            try:
                child.write_line(line, deadline)
                reply = self._reply(child, identifier, deadline, noise)
            finally:
                for file in files:
                    file.unlink(missing_ok=True)
        except (LateError, CandidateTimeoutError) as error:
            evidence = (
                str(error) if isinstance(error, LateError) else f"no answer{child.last_words()}"
            )
            message = f"{evidence.replace('no answer', f'no answer within {limit:g} s', 1)}"
            self._late = self._late or self._fresh
            self._bury(child, message)
            raise CandidateTimeoutError(message + _quoted(noise)) from error
        except (GoneError, wire.MalformedError) as error:
            self._bury(child, str(error))
            raise CandidateCrashError(str(error) + _quoted(noise)) from error
        except BaseException:  # interrupted in the middle: the next answer would be of this request
            self._bury(child, "interrupted")
            raise
        if self._took is None:
            self._took = time.monotonic() - began
        self._fresh = False
        child.answers += 1
        return reply

    def _bury(self, child: Child, why: str) -> None:
        child.kill()
        self._child = None
        self.deaths += 1
        self._last_death = why

    def _request(self, identifier: int, given: Mapping[str, Any]) -> tuple[bytes, list[Path]]:
        message: dict[str, Any] = {
            "v": wire.VERSION,
            "id": identifier,
            "problem": self.problem.name,
            "params": {},
            "arrays": {},
        }
        files = []
        for name, value in given.items():
            if name in self.options:
                message.setdefault("options", {})[name] = wire.scalar(value)
            elif isinstance(value, (np.ndarray, list, tuple)):
                array = np.asarray(value)
                if self.npz is not None and array.size > self.npz:
                    path = self._path() / f"{identifier}-{name}.npz"
                    files.append(path)
                    message["arrays"][name] = wire.stored(array, path, name)
                    message["folder"] = str(path.parent)
                else:
                    message["arrays"][name] = wire.array(array, self.hexadecimal)
            else:
                message["params"][name] = wire.scalar(value, self.hexadecimal)
        return wire.dumps(message), files

    def _sent_files(self, given: Mapping[str, Any]) -> bool:
        return self.npz is not None and any(np.size(v) > self.npz for v in given.values())

    def _path(self) -> Path:
        if self._folder is None:
            self._folder = Folder(self)
        return self._folder.path

    @property
    def _files(self) -> Path | None:
        """Where files of answers are looked for."""
        return None if self._folder is None else self._folder.path

    def _reply(
        self, child: Child, identifier: int, deadline: float, noise: bytearray
    ) -> dict[str, Any]:
        """The next line that is a message; other lines are noise as long as they are few."""
        while True:
            line = child.read_line(deadline)
            if not line.lstrip().startswith(b"{"):
                noise += line + b"\n"
                if len(noise) > MOST_NOISE:
                    raise GoneError(f"endless output: {MOST_NOISE >> 20} MiB that are no answer")
                continue
            try:
                reply = wire.loads(line)
            except wire.MalformedError as error:
                raise GoneError(
                    f"invalid JSON: {error}, in the line {wire.excerpt(line)}"
                ) from error
            if "hello" in reply:
                self._greet(reply)
                continue
            if "id" not in reply:
                raise GoneError(f"no id: {wire.excerpt(line)}")
            if reply["id"] != identifier or isinstance(reply["id"], bool):
                said = wire.excerpt(reply["id"])
                raise GoneError(f"wrong id: expected {identifier}, got {said}")
            return reply

    def _greet(self, hello: Mapping[str, Any]) -> None:
        version = hello.get("v", wire.VERSION)
        if version != wire.VERSION:
            raise GoneError(
                f"wrong version: the program speaks protocol {wire.excerpt(version)}, "
                f"this kit speaks {wire.VERSION}"
            )
        if "error" in hello:
            raise GoneError(f"hello with an error: {wire.excerpt(hello['error'], 400)}")
        try:
            self.announced = accuracy_contract.checked(hello.get("accuracy"))
        except InvalidArgumentError as error:
            raise GoneError(f"hello with {error}") from error
        self.hello = hello


def signature(
    problem: Problem, arguments: Iterable[str] | None = None, options: Iterable[str] = ()
) -> inspect.Signature:
    """Arguments in their order, and options by name."""
    names = problem.arguments if arguments is None else tuple(arguments)
    if unknown := [a for a in names if a not in problem.arguments]:
        raise InvalidArgumentError(
            f"arguments={unknown}: {problem.name} has {', '.join(problem.arguments)}"
        )
    keyword = inspect.Parameter.KEYWORD_ONLY
    asked = [inspect.Parameter(o, keyword, default=None) for o in options]
    return inspect.Signature([*in_order(names, problem.defaults), *asked])


def split(
    command: str | os.PathLike[str] | Sequence[str], cwd: str | None = None
) -> tuple[str, ...]:
    """A command as its parts, with a program that exists."""
    if isinstance(command, (str, os.PathLike)):
        text = os.fspath(command)
        try:
            # a path is a path, whatever spaces it has
            parts = (text,) if Path(text).is_file() else tuple(shlex.split(text))
        except ValueError as error:
            raise InvalidArgumentError(f"command={text!r}: {error}") from error
    else:
        parts = tuple(os.fspath(part) for part in command)
    if not parts:
        raise InvalidArgumentError(f"command={command!r}: expected a program, e.g. './my_solver'")
    program = parts[0]
    if "/" not in program and not shutil.which(program) and Path(cwd or ".", program).is_file():
        program = f"./{program}"
    place = os.path.join(cwd or ".", program) if "/" in program else program
    if shutil.which(place) is None:
        fix = "no such program (is it built, and is the path right?)"
        fix = "it is no program yet (chmod +x it)" if Path(place).is_file() else fix
        raise InvalidArgumentError(f"command={program!r}: {fix}")
    return program, *parts[1:]


def _quoted(noise: bytearray) -> str:
    return f"; stdout held no answer, but {wire.excerpt(noise)!r}" if noise else ""
