"""APSVM(ramp=True): the objective never rises, and the last convex step is certified."""

import numpy as np
import pytest
import scipy.sparse as sp
from _certified import check_certificate
from _naive_ap_svm import average_precision, dense, ramp
from _problems import quietly, relevant
from _watched import Recorder, interrupt_everywhere
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


def check(model, X, y, groups=None):
    """Certificate of the last step, J at the end, and that it never rose."""
    primal = check_certificate(model, X, y, groups=groups).primal
    J, last = objective(model, X, y, groups), model.objectives_[-1]
    assert abs(J - last) <= 1e-9 * max(abs(J), 1e-300)
    assert primal >= J * (1 - 1e-9)  # the step bounds J from above
    assert (np.diff(model.objectives_) <= 0.0).all()


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize("solver", ["bundle", "cutting_plane"])
@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
def test_what_a_fit_claims_follows_from_its_attributes(C, solver, kind):
    X, y = problem(1)
    X = X.astype(np.float32) if kind == "float32" else X
    model = fit(sp.csr_array(X) if kind == "csr" else X, y, C=C, solver=solver)
    assert model.dual_gap_ <= 1e-4
    check(model, X.astype(float), y)
    rounds = model.history_["round"]
    assert model.n_rounds_ == rounds[-1] == rounds.max()
    assert (np.diff(model.history_["iteration"]) >= 0).all()
    assert model.history_["iteration"][-1] == model.n_iter_


def test_queries():
    rng = np.random.default_rng(2)
    groups = rng.permutation(np.repeat(np.arange(4), [9, 20, 14, 7]))
    y = np.zeros(50, bool)
    for g in range(4):
        y[np.flatnonzero(groups == g)[: 2 + g]] = True
    X = rng.standard_normal((50, 4)) + y[:, None]
    check(fit(X, y, groups), X, y, groups)


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
    model = APSVM(C=20.0, tol=1e-4, ramp=True, warm_start=True).fit(X, y)
    first = model.objectives_.copy()
    assert model.n_rounds_ >= 2
    assert first[-1] < first[0]
    model.fit(X, y)  # begins where it ended
    assert model.objectives_[0] == pytest.approx(first[-1], rel=1e-12)
    check(model, X, y)
    model.set_params(ramp=False).fit(X, y)
    check_certificate(model, X, y)
    assert not hasattr(model, "objectives_")


def test_steps_that_are_cut_short_warn_and_are_certified():
    X, y = problem(5)
    with pytest.warns(ConvergenceWarning, match=r"APSVM stopped after \d+ iterations"):
        model = APSVM(C=1e3, ramp=True, max_iter=1, tol=1e-9).fit(X, y)
    check(model, X, y)


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
    check(model, X, y)


def test_iterations_are_counted_through(capsys):
    X, y = problem(7)
    model = fit(X, y, verbose=2)
    printed = [int(li.split()[1].rstrip(":")) for li in capsys.readouterr().out.splitlines()]
    assert printed == list(range(1, model.n_iter_ + 1))


def test_an_interrupt_anywhere_keeps_a_certified_model_or_is_passed_on(monkeypatch):
    """In the search for a start, in a step, between two of them."""
    X, y = problem(8, n=30)
    model = APSVM(C=20.0, ramp=True, tol=1e-2)
    passed, kept = interrupt_everywhere(monkeypatch, model, X, y)
    for each in kept:
        check(each, X, y)
    # without a certificate: nine starts, and the one that is taken
    assert passed == list(range(1, 11))
