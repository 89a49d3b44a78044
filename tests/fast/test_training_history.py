"""What the history of a fit says: the certificates of each check, the first one at W = 0."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fast import OneVsAllClassifier, TopKSVC

X, y = load_digits(return_X_y=True)
X = X[:600] / 16.0
y = y[:600]


@pytest.mark.parametrize(("solver", "gamma"), [
    ("active", 0.0), ("active", 1.0), ("newton", 1.0), ("sdca", 0.0), ("interior", 0.0), ("fista", 1.0),
])  # fmt: skip
def test_history_begins_at_zero_and_bounds_only_tighten(solver: str, gamma: float) -> None:
    model = TopKSVC(k=2, gamma=gamma, C=0.1, tol=1e-3, solver=solver, random_state=0).fit(X, y)
    history = model.history_
    others = 9
    value = 1.0 if gamma == 0.0 else (1.0 - 0.5 / others)  # p = 1/9 each at z = 1
    assert history["iteration"][0] == 0
    assert history["primal"][0] == pytest.approx(0.1 * len(y) * value, rel=1e-12)
    assert history["dual"][0] == 0.0
    assert history["gap"][0] == 1.0
    assert (np.diff(history["primal"]) <= 0.0).all()
    rounding = 1e-12 * abs(model.dual_objective_)
    assert (np.diff(history["dual"]) >= -rounding).all()
    assert history["gap"][-1] == model.dual_gap_ <= 1e-3
    scale = np.maximum(np.abs(history["primal"]), np.abs(history["dual"]))
    np.testing.assert_array_equal(history["gap"], (history["primal"] - history["dual"]) / scale)


def test_solver_follows_the_weight_of_the_smoothing() -> None:
    weak = TopKSVC(gamma=1.0, C=0.1, tol=1e-3, random_state=0).fit(X, y)
    strong = TopKSVC(gamma=1e4, C=0.1, tol=1e-3, random_state=0).fit(X, y)
    assert (weak.solver_, strong.solver_) == ("active", "newton")
    assert strong.dual_gap_ <= 1e-3


@pytest.mark.parametrize("seed", range(3))
def test_newton_takes_over_where_class_lists_crawl(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data, labels = rng.standard_normal((40, 6)), rng.integers(0, 5, 40)
    settings = {"k": 2, "gamma": 0.5, "C": 1e6, "tol": 1e-5, "random_state": 0}
    model = TopKSVC(**settings).fit(data, labels)
    assert model.solver_ in ("newton", "interior")
    assert model.dual_gap_ <= 1e-5
    other = TopKSVC(solver="newton", **settings).fit(data, labels)
    assert model.dual_objective_ <= other.primal_objective_
    assert other.dual_objective_ <= model.primal_objective_


@pytest.mark.parametrize("seed", [3, 11])
def test_an_iteration_has_one_entry_also_where_a_search_fails(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = np.arange(40) % 4
    rows = rng.standard_normal((4, 3))[labels] + rng.standard_normal((40, 3))
    model = OneVsAllClassifier(loss="logistic", solver="lbfgs").fit(rows, labels)
    np.testing.assert_array_equal(model.history_["iteration"], np.arange(model.n_iter_ + 1))
