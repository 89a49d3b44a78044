"""Instances of the models over rankings: labelled data, queries, easy examples and bags of candidates."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.optimize import linprog

Params = dict[str, Any]
Rng = np.random.Generator
Draw = Callable[[Rng, int], Params]


def forever(draw: Draw) -> Callable[[Rng, int], Iterator[Params]]:
    """A family from a function that draws one instance."""

    def stream(rng: Rng, largest: int) -> Iterator[Params]:
        while True:
            yield draw(rng, largest)

    return stream


def _sizes(rng: Rng, largest: int) -> tuple[int, int]:
    """(n, d)."""
    return int(rng.integers(2, max(3, largest + 1))), int(rng.integers(1, 6))


def labels(rng: Rng, n: int) -> np.ndarray:
    """0 and 1, both at least once."""
    y = np.zeros(n, dtype=np.int64)
    y[rng.permutation(n)[: int(rng.integers(1, n))]] = 1
    return y


def random(rng: Rng, largest: int) -> Params:
    """Normal features that say nothing of the labels; C from 1e-2 to 1e3."""
    n, d = _sizes(rng, largest)
    X = rng.standard_normal((n, d))
    return {"X": X, "y": labels(rng, n), "C": float(10.0 ** rng.integers(-2, 4))}


def zero_rows(rng: Rng, largest: int) -> Params:
    """A third of the examples without features."""
    given = random(rng, largest)
    given["X"][:: max(1, len(given["X"]) // 3)] = 0.0
    return given


def repeated(rng: Rng, largest: int) -> Params:
    """Each example twice, of either kind: their scores tie."""
    given = random(rng, largest)
    n = len(given["X"])
    given["X"][n // 2 :] = given["X"][: n - n // 2]
    return given


def ties(rng: Rng, largest: int) -> Params:
    """Few integers as features, so that many scores are equal."""
    given = random(rng, largest)
    return given | {"X": rng.integers(-1, 2, given["X"].shape).astype(float)}


def one_of(kind: int) -> Draw:
    """One positive, or one negative."""

    def draw(rng: Rng, largest: int) -> Params:
        given = random(rng, largest)
        given["y"][:] = 1 - kind
        given["y"][int(rng.integers(len(given["y"])))] = kind
        return given

    return draw


def separable(rng: Rng, largest: int) -> Params:
    """A feature that tells the labels."""
    given = random(rng, largest)
    given["X"][:, 0] += 4.0 * given["y"]
    return given


def scaled(power: int) -> Draw:
    """Features of the size 10^power, C such that the optimum is not trivial."""

    def draw(rng: Rng, largest: int) -> Params:
        given = random(rng, largest)
        unit = 10.0**power
        return given | {"X": given["X"] * unit, "C": float(10.0 ** rng.integers(-1, 3)) / unit**2}

    return draw


def letters(rng: Rng, largest: int) -> Params:
    """One letter against others, of the data that ships with `fast`; features are multiples of 1/8."""
    from fast.datasets import load_letter

    X, y = load_letter("validation")
    n = int(rng.integers(4, max(5, largest + 1)))
    wanted = int(rng.integers(int(y.max()) + 1))
    P = int(rng.integers(1, n))
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(y == wanted), P, replace=False),
            rng.choice(np.flatnonzero(y != wanted), n - P, replace=False),
        ]
    )
    rows = rng.permutation(rows)
    return {
        "X": X[rows] / 8.0 - 1.0,
        "y": (y[rows] == wanted).astype(np.int64),
        "C": float(10.0 ** rng.integers(-1, 3)),
    }


def pair(rng: Rng, largest: int) -> Params:
    """One positive and one negative, whose optimum is known: see the tests."""
    given = random(rng, 2)
    return given | {"y": rng.permutation(2), "C": float(2.0 ** rng.integers(-6, 7))}


#: Families that every model over labelled examples has.
PLAIN: dict[str, Draw] = {
    "random": random,
    "zero rows": zero_rows,
    "repeated examples": repeated,
    "ties": ties,
    "a pair": pair,
    "one positive": one_of(1),
    "one negative": one_of(0),
    "separable": separable,
    "tiny scale": scaled(-6),
    "huge scale": scaled(6),
    "real data": letters,
}


def queries(rng: Rng, largest: int) -> Params:
    """Several queries, each with both kinds."""
    given = random(rng, max(4, largest))
    n = len(given["y"])
    if n < 4:
        return queries(rng, largest)
    groups = rng.permutation(np.arange(n) % int(rng.integers(2, 1 + n // 2)))
    for g in np.unique(groups):
        given["y"][np.flatnonzero(groups == g)[:2]] = [0, 1]
    return given | {"groups": groups}


def with_easy(draw: Draw) -> Draw:
    """Half of the examples that a plane separates become easy; one of each kind does not."""

    def drawn(rng: Rng, largest: int) -> Params:
        for _ in range(20):
            given = draw(rng, largest)
            X, y = given["X"], given["y"]
            size = float(np.abs(X).max()) or 1.0
            plane = 2 * rng.standard_normal(X.shape[1]) / size
            margins = (2 * y - 1) * (X @ plane + rng.standard_normal())
            easy = margins >= max(0.1, float(np.quantile(margins, 0.5)))
            easy[[int(y.argmax()), int(y.argmin())]] = False
            if easy.any():
                break
        return given | {"easy": easy}

    return drawn


def all_easy(rng: Rng, largest: int) -> Params:
    """No difficult example: a hard margin."""
    given = separable(rng, largest)
    return given | {"easy": np.ones(len(given["y"]), dtype=bool)}


def none_easy(rng: Rng, largest: int) -> Params:
    """All examples difficult: an AP-SVM."""
    given = random(rng, largest)
    return given | {"easy": np.zeros(len(given["y"]), dtype=bool)}


def narrow(rng: Rng, largest: int) -> Params:
    """Easy examples that are only just separable: the optimum is dominated by their margin."""
    given = with_easy(random)(rng, largest)
    chosen = np.flatnonzero(given["easy"])
    if chosen.size >= 2:
        given["X"] = np.hstack([given["X"], np.zeros((len(given["y"]), 1))])
        given["X"][chosen, :-1] = given["X"][chosen[0], :-1]
        given["X"][chosen, -1] = (2.0 * given["y"][chosen] - 1) * 2.0**-5
    return given


def separates(X: np.ndarray, signs: np.ndarray) -> bool:
    """Whether some (w, b) has y_i (<x_i, w> + b) >= 1 for all rows, and one of sensible size."""
    if len(signs) == 0 or abs(int(signs.sum())) == len(signs):
        return True
    size = float(np.abs(X).max())
    if size == 0:
        return False
    rows = -signs[:, None] * np.hstack([X / size, np.ones((len(X), 1))])
    found = linprog(
        np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(rows)), bounds=(-1e4, 1e4)
    )
    return bool(found.status == 0)


def bags_of(draw: Draw) -> Draw:
    """One to four candidates per example; those beside the example itself are noise."""

    def drawn(rng: Rng, largest: int) -> Params:
        given = draw(rng, largest)
        X, y = given["X"], given["y"]
        sizes = rng.integers(1, 5, size=len(y))
        scale = float(np.abs(X).max()) or 1.0
        rows = scale / 2 * rng.standard_normal((int(sizes.sum()), X.shape[1]))
        rows[np.cumsum(sizes) - 1] = X + scale * y[:, None]
        return {"X": rows, "bags": np.repeat(np.arange(len(y)), sizes), "y": y, "C": given["C"]}

    return drawn


def single_bags(rng: Rng, largest: int) -> Params:
    """One candidate per bag: an AP-SVM, whose step is final."""
    given = random(rng, largest)
    return {**given, "bags": rng.permutation(len(given["y"]))}


def scattered(rng: Rng, largest: int) -> Params:
    """The candidates of a bag are not beside each other."""
    given = bags_of(random)(rng, largest)
    order = rng.permutation(len(given["bags"]))
    return given | {"X": given["X"][order], "bags": given["bags"][order]}


def rescaled(params: Params) -> Iterator[Params]:
    """Features of the size 1, and the C for which the problem is the same."""
    top = float(np.abs(params["X"]).max(initial=0.0))
    power = int(np.floor(np.log2(top))) if top > 0 else 0
    if power:
        yield {
            **params,
            "X": np.ldexp(params["X"], -power),
            "C": float(np.ldexp(params["C"], 2 * power)),
        }


def two_kinds(y: np.ndarray, groups: np.ndarray | None = None) -> bool:
    """Whether every query has a positive and a negative."""
    names = np.zeros(len(y), dtype=int) if groups is None else groups
    if np.shape(names) != np.shape(y) or not np.isin(y, (0, 1)).all():
        return False
    return len(y) > 0 and all(
        0 < y[names == g].sum() < (names == g).sum() for g in np.unique(names)
    )


def sound(X: np.ndarray, n: int, C: float) -> bool:
    """Whether features and C are finite and of the right shape."""
    if X.ndim != 2 or len(X) != n or X.shape[1] == 0 or not np.isfinite(X).all():
        return False
    return bool(0 < C < np.inf)
