"""Small data sets for estimators, and fits that may warn."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning


def classes(seed=0, n=80, m=5, d=4, spread=1.5):
    """Features around one centre per class, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % m)
    return spread * rng.standard_normal((m, d))[y] + rng.standard_normal((n, d)), y


def relevant(seed=0, n=60, d=5, part=0.3, shift=1.0):
    """Features of examples to be ranked, and which of them are relevant."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(n) < max(part * n, 1)
    return rng.standard_normal((n, d)) + shift * y[:, None] / np.sqrt(d), y


def bags(seed=0, n=40, d=4, part=0.3, most=5, shift=2.0):
    """Bags of candidates, one of which shows why a relevant bag is."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(n) < part * n
    found = [rng.standard_normal((rng.integers(1, most + 1), d)) for _ in range(n)]
    for bag, positive in zip(found, y, strict=True):
        bag[rng.integers(len(bag))] += shift * positive / np.sqrt(d)
    return found, y


def privileged(seed=0, n=60, d=4, classes=2):
    """Z knows how far an example is on its side, on a scale of its own."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.3
    f = X @ rng.standard_normal(d) + 0.8 * rng.standard_normal(n)
    y = np.digitize(f, np.quantile(f, np.arange(1, classes) / classes))
    distance = np.abs(f[:, None] - np.quantile(f, np.arange(1, classes) / classes)).min(axis=1)
    Z = np.column_stack([50.0 + 20.0 * distance, rng.standard_normal((n, 2))])
    return X, y, Z


def quietly(model, *data, ignored=(ConvergenceWarning,), **more):
    """A fit that may end with these warnings, and with no others."""
    with warnings.catch_warnings():
        for kind in ignored:
            warnings.simplefilter("ignore", kind)
        return model.fit(*data, **more)


def assert_same_optimum(a, b, width):
    """Both certified intervals are narrow, and they overlap."""
    assert max(a.dual_gap_, b.dual_gap_) <= width
    scale = 1e-11 * max(a.primal_objective_, b.primal_objective_)
    assert a.dual_objective_ <= b.primal_objective_ + scale
    assert b.dual_objective_ <= a.primal_objective_ + scale
