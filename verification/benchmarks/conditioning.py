"""What offsets and scales of features cost: CPU time against the same features without them.

``python -m verification.benchmarks.conditioning`` prints the table of ``docs/conditioning.md``.
"""

import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "softmax": ("TopKLogisticRegression", {}),
    "entropy, alpha, k = 2": ("TopKLogisticRegression", {"k": 2}),
    "hinge": ("TopKSVC", {}),
    "hinge, k = 2, gamma = 1": ("TopKSVC", {"k": 2, "gamma": 1.0}),
}
BEST_OF = 3


class Row(NamedTuple):
    """One model on one form of the features: time over that of the plain features, and the gap."""

    data: str
    model: str
    form: str
    intercept: bool
    ratio: float
    gap: float


def forms(Z: np.ndarray) -> dict[str, np.ndarray]:
    """Features with offsets of 1e6 and scales of 1e8 and 1e-8, by name; the first is Z."""
    rng = np.random.default_rng(5)
    scales = 10.0 ** rng.choice([-8, 0, 8], Z.shape[1])
    far = 1e6 * (rng.random(Z.shape[1]) < 0.5)
    return {
        "plain": Z,
        "offset 1e6": Z + 1e6,
        "scale 1e8": 1e8 * Z,
        "scales 1e-8, 1, 1e8": Z * scales,
        "offsets or scales": np.where(far > 0.0, Z + far, Z * scales),
        "scales, then offsets": Z * scales + far,
        "offsets, then scales": (Z + far) * scales,
    }


def blobs(n: int = 1000, d: int = 10, m: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping Gaussian classes."""
    rng, y = np.random.default_rng(0), np.arange(n) % m
    return rng.standard_normal((m, d))[y] + rng.standard_normal((n, d)), y


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Pixels in [0, 1]: some are non-zero in a few images only, so that large scales separate those."""
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def measure(
    data: str,
    X: np.ndarray,
    y: np.ndarray,
    models: tuple[str, ...] = tuple(MODELS),
    tol: float = 1e-4,
) -> Iterator[Row]:
    """Rows of the table."""
    import fast

    for model in models:
        name, params = MODELS[model]
        for intercept in (False, True):
            base = 0.0
            for form, features in forms(X).items():
                estimator = getattr(fast, name)(**params, tol=tol, fit_intercept=intercept)
                took = min(_timed(estimator, features, y) for _ in range(BEST_OF))
                base = base or took
                yield Row(data, model, form, intercept, took / base, float(estimator.dual_gap_))


def _timed(estimator: Any, X: np.ndarray, y: np.ndarray) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        started = time.process_time()
        estimator.fit(X, y)
        return time.process_time() - started


def table(rows: list[Row]) -> str:
    """Markdown: ratios without and with an intercept; a gap that missed its tolerance is shown."""
    lines = ["| data | loss | form | time | gap |", "|---|---|---|---|---|"]
    for plain, full in zip(rows[::2], rows[1::2], strict=True):
        times = f"{plain.ratio:.1f}, {full.ratio:.1f}"
        gaps = f"{plain.gap:.0e}, {full.gap:.0e}"
        lines.append(f"| {plain.data} | {plain.model} | {plain.form} | {times} | {gaps} |")
    return "\n".join(lines)


def paired(rows: list[Row]) -> list[Row]:
    """Without and with an intercept, one after the other."""
    return sorted(
        rows, key=lambda row: (row.data, list(MODELS).index(row.model), row.form, row.intercept)
    )


if __name__ == "__main__":
    found = [*measure("blobs", *blobs()), *measure("digits", *digits(), ("softmax", "hinge"))]
    print(table(paired([row for row in found if row.form != "plain"])))
