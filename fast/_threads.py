"""Threads for what releases the GIL: parts of a piece of work, whose results come in order.

A pool lives as long as its call: nothing is left to a forked child, and calls from several threads
at once do not meet.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

from fast.errors import InvalidParameterError, InvalidTypeError

Item = TypeVar("Item")
Result = TypeVar("Result")
_batches = ContextVar("n_jobs of batches", default=1)


def resolve(n_jobs: Any) -> int:
    """How many threads: None is 1, or as many as a joblib context says; -1 all cores, -2 all but one.

    Cores are those that this process may use, by affinity and container. In the workers of joblib
    threads are as many as joblib itself would start there.
    """
    if n_jobs is not None and (isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__")):
        given = f"{n_jobs!r} of type {type(n_jobs).__name__}"
        raise InvalidTypeError("n_jobs", given, "an integer or None", "pass n_jobs=1, 2, ... or -1")
    if n_jobs is not None and not n_jobs:
        fix = "pass n_jobs=1, 2, ..., or -1 for all cores"
        raise InvalidParameterError("n_jobs", "0", "an integer other than 0, or None", fix)
    if n_jobs == 1:
        return 1
    import joblib

    return int(joblib.effective_n_jobs(n_jobs if n_jobs is None else int(n_jobs)))


@contextmanager
def threads(n_jobs: int | None = -1) -> Iterator[None]:
    """Within it batches of losses, projections and functions are computed by several threads.

    The results have the same bits for any number. It holds in the thread that enters it, and for
    batches of half a million numbers or more; smaller ones are computed where they are.

    Parameters
    ----------
    n_jobs : int or None
        -1, the default: all cores that this process may use; None: as a joblib context says, or 1.

    Examples
    --------
    >>> import fast
    >>> with fast.threads(2):
    ...     fast.losses.softmax.value([1.0, 0.0], 0).round(4).item()
    0.3133
    """
    token = _batches.set(resolve(n_jobs))
    try:
        yield
    finally:
        _batches.reset(token)


def at_most(tasks: int) -> int:
    """Threads for a batch that has work for so many."""
    return max(1, min(_batches.get(), tasks))


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int = 1
) -> Iterator[Result]:
    """Results of ``function`` in the order of ``items``, as they come; at most ``n_jobs`` run at a time.

    While one result is used, the next ``n_jobs`` are computed; no more are held. ``items`` are taken
    in the calling thread. The first error in order is raised; then, and where the caller stops
    early or is interrupted, running calls end, and no thread is left. One job runs inline.
    """
    if n_jobs == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(n_jobs)
    try:
        for item in items:
            context = copy_context()  # np.errstate is the caller's
            context.run(_batches.set, 1)  # and threads do not start others
            waiting.append(pool.submit(context.run, function, item))
            if len(waiting) > n_jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def all_true(function: Callable[[Item], bool], items: Iterable[Item], n_jobs: int) -> bool:
    """Whether ``function`` is true of all items, in any order; the caller is one of the threads.

    For items of a millisecond: each costs less than by `ordered_map`.
    """
    todo = iter(list(items))  # which all threads take from

    def work() -> bool:
        try:
            return all(map(function, todo))
        finally:
            deque(todo, maxlen=0)  # after a bad item, an error or an interrupt all end

    with ThreadPoolExecutor(n_jobs - 1) as pool:
        others = [pool.submit(copy_context().run, work) for _ in range(n_jobs - 1)]
        done = work()
    return all([done, *(other.result() for other in others)])


_lock = threading.Lock()
_limits: list[Any] = []  # one entry per caller inside; the first holds what to restore
os.register_at_fork(
    before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within it BLAS has one thread: products have the same bits everywhere, and cores are ours.

    The limit is the process's: it ends when the last of several threads inside has left.
    """
    from threadpoolctl import threadpool_limits

    with _lock:
        _limits.append(None if _limits else threadpool_limits(1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            restoring = _limits.pop()
            if restoring is not None:
                restoring.restore_original_limits()
