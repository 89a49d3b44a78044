"""Fair clocks: one thread, interleaved repetitions, the median of ratios."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter
from typing import Any


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


def clock(run: Callable[[], Any]) -> float:
    """Seconds of one call."""
    start = perf_counter()
    run()
    return perf_counter() - start


def paired(
    first: Callable[[], Any], second: Callable[[], Any], repeats: int
) -> tuple[list[float], list[float]]:
    """Seconds of both, taken in turns so that a slow moment of the machine hits both."""
    pairs = [(clock(first), clock(second)) for _ in range(repeats)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def median_ratio(numerators: list[float], denominators: list[float]) -> float:
    """Median of the ratios of pairs."""
    return median(a / b for a, b in zip(numerators, denominators, strict=True))
