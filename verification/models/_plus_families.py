"""Data sets for SVM, SVM+ and SVM-2K: as users have them, and as they break solvers.

Every family is a stream of arguments; the variants of a model (kernels, weights, own slacks, the
other treatment of xi >= 0, the loss) come in turn within each family.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from verification.instances.svm_plus import FAMILIES as DRAWN
from verification.instances.svm_plus import draw
from verification.models import Generator, Params

Array = np.ndarray[Any, Any]
Rng = np.random.Generator
OWN = ("planted", "zero rows", "scales", "stiff", "one against many", "digits")
#: What only means something with privileged features.
PRIVILEGED = ("informative z", "collapse", "s > n", "stiff")
VARIANTS: tuple[dict[str, bool], ...] = (
    {},
    {"kernels": True},
    {"nonneg": True},
    {"own": True},
    {"weights": True},
    {"kernels": True, "own": True},
    {"nonneg": True, "own": True},
    {"kernels": True, "nonneg": True, "weights": True},
)


def plus(squared: bool) -> dict[str, Generator]:
    """Families of SVM+ with one of the two losses."""
    return {
        name: functools.partial(_plus_stream, name, squared)
        for name in DRAWN + OWN
        if squared or name != "planted"
    }


def plain() -> dict[str, Generator]:
    """Families of the ordinary SVM, both losses."""
    names = [name for name in DRAWN + OWN if name not in PRIVILEGED]
    return {name: functools.partial(_plain_stream, name) for name in names}


def two_views() -> dict[str, Generator]:
    """Families of the SVM-2K."""
    names = [name for name in DRAWN + OWN if name not in ("planted", "collapse", "stiff")]
    return {name: functools.partial(_two_view_stream, name) for name in names}


def _plus_stream(family: str, squared: bool, rng: Rng, largest: int) -> Iterator[Params]:
    i = 0
    while True:
        variant: dict[str, bool] = dict(VARIANTS[i % len(VARIANTS)])
        given = _data(rng, family, largest)
        if family == "stiff":
            variant |= STIFF[i % len(STIFF)](rng, given)
        if family == "planted":  # the optimum is known for features, with xi of any sign
            given, variant = _planted(rng, given), {}
        _vary(rng, given, variant)
        if family == "stiff" and variant.get("kernels"):
            given["Kz"] = _definite(given["Kz"])
        if variant.get("nonneg"):
            given["nonneg_slack"] = squared
        if variant.get("own"):
            given["free_slack"] = float(10.0 ** rng.integers(-2, 2))
        yield given
        i += 1


def _plain_stream(family: str, rng: Rng, largest: int) -> Iterator[Params]:
    i = 0
    while True:
        given = _data(rng, family, largest)
        if family == "planted":
            given = _planted_plain(rng, given)
        variant = {"kernels": i % 3 == 1, "weights": i % 4 == 3}
        _vary(rng, given, {} if family == "planted" else variant)
        for name in ("Z", "Kz", "lam"):
            given.pop(name, None)
        given["loss"] = ("hinge", "squared_hinge")[i % 2]
        yield given
        i += 1


def _two_view_stream(family: str, rng: Rng, largest: int) -> Iterator[Params]:
    i = 0
    while True:
        given = _rounded(_data(rng, family, min(largest, 16)))
        _vary(rng, given, {"kernels": i % 3 == 1, "weights": i % 4 == 3})
        C = min(given.pop("C"), 1e3)
        given |= {"CA": C, "CB": C * float(10.0 ** rng.integers(-1, 2)), "D": C}
        given["D"] = float(rng.choice([0.0, C, 10 * C]))
        given["eps"] = float(rng.choice([0.0, 0.0, 0.1, 0.5]))
        given.pop("lam")
        yield given
        i += 1


def _rounded(given: Params) -> Params:
    """Rows by fours and an even number of columns: the oracle compiles a program for each shape."""
    n = len(given["y"])
    n -= n % 4 if n > 4 else 0
    given = _shorter(given, n)
    for name in ("X", "Z"):
        rows = given[name]
        given[name] = rows[:, : max(1, rows.shape[1] - rows.shape[1] % 2)]
    if len(np.unique(given["y"])) < 2:
        given["y"][0] *= -1
    return given


def _vary(rng: Rng, given: Params, variant: dict[str, bool]) -> None:
    """Weights and Gram matrices instead of features, in place."""
    if variant.get("weights") and "sample_weight" not in given:
        given["sample_weight"] = rng.choice([0.5, 1.0, 2.0, 7.0], len(given["y"]))
    if variant.get("kernels"):
        given["K"], given["Kz"] = _gram(rng, given.pop("X")), _gram(rng, given.pop("Z"))


def _gram(rng: Rng, rows: Array) -> Array:
    """Products, or a radial basis function of the median distance and of their size."""
    products = rows @ rows.T
    if rng.random() < 0.3:
        return (products + products.T) / 2
    square = products.diagonal()
    apart = np.maximum(square + square[:, None] - products - products.T, 0)
    apart[np.diag_indices(len(rows))] = 0
    middle = float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
    size = float(square.mean()) or 1.0
    return size * np.exp(-apart / middle)


def _data(rng: Rng, family: str, largest: int) -> Params:
    if family in DRAWN:
        return _shorter(draw(rng, family), largest)
    given = _shorter(draw(rng, "random"), largest)
    make: dict[str, Callable[[Rng, Params], None]] = {
        "zero rows": _zero_rows,
        "scales": _scales,
        "one against many": _one_against_many,
    }
    if family in make:
        make[family](rng, given)
    return _digits(rng, largest) if family == "digits" else given


def _shorter(given: Params, largest: int) -> Params:
    rows = ("X", "y", "Z", "sample_weight")
    return {name: v[:largest] if name in rows else v for name, v in given.items()}


def _zero_rows(rng: Rng, given: Params) -> None:
    """Examples at the origin, and one that is privileged with nothing."""
    n = len(given["y"])
    given["X"][rng.random(n) < 0.3] = 0.0
    given["X"][0] = 0.0
    given["Z"][rng.random(n) < 0.3] = 0.0


def _scales(rng: Rng, given: Params) -> None:
    """Features of any size; C and lam that suit them, or do not."""
    x, z = float(10.0 ** rng.integers(-4, 5)), float(10.0 ** rng.integers(-2, 3))
    given["X"], given["Z"] = given["X"] * x, given["Z"] * z
    given["C"] = float(given["C"] / x**2 * 10.0 ** rng.integers(-1, 2))
    given["lam"] = float(given["C"] * z**2 * 10.0 ** rng.integers(-3, 2))


def _high_price(rng: Rng, given: Params) -> dict[str, bool]:
    """Kernels with C k(x, x) of 1e8 in any units of k: all but a hard margin."""
    unit = float(10.0 ** rng.integers(-4, 5))
    given["X"] = given["X"] * unit
    given["C"] = 1e8 / unit**2
    given["lam"] = float(given["C"] * 10.0 ** rng.integers(-4, 3))
    return {"kernels": True}


def _cheap_correction(rng: Rng, given: Params) -> dict[str, bool]:
    """Kernels with kz(z, z) of 1 and C/lam = 1e10: the rounding of C, over lam, is 1e-6."""
    given["C"] = float(10.0 ** rng.integers(0, 4))
    given["lam"] = 1e-10 * given["C"]
    return {"kernels": True}


def _small_beside_one(rng: Rng, given: Params) -> dict[str, bool]:
    """Features z of 1e-4: in Kz + 1 it is the 1 that counts, unless C/lam is huge."""
    given["Z"] = 1e-4 * given["Z"]
    given["lam"] = float(given["C"] * 10.0 ** rng.integers(-10, 0))
    return {}


def _definite(gram: Array) -> Array:
    """Beyond rounding: an eigenvalue of -1e-15, C/lam times that, would leave no problem to solve."""
    return gram + 2.0**-10 * float(gram.diagonal().mean()) * np.eye(len(gram))


#: What float64 has trouble with, in turn; their number is no multiple of that of the variants.
STIFF: tuple[Callable[[Rng, Params], dict[str, bool]], ...] = (
    _cheap_correction,
    _high_price,
    _small_beside_one,
)


def _one_against_many(rng: Rng, given: Params) -> None:
    """A single example of a class."""
    given["y"] = -np.ones(len(given["y"])) * rng.choice([-1.0, 1.0])
    given["y"][0] *= -1


@functools.cache
def _real() -> tuple[Array, Array]:
    from sklearn.datasets import load_digits

    data = load_digits()
    return data.data / 16, data.target


def _digits(rng: Rng, largest: int) -> Params:
    """Two digits of scikit-learn's set: 2 x 2 blocks to predict from, all pixels as privilege."""
    pixels, target = _real()
    one, other = rng.choice(10, 2, replace=False)
    rows = rng.permutation(np.flatnonzero((target == one) | (target == other)))[: max(largest, 4)]
    y = np.where(target[rows] == one, 1.0, -1.0)
    if len(np.unique(y)) < 2:
        y[0] = -y[0]
    Z = pixels[rows]
    X = Z.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(len(rows), 16)
    C, lam = float(10.0 ** rng.integers(-1, 3)), float(10.0 ** rng.integers(-2, 2))
    return {"X": X, "y": y, "Z": Z, "C": C, "lam": lam}


