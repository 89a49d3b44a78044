"""Solvers that stop too early, generated: caps on rounds, loose tolerances and early returns; who kills them?

``python -m verification.selftest.stopped --count N --seed S --profile quick`` prints JSON. Each is a sound
iteration with a limit that is drawn log-uniformly, and counts only if it is wrong on a fixed regime:
vectors of five distributions, of 17 to 10 000 entries, or training sets of 40 examples.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from verification.checks.distributions import DISTRIBUTIONS, sample
from verification.faulty_solvers import Mutant
from verification.problems.problem import fast_candidate
from verification.selftest import detection_matrix
from verification.selftest.ports import command

Array = np.ndarray[Any, Any]
#: What is asked first; the others only of those that survive it.
FIRST = ("distributions", "trained")
#: An error in units of the largest entry and r, or a relative gap, that no rounding explains.
WRONG = {"simplex.projection": 1e-7, "capped_simplex.projection": 1e-7, "binary_svm.primal": 1e-4}


def michelot(limit: float, loose: float) -> Callable[..., Array]:
    """Rounds of dropping what is below the threshold: so many, or until hardly any is dropped."""

    def project(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
        below = kept = np.max(a) - a
        height = float(r)
        for _ in range(int(limit)):
            height = (r + kept.sum()) / kept.size
            left = kept[kept < height]
            if kept.size - left.size <= loose * kept.size or not left.size:
                break
            kept = left
        return np.maximum(height - below, 0.0)

    return project


def bisection(limit: float, loose: float) -> Callable[..., Array]:
    """Halvings of the bracket of the threshold: so many, or until it is so short beside r."""

    def project(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
        below, low, high = np.max(a) - a, 0.0, float(r)
        for _ in range(int(limit)):
            middle = 0.5 * (low + high)
            if np.maximum(middle - below, 0.0).sum() < r:
                low = middle
            else:
                high = middle
            if high - low <= loose * r:
                break
        return np.maximum(high - below, 0.0)

    return project


def newton(limit: float, loose: float) -> Callable[..., Array]:
    """Newton's steps for the threshold: so many, or until one is so short."""

    def project(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
        below, height = np.max(a) - a, float(r)
        for _ in range(int(limit)):
            active = below < height
            if not active.any():
                break
            new = (r + below[active].sum()) / active.sum()
            if new >= height * (1 - loose):
                break
            height = new
        return np.maximum(height - below, 0.0)

    return project


def dykstra(limit: float, loose: float) -> Callable[..., Array]:
    """Dykstra's sweeps between the box and the plane: so many, or until one moves so little."""

    def project(a: Array, r: float = 1.0, cap: float = 1.0) -> Array:
        x, correction = np.array(a, dtype=float), np.zeros(a.size)
        for _ in range(int(limit)):
            y = x + (r - x.sum()) / a.size
            new = np.clip(y + correction, 0.0, cap)
            correction = y + correction - new
            moved, x = float(np.abs(new - x).max()), new
            if moved <= loose * max(cap, 1e-300):
                break
        return x

    return project


def sdca(limit: float, loose: float) -> Callable[..., Any]:
    """Epochs of dual coordinate ascent: so many, or until the dual grows by so little of itself."""

    def train(X: Array, y: Array, C: float, tol: float = 1e-6) -> tuple[Array, float]:
        n, signs = len(X), np.where(y == 1, 1.0, -1.0)
        alpha, w, before = np.zeros(n), np.zeros(X.shape[1]), 0.0
        for _ in range(int(limit)):
            for i in range(n):
                square = float(X[i] @ X[i])
                step = (1 - signs[i] * (X[i] @ w)) / square if square > 0 else C / n
                new = min(max(alpha[i] + step, 0.0), C / n)
                w = w + (new - alpha[i]) * signs[i] * X[i]
                alpha[i] = new
            dual = alpha.sum() - 0.5 * w @ w
            if dual - before <= loose * dual:
                break
            before = dual
        return w, 0.0

    return train


#: Iteration -> problem, built-in arguments, largest cap, and the exponents of a loose tolerance.
KINDS: dict[str, tuple[Any, str, dict[str, Any], float, tuple[int, int]]] = {
    "michelot": (michelot, "simplex.projection", {}, 20, (-3, -1)),
    "bisection": (bisection, "simplex.projection", {}, 40, (-11, -2)),
    "newton": (newton, "simplex.projection", {}, 8, (-7, -1)),
    "dykstra": (dykstra, "capped_simplex.projection", {}, 300, (-7, -1)),
    "sdca": (sdca, "binary_svm.primal", {"bias": False}, 60, (-4, -1)),
}


class Stopped(NamedTuple):
    """One of them: its iteration, its limits, and the solver."""

    kind: str
    limit: float
    loose: float
    mutant: Mutant


def drawn(seed: int) -> Iterator[Stopped]:
    """Solvers that are wrong on the fixed regime, endlessly."""
    rng = np.random.default_rng(seed)
    while True:
        for kind, (make, problem, fixed, most, (low, high)) in KINDS.items():
            capped = rng.random() < 0.5
            limit = float(np.round(np.exp(rng.uniform(0, np.log(most))))) if capped else 1e5
            loose = 0.0 if capped else float(10.0 ** rng.uniform(low, high))
            solve = make(limit, loose)
            if worst(problem, solve) > WRONG[problem]:
                name = f"{kind}_{limit:g}_{loose:.1g}"
                yield Stopped(
                    kind, limit, loose, Mutant(name, problem, str(make.__doc__), solve, fixed=fixed)
                )


def worst(problem: str, solve: Callable[..., Any]) -> float:
    """Largest error on the fixed regime; for a model its largest relative gap."""
    rng, found = np.random.default_rng(0), 0.0
    if problem == "binary_svm.primal":
        for C in (1.0, 100.0):
            X, y = rng.normal(size=(40, 5)), (rng.random(40) < 0.5).astype(int)
            w, _ = solve(X, y, C)
            v, _ = sdca(3000, 0.0)(X, y, C)
            value, best = (
                0.5 * u @ u + C * np.maximum(0, 1 - (2 * y - 1) * (X @ u)).mean() for u in (w, v)
            )
            found = max(found, (value - best) / best)
        return found
    right = fast_candidate(problem)
    assert right is not None
    for name in DISTRIBUTIONS:
        for n in (17, 60, 400, 3000, 10_000)[: 3 if "capped" in problem else 5]:
            a = sample(rng, name, n) * 8 / n
            off = np.abs(solve(a, 1.0) - right(a, r=1.0)).max() / max(1.0, np.abs(a).max())
            found = max(found, float(off))
    return found


def measured(count: int, seed: int = 0, profile: str = "quick") -> dict[str, Any]:
    """How many of ``count`` are killed, by kind, and the survivors."""
    kinds: dict[str, list[int]] = {kind: [0, 0] for kind in KINDS}
    survivors = []
    for _, each in zip(range(count), drawn(seed), strict=False):
        row = detection_matrix.row(each.mutant, profile, 0, FIRST, until_killed=True)
        if not row.killed:
            row = detection_matrix.row(each.mutant, profile, 0, until_killed=True)
        kinds[each.kind][0] += 1
        kinds[each.kind][1] += row.killed
        if not row.killed:
            survivors.append(each.mutant.name)
    total = [sum(column) for column in zip(*kinds.values(), strict=True)]
    by_kind = {k: {"solvers": n, "killed": d} for k, (n, d) in kinds.items()}
    found = {"profile": profile, "seed": seed, "solvers": total[0], "killed": total[1]}
    return {**found, "kinds": by_kind, "survivors": survivors}


if __name__ == "__main__":
    command("stopped", __doc__, measured, 60)
