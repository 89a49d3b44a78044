"""Speed of loss-augmented inference: every exact method against the greedy, SEARCH and numpy.sort.

The greedy is ours, and one in C++ where there is a compiler; so is the recursion of Mohapatra et al. 2018.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from verification.benchmarks import ap_greedy, ap_shapes
from verification.benchmarks.records import Record, Section
from verification.benchmarks.timing import race

DEFAULT = "divide_and_conquer"
METHODS = ("greedy", "search", "select", "all", DEFAULT, "numpy")
#: P and N of the comparison with the greedy, and by how much the default must beat it.
SHAPE, GREEDY_FACTOR = (300, 3000), 25.0
#: And by how much it must beat that in C++.
CPP, CPP_FACTOR = "greedy in C++", 40.0
#: The recursion of Mohapatra et al. (CVPR 2018), which selects instead of sorting, in C++.
RECURSION = "2018 recursion in C++"
#: The inference of NDCG beside that of AP, and the share of its time that AP must take at least.
NDCG, AP, NDCG_FACTOR = "NDCG, divide_and_conquer", "AP, divide_and_conquer", 0.5
#: P and N of the comparison with numpy.sort of the negatives, and its targets by regime.
LONG, SORT_LIMITS = (1000, 1_000_000), {"few active": 0.3, "random": 8.0}
SORT, SEARCH_LIMIT = "numpy.sort", 2.0
#: A cell above the limit is measured again with this many times the pairs before it counts.
AGAIN = 5
#: Calls are repeated until a clock runs at least this many seconds.
TICK = 5e-3
SECTIONS = {
    "inference": Section(
        "Loss-augmented inference",
        "Ratio: against / method, medians over pairs of calls taken in turns; all methods return the same ranking. "
        "Active: negatives with an inversion in it. numpy.sort gets the negatives only, already apart from the "
        "positives; what is in C++ (-O3) is left out where no compiler is found. 2018: Mohapatra et al., CVPR 2018.",
    ),
    "grid": Section(
        "The default against SEARCH everywhere",
        f"Shown: the slowest of {len(ap_shapes.PS)} values of P, {len(ap_shapes.NS)} of N and "
        f"{len(ap_shapes.REGIMES)} regimes. A cell above the target is measured again with {AGAIN} times the pairs.",
        lowest="ratio",
    ),
}


def infer(method: str, scores: np.ndarray, y: np.ndarray) -> Any:
    """One loss-augmented inference of `fast`."""
    from fast.losses import average_precision, ndcg

    if method == NDCG:
        return ndcg.loss_augmented_inference(scores, y)
    return average_precision.loss_augmented_inference(scores, y, method=method)


def active_negatives(scores: np.ndarray, y: np.ndarray) -> int:
    """Negatives with an inversion in the most violated ranking: the largest count, as c ascends."""
    return int(infer(DEFAULT, scores, y).counts.max())


def trained_scores(P: int, N: int, d: int = 50, C: float = 1e4, seed: int = 0) -> ap_shapes.Scores:
    """Scores of an AP-SVM trained to a gap of 1e-3 on two Gaussian classes."""
    from fast.models import ap_svm
    from fast.ranking.queries import Queries

    n = P + N
    X, y = ap_shapes.make_problem(n, d, P / n, separation=2.0, seed=seed)
    result = ap_svm.train(X, Queries(y), C, tol=1e-3)
    return X @ result.w, y


def _compared(
    regime: str,
    data: ap_shapes.Scores,
    method: str,
    against: str,
    rival: Callable[[], Any],
    repeats: int,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Names and figures of one method beside a rival."""
    scores, y = data
    P = int(y.sum())
    found = race(partial(infer, method, scores, y), rival, repeats, tick=TICK)
    names = {"regime": regime, "P": P, "N": len(y) - P, "method": method, "against": against}
    active = active_negatives(scores, y)
    return names, {"active": active, "milliseconds": 1e3 * found.seconds, "ratio": found.ratio}


def against_greedy(repeats: int) -> list[Record]:
    """Every method at `SHAPE`, on random scores and on those of a trained model."""
    P, N = SHAPE
    cases = {"random": ap_shapes.draw("random", P, N), "trained model": trained_scores(P, N)}
    peers = {CPP: ap_greedy.compiled(), RECURSION: ap_greedy.compiled("recursion")}
    found = []
    for regime, data in cases.items():
        for method in METHODS:
            rival = partial(infer, "greedy", *data)
            least = {"ratio": GREEDY_FACTOR} if method == DEFAULT else {}
            compared = _compared(regime, data, method, "greedy", rival, repeats)
            found.append(Record(*compared, least))
        for against, peer in peers.items():
            if peer is not None:
                compared = _compared(regime, data, DEFAULT, against, partial(peer, *data), repeats)
                found.append(Record(*compared, {"ratio": CPP_FACTOR} if against == CPP else {}))
        rival = partial(infer, DEFAULT, *data)
        found.append(Record(*_compared(regime, data, NDCG, AP, rival, repeats), {"ratio": NDCG_FACTOR}))
    return found


def against_sort(repeats: int) -> list[Record]:
    """Every method but the greedy at `LONG` beside numpy.sort of its negatives."""
    found = []
    for regime, limit in SORT_LIMITS.items():
        scores, y = data = ap_shapes.draw(regime, *LONG)
        rival = partial(np.sort, scores[y == 0])
        for method in METHODS[1:]:
            least = {"ratio": 1 / limit} if method == DEFAULT else {}
            compared = _compared(regime, data, method, SORT, rival, repeats)
            found.append(Record(*compared, least))
    return found


def against_search(regime: str, P: int, N: int, repeats: int) -> list[Record]:
    """The default beside SEARCH on one cell of the grid."""
    data = ap_shapes.draw(regime, P, N)
    given = regime, data, DEFAULT, "search", partial(infer, "search", *data)
    names, figures = _compared(*given, repeats)
    if figures["ratio"] < 1 / SEARCH_LIMIT:
        names, figures = _compared(*given, AGAIN * repeats)
    return [Record(names, figures, {"ratio": 1 / SEARCH_LIMIT})]
