"""Log-odds of SVM+: the line by a general optimiser, the same unit for all classes."""

import numpy as np
import pytest
from _problems import privileged
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_digits

from fast import SVMPlusClassifier
from fast.errors import InvalidParameterError
from fast.estimators._log_odds import log_odds


def naive(f, positive, weight):
    """The likelihood of smoothed labels, by sums as they are written; a general optimiser."""
    up, down = weight[positive].sum(), weight[~positive].sum()
    t = np.where(positive, (up + 1) / (up + 2), 1 / (down + 2))

    def loss(x):
        p = np.clip(expit(x[0] * f + x[1]), 1e-300, 1 - 1e-16)
        return -float(weight @ (t * np.log(p) + (1 - t) * np.log(1 - p)))

    found = minimize(loss, [0.0, 0.0], bounds=[(0.0, None), (None, None)], options={"ftol": 1e-15})
    return found.x, loss


@pytest.mark.parametrize(
    "shift", [-2.0, 0.0, 0.7, 6.0]
)  # falling, without meaning, useful, separating
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_the_line_is_the_best_one(shift, scale):
    rng = np.random.default_rng(int(10 * shift) % 7)
    positive = np.arange(60) % 4 == 0
    f = rng.standard_normal(60) + shift * positive + 3.0
    weight = rng.integers(1, 4, 60).astype(float)
    a, c = log_odds(scale * f, positive, weight)
    best, loss = naive(f, positive, weight)
    assert a >= 0.0
    assert loss([a * scale, c]) <= loss(best) * (1 + 1e-9)
    assert (a > 0.0) == (best[0] > 1e-6)
    np.testing.assert_allclose(
        log_odds(3.0 - 0.5 * -f, positive, weight)[0] * 0.5 * f, a * scale * f, rtol=1e-6
    )
    rows = np.repeat(np.arange(60), weight.astype(int))
    copies = log_odds(scale * f[rows], positive[rows], np.ones(len(rows)))
    np.testing.assert_allclose(copies, (a, c), rtol=1e-6)


def test_scores_that_are_all_the_same_are_the_prior():
    a, c = log_odds(np.full(9, 0.3), np.arange(9) < 3, np.ones(9))
    t = (3 * 4 / 5 + 6 * 1 / 8) / 9
    assert (a, c) == (0.0, pytest.approx(np.log(t / (1 - t))))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("m", [2, 3])
def test_classes_compare_whatever_their_size(kernel, m):
    X, y, Z = privileged(2, n=300, classes=m)
    kept = (y > 0) | (np.arange(300) % 8 == 0)
    model = SVMPlusClassifier(kernel=kernel, C=0.1).fit(X[kept], y[kept], Z[kept])
    found, f = model.log_odds(X), model.decision_function(X)
    assert found.shape == f.shape == ((300,) if m == 2 else (300, 3))
    lines = model.odds_[0] if m == 2 else model.odds_.T
    np.testing.assert_allclose(found, lines[0] * f + lines[1])
    given = expit(found[kept])
    real = (y[kept] == 1) if m == 2 else (y[kept][:, None] == np.arange(3))
    # what is expected is what there is, but for the labels' smoothing
    np.testing.assert_allclose(given.mean(axis=0), real.mean(axis=0), atol=0.05)


def test_rare_classes_are_found_again():
    """Of the docstring's figures the lowest; new digits are of equal frequency."""
    X, y = load_digits(return_X_y=True)
    Z, X = X / 16, (X / 16).reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
    rare = np.isin(y[:900], [3, 4, 5, 8])
    kept = np.random.default_rng(0).random(900) < np.where(rare, 0.1, 1.0)
    model = SVMPlusClassifier(C=0.1, lam=0.1, free_slack=0.1).fit(
        X[:900][kept], y[:900][kept], Z[:900][kept]
    )
    right = (model.predict(X[900:]) == y[900:]).mean()
    assert right < 0.61
    assert (model.log_odds(X[900:]).argmax(axis=1) == y[900:]).mean() > 0.68


def test_a_model_of_a_file_has_no_odds():
    X, y, Z = privileged(3)
    model = SVMPlusClassifier().fit(X, y, Z)
    del model.odds_
    with pytest.raises(InvalidParameterError, match="read from a file"):
        model.log_odds(X)