def _planted(rng: Rng, given: Params) -> Params:
    """SVM2+ whose multipliers are known: xi = Q alpha, then features in which the margins are met.

    With S = sum alpha_i (1 - xi_i) > 0 and ||w||^2 = S, rows x_i = a_i w + p_i, a_i ||w||^2 + b =
    y_i (1 - xi_i) (more where alpha_i = 0), have w = sum alpha_i y_i x_i if sum alpha_i y_i p_i = 0.
    """
    y, Z, C, lam = (given[name] for name in ("y", "Z", "C", "lam"))
    n = len(y)
    alpha = np.where(rng.random(n) < 0.6, rng.integers(1, 5, n), 0).astype(float)
    up, down = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    alpha[up[0]], alpha[down[0]] = max(alpha[up[0]], 1.0), max(alpha[down[0]], 1.0)
    alpha[up] *= alpha[down].sum() / alpha[up].sum()
    Zt = np.column_stack([Z, np.ones(n)])
    g = np.linalg.solve(lam * np.eye(Zt.shape[1]) + C * Zt.T @ Zt, Zt.T @ alpha)
    xi = Zt @ g
    t = float(rng.uniform(0.2, 0.9) * alpha.sum() / (alpha @ xi))
    alpha, xi = t * alpha, t * xi
    square = float(alpha @ (1 - xi))
    b, margins = float(rng.standard_normal()), 1 - xi
    margins = margins + np.where(alpha > 0, 0.0, rng.choice([0.0, 1.0], n))
    d = given["X"].shape[1] + 1
    direction = rng.standard_normal(d)
    direction /= np.linalg.norm(direction)
    off = rng.standard_normal((n, d))
    off -= np.outer(off @ direction, direction)
    last = int(np.argmax(alpha))
    off[last] = 0.0
    off[last] = -y[last] * (off.T @ (alpha * y)) / alpha[last]
    X = np.outer((y * margins - b) / np.sqrt(square), direction) + off
    return {"X": X, "y": y, "Z": Z, "C": C, "lam": lam}


def _planted_plain(rng: Rng, given: Params) -> Params:
    """Separable with known support vectors: e_1 on one side, -e_1 on the other, the rest beyond."""
    n, y = len(given["y"]), given["y"]
    X = np.abs(given["X"][:, :1]) * y[:, None] + y[:, None]
    X[int(np.argmax(y > 0))], X[int(np.argmax(y < 0))] = 1.0, -1.0
    X = np.column_stack([X, np.zeros(n)])
    return {**given, "X": X, "C": 4.0}
