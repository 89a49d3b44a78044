"""A child process that answers lines with lines, and is never waited for without a deadline.

All three pipes are non-blocking and served by one selector, so that a child which does not read,
does not write, or writes without end can delay its parent by no more than the time allowed. The
child leads a process group (and session) of its own and carries a token in its environment: what
it leaves behind is found by either and killed; by `guardian`, if this process is killed itself.
"""

import contextlib
import math
import os
import secrets
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from verification.errors import InvalidArgumentError
from verification.external import guardian
from verification.external.guardian import TOKEN
from verification.external.wire import excerpt

# Bytes of a line, and of lines that are no answer, after which the child counts as out of control.
LONGEST_LINE = 2**26
MOST_NOISE = 2**20
# Bytes of standard error that are kept.
KEPT = 4096
# Seconds between looks at whether the child lives: its pipes may outlive it in a grandchild.
PULSE = 0.02
# Reads in search of the last words: one that says them without end is not heard out.
ROUNDS = 100
# Seconds that a child has to end by itself once its input has ended, or it has closed its output:
# on a busy machine some time passes between that and the end of a process.
GRACE = 0.5


Popen = subprocess.Popen[bytes]


class GoneError(Exception):
    """The child can answer no more; the text says how it ended and what it said last."""


class LateError(Exception):
    """No line before the deadline; the text is the evidence."""


class Child:
    """A running program.

    Parameters
    ----------
    command : sequence of str
    cwd : str, optional
    env : mapping, optional
        Variables added to those of this process.
    """

    def __init__(
        self, command: Sequence[str], cwd: str | None = None, env: Mapping[str, str] | None = None
    ):
        self.token = secrets.token_hex(16)
        guard = _guardian(self.token)  # first: from the start of the child on there is one
        try:
            self.popen = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=cwd,
                env={**os.environ, **(env or {}), TOKEN: self.token},
                start_new_session=True,
            )
        except (OSError, ValueError, TypeError) as error:
            _dismiss(guard)
            raise InvalidArgumentError(
                f"command={list(command)!r}: cannot be started ({error}); expected a program, "
                "e.g. ['./my_solver'] or ['node', 'solver.mjs']"
            ) from error
        _tell(guard, self.popen.pid)
        pipes = (self.popen.stdin, self.popen.stdout, self.popen.stderr)
        self.stdin, self.stdout, self.stderr = (pipe.fileno() for pipe in pipes if pipe)
        self._selector = selectors.DefaultSelector()
        for stream in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(stream, False)
        self._selector.register(self.stdout, selectors.EVENT_READ)
        self._selector.register(self.stderr, selectors.EVENT_READ)
        self._unread = bytearray()
        self.answers = 0  # that its owner took
        self._said = bytearray()  # the end of standard error
        self._open = {self.stdout, self.stderr}
        # also when this object is forgotten, and when the interpreter ends
        self._end = weakref.finalize(
            self, _kill, self.popen, guard, self.token, os.getpid(), self._selector
        )

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._end.alive and not _exited(self.popen)

    def write_line(self, line: bytes, deadline: float) -> None:
        """Hand over a line; LateError if the child does not read it, GoneError if it cannot."""
        rest = memoryview(line)
        with contextlib.suppress(OSError):  # what goes wrong here goes wrong below
            rest = rest[os.write(self.stdin, rest) :]
        if not rest:
            return
        self._selector.register(self.stdin, selectors.EVENT_WRITE)
        try:
            while rest:
                self._serve(deadline, "it does not read its standard input")
                try:
                    rest = rest[os.write(self.stdin, rest) :]
                except BlockingIOError:
                    if _exited(self.popen):
                        raise GoneError(self.ending()) from None
                except OSError as error:
                    raise GoneError(self.ending("closed its standard input")) from error
        finally:
            with contextlib.suppress(KeyError, ValueError):  # closed with the child
                self._selector.unregister(self.stdin)

    def read_line(self, deadline: float) -> bytes:
        """Return the next line without its end; LateError or GoneError if none comes."""
        searched = 0
        while (end := self._unread.find(b"\n", searched)) < 0:
            searched = len(self._unread)
            if self.stdout not in self._open:
                raise GoneError(self._ended_stream())
            dead = _exited(self.popen)  # looked at first: what it wrote before is still read
            if not self._serve(deadline, "no answer", PULSE) and dead:
                raise GoneError(self._ended_stream())
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line

    def _ended_stream(self) -> str:
        return self.ending("closed its stdout") + self._half()

    def _half(self) -> str:
        return f"; half a line on stdout: {excerpt(self._unread)}" if self._unread else ""

    def _serve(self, deadline: float, waiting: str, longest: float = PULSE) -> bool:
        """Wait for something to happen and read what there is; whether there was something."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise LateError(f"{waiting}{self._half()}{self.last_words()}")
        events = self._selector.select(min(left, longest))
        for key, _ in events:
            if key.fd == self.stdin:
                continue
            try:
                chunk = os.read(key.fd, 1 << 16)
            except BlockingIOError:
                continue
            if not chunk:
                self._selector.unregister(key.fd)
                self._open.discard(key.fd)
            elif key.fd == self.stdout:
                self._unread += chunk
                if len(self._unread) > LONGEST_LINE:
                    size = f"{LONGEST_LINE >> 20} MiB on stdout"
                    raise GoneError(f"endless output: {size}, which begins {excerpt(self._unread)}")
            else:
                self._said += chunk
                del self._said[:-KEPT]
        return bool(events)

    def last_words(self) -> str:
        """The end of standard error as part of a message; empty if there is none."""
        with contextlib.suppress(GoneError):
            for _ in range(ROUNDS):
                if self.stderr not in self._open or not self._serve(math.inf, "", 0.0):
                    break
        said = bytes(self._said).decode("utf-8", "backslashreplace").strip()
        return f"; stderr ends: {said[-400:]!r}" if said else ""

    def ending(self, otherwise: str = "ended") -> str:
        """How it ended, with its last words; ``otherwise`` says it for one that still runs."""
        patience = time.monotonic() + GRACE
        while not _exited(self.popen) and time.monotonic() < patience:
            time.sleep(PULSE / 20)
        if not _exited(self.popen):
            return f"{otherwise} while it runs on{self.last_words()}"
        said = self.last_words()
        self.kill()
        code = self.popen.returncode
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = "a signal"
            return f"killed by {name} (signal {-code}){said}"
        after = f" after {self.answers} answer{'s' * (self.answers > 1)}" if self.answers else ""
        hint = "; it has to go on until its input ends" if self.answers and code == 0 else ""
        return f"ended with exit code {code}{after}{hint}{said}"

    def close(self, grace: float = GRACE) -> None:
        """End its input, give it a moment, then kill what is left."""
        if not self._end.alive:
            return
        with contextlib.suppress(OSError):
            assert self.popen.stdin is not None
            self.popen.stdin.close()
        patience = time.monotonic() + grace
        while not _exited(self.popen) and time.monotonic() < patience:
            try:
                # read what it still says, else it may wait for us
                self._serve(patience, "", PULSE / 4)
            except LateError:
                break
            if not self._open:
                time.sleep(PULSE / 20)
        self.kill()

    def kill(self) -> None:
        """Kill it and everything that it started."""
        self._end()


class Folder:
    """A private temporary folder that goes with its owner, or when the interpreter ends."""

    def __init__(self, owner: object):
        self.path = Path(tempfile.mkdtemp(prefix="refsolve-"))
        self._end = weakref.finalize(owner, _remove, self.path, os.getpid())

    def remove(self) -> None:
        """Remove it with all that is in it."""
        self._end()


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


def _exited(popen: Popen) -> bool:
    """Whether it has ended; it is not reaped, so that its group's number stays its own."""
    if popen.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return popen.poll() is not None
    try:
        return os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # reaped by someone else
        return True


