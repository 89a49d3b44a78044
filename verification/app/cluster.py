"""Workers of a Dask cluster for `refsolve probe`, which read their rows of a file themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from verification.errors import InvalidArgumentError

PATIENCE = "10s"  # for a scheduler to answer


@contextmanager
def cluster(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """The client of so many processes here, or of a scheduler elsewhere; None if neither is asked for."""
    if workers is None and scheduler is None:
        yield None
        return
    if workers is not None and scheduler is not None:
        raise InvalidArgumentError("--workers and --scheduler exclude each other; give one of them")
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise InvalidArgumentError(
            "--workers and --scheduler need Dask: in a clone of refsolve, pip install '.[dask]'"
        ) from None
    if scheduler is None:
        with (
            LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50
            ) as here,
            Client(here) as client,
        ):
            yield client
        return
    try:
        client = Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise InvalidArgumentError(
            f"scheduler={scheduler!r} does not answer ({str(error)[:200]}); expected the address of a running "
            "one, e.g. tcp://host:8786"
        ) from None
    with client:
        yield client


def workers_of(client: Any) -> int | None:
    """How many there are by now, at least one."""
    return None if client is None else max(len(client.scheduler_info()["workers"]), 1)


def spread(file: Path, source: Any) -> Any:
    """The rows of a file as chunks that workers read, who see it under the same name."""
    import dask.array as da
    from dask import delayed

    from fast.data import rows

    if not hasattr(source, "stamp"):
        raise InvalidArgumentError(
            f"{file}: workers of a cluster read one .npy, .safetensors, .h5, Parquet or Arrow file; expected such "
            "a file: leave --workers and --scheduler out"
        )
    where, d, columns = str(file.resolve()), source.shape[1], getattr(source, "chosen", None)
    chunks = [
        da.from_delayed(
            delayed(chunk, pure=True)(where, columns, source.stamp, g.start, g.stop),
            (g.stop - g.start, d), source.dtype,
        )
        for g in source.groups
        if g.stop > g.start
    ]  # fmt: skip
    found = rows(da.concatenate(chunks))
    found.name, found.labels = source.name, source.labels
    found.path_cache["examined"] = source.path_cache["examined"]
    return found


def chunk(path: str, columns: Any, before: tuple[int, int], first: int, last: int) -> Any:
    """A task: some rows of a file that is as it was."""
    from fast.data import rows
    from fast.data.files import stamp

    source = rows(path, features=columns)
    stamp(path, before)
    return source.read(slice(first, last))
