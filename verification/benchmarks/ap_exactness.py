"""Every method of loss-augmented inference against brute force, the greedy, and rational arithmetic.

Three comparisons, each method on each instance:

    brute force   every interleaving of at most 9 samples, with ties in every instance
    greedy        a table of all gains, up to 24 positives and 240 negatives
    rational      dyadic scores of at most 12 samples: exact gap zero

The first two compare values within rounding. In the third nothing is left to rounding: with scores in
units of 1/16 all objectives are multiples of 1/(16 P N lcm(1..P+N)), above 1e-8, so that a ranking
that rounding errors of 1e-13 let pass for the best is the best. The exact gap of its integers is asked
to be zero. ``compare()`` runs the numbers of instances that the project promises, in half a minute.
"""

import functools
import importlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from refsolve.proofs import ranking_truth
from verification.benchmarks.records import Record, Section
from verification.certificates import ranking
from verification.instances import families, rankings
from verification.instances.instance import Instance
from verification.problems.problem import lookup

Array = np.ndarray[Any, Any]
Answer = tuple[Any, Array, Array]
Infer = Callable[..., Answer]
Judge = Callable[[Instance, Array, Array, Sequence[Answer]], Iterator[tuple[float, bool]]]
PROBLEM = "average_precision.loss_augmented_inference"
#: Instances of each comparison.
COUNTS = {"brute force": 10_000, "greedy": 10_000, "rational": 2000}
#: Most positives and negatives of a medium instance.
MEDIUM = (24, 240)
#: Families of the small instances, in turns.
SMALL = ("ties", "ties", "random", "planted", "adversarial")


SECTION = Section(
    "Loss-augmented inference is exact",
    "Worst: of brute force and greedy the largest difference of values, as a share of the rounding-error bound; of "
    "rational the largest exact gap, which must be zero.",
)


@functools.cache
def _interleavings(P: int, N: int) -> tuple[Array, Array, Array]:
    """Delta (m,), and the inversions (m, P) and (m, N) of all rankings, both kinds by falling score."""
    deltas, above, below = [], [], []
    for places in itertools.combinations(range(P + N), P):
        c = np.array(places) - np.arange(P)
        deltas.append(float((c / (np.arange(1, P + 1) + c)).mean()))
        above.append(c)
        below.append((c[None, :] > np.arange(N)[:, None]).sum(axis=1))
    return np.array(deltas), np.array(above), np.array(below)


def brute_force(scores: Array, y: Array) -> float:
    """The best objective among all interleavings."""
    up, down = -np.sort(-scores[y > 0]), -np.sort(-scores[y <= 0])
    deltas, above, below = _interleavings(len(up), len(down))
    return float((deltas + 2 * (below @ down - above @ up) / (len(up) * len(down))).max())


def greedy(scores: Array, y: Array) -> float:
    """Sum of the best suffix sums of a table of all gains."""
    up, down = -np.sort(-scores[y > 0]), -np.sort(-scores[y <= 0])
    j, k = np.arange(1, len(down) + 1)[:, None], np.arange(1, len(up) + 1)
    gains = (k / ((j + k) * (j + k - 1)) - 2 * (up - down[:, None]) / len(down)) / len(up)
    return float(np.maximum(np.cumsum(gains[:, ::-1], axis=1).max(axis=1), 0.0).sum())


def small(count: int, seed: int) -> Iterator[Instance]:
    """At most 9 samples of several families, two of them with the same score."""
    task = lookup(PROBLEM)
    streams = [
        families.RANKINGS[name](task, families.generator(PROBLEM, name, seed + i), 9)
        for i, name in enumerate(SMALL)
    ]
    rng = np.random.default_rng([seed, 0])
    for i in range(count):
        instance = next(streams[i % len(streams)])
        scores = instance["scores"]
        if len(np.unique(scores)) == len(scores):
            one, other = rng.choice(len(scores), 2, replace=False)
            scores[one] = scores[other]
            instance = instance.with_params(scores=scores)
        yield instance


