"""All rankings of a query: what they lose, and the hinge that is the worst of them."""

from fractions import Fraction
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from refsolve import certificates
from verification.selftest.certificates import exact
from verification.selftest.certificates.exact import Vector, bounded, close

OBJECT = "average_precision"


class Ranking(NamedTuple):
    """1 - AP, the coefficients of Psi(R) - Psi(R*), and the inversions of every sample."""

    delta: Fraction
    coefficients: Vector
    inversions: tuple[int, ...]

    def objective(self, scores: Vector) -> Fraction:
        """Delta + <coefficients, scores>."""
        return Fraction(self.delta + self.coefficients @ scores)


class Orders:
    """The rankings of samples with 0/1 labels."""

    def __init__(self, y: Any) -> None:
        P, N = int(np.sum(y)), int(np.sum(1 - np.asarray(y)))
        self.all: list[Ranking] = []
        for order in permutations(range(P + N)):
            counts, delta, seen = [0] * (P + N), Fraction(0), 0
            for place, i in enumerate(order):
                if y[i]:
                    seen += 1
                    delta += 1 - Fraction(seen, place + 1)
                    for j in order[:place]:
                        counts[i] += not y[j]
                        counts[j] += not y[j]
            signed = [Fraction(-2 * c if y[i] else 2 * c, P * N) for i, c in enumerate(counts)]
            self.all.append(Ranking(delta / P, exact.array(signed), tuple(counts)))

    def drawn(self, rng: np.random.Generator, size: int) -> tuple[Vector, Vector, Any]:
        """Delta, coefficients and inversions of rankings at random, a row each."""
        rows = [self.all[int(i)] for i in rng.integers(len(self.all), size=size)]
        delta, coefficients, inversions = zip(*rows, strict=True)
        return exact.array(delta), exact.array(coefficients), np.array(inversions)

    def loss(self, scores: Vector) -> Fraction:
        """The largest objective."""
        return max(r.objective(scores) for r in self.all)


def rankings(seed: int) -> None:
    """The loss of a query and its most violated ranking, against all orders of its samples."""
    rng = np.random.default_rng([seed, 9])
    for P, N in ((1, 2), (2, 2), (2, 3), (3, 2)) * 2:
        scores = exact.eighths(rng, P + N, 8)
        y = rng.permutation(np.r_[np.ones(P, int), np.zeros(N, int)])
        orders, f = Orders(y), exact.floats(scores)
        best = orders.loss(scores)
        for off in (0.0, 0.125):
            number = float(best) + off
            found = certificates.loss_value(OBJECT, number, f, y)
            close(found.gap, abs(Fraction(number) - best), 1.0, "value of a query: gap")
        for ranking in orders.all[:: max(1, len(orders.all) // 12)]:
            c, objective = exact.floats(ranking.coefficients), ranking.objective(scores)
            found = certificates.loss_augmented_inference(OBJECT, c, f, y)
            close(found.gap, best - objective, 1.0, "ranking: gap")
            close(found.value, objective, 1.0, "ranking: value")
            close(found.violation, 0, 1.0, "ranking: violation")
            flows = rng.uniform(0, 0.3, (P, N))
            loose = certificates.loss_augmented_inference(OBJECT, c, f, y, dual=flows)
            bounded(loose.gap, best - objective, 1.0, "ranking with flows: gap", 1e-15)
