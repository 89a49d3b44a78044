"""Speed of loss-augmented inference: every exact method against the greedy, SEARCH and numpy.sort.

The greedy is ours, and one in C++ where there is a compiler.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from statistics import median
from typing import Any

import numpy as np

from verification.benchmarks import ap_greedy, ap_shapes
from verification.benchmarks.timing import clock, median_ratio, paired

DEFAULT = "divide_and_conquer"
METHODS = ("greedy", "search", "select", "all", DEFAULT, "numpy")
#: P and N of the comparison with the greedy, and by how much the default must beat it.
SHAPE, GREEDY_FACTOR = (300, 3000), 25.0
#: And by how much it must beat that in C++.
CPP, CPP_FACTOR = "greedy in C++", 40.0
#: P and N of the comparison with numpy.sort of the negatives, and its targets by regime.
LONG, SORT_LIMITS = (1000, 1_000_000), {"few active": 0.3, "random": 8.0}
SEARCH_LIMIT = 2.0
#: A cell above the limit is measured again with this many times the pairs before it counts.
AGAIN = 5
#: Calls are repeated until a clock runs at least this many seconds.
TICK = 5e-3
#: The greedy is left out of a curve beyond this many pairs.
GREEDY_PAIRS = 3e8


@dataclass(frozen=True)
class Timing:
    """One method on one set of scores: median seconds of a call, and how often it fits in the other's."""

    regime: str
    P: int
    N: int
    method: str
    seconds: float
    active: int
    against: str
    ratio: float
    target: float | None = None
    at_most: bool = False

    @property
    def reached(self) -> bool:
        """Whether the target holds; True where there is none."""
        if self.target is None:
            return True
        return self.ratio <= self.target if self.at_most else self.ratio >= self.target


def infer(method: str, scores: np.ndarray, y: np.ndarray) -> Any:
    """One loss-augmented inference of `fast`."""
    from fast.losses.average_precision import loss_augmented_inference

    return loss_augmented_inference(scores, y, method=method)


def active_negatives(scores: np.ndarray, y: np.ndarray) -> int:
    """Negatives with an inversion in the most violated ranking: the largest count, as c ascends."""
    return int(infer(DEFAULT, scores, y).counts.max())


def at_length(run: Callable[[], Any]) -> tuple[Callable[[], None], int]:
    """Enough calls of ``run`` to fill a tick, and how many; what must be compiled is compiled here."""
    run()
    calls = max(1, ceil(TICK / clock(run)))

    def several() -> None:
        for _ in range(calls):
            run()

    return several, calls


def compare(
    first: Callable[[], Any], second: Callable[[], Any], repeats: int
) -> tuple[float, float, float]:
    """Median seconds of a call of both, and the median of the ratios first / second of pairs in turns."""
    (one, calls), (other, others) = at_length(first), at_length(second)
    spent = paired(one, other, repeats)
    ones, twos = [t / calls for t in spent[0]], [t / others for t in spent[1]]
    return median(ones), median(twos), median_ratio(ones, twos)


def trained_scores(P: int, N: int, d: int = 50, C: float = 1e4, seed: int = 0) -> ap_shapes.Scores:
    """Scores of an AP-SVM trained to a gap of 1e-3 on two Gaussian classes."""
    from fast.models import ap_svm
    from fast.ranking.queries import Queries

    n = P + N
    X, y = ap_shapes.make_problem(n, d, P / n, separation=2.0, seed=seed)
    result = ap_svm.train(X, Queries(y), C, tol=1e-3)
    return X @ result.w, y


def against_greedy(repeats: int) -> list[Timing]:
    """Every method at `SHAPE`, on random scores and on those of a trained model."""
    P, N = SHAPE
    cases = {"random": ap_shapes.draw("random", P, N), "trained model": trained_scores(P, N)}
    cpp, found = ap_greedy.compiled(), []
    for regime, (scores, y) in cases.items():
        active = active_negatives(scores, y)
        for method in METHODS:
            theirs, ours, ratio = compare(
                partial(infer, "greedy", scores, y), partial(infer, method, scores, y), repeats
            )
            seconds = theirs if method == "greedy" else ours
            target = GREEDY_FACTOR if method == DEFAULT else None
            found.append(Timing(regime, P, N, method, seconds, active, "greedy", ratio, target))
        if cpp is not None:
            runs = partial(cpp, scores, y), partial(infer, DEFAULT, scores, y)
            _, seconds, ratio = compare(*runs, repeats)
            found.append(Timing(regime, P, N, DEFAULT, seconds, active, CPP, ratio, CPP_FACTOR))
    return found


def against_sort(repeats: int) -> list[Timing]:
    """Every method but the greedy at `LONG` over numpy.sort of its negatives."""
    P, N = LONG
    found = []
    for regime, limit in SORT_LIMITS.items():
        scores, y = ap_shapes.draw(regime, P, N)
        negatives = scores[y == 0]
        active = active_negatives(scores, y)
        for method in METHODS[1:]:
            ours, _, ratio = compare(
                partial(infer, method, scores, y), partial(np.sort, negatives), repeats
            )
            target = limit if method == DEFAULT else None
            found.append(
                Timing(regime, P, N, method, ours, active, "numpy.sort", ratio, target, True)
            )
    return found


def against_search(regime: str, P: int, N: int, repeats: int) -> Timing:
    """The default over SEARCH on one cell of the grid."""
    scores, y = ap_shapes.draw(regime, P, N)
    active = active_negatives(scores, y)
    runs = (partial(infer, DEFAULT, scores, y), partial(infer, "search", scores, y))
    ours, _, ratio = compare(*runs, repeats)
    if ratio > SEARCH_LIMIT:
        ours, _, ratio = compare(*runs, AGAIN * repeats)
    return Timing(regime, P, N, DEFAULT, ours, active, "search", ratio, SEARCH_LIMIT, True)


@dataclass(frozen=True)
class Curve:
    """Median seconds of one method (or of the sort) over N at fixed P, or over P at fixed N."""

    regime: str
    method: str
    over: str
    fixed: int
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]


#: What is drawn: which size grows, the other's value, the sizes.
CURVES = (
    ("N", 300, (30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)),
    ("P", 30_000, (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)),
)
CURVE_REGIMES = ("random", "near optimum")


def curves() -> Iterator[tuple[str, str, str, int, tuple[int, ...]]]:
    """Arguments of `curve`: every method and the sort, along both axes, in both regimes."""
    for over, fixed, sizes in CURVES:
        for regime in CURVE_REGIMES:
            for method in (*METHODS, "numpy.sort"):
                yield regime, method, over, fixed, sizes


def curve(
    regime: str, method: str, over: str, fixed: int, sizes: Sequence[int], repeats: int
) -> Curve:
    """Time one method along one axis; ``method`` may be numpy.sort."""
    kept, seconds = [], []
    for size in sizes:
        P, N = (fixed, size) if over == "N" else (size, fixed)
        if method == "greedy" and P * N > GREEDY_PAIRS:
            break
        scores, y = ap_shapes.draw(regime, P, N)
        run: Callable[[], Any] = partial(infer, method, scores, y)
        if method == "numpy.sort":
            run = partial(np.sort, scores[y == 0])
        several, calls = at_length(run)
        kept.append(size)
        seconds.append(median(clock(several) for _ in range(repeats)) / calls)
    return Curve(regime, method, over, fixed, tuple(kept), tuple(seconds))