def _guardian(token: str) -> Popen | None:
    """The process that kills the child if this one is killed; None where there is no interpreter."""
    kept = {name: value for name, value in os.environ.items() if name != TOKEN}
    script = [sys.executable, "-I", "-S", guardian.__file__, str(os.getpid()), token]
    try:
        return subprocess.Popen(
            script,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env=kept,  # without the token of a kit that we are a child of
            start_new_session=True,
        )
    except (OSError, ValueError):
        return None


def _tell(guard: Popen | None, group: int) -> None:
    """Say whom to kill."""
    if guard is not None and guard.stdin is not None:
        with contextlib.suppress(OSError):  # it was killed already
            guard.stdin.write(f"{group}\n".encode())


def _dismiss(guard: Popen | None) -> None:
    """End a guardian that is needed no more."""
    if guard is not None:
        guard.kill()
        _gone(guard)


def _gone(popen: Popen) -> None:
    """Reap what was killed, and close its pipes."""
    with contextlib.suppress(subprocess.TimeoutExpired):  # stuck in the kernel
        popen.wait(5.0)
    _close(popen)


def _close(popen: Popen) -> None:
    for stream in (popen.stdin, popen.stdout, popen.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _kill(
    popen: Popen, guard: Popen | None, token: str, owner: int, selector: selectors.BaseSelector
) -> None:
    """Kill the group, then what left the group but kept the token; close the pipes."""
    selector.close()
    if os.getpid() != owner:  # a fork of the owner has no business with its children
        for each in filter(None, (popen, guard)):
            _close(each)
        return
    if popen.returncode is None:
        guardian.kill_group(popen.pid)
    for _ in range(5):  # one that forks meanwhile is found in the next round
        if not guardian.kill_marked(token, (popen.pid,)):
            break
    _gone(popen)
    _dismiss(guard)
