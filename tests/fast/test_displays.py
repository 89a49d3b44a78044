"""Displays draw the numbers that they were given."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from fast import TopKLogisticRegression, TopKSVC, regularization_path
from fast.displays import GapDisplay, PathDisplay, TopKDisplay
from fast.errors import InvalidParameterError, InvalidTypeError
from fast.metrics import topk_accuracy

X, Y = load_digits(return_X_y=True)
X = X / 16.0


@pytest.fixture(autouse=True)
def closed():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield plt
    plt.close("all")


def test_gap_over_time() -> None:
    model = TopKLogisticRegression(tol=1e-6).fit(X, Y)
    display = GapDisplay.from_estimator(model)
    seconds, gaps = display.line_.get_data()
    np.testing.assert_array_equal(seconds, model.history_["time"])
    np.testing.assert_array_equal(gaps, np.maximum(model.history_["gap"], np.finfo(float).tiny))
    assert display.ax_.get_yscale() == "log"
    assert {t.get_text() for t in display.ax_.get_legend().get_texts()} == {
        "TopKLogisticRegression", "tol = 1e-06",
    }  # fmt: skip
    with pytest.raises(InvalidTypeError, match="call fit first"):
        GapDisplay.from_estimator(TopKSVC())


def test_accuracy_over_k_of_ours_and_of_others(closed) -> None:
    _, ax = closed.subplots()
    ours = TopKSVC(k=3).fit(X, Y)
    other = LogisticRegression(max_iter=1000).fit(X, Y)
    for model in (ours, other):
        display = TopKDisplay.from_estimator(model, X, Y, ax=ax)
        assert display.ax_ is ax
        ks, shares = display.line_.get_data()
        assert ks.tolist() == list(range(1, 10))
        right = [topk_accuracy(Y, model.decision_function(X), k) for k in range(1, 10)]
        np.testing.assert_array_equal(shares, right)
    assert len(ax.get_lines()) == 2
    two = TopKDisplay.from_estimator(TopKSVC().fit(X, Y > 4), X, Y > 4)
    assert two.ks.tolist() == [1]
    with pytest.raises(InvalidParameterError, match="ks"):
        TopKDisplay.from_predictions(Y, ours.decision_function(X), ks=[])


def test_accuracy_along_a_path() -> None:
    path = regularization_path(TopKLogisticRegression(), X, Y, Cs=[1.0, 0.01, 0.1])
    display = PathDisplay.from_path(path, X, Y, ks=(1, 3))
    for line, k in zip(display.lines_, (1, 3), strict=True):
        Cs, shares = line.get_data()
        assert Cs.tolist() == [0.01, 0.1, 1.0]
        assert shares.tolist() == [topk_accuracy(Y, m.decision_function(X), k) for m in path]
    with pytest.raises(InvalidTypeError, match="regularization_path returns"):
        PathDisplay.from_path([1], X, Y)
