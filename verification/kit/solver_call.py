"""Calls a candidate with what it accepts, within a time limit, and unwraps its answer."""

import contextvars
import dataclasses
import importlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, NoneType
from typing import Any, NamedTuple

import numpy as np

from verification.errors import CandidateSignatureError, InvalidArgumentError
from verification.instances.instance import Instance, literal
from verification.kit import float_state, parts
from verification.kit.parse_result import unwrap
from verification.kit.signatures import full_name, match, parameters
from verification.kit.unsupported import Refusals, lineage
from verification.problems.problem import Problem
from verification.verdicts.verdict import Candidate, Judgement, Verdict

# Seconds per call, unless it is said otherwise.
TIMEOUT = 10.0
# The first call may compile: so many times the seconds per call are added to its own.
FIRST_CALL_ALLOWANCE = 12.0
# A call that has had less CPU than its seconds, on a busy machine, may take so many times as long.
BUSY = 6.0
# After so many calls without an answer the rest of the run is skipped.
TIMEOUTS_ALLOWED = 3

# Seconds that killing a program may take.
KILLING = 10.0
# Ends of its process that a program has free while a failure is made smaller.
PARDON = 1000
# Statuses that claim success; all are recorded, and none is believed.
GOOD = frozenset({"optimal", "solved", "success", "ok"})

_LIMIT: contextvars.ContextVar[float | None] = contextvars.ContextVar("limit", default=None)


def current_limit() -> float | None:
    """Seconds allowed for the call under way; None outside of one.

    For candidates that can stop by themselves: a child process is killed when they are over.
    """
    return _LIMIT.get()


class NotApplicableError(Exception):
    """The candidate lacks an argument that this instance needs: the instance is skipped."""


class CandidateError(Exception):
    """The candidate gave no answer; ``asked``: rows and arguments of a call that was for several.

    ``raised``: full names of the types of the error, where it raised one.
    """

    raised: tuple[str, ...] = ()
    asked: tuple[tuple[Instance, ...], dict[str, Any]] | None = None


class CandidateTimeoutError(CandidateError):
    """The candidate did not answer in time."""


class CandidateCrashError(CandidateError):
    """The candidate raised, or returned something that is not an array of numbers."""


class RefusedError(NotApplicableError, CandidateCrashError):
    """The candidate says that it does not handle these arguments: the instance is skipped, and counted."""


class Wait(NamedTuple):
    """A call under way: when it began, the seconds that it may take, and its arguments."""

    since: float
    limit: float
    params: dict[str, Any]


