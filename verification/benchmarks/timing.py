"""Fair clocks: one thread, interleaved repetitions, the median of ratios."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and numba to one thread each; the two know nothing of one another."""
    import numba
    from threadpoolctl import threadpool_limits

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        numba.set_num_threads(before)


def limit_to_one_thread() -> None:
    """Limit this process for good; what worker processes start with."""
    import numba
    from threadpoolctl import threadpool_limits

    numba.set_num_threads(1)
    threadpool_limits(1)


def timed(run: Callable[[], Any], now: Callable[[], float] = perf_counter) -> tuple[Any, float]:
    """What a call returns, and its seconds; ``now`` may be `process_time`, which other programs do not move."""
    start = now()
    result = run()
    return result, now() - start


def clock(run: Callable[[], Any], now: Callable[[], float] = perf_counter) -> float:
    """Seconds of one call."""
    return timed(run, now)[1]


class Race(NamedTuple):
    """Two runs in turns: median seconds of both, the median ratio theirs / ours, last results."""

    seconds: float
    peer_seconds: float
    ratio: float
    ours: Any
    theirs: Any


def race(
    ours: Callable[[], Any],
    theirs: Callable[[], Any],
    repeats: int,
    now: Callable[[], float] = perf_counter,
    tick: float = 0.0,
) -> Race:
    """Time both in turns, so that a slow moment of the machine hits both.

    Calls are repeated until a clock runs at least ``tick`` seconds; to fill one, both are called once more.
    """
    last: dict[int, Any] = {}

    def several(place: int, run: Callable[[], Any]) -> tuple[Callable[[], None], int]:
        calls = max(1, ceil(tick / clock(run, now))) if tick else 1

        def repeated() -> None:
            for _ in range(calls):
                last[place] = run()

        return repeated, calls

    runs = [several(place, run) for place, run in enumerate((ours, theirs))]
    pairs = [[clock(run, now) / calls for run, calls in runs] for _ in range(repeats)]
    mine, other = (list(times) for times in zip(*pairs, strict=True))
    return Race(median(mine), median(other), median_ratio(other, mine), last[0], last[1])


def median_ratio(numerators: list[float], denominators: list[float]) -> float:
    """Median of the ratios of pairs."""
    return median(a / b for a, b in zip(numerators, denominators, strict=True))
