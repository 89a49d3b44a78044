"""``python -m verification.external.serve package:function --problem NAME``: a solver server.

Calls a Python function for each request on standard input and answers on what was standard output;
what the function prints goes to standard error. Beside the answer it reports what the function did
to its arguments in place ("changed"), whether the answer is a view of one ("view"), and whether a
call overwrote the answer before it ("overwrote").
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pickle
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from verification.errors import CandidateSignatureError, InvalidArgumentError, VerificationError
from verification.external import wire
from verification.external.replies import FIELDS
from verification.kit.solver_call import (
    Caller,
    CandidateCrashError,
    full_name,
    load_callable,
    parameters,
    said,
)
from verification.kit.unsupported import lineage
from verification.problems.problem import Problem, lookup
from verification.verdicts.verdict import Candidate


class Server:
    """Answers requests by calling a function.

    Parameters
    ----------
    function : callable
    problem : Problem
    """

    def __init__(self, function: Callable[..., Any], problem: Problem):
        self.function = function
        self.problem = problem
        self.call = Caller(function, self.problem)
        self._last: tuple[np.ndarray, bytes] | None = None

    def hello(self) -> dict[str, Any]:
        """What the function takes."""
        module, qualified = full_name(self.function)
        optional = [p.name for p in parameters(self.function) or () if p.default is not p.empty]
        return {
            "v": wire.VERSION,
            "hello": "python",
            "module": module,
            "qualname": qualified,
            "arguments": [*self.call.positional, *self.call.named],
            "dtype": None if self.call.dtype is None else self.call.dtype.name,
            "options": [name for name in optional if name not in self.problem.arguments],
        }

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Reply to one request."""
        reply: dict[str, Any] = {"id": request.get("id")}
        folder = Path(request["folder"]) if "folder" in request else None
        try:
            params = _params(request, folder)
            before = {n: v.tobytes() for n, v in params.items() if isinstance(v, np.ndarray)}
            candidate = self._solve(params, dict(request.get("options") or {}))
        except CandidateCrashError as error:
            return {**reply, "status": "error", "message": str(error)}
        except BaseException as error:  # also sys.exit, and a KeyboardInterrupt of its own
            with contextlib.suppress(Exception):  # it may have closed standard error
                traceback.print_exc()
            names = {"raised": lineage(error)}
            return {**reply, "status": "error", "message": said(error), **names}
        reply["changed"] = {
            n: _sent(params[n], folder, f"changed-{n}")
            for n, was in before.items()
            if params[n].tobytes() != was
        }
        parts = candidate.parts
        for name in () if parts else FIELDS:
            if (value := getattr(candidate, name)) is not None:
                reply[name] = _sent(np.asarray(value), folder, name)
        for name, value in parts.items():
            reply.setdefault("parts", {})[name] = _sent(np.asarray(value), folder, name)
        reply |= self._memory(candidate.x, params, folder)
        return reply

    def _solve(self, params: dict[str, Any], options: dict[str, Any]) -> Candidate:
        options = {name: value for name, value in options.items() if value is not None}
        args = [params[name] for name in self.call.positional]
        named = {name: params[name] for name in self.call.named if name in params}
        output = self.call.output(args, named | options)
        found = self.call.unwrapped(output, bool(options.get("return_complement")))
        self.call.answered.add(np.asarray(found.x).dtype.name)
        return found

    def _memory(self, x: object, params: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
        """Whether the last answer has changed meanwhile, and whether this one is a view."""
        found: dict[str, Any] = {}
        if self._last is not None and self._last[0].tobytes() != self._last[1]:
            found["overwrote"] = _sent(self._last[0], folder, "overwrote")
        self._last = None
        if isinstance(x, np.ndarray):
            self._last = x, x.tobytes()
            for name, value in params.items():
                if isinstance(value, np.ndarray) and np.shares_memory(x, value):
                    start = x.__array_interface__["data"][0] - value.__array_interface__["data"][0]
                    found["view"] = {"of": name, "offset": start, "strides": list(x.strides)}
        return found


def _params(request: Mapping[str, Any], folder: Path | None) -> dict[str, Any]:
    """The arguments as new, writable arrays and plain scalars."""
    params: dict[str, Any] = {}
    for name, value in dict(request.get("params") or {}).items():
        params[name] = wire.read(value, name)
    for name, value in dict(request.get("arrays") or {}).items():
        params[name] = np.array(wire.decode(value, name, folder))
    return params


def _sent(value: np.ndarray, folder: Path | None, name: str) -> dict[str, Any]:
    """An array in a reply: as a file if it is large and the request came with files."""
    if folder is None or value.size <= wire.LARGE:
        return wire.array(value)
    return wire.stored(value, folder / f"answer-{name}.npz", name)


def main(
    arguments: list[str] | None = None,
    find: Callable[[str], Problem] = lookup,
    load: Callable[[str], Callable[..., Any]] = load_callable,
) -> int:
    """Serve until the end of input; ``find`` and ``load`` turn names into a problem and a function."""
    # not typer: it would cost every candidate's process a fifth more of its start
    parser = argparse.ArgumentParser(prog="python -m verification.external.serve")
    parser.add_argument("function", nargs="?", help="package.module:function")
    parser.add_argument("--problem", required=True, help="OBJECT.OPERATION")
    parser.add_argument("--fixed", default="{}", help="JSON of the arguments that it has built in")
    parser.add_argument("--pickle", help="file with the function, as pickled by cloudpickle")
    given = parser.parse_args(arguments)
    if (given.function is None) is (given.pickle is None):
        parser.error("expected either package.module:function or --pickle FILE")
    # Both pipes are for messages only: code that prints finds standard error in their place, code
    # that asks finds nothing to read.
    with os.fdopen(os.dup(0), "rb") as requests:
        output = os.dup(1)
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        return _serve(given, requests, output, find, load)


def _serve(
    given: argparse.Namespace,
    requests: BinaryIO,
    output: int,
    find: Callable[[str], Problem],
    load: Callable[[str], Callable[..., Any]],
) -> int:
    try:
        fixed = {name: wire.read(v, name) for name, v in json.loads(given.fixed).items()}
        problem = dataclasses.replace(find(given.problem), fixed=fixed)
        server = Server(_function(given.function, given.pickle, load), problem)
    except VerificationError as error:
        kind = isinstance(error, CandidateSignatureError)
        hello = {"v": wire.VERSION, "hello": "python", "error": str(error), "signature": kind}
        _write(output, hello)
        return 2
    _write(output, server.hello())
    for line in requests:
        if line.strip():
            _write(output, server.answer(wire.loads(line)))
    return 0


def _function(
    name: str | None, path: str | None, load: Callable[[str], Callable[..., Any]]
) -> Callable[..., Any]:
    if path is None:
        return load(str(name))
    try:
        function: Any = pickle.loads(Path(path).read_bytes())
    except Exception as error:  # whatever importing its parts raises
        raise InvalidArgumentError(
            f"candidate: cannot be had in another process ({said(error)}); pass "
            "an importable function, or isolate=False"
        ) from error
    if not callable(function):
        raise InvalidArgumentError(f"candidate: expected a function, got {function!r:.80}")
    return function


def _write(descriptor: int, message: Mapping[str, Any]) -> None:
    rest = memoryview(wire.dumps(message))
    while rest:
        rest = rest[os.write(descriptor, rest) :]


if __name__ == "__main__":
    sys.exit(main())
