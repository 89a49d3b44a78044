"""A Python function in a process of its own."""

import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

try:
    import cloudpickle  # type: ignore[import-untyped]
except ImportError:  # joblib before 1.6 carries its own
    from joblib.externals import cloudpickle

from verification.errors import CandidateSignatureError, InvalidArgumentError
from verification.external.process import Folder, GoneError, LateError
from verification.external.solver import External, signature
from verification.external.wire import MalformedError, array, loads, scalar
from verification.failures import run_command
from verification.kit import signatures, solver_call
from verification.kit.solver_call import Caller, CandidateCrashError, CandidateTimeoutError
from verification.problems.problem import Problem, lookup

# Seconds that importing the function and all that it needs may take.
IMPORTS = 120.0
SERVE = (sys.executable, "-m", "verification.external.serve")
# Keyword arguments of a candidate that are no arguments of the problem, but which checks use.
OPTIONS = ("return_complement", "method")


class Isolated(External):
    """A Python function in a process of its own, with the same arguments and the same name.

    What it does to its arguments in place, and to the answer that it returned before, is repeated
    in this process, so that the check of purity sees it.

    Parameters
    ----------
    function : callable or str
    problem : Problem
    timeout : float
        As in `isolated`.
    """

    #: The program that is started in the process, and the seconds that its imports may take.
    server: tuple[str, ...] = SERVE
    imports = IMPORTS

    def __init__(self, function: Callable[..., Any] | str, problem: Problem, timeout: float = 10.0):
        self._source = function if isinstance(function, str) else repr(function)
        # the name here: an object may not know it in another process
        self._named = None if isinstance(function, str) else signatures.full_name(function)
        #: What imports the function; empty if nothing does.
        self.imported = function if isinstance(function, str) else run_command.solver(function)
        self._pickle: Folder | None = None
        target = [function] if isinstance(function, str) else ["--pickle", self._written(function)]
        fixed = {
            name: array(v) if isinstance(v, np.ndarray) else scalar(v)
            for name, v in problem.fixed.items()
        }
        target += ["--fixed", json.dumps(fixed)] if fixed else []
        paths = [str(Path(p).resolve()) for p in sys.path]
        try:
            super().__init__(
                [*self.server, *target, "--problem", problem.name],
                problem,
                timeout=timeout,
                startup=solver_call.FIRST_CALL_ALLOWANCE * timeout,  # it may compile
                env={"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))},
            )
            self._meet()
        except BaseException:
            self.close()
            raise

    def _written(self, function: Callable[..., Any]) -> str:
        """The function as a file, which lives as long as this object."""
        try:
            data = _pickled(function)
        except Exception as error:  # whatever its parts raise when they are pickled
            raise InvalidArgumentError(
                f"candidate={self._source}: cannot be sent to another process ({error}); pass an "
                "importable function, or isolate=False"
            ) from error
        self._pickle = Folder(self)
        path = self._pickle.path / "candidate.pickle"
        path.write_bytes(data)
        return str(path)

    def _meet(self) -> None:
        """Wait for the hello, which says what the function takes, or why it cannot be had."""
        child = self._child
        assert child is not None
        try:
            hello = loads(child.read_line(time.monotonic() + self.imports))
        except (GoneError, LateError, MalformedError) as error:
            raise InvalidArgumentError(
                f"candidate={self._source}: its process did not start: {error}"
            ) from error
        if "error" in hello:
            kind = CandidateSignatureError if hello.get("signature") else InvalidArgumentError
            raise kind(str(hello["error"]))
        self._greet(hello)
        self.options = tuple(o for o in hello["options"] if o in OPTIONS)
        self.__signature__ = signature(self.problem, hello["arguments"], self.options)
        module, qualified = self._named or (hello["module"], hello["qualname"])
        self.__module__, self.__qualname__ = str(module), str(qualified)
        self.__name__ = self.__qualname__.rpartition(".")[2]
        self.dtype = np.dtype(hello["dtype"]) if hello.get("dtype") else None

    def prepare(self) -> None:
        """Start the process again, which is not counted as time of the next call."""
        if self._child is not None or self.exhausted:
            return
        child = self._start()
        try:
            self._greet(loads(child.read_line(time.monotonic() + self.imports)))
        except (GoneError, LateError, MalformedError) as error:
            self._bury(child, str(error))
            kind = CandidateTimeoutError if isinstance(error, LateError) else CandidateCrashError
            raise kind(f"its process did not start again: {error}") from error

    @property
    def allowance(self) -> float:
        """Time to compile, for the first call; again as long as that took, in another process."""
        return 0.0 if self._late and self._took is None else super().allowance

    @property
    def label(self) -> str:
        """The name of the function."""
        return f"{self.__module__}.{self.__qualname__}"

    @property
    def origin(self) -> str:
        """Nothing: the function is imported by its name."""
        return ""

    def close(self) -> None:
        """End the process; remove the temporary files."""
        if "_child" in vars(self):
            super().close()
        if self._pickle is not None:
            self._pickle.remove()


def isolated(
    function: Callable[..., Any] | str, problem: str | Problem, *, timeout: float = 10.0
) -> Isolated:
    """Start a process that calls a Python function.

    Parameters
    ----------
    function : callable or "package.module:function"
        A name is imported by the new process only. A callable is sent there: by its name where it
        can be imported, else by value (closures, functions of a notebook).
    problem : str or Problem
        ``"<object>.<operation>"``, or a problem with arguments that the function has built in.
    timeout : float
        Seconds per answer, where `verify` does not say otherwise.

    Raises
    ------
    InvalidArgumentError
        If it cannot be imported, or not be sent.
    CandidateSignatureError
        If it wants arguments that the problem does not have.
    """
    task = lookup(problem) if isinstance(problem, str) else problem
    if not isinstance(function, str):
        Caller(function, task)  # says at once what is wrong with the arguments
    return Isolated(function, task, timeout)


def _pickled(function: Callable[..., Any]) -> bytes:
    """The function by its name, or by value if another process would not find its module."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    if module is None or _found(module.__name__):
        return bytes(cloudpickle.dumps(function))
    cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps(function))
    finally:
        cloudpickle.unregister_pickle_by_value(module)


def _found(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
