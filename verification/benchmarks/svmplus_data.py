"""Random problems with privileged features, and LIBSVM and certificates for them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from verification.benchmarks.peers import fit_quietly
from verification.certificates import plus_model

Array = np.ndarray[Any, Any]


class Problem(NamedTuple):
    """X (n, d), Z (n, s), labels y (n,) -1 and 1."""

    X: Array
    Z: Array
    y: Array


def linear(n: int, d: int = 50, s: int = 20, seed: int = 0) -> Problem:
    """Labels of a noisy linear function; three of the privileged features say how hard an example is."""
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(d) / np.sqrt(d)
    X, noise = rng.standard_normal((n, d)), rng.standard_normal(n)
    y = np.where(X @ w + 0.5 * noise > 0.0, 1.0, -1.0)
    Z, margin = rng.standard_normal((n, s)), y * (X @ w)
    Z[:, 0] = np.abs(noise) + 0.1 * Z[:, 0]
    Z[:, 1], Z[:, 2] = margin, np.maximum(0.0, 1.0 - margin)
    return Problem(X, Z, y)


def curved(n: int, d: int = 20, s: int = 10, seed: int = 0) -> tuple[Array, Array, Array]:
    """RBF kernels (gamma "scale") of X and Z for labels of a nonlinear function, and the labels."""
    from sklearn.metrics.pairwise import rbf_kernel

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    f = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.3 * rng.standard_normal(n)
    y = np.where(f > np.median(f), 1.0, -1.0)
    Z = 0.7 * X[:, :s] + 0.5 * rng.standard_normal((n, s))
    Z[:, 0] += y * np.abs(f)
    return rbf_kernel(X, gamma=1 / (d * X.var())), rbf_kernel(Z, gamma=1 / (s * Z.var())), y


def classes(n: int, m: int, d: int, s: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """X (n, d), Z (n, s) the same within a class, and classes (n,): n/m rows of each.

    Rows of X are like the activations of a network, nonnegative and of length 1; those of Z
    sparse like counts of words.
    """
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(m), n // m)
    centres = rng.standard_normal((m, d))
    X = np.maximum(0.6 * centres[label] + rng.standard_normal((n, d)), 0.0)
    Z = (np.abs(rng.standard_normal((m, s))) * (rng.random((m, s)) < 0.05))[label]
    X, Z = (A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-9) for A in (X, Z))
    return X, Z, label


def one_against_rest(label: Array) -> Array:
    """Labels (n, m): a column per class."""
    return np.where(label[:, None] == np.unique(label), 1.0, -1.0)


def libsvm(K: Array, Q: Array, y: Array, C: float, lam: float, tol: float, most: int = -1) -> Array:
    """Multipliers (n,) of dual (4) by LIBSVM on the deformed kernel, with a box that cannot bind."""
    from sklearn.svm import SVC

    box = 0.5 * (C * len(y) + lam)
    model = SVC(kernel="precomputed", C=box, tol=tol, cache_size=1000, max_iter=most)
    fit_quietly(model, K + Q * y * y[:, None], y)
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return alpha


def multipliers_gap(y: Array, alpha: Array, C: float, lam: float, **views: Any) -> float:
    """Relative gap 1 - (S m/q)^2 of multipliers of SVM2+; inf without a margin."""
    data = plus_model.problem(y, loss="squared_hinge", C=C, lam=lam, **views)
    return plus_model.of_multipliers(data, alpha).relative_gap


def worst_gap(
    labels: Array, alphas: Iterable[Array], C: float, lam: float, **views: Array
) -> float:
    """The largest gap of multipliers of the first classes, a column of labels each."""
    pairs = zip(labels.T, alphas, strict=False)
    return max(multipliers_gap(y, alpha, C, lam, **views) for y, alpha in pairs)
