"""What inference costs in real trainings: the scores of every oracle call, met again by every method.

All exact methods return the same ranking, so that the training is the same with any of them. It is run
once, the scores that its oracle was asked at are kept, and every method is timed on these, in turns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from verification.benchmarks.ap_classes import BASE, ClassResult, data_of, names
from verification.benchmarks.ap_inference import METHODS
from verification.benchmarks.methods import MAX_ITER

#: Of APPX one share is timed, that of the paper's Tables 2 and 3.
APPX = "APPX 50 %"


class DisagreementError(Exception):
    """Two exact methods returned different rankings."""


@dataclass(frozen=True)
class Calls:
    """The oracle calls of one training: scores (calls, n), and what the oracle is."""

    scores: np.ndarray
    oracle: Callable[..., Any]


@dataclass(frozen=True)
class Cost:
    """Inference by one method in one training: all calls together, and how many there were."""

    method: str
    seconds: float
    calls: int


def ranking_calls(X: np.ndarray, y: np.ndarray, C: float, tol: float) -> Calls:
    """Train an AP-SVM and keep the scores that its oracle was asked at."""
    from fast.models import ap_svm
    from fast.ranking.queries import Queries

    asked: list[np.ndarray] = []

    class Recorder(Queries):
        def infer(self, scores: Any, method: str = "divide_and_conquer") -> Any:
            asked.append(np.array(scores, dtype=np.float64))
            return super().infer(scores, method)

    ap_svm.train(X, Recorder(y), C, tol=tol, max_iter=MAX_ITER)
    return Calls(np.array(asked), Queries(y).infer)


def hinge_calls(X: np.ndarray, y: np.ndarray, C: float, tol: float) -> Calls:
    """Train a binary SVM in its structural form and keep the scores that its oracle was asked at."""
    from fast.models import binary_svm
    from fast.solvers import structured

    oracle = binary_svm.HingeOracle(y == 1)
    asked: list[np.ndarray] = []

    def recorder(scores: np.ndarray) -> Any:
        asked.append(scores.copy())
        return oracle(scores)

    structured.train(X, recorder, C, tol=tol, max_iter=MAX_ITER, cuts=[(0.0, np.zeros(len(X)))])
    return Calls(np.array(asked), lambda scores, method: oracle(scores))


def appx_calls(X: np.ndarray, y: np.ndarray, C: float, tol: float) -> Calls:
    """Train AP-SVM-APPX at 50 % and keep the difficult examples' scores after each iteration."""
    from fast.models import ap_svm_appx
    from fast.ranking.queries import Queries

    easy = ap_svm_appx.easy_examples(X, y, C, 0.5, tol=tol, max_iter=MAX_ITER)
    hard = X[~easy]
    asked = [np.zeros(len(hard))]

    def note(state: Any) -> bool:
        asked.append(hard @ state.w)
        return False

    ap_svm_appx.train(X, y, C, easy, tol=tol, max_iter=MAX_ITER, report=note)
    return Calls(np.array(asked), Queries(y[~easy]).infer)


def costs(calls: Calls, methods: Sequence[str] = METHODS, repeats: int = 1) -> list[Cost]:
    """Seconds of all calls by each method: sums over the calls of medians of runs in turns.

    Raises
    ------
    DisagreementError
        If a method's ranking differs from the first one's.
    """
    seconds = dict.fromkeys(methods, 0.0)
    for method in methods:
        calls.oracle(calls.scores[0], method)  # compiles
    for scores in calls.scores:
        times: dict[str, list[float]] = {method: [] for method in methods}
        first: Any = None
        for method in repeats * tuple(methods):
            start = perf_counter()
            found = calls.oracle(scores, method)
            times[method].append(perf_counter() - start)
            first = found if first is None else first
            if not np.array_equal(found.coefficients, first.coefficients):
                raise DisagreementError(f"{method} and {methods[0]} return different rankings")
        for method in methods:
            seconds[method] += median(times[method])
    return [Cost(method, seconds[method], len(calls.scores)) for method in methods]


def interleaving_ranks(calls: Calls, y: np.ndarray) -> np.ndarray:
    """Ranks opt_j in 1..P+1 of the negatives in each call, (calls, N), ascending.

    A negative with rank P + 1 stands below every positive.
    """
    from fast.ranking.queries import Queries

    queries = Queries(y)
    P = int(np.sum(y))
    below = [queries.inversions(calls.oracle(s).coefficients)[y == 0] for s in calls.scores]
    return np.sort(P + 1 - np.array(below), axis=1)


def of_class(result: ClassResult, tol: float) -> list[Cost]:
    """Inference of one class at the C chosen for each: every exact method of the AP-SVM, the binary
    SVM's, and the greedy on the difficult examples of APPX.
    """
    mine = data_of(result.dataset, names(result.dataset).index(result.name))
    X, y = mine.train
    found: list[Cost] = []
    for method, calls_of, timed in (
        ("binary SVM", hinge_calls, ("binary SVM",)),
        (BASE, ranking_calls, METHODS),
        (APPX, appx_calls, ("greedy",)),
    ):
        if method in result.chosen:
            measured = costs(calls_of(X, y, result.chosen[method].C, tol), timed)
            found += [replace(c, method=method) for c in measured] if method == APPX else measured
    return found
