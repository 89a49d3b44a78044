"""Small SVM+ problems of every family: as users have them, and as they break solvers."""

from typing import Any

import numpy as np

from verification.instances.instance import Instance

OBJECTS = ("svm_plus_squared_hinge", "svm_plus_hinge")
FAMILIES = (
    "random",
    "informative z",
    "collapse",
    "contradictory duplicates",
    "tied rows",
    "tiny C",
    "huge C",
    "zero weights",
    "s > n",
    "n = 2",
    "separable",
)
COUNTS = {"quick": 2, "thorough": 14}  # per family
EPS = float(np.finfo(float).eps)


def draw(rng: np.random.Generator, family: str) -> dict[str, Any]:
    """X, y (-1 and 1), Z, C, lam and perhaps sample_weight; standardised Z."""
    n, d, s = int(rng.integers(4, 23)), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    n = 2 if family == "n = 2" else n
    s = n + 3 if family == "s > n" else s
    X, Z = rng.standard_normal((n, d)), rng.standard_normal((n, s))
    f = X[:, 0] + 0.5 * rng.standard_normal(n)
    y = np.where(rng.permutation(f > np.median(f)), 1.0, -1.0)
    if family in ("informative z", "separable"):
        y = np.where(f > np.median(f), 1.0, -1.0)
        Z[:, 0] = np.abs(f - np.median(f))
    if family == "separable":
        X[:, 0] += 3 * y
    if family == "collapse":  # rows of Z that know nothing of X or y
        Z = np.round(0.2 * Z)
    if family == "contradictory duplicates":
        half = n // 2
        X[half : 2 * half], Z[half : 2 * half] = X[:half], Z[:half]
        y[:half], y[half : 2 * half] = 1.0, -1.0
    if family == "tied rows":
        X, Z = np.round(X), np.round(Z)
        X[n // 2 :], y[n // 2 :] = X[: n - n // 2], y[: n - n // 2]
    y[:2] = 1.0, -1.0
    C, lam = float(10.0 ** rng.integers(-1, 3)), float(10.0 ** rng.integers(-2, 2))
    if family == "tiny C":
        C *= 1e-6
    if family == "huge C":  # C/lam from 1e6 to 1e8
        C, lam = float(10.0 ** rng.integers(4, 6)), float(10.0 ** rng.integers(-3, -1))
    given: dict[str, Any] = {"X": X, "y": y, "Z": Z, "C": C, "lam": lam}
    if family == "zero weights":
        weight = rng.choice([0.0, 0.5, 1.0, 3.0], n)
        weight[:2] = 1.0
        given["sample_weight"] = weight
    return given


def instances(profile: str, seed: int, object_name: str = OBJECTS[0]) -> list[Instance]:
    """All families, for one of the two losses."""
    rng = np.random.default_rng([seed, 5, OBJECTS.index(object_name)])
    return [
        Instance.of(f"{object_name}.dual", family, **draw(rng, family))
        for _ in range(COUNTS[profile])
        for family in FAMILIES
    ]
