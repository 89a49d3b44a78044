"""Logistic regression and hinges of two classes, and softmax on tall, badly conditioned data, beside scikit-learn.

``python -m verification.benchmarks.two_classes [PART OF A NAME]`` prints the tables of docs/figures.md: CPU seconds,
medians, of the estimator and of the fastest peer, at the loosest of its tolerances whose true suboptimality is as good.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp

from verification.benchmarks import peers
from verification.benchmarks.records import Record, Side, contest, stream
from verification.benchmarks.standing import fitted
from verification.benchmarks.timing import one_thread
from verification.certificates import trained

GAPS, SHARP, REPEATS = (1e-3, 1e-6), 1e-8, 3
SKLEARN = {name: peer for name, peer in peers.TWO_LOGISTIC.items() if name.startswith("sklearn ")}
WIDEST = 1000  # features up to which newton-cholesky is tried


def _mixture(n: int, d: int, apart: float, falls: float) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussians, whose features have sizes from 1 to e^-falls; one label in twenty is wrong."""
    rng = np.random.default_rng(0)
    y, scales = rng.integers(0, 2, n), np.exp(-np.arange(d) / d * falls)
    w = rng.standard_normal(d)
    X = rng.standard_normal((n, d)) + np.outer(2 * y - 1, w * (apart / np.linalg.norm(w)))
    return X * scales, np.where(rng.random(n) < 0.05, 1 - y, y)


def _images() -> tuple[np.ndarray, np.ndarray]:
    from fast.datasets import make_images

    X, y = make_images(10_000, 10, 784, random_state=0)
    return X, y // 5


def _text() -> tuple[Any, np.ndarray]:
    from fast.datasets import make_text

    X, y = make_text(20_000, 50, 50_000, random_state=0)
    return X, y // 25


def words(n: int = 10_000, d: int = 20_000) -> tuple[Any, np.ndarray]:
    """Unit rows of some 70 of d words, logarithmic counts times idf; one label in twenty is wrong.

    Words are as rare as in a text, and those of one class another draw from the rare ones.
    """
    rng = np.random.default_rng(1)
    y, often = rng.integers(0, 2, n), 1.0 / np.arange(1, d + 1) ** 1.05
    tilt = np.exp(0.5 * rng.standard_normal(d) * (rng.random(d) < 0.3))
    lengths = rng.poisson(96, n) + 5
    drawn = [
        rng.choice(d, length, p=p / p.sum())
        for length, p in zip(lengths, (often * np.where(c, tilt, 1.0) for c in y), strict=True)
    ]
    ends = np.append(0, np.cumsum(lengths)).astype(np.int32)
    columns = np.concatenate(drawn).astype(np.int32)
    X = sp.csr_array((np.ones(len(columns)), columns, ends), shape=(n, d))
    X.sum_duplicates()
    seen = np.bincount(X.indices, minlength=d)
    X.data = (1.0 + np.log(X.data)) * np.log((1 + n) / (1 + seen))[X.indices]
    X.data /= np.repeat(np.sqrt(X.power(2).sum(axis=1)), np.diff(X.indptr))
    return X, np.where(rng.random(n) < 0.05, 1 - y, y)


def cover(n: int = 60_000) -> tuple[np.ndarray, np.ndarray]:
    """Ten numbers and two one-hot codes of 4 and 40 values, some of them rare, for seven classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 7, n)
    numbers = rng.standard_normal((n, 10)) + 0.8 * rng.standard_normal((7, 10))[y]
    often = 1.0 / np.arange(1, 41) ** 1.3
    kind = rng.choice(40, n, p=often / often.sum()) + 3 * y * (rng.random(n) < 0.3)
    place = rng.choice(4, n, p=[0.45, 0.05, 0.44, 0.06])
    scaled = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    return np.hstack([scaled, np.eye(4)[place], np.eye(40)[kind % 40]]), y


def _second() -> tuple[np.ndarray, np.ndarray]:
    X, y = cover()
    return X, (y == 1).astype(np.int64)


#: The loss, values of C, and data.
CASES: dict[str, tuple[str, tuple[float, ...], Callable[[], tuple[Any, np.ndarray]]]] = {
    "like covertype, m = 7": ("softmax", (0.1, 10.0, 1000.0), cover),
    "like covertype, m = 2": ("one-vs-rest logistic", (1.0,), _second),
    "images, 784 features": ("one-vs-rest logistic", (1.0,), _images),
    "20 000 x 256": ("one-vs-rest logistic", (1.0,), partial(_mixture, 20_000, 256, 1.5, 4.0)),
    "300 000 x 30": ("one-vs-rest logistic", (1.0,), partial(_mixture, 300_000, 30, 1.0, 2.0)),
    "text, 20 000 x 50 000": ("one-vs-rest logistic", (1.0,), _text),
    "text, binary hinge": ("one-vs-rest hinge", (0.1, 1.0, 100.0), _text),
    "text, two-class hinge": ("hinge", (0.1, 1.0, 100.0), _text),
    "words, binary hinge": ("one-vs-rest hinge", (0.1, 1.0, 100.0), words),
    "words, two-class hinge": ("hinge", (0.1, 1.0, 100.0), words),
    "1500 x 3000": ("one-vs-rest logistic", (1.0,), partial(_mixture, 1500, 3000, 2.0, 3.0)),
}


RIVALS = {
    "softmax": {"sklearn lbfgs": peers.LOGISTIC},
    "one-vs-rest logistic": SKLEARN,
    "one-vs-rest hinge": {"liblinear": peers.TWO_HINGE["liblinear"]},
    "hinge": {"liblinear": peers.TWO_MULTICLASS},
}


def table(named: str = "") -> Iterator[Record]:
    """Every case and gap: ours, and the fastest peer that reaches it; of the cases so ``named``."""
    for name, (loss, Cs, make) in CASES.items():
        if named not in name:
            continue
        X, y = make()
        rivals = RIVALS[loss]
        kept = [p for n, p in rivals.items() if "cholesky" not in n or X.shape[1] <= WIDEST]
        for C in Cs:
            sharp = fitted(loss, X, y, C, SHARP)  # whose own bound is narrower on long sparse rows
            lower = max(trained(sharp, X, y).dual, float(sharp.dual_objective_))
            for gap in GAPS:
                ours = Side(
                    partial(fitted, loss, X, y, C, gap), lambda model: float(model.dual_gap_)
                )
                found = [peers.matched(peer, X, y, C, lower, gap) for peer in kept]
                runs = [
                    contest({"data": name, "C": C, "gap asked": gap}, ours, Side(fit), REPEATS, process_time)
                    for at, fit in found
                    if at.reached
                ]  # fmt: skip
                yield min(runs, key=lambda record: record["peer_seconds"])


if __name__ == "__main__":
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stream(table(*sys.argv[1:]))
