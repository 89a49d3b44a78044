"""Passes over a source: groups read ahead, and the pass that refuses what nobody can train on."""

import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._validation import MAGNITUDE, check_classes
from fast.data.source import Source
from fast.errors import InvalidParameterError


def groups_ahead(source: Source) -> Iterator[tuple[slice, Any]]:
    """Every group and its rows, in order; the next one is read while the caller works on this one.

    Two groups are in memory. Errors are raised where their group is asked for. A thread reads one
    group and ends: after an error, an interrupt, or a caller who stops, none is left.
    """
    if source.in_memory:
        yield from ((rows, source.read(rows)) for rows in source.groups)
        return
    groups = source.groups
    ahead = [_begin(source, rows) for rows in groups[:1]]
    for i, rows in enumerate(groups):
        ready = [ahead.pop().result()]
        ahead += [_begin(source, following) for following in groups[i + 1 : i + 2]]
        yield rows, ready.pop()  # nothing here holds it any longer


def _begin(source: Source, rows: slice) -> Future[Any]:
    pool = ThreadPoolExecutor(1)
    future = pool.submit(copy_context().run, source.read, rows)
    pool.shutdown(wait=False)
    return future


@dataclass(frozen=True)
class Examined:
    """What a pass over the rows found.

    Attributes
    ----------
    largest : float
        The largest |x_ij|.
    squared_norms : array (n,) of float64
        ||x_i||^2.
    digest : str
        A hash of every row, its place, and the type: what tells these rows from others.
    """

    largest: float
    squared_norms: NDArray[np.float64]
    digest: str


def examine(source: Source, y: ArrayLike | None = None, m: int = 0) -> Examined:
    """Read every row once, and raise for what nobody can train on.

    Parameters
    ----------
    source : Source
    y : array_like of int (n,), optional
        Class numbers 0..m-1.
    m : int
        Number of classes.

    Raises
    ------
    fast.errors.InvalidParameterError
        An entry that is nan, infinite or beyond 1e70, with file, row and column; labels that are not one
        per row, or beyond the classes; and what `Source.read` raises.
    """
    if y is not None:
        check_classes(y, len(source), m)
    largest, squares, digests = 0.0, [np.empty(0)], []
    for rows, block in groups_ahead(source):
        squares.append(np.empty(block.shape[0]))
        most = _norms(block, squares[-1])
        if not (np.isfinite(squares[-1]).all() and most <= MAGNITUDE):
            raise _bad_entry(source, rows.start, block)
        largest = max(largest, most)
        digests.append(_digest(block))
    return Examined(largest, np.concatenate(squares), joined(digests))


def fingerprint(X: Any) -> str:
    """What tells these rows from others, of a source, an array or a sparse matrix.

    Of a source that was examined it costs nothing (``X.path_cache["examined"]``), else a pass.
    """
    if isinstance(X, Source):
        return (X.path_cache.get("examined") or examine(X)).digest
    from sklearn.utils import check_array

    X = check_array(X, accept_sparse="csr", ensure_all_finite=False, ensure_min_samples=0)
    return _digest(X)


def joined(digests: Iterable[str]) -> str:
    """The digest of rows in blocks, from the blocks' own; empty ones do not count."""
    found = [digest for digest in digests if digest]
    return found[0] if len(found) == 1 else hashlib.sha256("".join(found).encode()).hexdigest()


def _digest(block: Any) -> str:
    from fast.kernels.blocks import mixed

    if not block.shape[0]:
        return ""
    told = [block.dtype.str, *block.shape]
    sparse = hasattr(block, "indptr")
    for part in (block.data, block.indices, block.indptr) if sparse else (block,):
        words = np.ascontiguousarray(part).reshape(-1).view(f"u{gcd(part.nbytes, 8)}")
        words.flags.writeable = False  # one type for the compiler
        told += mixed(words)
    return hashlib.sha256(repr([str(t) for t in told]).encode()).hexdigest()


def _norms(block: Any, out: NDArray[np.float64]) -> float:
    """Fill in the squared norms of the rows; returns the largest magnitude."""
    from fast.kernels.blocks import squared_norms

    if hasattr(block, "indptr"):
        data, starts = block.data.view(), block.indptr.astype(np.int64)
    else:
        data, starts = block.reshape(-1), np.arange(len(block) + 1) * block.shape[1]
    data.flags.writeable = False  # one type for the compiler
    return float(squared_norms(data, starts, out))


def _bad_entry(source: Source, first: int, block: Any) -> InvalidParameterError:
    """What is raised for the first entry that is nan, infinite or too large."""
    data = block.data if hasattr(block, "indptr") else block.reshape(-1)
    at = int(np.flatnonzero(~(np.abs(data) <= np.float64(MAGNITUDE)))[0])
    if hasattr(block, "indptr"):
        row, column = int(np.searchsorted(block.indptr, at, "right")) - 1, int(block.indices[at])
    else:
        row, column = divmod(at, block.shape[1])
    name, number = source.place(first + row)
    return InvalidParameterError(
        name,
        f"row {number}, column {column}: {data[at]}",
        f"finite numbers of magnitude at most {MAGNITUDE:g}",
        "drop this row or mend what computed it, rescale larger numbers",
    )