def medium(count: int, seed: int) -> Iterator[Instance]:
    """Random scores, scores near the optimum, and few distinct ones."""
    rng = np.random.default_rng([seed, 1])
    for i in range(count):
        P, N = (int(rng.integers(1, most + 1)) for most in MEDIUM)
        up, down = rng.normal(0.5, 1.0, P) * 0.3, rng.normal(size=N) * 0.3
        if i % 3 == 1:
            down = rankings.boundary(rng, up, N) + 1e-3 * down
        scores = np.concatenate([up, down])
        if i % 3 == 2:
            scores = np.round(8 * scores) / 8
        order = rng.permutation(P + N)
        labels = (np.arange(P + N) < P).astype(np.int64)
        yield Instance.of(PROBLEM, "medium", scores=scores[order], y=labels[order])


def dyadic(count: int, seed: int) -> Iterator[Instance]:
    """At most 12 scores in units of 1/16."""
    rng = np.random.default_rng([seed, 2])
    for _ in range(count):
        n = int(rng.integers(2, 13))
        y = (np.arange(n) < rng.integers(1, n)).astype(np.int64)
        spread = int(rng.choice([1, 4, 16, 64]))
        scores = rng.integers(-spread, spread + 1, size=n) / 16
        yield Instance.of(PROBLEM, "dyadic", scores=scores, y=rng.permutation(y))


def _by_value(solve: Callable[[Array, Array], float]) -> Judge:
    """Whether each answer's value is that of ``solve`` within rounding."""

    def judge(
        instance: Instance, scores: Array, y: Array, answers: Sequence[Answer]
    ) -> Iterator[tuple[float, bool]]:
        best, allowed = solve(scores, y), ranking.allowed(instance)
        for value, _, _ in answers:
            off = abs(value - best) / allowed
            yield off, bool(off <= 1)

    return judge


def _by_gap(
    instance: Instance, scores: Array, y: Array, answers: Sequence[Answer]
) -> Iterator[tuple[float, bool]]:
    """Whether each answer's ranking is exactly the best."""
    best = ranking.optimum(instance)
    for _, counts, coefficients in answers:
        try:
            inversions = ranking.inversions(instance, coefficients)
        except ValueError:
            yield float("inf"), False
            continue
        same = np.array_equal(counts, inversions[y > 0])
        gap = best.value - ranking_truth.objective(scores, y, inversions)[0]
        yield float(gap), same and gap == 0 and best.error == 0


COMPARISONS: dict[str, tuple[Callable[[int, int], Iterator[Instance]], Judge]] = {
    "brute force": (small, _by_value(brute_force)),
    "greedy": (medium, _by_value(greedy)),
    "rational": (dyadic, _by_gap),
}


def run(comparison: str, count: int, seed: int = 0, infer: Infer | None = None) -> list[Record]:
    """One comparison for every method of ``infer``, by default that of `fast`.

    The objection of a record is the first instance whose value or ranking is not the best.
    """
    if infer is None:
        from fast.losses import average_precision

        infer = average_precision.loss_augmented_inference
    methods = methods_of(infer)
    draw, judge = COMPARISONS[comparison]
    wrong, worst = dict.fromkeys(methods, 0), dict.fromkeys(methods, 0.0)
    example: dict[str, str] = {}
    tied = 0
    for instance in draw(count, seed):
        scores, y = instance["scores"], instance["y"]
        tied += len(np.unique(scores)) < len(scores)
        answers = [infer(scores, y, method=method) for method in methods]
        for method, (off, right) in zip(methods, judge(instance, scores, y, answers), strict=True):
            worst[method] = max(worst[method], off)
            if not right:
                wrong[method] += 1
                code = f'loss_augmented_inference({instance.arguments_code()}, method="{method}")'
                example.setdefault(method, code)
    return [
        Record(
            {"against": comparison, "method": m},
            {"instances": count, "with_ties": tied, "wrong": wrong[m], "worst": worst[m]},
            least={"instances": 1},
            most={"wrong": 0},
            objection=example.get(m, ""),
        )
        for m in methods
    ]


def methods_of(infer: object) -> tuple[str, ...]:
    """``METHODS`` of its module."""
    return tuple(importlib.import_module(infer.__module__).METHODS)


def compare(counts: dict[str, int] | None = None, seed: int = 0) -> list[Record]:
    """All comparisons; ``counts`` of instances default to `COUNTS`."""
    asked = COUNTS if counts is None else counts
    return [record for name, count in asked.items() for record in run(name, count, seed)]
