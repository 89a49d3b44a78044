"""Data for examples and benchmarks: the UCI Letter data (shipped), and kinds of data that occur."""

import zlib
from collections.abc import Callable
from importlib.resources import files
from typing import Any
from zipfile import BadZipFile

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from fast._docs import with_sections
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


Data = tuple[NDArray[np.float64], NDArray[np.int64]]

_PARAMETERS = {
    "n": ("int", "Number of examples."),
    "m": ("int", "Number of classes, 2 <= m <= n."),
    "d": ("int", "Number of features."),
    "separation": (
        "float",
        "How far >= 0 classes lie apart, relative to the deviations from them.",
    ),
    "random_state": ("int, numpy.random.Generator or None", "Seed."),
}
_RETURNS = ("X, y", "Features, float64 (n, d), and classes 0 to m - 1 in random order, int64 (n,).")
_RAISES = (
    "fast.errors.InvalidParameterError",
    "A size that is not a positive integer, fewer than 2 classes or more classes than examples.",
)


def _made(function: Callable[..., Data]) -> Callable[..., Data]:
    """Say what all of them have in common."""
    return with_sections(function, _PARAMETERS, _RETURNS, _RAISES)


def _begin(
    n: int, m: int, d: int, separation: float, random_state: Any
) -> tuple[np.random.Generator, float]:
    """Generator and separation; sizes are checked."""
    n, m, d = (check_k(value, name=name) for name, value in (("n", n), ("m", m), ("d", d)))
    if not 2 <= m <= n:
        raise InvalidParameterError("m", f"{m}", f"2 <= m <= n = {n}", "choose fewer classes")
    return np.random.default_rng(random_state), number("separation", separation)


def _labels(rng: np.random.Generator, n: int, m: int) -> NDArray[np.int64]:
    """Classes in random order; their numbers differ by at most 1."""
    return rng.permutation(np.arange(n) % m)


@_made
def make_gaussian_mixture(
    n: int, m: int, d: int, *, separation: float = 4.0, random_state: Any = None
) -> Data:
    """Examples of m classes around random means, divided by sqrt(d) so that ||x|| is about 1.

    Means are N(0, separation^2/d I), so that they lie about sqrt(2) separation apart; examples are
    N(mean, I). Class sizes differ by at most 1.
    """
    rng, separation = _begin(n, m, d, separation, random_state)
    means = rng.standard_normal((m, d)) * (separation / np.sqrt(d))
    y = _labels(rng, n, m)
    return (means[y] + rng.standard_normal((n, d))) / np.sqrt(d), y


def _falling(
    rng: np.random.Generator, n: int, m: int, d: int, separation: float, power: float
) -> Data:
    """Normal means and deviations with covariance Q diag(j^(-2 power)) Q', Q a random rotation."""
    spread = np.linalg.qr(rng.standard_normal((d, d)))[0] / np.arange(1, d + 1) ** power
    means = separation * rng.standard_normal((m, d))
    y = _labels(rng, n, m)
    return (means[y] + rng.standard_normal((n, d))) @ spread.T, y


@_made
def make_deep_features(
    n: int, m: int, d: int, *, separation: float = 1.0, random_state: Any = None
) -> Data:
    """Rows of length 1 whose spectrum falls like a power, as a network's last layer gives them.

    Means and deviations are normal with covariance Q diag(1, 1/2, ..., 1/d) Q', Q a random rotation.
    Class sizes differ by at most 1.
    """
    rng, separation = _begin(n, m, d, separation, random_state)
    X, y = _falling(rng, n, m, d, separation, 0.5)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


@_made
def make_images(
    n: int, m: int, d: int, *, separation: float = 0.15, random_state: Any = None
) -> Data:
    """Numbers from 0 to 1, many of them 0, whose spectrum falls fast, like pixels of small images.

    Normal features with covariance Q diag(1, 2^-1.5, ..., d^-1.5) Q', moved by .02; what is negative
    becomes 0. At the usual sizes (10 000, 10, 784) a linear classifier errs on 8 % of what it was trained
    on. Class sizes differ by at most 1.
    """
    rng, separation = _begin(n, m, d, separation, random_state)
    X, y = _falling(rng, n, m, d, separation, 0.75)
    X = np.maximum(X + 0.02, 0.0)
    return X / max(X.max(), np.finfo(float).tiny), y


