"""Data for examples and benchmarks: the UCI Letter data (shipped), Gaussian mixtures, and what else occurs."""

import zlib
from importlib.resources import files
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from fast._validation import check_k, number
from fast.errors import DatasetError, InvalidParameterError

SUBSETS = ("train", "validation", "test")


def load_letter(subset: str | None = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """UCI Letter Recognition: 20 000 examples, 16 features (0 to 15), 26 classes (0 = A).

    Parameters
    ----------
    subset : {"train", "validation", "test"}, optional
        The parts of the LIBSVM distribution (10 500, 4 500 and 5 000 examples), which Lapin et al.
        used; default all examples in the order of the UCI file. Their protocol scales features to
        [-1, 1] by the range of the training part and fits no intercept.

    Returns
    -------
    X : ndarray of float64, shape (n, 16)
        Features, not scaled.
    y : ndarray of int64, shape (n,)
        Classes 0 to 25.

    Raises
    ------
    fast.errors.InvalidParameterError
        Unknown subset.
    fast.errors.DatasetError
        The data file is missing or damaged: install the package again.

    Notes
    -----
    Slate, D. (1991). Letter Recognition. UCI Machine Learning Repository, data set 59,
    doi:10.24432/C5ZP40 (CC BY 4.0).
    """
    if subset is not None and subset not in SUBSETS:
        raise InvalidParameterError(
            "subset", repr(subset), f"one of {SUBSETS} or None for all examples", "choose one"
        )
    path = files(__package__).joinpath("data", "letter.npz")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
            X, y, split = data["X"], data["y"], data["split"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error) as error:
        raise DatasetError(
            f"the Letter data cannot be read from {path.name}: {error}. Fix: reinstall the package."
        ) from error
    if subset is not None:
        rows = split == SUBSETS.index(subset)
        X, y = X[rows], y[rows]
    return X.astype(np.float64), y.astype(np.int64)


def make_gaussian_mixture(
    n: int,
    m: int,
    d: int,
    *,
    separation: float = 4.0,
    random_state: Any = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Examples of m classes around random means, divided by sqrt(d) so that ||x|| is about 1.

    Means are N(0, separation^2/d I), so that they lie about sqrt(2) separation apart; examples are
    N(mean, I). Class sizes differ by at most 1.

    Parameters
    ----------
    n, m, d : int
        Numbers of examples, classes (2 <= m <= n) and features.
    separation : float, default 4.0
        Distance >= 0 of the means from the origin, in standard deviations.
    random_state : int, numpy.random.Generator or None
        Seed.

    Returns
    -------
    X : ndarray of float64, shape (n, d)
        Features.
    y : ndarray of int64, shape (n,)
        Classes 0 to m - 1 in random order.

    Raises
    ------
    fast.errors.InvalidParameterError
        A size that is not a positive integer, fewer than 2 classes or more classes than examples.
    """
    n, m, d = _sizes(n, m, d)
    separation = number("separation", separation)
    rng = np.random.default_rng(random_state)
    means = rng.standard_normal((m, d)) * (separation / np.sqrt(d))
    y = rng.permutation(np.arange(n) % m)
    return (means[y] + rng.standard_normal((n, d))) / np.sqrt(d), y


def make_deep_features(
    n: int,
    m: int,
    d: int,
    *,
    separation: float = 1.0,
    random_state: Any = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows of length 1 whose spectrum falls like a power, as a network's last layer gives them.

    Means and deviations are normal with covariance Q diag(1, 1/2, ..., 1/d) Q', Q a random rotation.

    Parameters
    ----------
    n, m, d : int
        Numbers of examples, classes (2 <= m <= n) and features.
    separation : float, default 1.0
        Size >= 0 of the means relative to the deviations from them.
    random_state : int, numpy.random.Generator or None
        Seed.

    Returns
    -------
    X : ndarray of float64, shape (n, d)
        Features.
    y : ndarray of int64, shape (n,)
        Classes 0 to m - 1 in random order; their numbers differ by at most 1.

    Raises
    ------
    fast.errors.InvalidParameterError
        A size that is not a positive integer, fewer than 2 classes or more classes than examples.
    """
    n, m, d = _sizes(n, m, d)
    separation = number("separation", separation)
    rng = np.random.default_rng(random_state)
    spread = np.linalg.qr(rng.standard_normal((d, d)))[0] / np.sqrt(np.arange(1, d + 1))
    means = separation * rng.standard_normal((m, d))
    y = rng.permutation(np.arange(n) % m)
    X = (means[y] + rng.standard_normal((n, d))) @ spread.T
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def _sizes(n: int, m: int, d: int) -> tuple[int, int, int]:
    """Checked numbers of examples, classes and features."""
    n, m, d = (check_k(value, name=name) for name, value in (("n", n), ("m", m), ("d", d)))
    if not 2 <= m <= n:
        raise InvalidParameterError("m", f"{m}", f"2 <= m <= n = {n}", "choose fewer classes")
    return n, m, d