class Caller:
    """A candidate with its signature matched to a problem.

    Parameters
    ----------
    function : callable
        Takes the problem's arguments by name, or by position if its own names differ; it may leave
        out any argument with a default (then instances that need it are skipped).
    problem : Problem
    batch : bool, optional
        Whether the candidate claims to take batches of rows; None leaves it to a probe.
    timeout : float
        Seconds per call, by the wall clock; of a function in this process by the CPU that it had, up to
        six times as long. Python code is interrupted (in the main thread, where the system has
        timers); compiled code is judged by the clock after it returns. `watch` names the instance
        if it does not.
    accuracy : float, optional
        What it promises, see `verification.verdicts.accuracy_contract`; by default what a program announces.
    refuses : tuple of str
        Full names of the types of errors by which it refuses an instance, see
        `verification.kit.unsupported`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        problem: Problem,
        timeout: float = 10.0,
        batch: bool | None = None,
        accuracy: float | None = None,
        refuses: tuple[str, ...] = (),
    ):
        if not callable(function):
            raise CandidateSignatureError(
                f"candidate={function!r}: expected a callable with the arguments "
                f"{', '.join(problem.arguments)}"
            )
        own = getattr(function, "problem", None)
        if isinstance(own, Problem) and hasattr(function, "deaths") and own.name != problem.name:
            raise CandidateSignatureError(
                f"candidate {getattr(function, 'label', function)} was started for {own.name}, not for {problem.name}; "
                f"start it with problem={problem.name!r}"
            )
        check_timeout(timeout)
        self.function = function
        self.problem = problem
        self.timeout = timeout
        self.batch = batch
        self.promised = accuracy
        self.refuses = refuses
        self.refusals = Refusals()
        self.timeouts = 0
        self.wait: Wait | None = None  # the call under way
        self.last: Candidate | None = None  # what the last call returned
        self.called = False
        self.left = ""  # what a call changed in the floating point state
        self.said: set[str] = set()  # findings that are said once
        self.answered: set[str] = set()  # types of the numbers in the answers
        self.drawn: dict[Instance, str] = {}  # failing ones: the code that draws them again
        self.per_row: bool | None = None  # whether batches may have an r per row
        self.keep: Callable[[dict[str, Any], Candidate], None] | None = None  # sees every answer
        # the precision that an adapter says the function computes in; None for that of the instance
        dtype = getattr(function, "dtype", None)
        self.dtype = dtype if isinstance(dtype, np.dtype) else None
        self.defaults = problem.defaults
        self.positional, self.named = match(function, problem)
        accepted = {*self.positional, *self.named}
        takes = parameters(function) or ()
        self.complements = any(p.name == "return_complement" for p in takes)
        self.ignored = tuple(a for a in problem.arguments if a not in accepted)

    @property
    def name(self) -> str:
        """Importable name of the candidate where it has one, or the command line of a program."""
        function = self.function
        if label := getattr(function, "label", ""):
            return str(label)
        return ".".join(full_name(function))

    @property
    def accuracy(self) -> float | None:
        """What is promised: by whoever has it judged, else by the program itself."""
        announced = getattr(self.function, "announced", None)
        return announced if self.promised is None else self.promised

    @property
    def exhausted(self) -> str:
        """Why the candidate is not called any more; empty while it is."""
        if self.timeouts >= TIMEOUTS_ALLOWED:
            return f"not run after {TIMEOUTS_ALLOWED} timeouts"
        return str(getattr(self.function, "exhausted", ""))

    @contextmanager
    def pardoned(self) -> Iterator[None]:
        """Let a program crash as often as it takes, while a crash is made smaller."""
        deaths = getattr(self.function, "deaths", None)
        try:
            if deaths is not None:
                self.function.deaths = -PARDON  # type: ignore[attr-defined]
            yield
        finally:
            if deaths is not None:
                self.function.deaths = deaths  # type: ignore[attr-defined]

    def remarked(self, judgement: Judgement) -> Judgement:
        """The judgement, with the status of a program where it says the contrary."""
        status = str(getattr(self.function, "status", ""))
        contrary = judgement.verdict is Verdict.FAIL or (judgement.ok and status not in GOOD)
        if not status or not contrary:
            return judgement
        text = f"{judgement.message}; its status was {status!r}".lstrip("; ")
        return dataclasses.replace(judgement, message=text)

    def _allowed(self) -> float:
        """Seconds for the next call."""
        allowance = 0.0 if self.called else FIRST_CALL_ALLOWANCE * self.timeout
        # a program says itself how long it takes to start
        return self.timeout + float(getattr(self.function, "allowance", allowance))

    def accepts(self, instance: Instance) -> bool:
        """Whether every argument that the candidate leaves out has its default value."""
        return not self._needed(instance)

    def _needed(self, instance: Instance) -> list[str]:
        defaults = self.problem.defaults
        return [a for a in self.ignored if not np.array_equal(instance.get(a), defaults[a])]

    def __call__(self, instance: Instance) -> Candidate:
        """Solve an instance."""
        if needed := self._needed(instance):
            raise NotApplicableError(f"the candidate takes no {', '.join(needed)}")
        return self.raw(instance.params)

    def arguments_code(self, params: dict[str, Any], names: Mapping[str, str] | None = None) -> str:
        """The arguments of a call as source; ``names`` replaces values by variables."""

        def source(name: str) -> str:
            return (names or {}).get(name) or literal(params[name])

        parts = [source(name) for name in self.positional]
        return ", ".join([*parts, *(f"{name}={source(name)}" for name in self.named)])

    def given(self, params: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """What is passed by position, and by name."""
        return [params[n] for n in self.positional], {n: params[n] for n in self.named}

    def raw(self, params: dict[str, Any], complement: bool = False) -> Candidate:
        """Solve with these very arguments (not copies: purity is checked with them).

        ``complement``: ask for the pair (answer, 1 - s).
        """
        args, kwargs = self.given(params)
        if complement:
            kwargs["return_complement"] = True
        if prepare := getattr(self.function, "prepare", None):
            prepare()  # a process that has to be started again has time for it
        limit = self._allowed()
        self.called, self.last = True, None
        token = _LIMIT.set(limit)
        # a program is killed when its time is over, and that should not be interrupted
        program = hasattr(self.function, "deaths")
        clock = _Clock(limit, 1.0 if program else BUSY)
        self.wait = Wait(clock.start, limit, params)
        try:
            with _alarm(clock, KILLING if program else 0.0), np.errstate(), self._observed():
                output = self.output(args, kwargs)
        except CandidateTimeoutError:
            self.timeouts += 1
            raise
        except NotApplicableError:
            raise
        except (Exception, SystemExit) as error:
            own = isinstance(error, CandidateCrashError)
            raised = error.raised if isinstance(error, CandidateCrashError) else lineage(error)
            if set(self.refuses) & set(raised):
                raise RefusedError(str(error) if own else said(error)) from error
            if own:
                raise
            raise CandidateCrashError(said(error)) from error
        finally:
            _LIMIT.reset(token)
            self.wait = None
        if clock.left() < 0:
            self.timeouts += 1
            raise CandidateTimeoutError(f"no answer within {limit:g} s")
        self.last = self.unwrapped(output, complement)
        self.answered.add(np.asarray(self.last.x).dtype.name)
        if self.keep is not None:
            self.keep(params, self.last)
        return self.last

    @contextmanager
    def _observed(self) -> Iterator[None]:
        """Note what a call leaves behind of the floating point state, and undo it."""
        before = float_state.now()
        if before[1:] != float_state.USUAL[1:]:  # since a library was loaded
            self.left = self.left or float_state.changes(float_state.USUAL, before)
        try:
            yield
        finally:
            after = float_state.now()
            if after != before:
                self.left = self.left or float_state.changes(before, after)
            if after[1:] != float_state.USUAL[1:]:
                float_state.restore()

    def output(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What is returned; a function that takes nothing by name, such as jax.grad(f), gets all by place."""
        try:
            return self.function(*args, **kwargs)
        except CandidateTimeoutError:
            raise
        except Exception:
            if self.answered or not self.named or "return_complement" in kwargs:
                raise
            takes = [p.name for p in parameters(self.function) or () if p.name in self.named]
            if len(takes) != len(self.named):
                raise
            try:
                output = self.function(*args, *(kwargs[name] for name in takes))
            except Exception:
                output = None
            if output is None:
                raise
            self.positional, self.named = (*self.positional, *takes), ()
            return output

    def unwrapped(self, output: Any, complement: bool = False) -> Candidate:
        """What the candidate returned as a `Candidate`; CandidateCrashError if it is no numbers."""
        try:
            if self.problem.parts:
                return parts.unwrap(output, self.problem.parts, len(self.problem.unknowns))
            return unwrap(output, complement, self.problem.operation == "loss_augmented_inference")
        except parts.AnswerError as error:
            raise CandidateCrashError(str(error)) from error
        except Exception as error:  # of the candidate's own properties, __array__, __repr__, ...
            message = f"returned a {type(output).__name__} that cannot be read: {said(error)}"
            raise CandidateCrashError(message) from error


