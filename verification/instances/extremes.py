"""Families at the edges of the floats and of the sets, what tolerances take for equal, rows of real data.

`FAMILIES` for vectors and `RANKINGS` for labelled scores; `verification.instances.families` takes them in.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from verification.instances import drawing, rankings, real_scores
from verification.instances.instance import Instance
from verification.problems.problem import Problem

Rng = np.random.Generator
#: Exponents of ten up to the sizes that `refsolve` and `fast` declare, 1e150, whose square is a float.
EXPONENTS = (-150, -100, -40, -15, 0, 15, 40, 100, 150)
LIMIT = 1e150
#: Largest scores of an entropy, since e^-z must have an exponent that `decimal` can hold, and largest
#: curvature: beyond it floats lose x log x beside the quadratic.
ENTROPIC_LIMIT, ENTROPIC_CURVATURE = 1e15, 1e100
#: Least positive float, the quantum of everything below `TINY`.
LEAST = float(np.finfo(float).smallest_subnormal)
TINY = float(np.finfo(float).tiny)
EPS = float(np.finfo(float).eps)


def extreme(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Vectors, radii and curvatures of every size from 1e-150 to 1e150, alike or not."""
    while True:
        d = drawing.length(problem, rng, largest)
        scale, other = (10.0 ** float(rng.choice(EXPONENTS)) for _ in range(2))
        vector = rng.normal(size=d) * scale
        if rng.random() < 0.3:  # sizes mixed within the vector
            vector = rng.normal(size=d) * 10.0 ** rng.choice(EXPONENTS, size=d)
        quadratic = problem.kind != "functions" and problem.generator.rational
        top = LIMIT if quadratic else ENTROPIC_LIMIT
        vector = np.clip(vector, -top, top)
        radius = scale * float(rng.choice([0.1, 1.0, 10.0])) if rng.random() < 0.6 else other
        radius = min(radius, LIMIT / 10)  # times the sample weight
        curvature = other if rng.random() < 0.5 else 1.0
        steep = ENTROPIC_LIMIT if problem.generator.shifted else ENTROPIC_CURVATURE
        curvature = curvature if quadratic else min(curvature, steep)
        fixed: dict[str, Any] = {"r": radius, "C": radius, "k_ii": curvature, "t": curvature}
        fixed |= {"gamma": curvature, "rho": float(rng.choice([0.0, 1.0, curvature]))}
        if problem.operation == "sdca_update":  # the curvature is k_ii + gamma/C, or k_ii C
            C = min(other, (LIMIT if quadratic else steep) / 10)
            fixed |= {"C": float(rng.choice([1.0, C])), "gamma": 1.0}
            fixed["k_ii"] = curvature if quadratic or fixed["C"] <= 1 else 1.0
        if problem.operation == "conjugate":
            vector = drawing.dual_point(problem, rng, np.abs(vector))
        yield drawing.complete(problem, rng, "extreme", vector, **fixed)


