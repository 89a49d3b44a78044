"""What offsets and scales of features cost: CPU time against the same features without them.

``python -m verification.benchmarks.conditioning`` prints the table of ``docs/conditioning.md``.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from verification.benchmarks.peers import fit_quietly
from verification.benchmarks.records import Record, stream
from verification.benchmarks.timing import clock

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "softmax": ("TopKLogisticRegression", {}),
    "entropy, alpha, k = 2": ("TopKLogisticRegression", {"k": 2}),
    "hinge": ("TopKSVC", {}),
    "hinge, k = 2, gamma = 1": ("TopKSVC", {"k": 2, "gamma": 1.0}),
}
BEST_OF = 2


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
    }


def blobs(n: int = 1000, d: int = 10, m: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping Gaussian classes."""
    rng, y = np.random.default_rng(0), np.arange(n) % m
    return rng.standard_normal((m, d))[y] + rng.standard_normal((n, d)), y


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Pixels in [0, 1]: some are non-zero in a few images only, so that large scales separate those."""
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def counts(n: int = 1200, d: int = 20, m: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Poisson counts whose rates depend on the class."""
    rng, y = np.random.default_rng(11), np.arange(n) % m
    rates = rng.normal(0.0, 1.0, d) + 0.4 * rng.standard_normal((m, d))[y] - 1.0
    return rng.poisson(np.exp(rates)).astype(float), y


def table_of_customers(n: int = 1500, m: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """A category in twelve columns, and three amounts of money."""
    rng, y = np.random.default_rng(12), np.arange(n) % m
    category = np.where(rng.random(n) < 0.3, y * 4 + rng.integers(0, 4, n), rng.integers(0, 12, n))
    money = np.exp(rng.normal(0.0, 1.0, (n, 3)) + 0.5 * y[:, None])
    return np.column_stack([np.eye(12)[category], money]), y


def standardised(load: Any) -> tuple[np.ndarray, np.ndarray]:
    """Data of scikit-learn with columns of mean 0 and deviation 1."""
    X, y = load(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


DATA: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "blobs": blobs,
    "counts": counts,
    "customers": table_of_customers,
    "cancer": partial(standardised, load_breast_cancer),
    "wine": partial(standardised, load_wine),
    "iris": partial(standardised, load_iris),
    "digits": digits,
}


def measure(
    data: str, X: np.ndarray, y: np.ndarray, model: str, tol: float = 1e-4
) -> Iterator[Record]:
    """One model on every form of the features: its time over that of the plain ones, and the gap."""
    import fast

    name, params = MODELS[model]
    for intercept in (False, True):
        base = 0.0
        for form, features in forms(X).items():
            estimator = getattr(fast, name)(**params, tol=tol, fit_intercept=intercept)
            fit = partial(fit_quietly, estimator, features, y)
            took = min(clock(fit, process_time) for _ in range(BEST_OF))
            base = base or took
            names = {"data": data, "loss": model, "form": form, "intercept": intercept}
            yield Record(names, {"ratio": took / base, "gap": float(estimator.dual_gap_)})


def summary(rows: Iterable[Record]) -> Record:
    """Median and largest ratio, and gap, over the forms, without and with an intercept."""
    own = [row for row in rows if row["form"] != "plain"]
    slowest = max(own, key=lambda row: row["ratio"])
    return Record(
        {"data": own[0]["data"], "loss": own[0]["loss"]},
        {
            "median": float(np.median([row["ratio"] for row in own])),
            "largest": slowest["ratio"],
            "of": slowest["form"],
            "gap": max(row["gap"] for row in own),
        },
    )


def table() -> Iterator[Record]:
    """Every model on the first data set, two on the others."""
    for at, (name, make) in enumerate(DATA.items()):
        for model in ("softmax", "hinge") if at else MODELS:
            yield summary(measure(name, *make(), model))


if __name__ == "__main__":
    stream(table())
