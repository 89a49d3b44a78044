"""What is said while an answer is waited for, and of a call that does not return."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from verification.certificates.text import brief
from verification.failures.shrink import LONG
from verification.instances.instance import literal
from verification.kit.solver_call import TIMEOUTS_ALLOWED, Caller, Wait
from verification.verdicts import accuracy_contract

# Characters of an argument in a line of progress.
BRIEF = 40
# Seconds between two looks at a call under way.
EVERY = 1.0


@contextmanager
def watch(
    call: Caller,
    every: float | None = None,
    grace: float = 20.0,
    waiting: Callable[[str], None] | None = None,
) -> Iterator[None]:
    """Judge what is called by its promise; say on standard error which arguments a call hangs on.

    ``waiting`` is told every few seconds for which answer the run waits.
    """
    done, pause = threading.Event(), EVERY if every is None else every

    def look() -> None:
        said: dict[str, Any] | None = None
        while not done.wait(pause):
            wait = call.wait
            late = 0.0 if wait is None else time.perf_counter() - wait.since
            if wait is None or late < pause:
                continue
            if waiting is not None:
                waiting(waited(call, wait))
            if wait.params is said or late < wait.limit + grace:
                continue
            said = wait.params
            shown = {n: brief(v) for n, v in said.items() if np.size(v) > LONG}
            print(
                f"{call.name} does not return and cannot be interrupted (with isolate=True it "
                f"could): {call.problem.function}({call.arguments_code(said, shown)})",
                file=sys.stderr,
                flush=True,
            )

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        with accuracy_contract.held(lambda: call.accuracy):
            yield
    finally:
        done.set()
        thread.join()


def waited(call: Caller, wait: Wait) -> str:
    """For how long which answer has been waited for, until when, and how many timeouts there were."""
    seconds, shown = time.perf_counter() - wait.since, []
    for name in (*call.positional, *call.named):
        value = wait.params[name]
        short = np.size(value) < BRIEF and len(text := literal(value)) < BRIEF
        shown.append(
            f"{name}={text}" if short else f"{name}[{'x'.join(map(str, np.shape(value)))}]"
        )
    return (
        f"{seconds:.0f} s of {wait.limit:g} s waited for {call.problem.function}({', '.join(shown)}), "
        f"after {call.timeouts} of {TIMEOUTS_ALLOWED} timeouts that end the run"
    )