def denormal(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Numbers below the smallest normal float, where every product is rounded to a multiple of it."""
    while True:
        d = drawing.length(problem, rng, largest)
        unit = float(rng.choice([LEAST, LEAST * 2**20, TINY / 4, TINY, 4 * TINY]))
        vector = unit * rng.integers(-8, 9, size=d)
        if rng.random() < 0.3:
            vector = np.where(rng.random(d) < 0.5, vector, rng.normal(size=d))
        elif rng.random() < 0.5:  # 0 over a product that is 0 by rounding
            vector[rng.integers(d)] = 0.0
        small = unit * float(rng.integers(1, 9))
        C = float(rng.choice([small, 1.0]))
        # gamma is a divisor of scores, and C one of gamma: a normal float, and their quotient too
        C = max(C, 4 * TINY) if "gamma" in problem.arguments else C
        fixed: dict[str, Any] = {"r": float(rng.choice([small, 0.0, 1.0]))}
        fixed |= {"rho": float(rng.choice([0.0, small, 1.0])), "C": C}
        fixed |= {"k_ii": float(rng.choice([small, 1.0])), "t": 1.0}
        fixed["gamma"] = float(rng.choice([C, 1.0]))
        if problem.operation == "conjugate":
            vector = np.abs(vector)
        # else a margin of 1 hides the scores
        if "costs" in problem.arguments and rng.random() < 0.5:
            fixed["costs"] = np.zeros(d)
        yield drawing.complete(problem, rng, "denormal", vector, **fixed)


def beside(rng: Rng, values: np.ndarray) -> np.ndarray:
    """Every number moved by a few units in its last place."""
    return values * (1 + EPS * rng.integers(-2, 3, size=np.shape(values)))


def border(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Radius nearly 0, sums at the radius, the k largest summing to 0, ties: all to the last bit."""
    while True:
        d = drawing.length(problem, rng, largest)
        n = drawing.entries(problem, d)
        k = int(rng.integers(1, n + 1))
        level = float(rng.choice([1.0, 1.0 / 3.0, 2.0**-10]))
        vector = np.full(d, level)
        kind = int(rng.integers(5))
        if kind == 0:  # a point of the set already
            vector = rng.uniform(0, 1, d)
        elif kind == 1:  # the top-k sum is 0 up to rounding
            vector = rng.normal(size=d)
            top = np.argsort(-vector)[:k]
            vector[top] -= vector[top].mean()
        elif kind == 2:  # k entries at one level, the others at another
            vector[rng.permutation(d)[k:]] = level * float(rng.choice([0.0, 0.5, -1.0]))
        elif kind == 3:
            vector = np.zeros(d)
        vector = beside(rng, vector)
        total = float(np.abs(vector).sum())
        radius = (total, total * (1 + EPS), total * (1 - EPS), k * level, EPS, LEAST, 0.0)
        fixed: dict[str, Any] = {"k": k, "r": float(rng.choice(radius))}
        if rng.random() < 0.5:
            fixed["rho"] = float(rng.choice([EPS, LEAST, 1.0 / EPS]))
        fixed["k_ii"] = float(rng.choice([1.0, EPS, 0.0]))
        if problem.operation == "conjugate":  # a sum of 1, and the caps, missed by a bit
            vector = np.abs(vector) / (total or 1.0)
        yield drawing.complete(problem, rng, "border", vector, **fixed)


def close(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Entries, sums and caps apart by 1e-1 to 1e-16 of their size, which tolerances take for equal."""
    while True:
        d = drawing.length(problem, rng, largest)
        n = drawing.entries(problem, d)
        k = int(rng.integers(1, n + 1))
        gaps = 10.0 ** -rng.uniform(1, 16, size=d)
        gap, level = float(gaps[0]), float(rng.choice([1.0, 1.0 / 3.0, 2.0**-10]))
        kind = int(rng.integers(4))
        if problem.operation == "conjugate":
            vector = _missed(rng, d, k, gap, kind)
        elif kind == 0:  # ties
            vector = level * (1 + gaps * rng.integers(-1, 2, size=d))
        elif kind == 1:  # beside 0, or a margin of 0
            vector = gaps * rng.integers(-1, 2, size=d)
            vector[rng.random(d) < 0.3] += rng.choice([-1.0, 1.0])
        elif kind == 2:  # just above a threshold at which the sum is the radius
            vector = gaps + float(rng.choice([0.0, 0.5]))
        else:  # the top-k sum is small
            vector = rng.normal(size=d)
            top = np.argsort(-vector)[:k]
            vector[top] += gap - vector[top].mean()
        radius = (1.0, level, float(np.abs(vector).sum()) * (1 + gap), float(gaps.sum()))
        fixed: dict[str, Any] = {"k": k, "r": float(rng.choice(radius))}
        if "cap" in problem.arguments and rng.random() < 0.5:  # all, or some, are nearly full
            full = d if rng.random() < 0.5 else int(rng.integers(1, d + 1))
            fixed["cap"] = float(np.nextafter(fixed["r"] / full * (1 + gap), np.inf))
        yield drawing.complete(problem, rng, "close", vector, **fixed)


def _missed(rng: Rng, d: int, k: int, gap: float, kind: int) -> np.ndarray:
    """A dual point whose sum is above 1 by the gap, an entry below 0, or k times one above the sum."""
    x = rng.uniform(0.5, 1.0, d)
    x /= x.sum()
    if kind == 0:
        x *= 1 + gap
    elif kind == 1:
        x[rng.integers(d)] = -gap
    elif kind == 2:
        x = np.where(rng.permutation(d) < k, (1 + gap) / k, 0.0)
    elif d > 1:  # one at the sum over k, and more than that
        x[0] = 0.0
        x[0] = (1 + gap) * x.sum() / max(k - 1, 1)
        x /= 2 * x.sum()
    return x


def real(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Scores of a model of the Letter data, with ||x_i||^2 for the curvature."""
    while True:
        d = max(drawing.length(problem, rng, max(largest, 26)), drawing.shortest(problem))
        scores, y, square = real_scores.row(rng, min(max(d, 2), 26))
        fixed: dict[str, Any] = {"k_ii": square, "C": float(rng.choice([1e-4, 1e-2, 1.0]))}
        if problem.kind == "sets" or problem.operation in ("prox", "conjugate"):
            vector = scores - scores[y]
            if problem.operation == "conjugate":  # the softmax probabilities of the row
                vector = np.exp(scores - scores.max())
                vector *= float(rng.choice([1.0, 0.5])) / vector.sum()
        else:
            vector = scores
        if "y" in problem.arguments and not problem.labels:
            fixed["y"] = y
        yield drawing.complete(problem, rng, "real", vector, **fixed)


def ranked_denormal(rng: Rng, P: int, N: int) -> Iterator[tuple[rankings.Array, rankings.Array]]:
    """Scores below the smallest normal float, and beside it."""
    unit = LEAST * 2.0 ** float(rng.integers(0, 60))
    scores = unit * rng.integers(-8, 9, size=P + N)
    yield scores[:P], scores[P:]


def ranked_extreme(rng: Rng, P: int, N: int) -> Iterator[tuple[rankings.Array, rankings.Array]]:
    """Scores of every size from 1e-150 to 1e150, alike or not."""
    each = rng.random() < 0.5
    powers = rng.choice(EXPONENTS, size=P + N if each else 1)
    scores = rng.normal(size=P + N) * 10.0**powers
    scores = np.clip(scores, -LIMIT, LIMIT)
    yield scores[:P], scores[P:]


def ranked_border(rng: Rng, P: int, N: int) -> Iterator[tuple[rankings.Array, rankings.Array]]:
    """Every negative at a kink of the loss, or a bit beside it; positives tied up to a bit."""
    up = beside(rng, np.full(P, float(rng.choice([0.0, 1.0, 1.0 / 3.0]))))
    yield up, beside(rng, rankings.boundary(rng, up, N))


def ranked_close(rng: Rng, P: int, N: int) -> Iterator[tuple[rankings.Array, rankings.Array]]:
    """Negatives beside a kink of the loss, or beside a positive, by 1e-1 to 1e-16."""
    up = rng.normal(size=P) * float(rng.choice([0.0, 0.1, 1.0]))
    down = rankings.boundary(rng, up, N) if rng.random() < 0.5 else rng.choice(up, N)
    down = down + 10.0 ** -rng.uniform(1, 16, size=N) * rng.integers(-1, 2, size=N)
    yield up, down


def ranked_real(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Scores of one class of the Letter data for some letters."""
    while True:
        scores, y = real_scores.query(rng, int(rng.integers(2, max(largest, 2) + 1)))
        yield Instance.of(problem.name, "real", scores=scores, y=y)


FAMILIES: dict[str, rankings.Family] = {
    "extreme": extreme,
    "denormal": denormal,
    "border": border,
    "real": real,
    "close": close,
}
RANKINGS: dict[str, rankings.Family] = {
    "extreme": rankings.of_sizes("extreme", ranked_extreme),
    "denormal": rankings.of_sizes("denormal", ranked_denormal),
    "border": rankings.of_sizes("border", ranked_border),
    "real": ranked_real,
    "close": rankings.of_sizes("close", ranked_close),
}
