"""Projection of 10 000 rows against numpy.sort of the same rows and against the CVXPY oracle."""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from verification.benchmarks.timing import clock, median_ratio, paired

SETS = ("topk_simplex_alpha", "topk_simplex_beta", "topk_cone", "simplex")
SIZES = (10, 100, 1000, 10_000)
KS = (1, 5, 10)
ROWS = 10_000
#: At most this many entries at once: 10 000 rows of 10 000 would need several gigabytes.
CHUNK = 20_000_000
SORT_LIMIT, ORACLE_LIMIT = 3.0, 1000.0
ORACLE_LARGEST = 1000


@dataclass(frozen=True)
class Timing:
    """Median seconds for all rows, and the two ratios that have targets."""

    stem: str
    m: int
    k: int | None
    seconds: float
    sort_ratio: float
    oracle_ratio: float

    @property
    def reached(self) -> bool:
        """True iff both targets hold; below m = 100 only the oracle's does."""
        return (self.m < 100 or self.sort_ratio <= SORT_LIMIT) and self.oracle_ratio >= ORACLE_LIMIT


def grid(sizes: tuple[int, ...] = SIZES) -> Iterator[tuple[str, int, int | None]]:
    """All (stem, m, k); the plain simplex has no k."""
    for stem in SETS:
        for m in sizes:
            for k in (None,) if stem == "simplex" else KS:
                yield stem, m, k


def measure(stem: str, m: int, k: int | None, repeats: int = 5, rows: int = ROWS) -> Timing:
    """Time one case on standard normal rows, after one call that compiles.

    Large sizes go through in chunks; a pair of times is one chunk, always of the same rows, and
    the seconds for all rows are extrapolated from it.
    """
    project = importlib.import_module(f"fast.sets.{stem}").project
    extra = {} if k is None else {"k": k}
    chunks = max(1, rows * m // CHUNK)
    size = rows // chunks
    data = np.random.default_rng(m).standard_normal((size, m))
    project(data[:2], **extra)
    ours, sorts = paired(
        partial(project, data, **extra), partial(np.sort, data, axis=1), max(repeats, chunks)
    )
    seconds = median(ours) * rows / size
    return Timing(
        stem,
        m,
        k,
        seconds,
        median_ratio(ours, sorts),
        oracle_seconds(stem, data, extra) * rows / seconds,
    )


def oracle_seconds(stem: str, data: np.ndarray, extra: dict[str, Any], samples: int = 3) -> float:
    """Seconds of the oracle for one row; its problem is built and compiled before the clock starts.

    Where a row of `ORACLE_LARGEST` entries takes seconds already, a longer one is not tried and that
    time stands in as a lower bound: the top-k caps cost the oracle the square of the length.
    """
    from refsolve import solve

    def once(row: np.ndarray) -> float:
        return clock(partial(solve, f"{stem}.projection", a=row, **extra))

    once(data[0, :ORACLE_LARGEST])  # builds and compiles the problem
    first = once(data[0, :ORACLE_LARGEST])
    if first > 2.0:
        return first
    once(data[0])
    return median(once(row) for row in data[1 : 1 + samples])
