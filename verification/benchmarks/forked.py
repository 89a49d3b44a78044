"""Jobs in processes forked from one that has the data and the compiled kernels, with a limit of seconds."""

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import get_all_start_methods, get_context
from typing import Any

from verification.errors import InvalidArgumentError

TIMEOUT, CRASHED = "timeout", "crashed"


def forked(job: Callable[[], Iterable[Any]], limits: Sequence[float]) -> tuple[list[Any], str]:
    """What a job yields, a limit of seconds each, and why there is no more of it: "", `TIMEOUT` or `CRASHED`."""
    if "fork" not in get_all_start_methods():
        raise InvalidArgumentError("this benchmark forks its processes; use Linux or macOS")
    context = get_context("fork")
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=_run, args=(job, send), daemon=True)
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        child.start()  # the parent has one thread of Python
    send.close()
    found: list[Any] = []
    try:
        for limit in limits:
            if not receive.poll(limit):
                return found, TIMEOUT
            found.append(receive.recv())
    except EOFError:
        child.join()
        return found, CRASHED if child.exitcode else ""
    finally:
        child.kill()
        child.join()
    return found, ""


def _run(job: Callable[[], Iterable[Any]], send: Any) -> None:
    for value in job():
        send.send(value)
    send.close()
    os._exit(0)
