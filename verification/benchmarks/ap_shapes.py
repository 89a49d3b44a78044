"""Scores to rank: P positives before N negatives, in the regimes that an inference method meets.

The margin at which a negative at rank j stops to pay beside the k-th positive is N k / (2 (j + k)^2),
so that scores of a trained model spread over about N / P; scores of order one are those of its start.
"""

from collections.abc import Callable, Iterator

import numpy as np

Scores = tuple[np.ndarray, np.ndarray]

PS = (1, 3, 10, 30, 100, 300, 1000, 3000)
NS = (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)


def _normal(apart: float, spread: bool) -> Callable[[np.random.Generator, int, int], np.ndarray]:
    """Standard normal scores, the positives higher by ``apart``; ``spread`` scales them by N/P."""

    def scores(rng: np.random.Generator, P: int, N: int) -> np.ndarray:
        drawn = rng.standard_normal(P + N)
        drawn[:P] += apart
        return drawn * (N / P if spread else 1.0)

    return scores


def _ties(rng: np.random.Generator, P: int, N: int) -> np.ndarray:
    return rng.integers(-2, 3, P + N).astype(np.float64)


def _equal(rng: np.random.Generator, P: int, N: int) -> np.ndarray:
    return np.zeros(P + N)


#: name: scores of P positives, then N negatives.
REGIMES: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "random": _normal(0.0, False),
    "near optimum": _normal(4.0, True),
    "few active": _normal(8.0, True),
    "ties": _ties,
    "all equal": _equal,
    "reversed": _normal(-4.0, True),
}


def draw(regime: str, P: int, N: int, seed: int = 0) -> Scores:
    """Scores (n,) of a regime and labels (n,), positives and negatives shuffled."""
    rng = np.random.default_rng((seed, P, N))
    scores = REGIMES[regime](rng, P, N)
    order = rng.permutation(P + N)
    return scores[order], (order < P).astype(np.int64)


def grid() -> Iterator[tuple[str, int, int]]:
    """Every regime at every P and N."""
    for regime in REGIMES:
        for P in PS:
            for N in NS:
                yield regime, P, N


def make_problem(
    n: int, d: int, share: float, separation: float, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, d) of two Gaussian classes N(., I), their means ``separation`` apart; ``share`` positive."""
    rng = np.random.default_rng(seed)
    y = (rng.permutation(n) < round(share * n)).astype(np.int64)
    direction = rng.standard_normal(d)
    direction *= separation / np.linalg.norm(direction)
    return rng.standard_normal((n, d)) + np.outer(y, direction), y
