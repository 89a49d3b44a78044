"""Sums over all examples of what a function makes of a block of them, wherever the rows are.

The function is pure and returns numbers, arrays or None; sums are formed in the order of the rows,
first over the blocks of a group, then over pairs of groups, pairs of pairs and so on, so that they have
the same bits on any number of threads or workers.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fast._threads import ordered_map
from fast.data.in_memory import InMemory
from fast.data.io import groups_ahead
from fast.data.source import Source

from .rows import is_sparse

AT_ONCE, WIDE = 1 << 20, 1 << 22  # scores of a block of rows, and numbers of its X
LEAST = 256  # rows, also of very many classes: below that products wait for W


def rows_at_once(d: int, m: int) -> int:
    """Rows of a block."""
    return max(1, min(max(AT_ONCE // m, LEAST), WIDE // d))


class Block(NamedTuple):
    """Some examples: rows of X, class numbers, weights; the loss of these; the number of classes.

    ``rows`` is where they are among all of the source.
    """

    X: Any
    y: np.ndarray
    w: np.ndarray
    loss: Any
    m: int
    rows: Any


class Passes:
    """The way through the examples of a `Source`.

    Parameters
    ----------
    source : Source
    y, w : (n,) arrays
        Class numbers and weights.
    loss : fast.families.Loss
    m : int
        Classes.
    n_jobs : int
        Threads.
    """

    def __init__(
        self, source: Source, y: np.ndarray, w: np.ndarray, loss: Any, m: int, n_jobs: int = 1
    ) -> None:
        self.source = self.short = source
        self.y, self.w, self.loss, self.m, self.n_jobs = y, w, loss, m, n_jobs
        self.size = rows_at_once(source.shape[1], m)

    def keep_short(self) -> None:
        """Keep the rows in float32, too, if they are in memory."""
        if isinstance(self.source, InMemory):
            self.short = InMemory(self.source.X.astype(np.float32, copy=False))

    def total(self, function: Callable, *args: Any, single: bool = False) -> list[Any]:
        """Sums of ``function(block, *args)``; its rows are float32 if ``single``, else float64."""

        def made(item: tuple[int, slice, Any]) -> tuple[int, Any]:
            group, part, X = item
            kind = np.float32 if single else np.float64
            return group, function(self.block(part, X.astype(kind, copy=False)), *args)

        results = ordered_map(made, self._parts(single), self.n_jobs)
        groups = groupby(results, itemgetter(0))
        return in_pairs(added(part for _, part in group) for _, group in groups)

    def fill(self, out: np.ndarray, function: Callable, *args: Any) -> None:
        """Rows of ``out`` from ``function(block, *args)``, in float64."""
        for _, part, X in self._parts(False):
            out[part] = function(self.block(part, X.astype(np.float64, copy=False)), *args)

    def _parts(self, single: bool) -> Iterator[tuple[int, slice, Any]]:
        """The rows of every block, in order, with their places and the number of their group."""
        source = self.short if single else self.source
        for group, (rows, X) in enumerate(groups_ahead(source)):
            for first in range(rows.start, rows.stop, self.size):
                part = slice(first, min(first + self.size, rows.stop))
                whole = part == rows
                yield group, part, X if whole else X[first - rows.start : part.stop - rows.start]

    def block(self, part: Any, X: Any) -> Block:
        """Some examples, whose rows are at hand."""
        dropped = getattr(self.loss, "dropped", None)
        loss = self.loss if dropped is None else replace(self.loss, dropped=dropped[part])
        return Block(X, self.y[part], self.w[part], loss, self.m, part)

    def some(self, index: np.ndarray) -> Block:
        """The examples with these numbers, which rise, in float64."""
        if isinstance(self.source, InMemory):
            return self.block(index, self.source.X[index].astype(np.float64, copy=False))
        found = []
        for rows, X in groups_ahead(self.source):
            first, last = np.searchsorted(index, (rows.start, rows.stop))
            found.append(X[index[first:last] - rows.start].astype(np.float64))
        join = partial(sp.vstack, format="csr") if is_sparse(found[0]) else np.concatenate
        return self.block(index, join(found))


def added(parts: Iterable[Any]) -> list[Any]:
    """Sums of numbers, arrays or None, in this order; the first part may be overwritten."""
    total: list[Any] = []
    for part in parts:
        if not total:
            total = list(part)
            continue
        for at, value in enumerate(part):
            if isinstance(value, np.ndarray):
                total[at] += value
            elif value is not None:
                total[at] = total[at] + value
    return total


def in_pairs(parts: Iterable[list[Any]]) -> list[Any]:
    """`added` pair by pair, then pairs of pairs: a tree that depends on the number of parts only."""
    waiting: list[list[Any]] = []
    for number, part in enumerate(parts, 1):
        while number % 2 == 0:
            part, number = added((waiting.pop(), part)), number // 2
        waiting.append(part)
    while len(waiting) > 1:
        part = waiting.pop()
        waiting.append(added((waiting.pop(), part)))
    return waiting[0]