@_made
def make_heavy_tails(
    n: int, m: int, d: int, *, separation: float = 1.0, random_state: Any = None
) -> Data:
    """Features of mean 0 and variance 1 with outliers of up to 120 deviations, four fifths in one class.

    Student's t with 2 degrees of freedom about the normal means of classes. Four fifths of the
    examples have label 0, others are as many as one another.
    """
    rng, separation = _begin(n, m, d, separation, random_state)
    y = _labels(rng, n, m)
    y[rng.permutation(np.flatnonzero(y))[: max(4 * n // 5 - np.count_nonzero(y == 0), 0)]] = 0
    X = separation * rng.standard_normal((m, d))[y] + rng.standard_t(2.0, (n, d))
    X -= X.mean(axis=0)
    return np.clip(X / np.maximum(X.std(axis=0), np.finfo(float).tiny), -120.0, 120.0), y


@_made
def make_one_hot(
    n: int, m: int, d: int, *, separation: float = 1.0, random_state: Any = None
) -> Data:
    """Categories as 0 and 1: of each three features at most one is 1, as of four letters without one.

    Log-odds of the categories are normal with deviation separation * 3/(3 + j) in the j-th triple, so
    that the first tell most. Class sizes differ by at most 1.
    """
    rng, separation = _begin(n, m, d, separation, random_state)
    y = _labels(rng, n, m)
    triples = -(-d // 3)
    odds = rng.standard_normal((m, triples, 4)) * (3.0 / (3.0 + np.arange(triples)[:, None]))
    letter = (separation * odds[y] + rng.gumbel(size=(n, triples, 4))).argmax(axis=2)
    return (letter[:, :, None] == np.arange(3)).reshape(n, -1)[:, :d].astype(np.float64), y


@_made
def make_clusters(
    n: int, m: int, d: int, *, separation: float = 1.0, random_state: Any = None
) -> Data:
    """Classes that consist of clusters of about six examples, as of speakers who repeat a word.

    Clusters are normal about the normal means of classes, their examples about them with a deviation
    of .3. Class sizes differ by at most 1.
    """
    rng, separation = _begin(n, m, d, separation, random_state)
    y = _labels(rng, n, m)
    cluster = y + m * rng.integers(0, -(-n // (6 * m)), n)
    centres = separation * rng.standard_normal((m, d))
    centres = centres[np.arange(cluster.max() + 1) % m] + rng.standard_normal(
        (cluster.max() + 1, d)
    )
    return centres[cluster] + 0.3 * rng.standard_normal((n, d)), y


def make_text(
    n: int,
    m: int,
    d: int,
    *,
    words: float = 115.0,
    imbalance: float = 0.0,
    random_state: Any = None,
) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Documents of m topics as unit rows of tf-idf, in CSR: few words are frequent, most are rare.

    The word of rank q = 1, 2, ... has probability ~ 1/(q + 1), among all d or, for a share of a document
    that is drawn from Beta(1, 3), among 2000 of its topic. Lengths are lognormal.
    """
    rng, _ = _begin(n, m, d, 0.0, random_state)
    words, share = (
        number("words", words),
        np.arange(1.0, m + 1.0) ** -number("imbalance", imbalance),
    )
    y = rng.permutation(np.concatenate([np.arange(m), rng.choice(m, n - m, p=share / share.sum())]))
    row = np.repeat(np.arange(n), np.maximum(words * rng.lognormal(0.0, 0.4, n), 1.0).astype(int))
    own = rng.random(len(row)) < rng.beta(1.0, 3.0, n)[row]
    topics = rng.integers(d, size=(m, min(d, 2000)))
    word = _frequent(rng, d, len(row))
    word[own] = topics[y[row[own]], _frequent(rng, topics.shape[1], int(own.sum()))]
    places = row.astype(np.int32), rng.permutation(d).astype(np.int32)[word]  # as in an alphabet
    X = sp.csr_array((np.ones(len(row)), places), shape=(n, d))
    idf = np.log((1.0 + n) / (1.0 + np.bincount(X.indices, minlength=d))) + 1.0
    X.data = (1.0 + np.log(X.data)) * idf[X.indices]
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), np.diff(X.indptr))
    return X, y


def _frequent(rng: np.random.Generator, size: int, n: int) -> NDArray[np.int64]:
    """Draw n ranks by Zipf's law."""
    total = np.cumsum(1.0 / (np.arange(size) + 2.0))
    return np.searchsorted(total, rng.random(n) * total[-1])


with_sections(
    make_text,
    _PARAMETERS
    | {
        "words": ("float", "Median length of a document; its different words are fewer."),
        "imbalance": ("float", "Sizes of topics fall like their rank to this power, negative."),
    },
    (
        "X, y",
        "csr_array of float64 (n, d), and topics 0 to m - 1, each of which occurs, int64 (n,).",
    ),
    _RAISES,
)
