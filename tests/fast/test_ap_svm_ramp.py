"""APSVM(ramp=True): the objective never rises, and the last convex step is certified."""

import pytest
from _certified import check_certificate
from _naive_ap_svm import average_precision, dense, ramp
from _problems import quietly, relevant
from _watched import Recorder
from sklearn.exceptions import ConvergenceWarning

from fast import APSVM


def problem(seed=0, n=60):
    X, y = relevant(seed, n)
    X[:3] *= -6.0  # outliers
    return X, y


def objective(model, X, y, groups=None):
    w = model.coef_[0]
    return 0.5 * w @ w + model.C * ramp(dense(X) @ w, y, groups)


def fit(X, y, groups=None, **params):
    model = APSVM(**{"C": 20.0, "tol": 1e-4, "ramp": True, **params})
    return quietly(model, X, y, groups=groups)


def test_the_ramp_bounds_the_loss_and_is_below_the_hinge():
    X, y = problem(3)
    model, hinge = fit(X, y), fit(X, y, ramp=False)
    s = X @ model.coef_[0]
    assert 1.0 - average_precision(s, y) <= ramp(s, y) + 1e-12 <= 1.0 + 2e-12
    for attribute in ("objectives_", "n_rounds_", "reference_ranking_"):
        assert not hasattr(hinge, attribute)
    assert objective(hinge, X, y) <= hinge.primal_objective_ * (1 + 1e-12)


def test_it_settles_no_higher_than_where_it_began():
    X, y = problem(4)
    model = APSVM(C=20.0, tol=1e-4, ramp=True).fit(X, y)
    first = model.objectives_.copy()
    assert model.n_rounds_ >= 2
    assert first[-1] < first[0]
    model.set_params(ramp=False).fit(X, y)
    check_certificate(model, X, y)
    assert not hasattr(model, "objectives_")


@pytest.mark.parametrize("interrupt", [False, True])
@pytest.mark.parametrize("later", [False, True])
def test_stopped_in_the_first_step_or_later(later, interrupt):
    X, y = problem(6)
    full = APSVM(C=20.0, ramp=True, tol=1e-6).fit(X, y)
    rounds, iteration = full.history_["round"], full.history_["iteration"]
    at = int(iteration[rounds == 1][-1]) + 1 if later else 1
    stop = Recorder(None, at) if interrupt else Recorder(at)
    model = APSVM(C=20.0, ramp=True, tol=1e-6)
    model.set_callbacks(stop)
    with pytest.warns(ConvergenceWarning, match="interrupted" if interrupt else "stopped"):
        model.fit(X, y)
    assert len(stop.models) == at
    assert model.n_rounds_ == 1 + later
    check_certificate(model, X, y)
