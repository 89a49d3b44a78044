"""Passes on the workers of a Dask cluster, to the same bits as here.

A pass is a graph of pure tasks: one per chunk of rows, which gets W as an argument and returns its sums,
and a tree of additions whose shape depends on the number of chunks alone. One sum comes back. A worker
that is lost costs its tasks, which others repeat.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from fast._threads import one_blas_thread
from fast.data.dask_rows import DaskRows
from fast.data.in_memory import InMemory
from fast.data.io import Examined, examine, joined
from fast.errors import ClusterError, FastError, InvalidParameterError

from .passes import Block, Passes, added

PATIENCE = 20.0  # seconds without a worker, after which a pass gives up
EVERY = 1.0  # seconds between two looks at the cluster


def delayed(*given: Any, **options: Any) -> Any:
    """`dask.delayed`; Dask is an extra, and imported where there is a client."""
    from dask import delayed

    return delayed(*given, **options)


def sums_of_chunk(
    X: Any, labels: tuple[np.ndarray, np.ndarray], loss: Any, m: int, job: tuple
) -> list[Any]:
    """A task: the sums over one chunk."""
    (y, w), (function, args, single) = labels, job
    with one_blas_thread():
        return Passes(as_rows(X, len(y)), y, w, loss, m).total(function, *args, single=single)


def rows_of_chunk(X: Any, n: int, index: np.ndarray) -> np.ndarray:
    """A task: some rows of a chunk, in float64."""
    return as_rows(X, n).X[index].astype(np.float64)


def examined_chunk(X: Any, n: int) -> Examined | tuple[str, str, str]:
    """A task: what `examine` finds, or what nobody can train on, as an error says it."""
    try:
        return examine(as_rows(X, n))
    except InvalidParameterError as error:
        return error.given, error.expected, error.fix


def sum_of_two(one: list[Any], other: list[Any]) -> list[Any]:
    """A task: the sum of two parts, neither of which is changed."""
    return added(([np.array(v) if isinstance(v, np.ndarray) else v for v in one], other))


def as_rows(X: Any, n: int) -> InMemory:
    """A chunk of a Dask array."""
    found = InMemory(X)
    if len(found) != n:
        given = f"a chunk of {len(found)} rows"
        raise InvalidParameterError("X", given, f"{n}, as its chunks say", "mend what computes it")
    return found


class DaskPasses(Passes):
    """`Passes` of a Dask array on its cluster."""

    def __init__(self, source: DaskRows, y: np.ndarray, w: np.ndarray, loss: Any, m: int) -> None:
        super().__init__(source, y, w, loss, m)
        if getattr(loss, "dropped", None) is not None:
            fix = "load the rows: X[:]"
            raise InvalidParameterError("loss", "dropped classes on a cluster", "a plain loss", fix)
        self.client = source.client
        self.parts = parts_of(source)
        # futures of pure tasks: a worker that holds them may die
        pairs = [delayed(tuple)((y[rows], w[rows])) for rows, _ in self.parts]
        self.labels = self.client.compute(pairs)

    def total(self, function: Callable, *args: Any, single: bool = False) -> list[Any]:
        """As of `Passes`."""
        job = delayed((function, args, single), traverse=False)
        task = delayed(sums_of_chunk, pure=False)
        parts = zip(self.parts, self.labels, strict=True)
        level = [task(X, labels, self.loss, self.m, job) for (_, X), labels in parts]
        both = delayed(sum_of_two, pure=False)
        while len(level) > 1:
            last = level[len(level) & ~1 :]
            level = [both(a, b) for a, b in zip(level[::2], level[1::2], strict=False)] + last
        (found,) = computed(self.client, level)
        return list(found)

    def some(self, index: np.ndarray) -> Block:
        """As of `Passes`."""
        tasks = []
        for rows, X in self.parts:
            first, last = np.searchsorted(index, (rows.start, rows.stop))
            if last > first:
                n = rows.stop - rows.start
                tasks.append(delayed(rows_of_chunk)(X, n, index[first:last] - rows.start))
        return self.block(index, np.concatenate(computed(self.client, tasks)))


def parts_of(source: DaskRows) -> list[tuple[slice, Any]]:
    """The chunks that have rows, as tasks, and where they are."""
    chunks = source.array.to_delayed()[:, 0]
    return [g for g in zip(source.groups, chunks, strict=True) if g[0].stop > g[0].start]


def examine_there(source: DaskRows) -> Examined:
    """`fast.data.examine` on the cluster; rows are counted over all chunks."""
    parts = parts_of(source)
    tasks = [delayed(examined_chunk)(X, rows.stop - rows.start) for rows, X in parts]
    results = computed(source.client, tasks)
    for (rows, _), found in zip(parts, results, strict=True):
        if isinstance(found, tuple):
            given = f"in the chunk from row {rows.start} on, {found[0]}"
            raise InvalidParameterError(source.name, given, *found[1:])
    squares = [np.empty(0), *(found.squared_norms for found in results)]
    largest = max((found.largest for found in results), default=0.0)
    return Examined(largest, np.concatenate(squares), joined(found.digest for found in results))


def computed(client: Any, tasks: list[Any]) -> list[Any]:
    """Results of tasks; raises where the cluster is gone.

    Raises
    ------
    fast.errors.ClusterError
        The scheduler is lost, or no worker is there for some seconds.
    """
    from distributed import CancelledError, KilledWorker, wait

    futures, idle = [], 0.0
    try:
        futures = client.compute(tasks)
        while not all(future.done() for future in futures):
            with suppress(TimeoutError):
                wait(futures, timeout=EVERY)
                continue
            idle = 0.0 if client.scheduler_info()["workers"] else idle + EVERY
            if client.status != "running" or idle >= PATIENCE:
                raise _lost(client, f"no worker for {idle:.0f} seconds")
        return list(client.gather(futures))
    except FastError:
        raise
    except Exception as error:
        if client.status == "running" and not isinstance(error, CancelledError | KilledWorker):
            raise  # a task's own
        raise _lost(client, f"{type(error).__name__}: {error}".splitlines()[0]) from error
    finally:
        with suppress(Exception):  # of a cluster that is gone
            client.cancel(futures)


def _lost(client: Any, why: str) -> ClusterError:
    fix = "start the cluster again; fit with checkpoint=FILE goes on from the last step written"
    return ClusterError("cluster", f"{client.status}: {why}", "a scheduler and workers", fix)


def passes_of(source: Any, *given: Any) -> Passes:
    """`Passes` where the rows are: here, or on a cluster."""
    here = getattr(source, "client", None) is None
    return Passes(source, *given) if here else DaskPasses(source, *given)