def check_timeout(timeout: Any) -> None:
    """Refuse a limit that no call can keep."""
    if not (isinstance(timeout, (int, float, np.number)) and timeout > 0):
        raise InvalidArgumentError(f"timeout={timeout!r}: expected seconds > 0, e.g. 10")


def said(error: BaseException) -> str:
    """Type and text of an error, also of one whose text cannot be had."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def load_callable(name: str) -> Callable[..., Any]:
    """Import ``"module:function"`` or ``"module.function"``."""
    module, _, attribute = name.partition(":")
    split = [(module, attribute)]
    if ":" not in name:  # the longest module first
        parts = name.split(".")
        split = [(".".join(parts[:i]), ".".join(parts[i:])) for i in range(len(parts) - 1, 0, -1)]
    problem: BaseException | None = None
    for module, attribute in split:
        try:
            target: Any = importlib.import_module(module)
            for part in attribute.split("."):
                target = getattr(target, part)
        except (Exception, SystemExit) as error:  # whatever its code does when it is imported
            problem = problem or error
            continue
        if not callable(target):
            raise InvalidArgumentError(
                f"candidate={name!r}: expected a function, got {target!r:.80}"
            )
        return target
    why = "it names no function" if problem is None else str(problem)
    if not isinstance(problem, (ImportError, AttributeError, ValueError, NoneType)):
        why = said(problem)
    if "/" in name or name.partition(":")[0].endswith(".py"):
        why = f"{Path(name.partition(':')[0]).stem!r} is the module of this file"
    raise InvalidArgumentError(
        f"candidate={name!r}: expected an importable 'module:function' ({why})"
    ) from problem


class _Clock:
    """The seconds of a call: of the wall clock, and while others have the processor of CPU, ``busy`` times as long."""

    def __init__(self, limit: float, busy: float):
        self.limit, self.busy = limit, busy
        self.start, self._cpu = time.perf_counter(), time.process_time()

    def left(self) -> float:
        """Seconds until the answer is late."""
        passed, used = time.perf_counter() - self.start, time.process_time() - self._cpu
        starved = min(self.limit - used, self.busy * self.limit - passed)
        return max(self.limit - passed, starved)


@contextmanager
def _alarm(clock: _Clock, grace: float) -> Iterator[None]:
    """Interrupt Python code that is late, where the system allows it."""
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not usable:
        yield
        return

    def ring(signum: int, frame: FrameType | None) -> None:
        if (left := clock.left() + grace) > 0:
            signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3))
            return
        raise CandidateTimeoutError(f"no answer within {clock.limit:g} s")

    previous = signal.signal(signal.SIGALRM, ring)
    timer = signal.setitimer(signal.ITIMER_REAL, clock.limit + grace)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, previous)
