"""What every estimator does, whatever it trains: stops, interrupts, callbacks, copies, bits, inputs."""

import inspect
import itertools
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from _certified import check_certificate
from _estimators import ENTROPY, HINGE, ONE_EACH, RANKERS, SIGNED, SOLVERS, outliers
from _problems import bags, classes, privileged, quietly, relevant
from _watched import Recorder, assert_told, interrupt_call, interrupt_everywhere
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError, UnsetMetadataPassedError
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fast import (
    APSVM,
    LatentAPSVM,
    MultilabelClassifier,
    RecallAtK,
    SVM2KClassifier,
    SVMPlusClassifier,
    TopKLogisticRegression,
    TopKSVC,
    TopPush,
)
from fast.models import recall_at_k
from fast.ranking.queries import Queries
from fast.solvers import (
    active_set,
    blocked_sdca,
    entropy_rows,
    fista,
    simplex_interior,
    smooth_rows,
    toppush_newton,
)

SETS, STEP = (recall_at_k.SetOracle, "__call__"), (toppush_newton.Blocks, "step")
RANKING, ENTROPIES = (Queries, "infer"), (entropy_rows, "finished_rows")
INSIDE = {
    "active": (active_set, "active_pass"),
    "sdca": (blocked_sdca, "update_rows"),
    "newton": (smooth_rows, "smooth_rows"),
    "fista": (fista, "risk_of_weights"),
    "interior": (simplex_interior.SimplexInteriorSolver, "_check"),
    "bundle": RANKING,
    "cutting_plane": RANKING,
}


@dataclass(frozen=True)
class Case:
    """A model that is far from done after a few iterations, and its data."""

    model: Any
    data: tuple[Any, ...]
    stops: tuple[int, ...] = (1, 2, 3)  # iterations after which it is stopped or interrupted
    inside: tuple[object, str] | None = None  # called in each iteration
    calls: tuple[int, ...] = (1, 2, 5)  # the calls of it that are interrupted


def check(model, X, y, Z=None):
    check_certificate(model, X, y, Z=Z)


def several(seed, n=540):
    """One or two right labels of six for each example."""
    X, y = classes(seed, n=n)
    return X, np.eye(6, dtype=bool)[np.minimum(y, 4)] | (X[:, :1] > 2)


PLUS = {"loss": "hinge", "C": 20.0, "gamma": 0.3, "free_slack": 0.05}
CASES = {
    "entropy 1": Case(ENTROPY(k=1, C=10.0), classes(11, n=400, m=8, d=12),
                      inside=(entropy_rows, "softmax_rows"), calls=(3, 4, 5, 7)),  # the first are at W = 0
    "entropy 3": Case(ENTROPY(k=3, C=10.0), classes(11, n=400, m=8, d=12), inside=ENTROPIES, calls=(3, 4, 5, 7)),
    "entropy sdca": Case(ENTROPY(k=3, C=10.0, solver="sdca", random_state=0), classes(11, n=100, m=8, d=12),
                         inside=INSIDE["sdca"]),
    "entropy sdca, wide": Case(ENTROPY(k=3, C=10.0, solver="sdca", random_state=0), classes(11, n=100, m=8, d=40),
                               inside=(blocked_sdca, "update_block")),
    "truncated": Case(ENTROPY(k=3, truncated=True, C=5.0), classes(13, n=400, m=6, d=20), (1, 3, 7),
                      ENTROPIES, calls=(3, 6, 10, 14, 18, 22, 26, 30)),
    "latent": Case(LatentAPSVM(C=20.0), bags(8), (1, 3, 8)),
    "ramp": Case(APSVM(C=1e3, ramp=True), outliers(6), (1, 3, 8)),
    "recall": Case(RecallAtK(C=30.0), relevant(20), inside=SETS),
    "recall, classes": Case(RecallAtK(C=1.0), classes(20, n=60), inside=SETS),
    "top push": Case(TopPush(C=10.0), relevant(20, n=300, d=8, shift=5.0), inside=STEP, calls=(1, 2, 3)),
    "top push, classes": Case(TopPush(C=1.0), classes(20, n=60), inside=STEP, calls=(1, 2, 3)),
    "two views": Case(SVM2KClassifier(C=20.0), privileged(16, n=150, classes=4), (1, 4)),
}  # fmt: skip
for solver, gamma in SOLVERS:
    model = HINGE(k=2, C=1.0, gamma=gamma, solver=solver, fit_intercept=True)
    CASES[f"{solver} {gamma}"] = Case(model, classes(20), inside=INSIDE[solver])
for solver in RANKERS:
    CASES[solver] = Case(APSVM(C=30.0, solver=solver), relevant(20), inside=INSIDE[solver])
for kernel, given in itertools.product(("linear", "rbf"), (2, 3)):
    data = privileged(16, n=150, classes=4)[:given]
    CASES[f"{kernel} {given}"] = Case(SVMPlusClassifier(kernel=kernel, **PLUS), data, (1, 2))
for make, loss in SIGNED:
    data = several(20) if make is MultilabelClassifier else classes(20, n=540)
    CASES[f"{make.__name__} {loss}"] = Case(make(loss, C=5.0, random_state=0), data)
STOPS = [(name, at) for name, case in CASES.items() for at in case.stops]


@pytest.mark.parametrize(("name", "max_iter"), STOPS)
def test_few_iterations_warn_with_the_gap_and_keep_a_certified_model(name, max_iter):
    case = CASES[name]
    seen = Recorder()
    model = clone(case.model).set_params(max_iter=max_iter, tol=1e-9).set_callbacks(seen)
    said = rf"^{type(model).__name__} stopped after (\d+) iterations with a certified.* gap of"
    with pytest.warns(ConvergenceWarning, match=said) as caught:
        model.fit(*case.data)
    assert caught[0].filename == __file__
    message = str(caught[0].message)
    assert f"after {model.n_iter_} iterations" in message
    assert f"{model.dual_gap_:.3g} > tol = 1e-09; the best model is kept" in message
    assert "max_iter" in message
    seen.assert_whole()
    check(model, *case.data)
    if hasattr(model, "objectives_"):  # each of its steps has as many
        return
    assert len(seen.models) == model.n_iter_
    if "class" in model.history_:
        assert (np.bincount(model.history_["class"]) <= max_iter).all()
    else:
        assert model.n_iter_ == max_iter


@pytest.mark.parametrize("by_error", [True, False])
@pytest.mark.parametrize(("name", "at"), STOPS)
def test_a_callback_or_an_interrupt_ends_the_training(name, at, by_error):
    case = CASES[name]
    seen = Recorder(interrupt=at) if by_error else Recorder(stop=at)
    model = clone(case.model).set_params(tol=1e-14).set_callbacks(seen)
    reason = "was interrupted" if by_error else "stopped"
    with pytest.warns(ConvergenceWarning, match=f"{reason}.*gap of"):
        model.fit(*case.data)
    assert len(seen.models) == at
    if "class" in model.history_:
        assert np.bincount(model.history_["class"]).tolist() == [at, 1, 1, 1]
    else:
        assert model.n_iter_ == at
    check(model, *case.data)
    X, y = case.data[:2]
    for each in (model, seen.models[-1]) if hasattr(model, "coef_") else (model,):
        assert each.predict(X).shape == np.shape(y)


@pytest.mark.parametrize(
    ("name", "at"), [(name, at) for name, case in CASES.items() if case.inside for at in case.calls]
)
def test_an_interrupt_inside_an_iteration_keeps_a_certified_model(name, at, monkeypatch):
    """Ctrl-C in the middle: the dual has moved since the last check."""
    case = CASES[name]
    calls = interrupt_call(monkeypatch, *case.inside, at)
    model = clone(case.model).set_params(tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="stopped|was interrupted"):
        model.fit(*case.data)
    assert len(calls) < at + 8  # what follows certifies, it does not train
    assert model.dual_gap_ > 1e-12 or name == "truncated"
    check(model, *case.data)


LARGE = classes(18, 2500)  # not polished first
SETTLED = {  # fits without a warning; those of one-vs-all logistic record an iteration twice
    name: (clone(model).set_params(tol=max(model.tol, 1e-3)), data)
    for name, (model, data) in ONE_EACH.items()
    if name != "logistic"
}
SETTLED |= {
    f"{solver} {gamma}, 2500": (HINGE(C=0.01, gamma=gamma, solver=solver, tol=1e-2), LARGE)
    for solver, gamma in SOLVERS
}
SETTLED |= {
    "warm": (HINGE(k=2, C=0.1, gamma=0.5, warm_start=True), classes(27)),
    "AP, warm": (APSVM(C=3.0, tol=1e-4, warm_start=True), relevant(22)),
    "latent": (LatentAPSVM(C=20.0, max_rounds=7), bags(8)),
}
for kernel, given in itertools.product(("linear", "rbf"), (2, 3)):
    model = SVMPlusClassifier(kernel=kernel, kernel_z=kernel, free_slack=0.2)
    SETTLED[f"{kernel} {given}"] = model, privileged(17, classes=3)[:given]


@pytest.mark.parametrize("name", SETTLED)
def test_callbacks_see_every_iteration(name):
    model, (X, *labels) = SETTLED[name]
    seen = Recorder()
    model = clone(model).set_callbacks(seen).fit(X, *labels)
    assert len(seen.models) == model.n_iter_
    if name not in ("linear 2", "rbf 2"):  # the ordinary SVM also ends where rounding stops it
        assert seen.begun == model.n_iter_
    seen.assert_whole()
    first, last = seen.models[0], seen.models[-1]
    if not hasattr(model, "coef_"):
        return
    if "class" in model.history_:
        assert not first.coef_[1:].any()
    if name == "multilabel":  # its threshold is chosen at the end
        return
    assert set(first.predict(X)) <= set(model.classes_)
    if getattr(model, "solver_", "") != "active":  # whose last check may better the primal
        np.testing.assert_allclose(last.coef_, model.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(last.intercept_, model.intercept_, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(last.predict(X), model.predict(X))


@pytest.mark.parametrize("name", SETTLED)
def test_progress_bars_and_printing_change_nothing(name, capsys):
    model, data = SETTLED[name]
    assert_told(model, capsys, *data)


@pytest.mark.parametrize("name", SETTLED)
def test_pickles_clones_and_the_same_bits(name):
    model, (X, *labels) = SETTLED[name]
    model = clone(model).fit(X, *labels)
    again = pickle.loads(pickle.dumps(model))
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert repr(fresh) == repr(model)
    assert repr(model).startswith(f"{type(model).__name__}(")
    assert not hasattr(fresh, "coef_")
    assert not hasattr(fresh, "dual_coef_")
    for method in {"predict", "decision_function", "predict_topk"} & set(dir(model)):
        with pytest.raises(NotFittedError):
            getattr(fresh, method)(X)
    with pytest.raises(NotFittedError):
        fresh.score(X, labels[0])
    fresh.fit(X, *labels)
    for other in (again, fresh):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        for attribute in ("coef_", "intercept_", "rankings_"):
            if hasattr(model, attribute):
                np.testing.assert_array_equal(getattr(other, attribute), getattr(model, attribute))
        if len(labels) == 2:
            Z = labels[1]
            np.testing.assert_array_equal(
                other.correction_function(Z), model.correction_function(Z)
            )
    assert again.fit(X, *labels).dual_gap_ <= model.tol


@pytest.mark.parametrize("name", SETTLED)
def test_two_default_fits_and_any_number_of_threads_give_the_same_bits(name):
    model, (X, *labels) = SETTLED[name]
    seen = []
    for n_jobs in (None, None, 1, 2):
        options = {"random_state": None, "n_jobs": n_jobs}
        taken = {key: options[key] for key in options.keys() & model.get_params().keys()}
        fitted = clone(model).set_params(**taken).fit(X, *labels)
        seen.append((fitted.decision_function(X).tobytes(), fitted.dual_gap_))
    assert len(set(seen)) == 1


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (APSVM(C=20.0, ramp=True, tol=1e-2), relevant(8, n=30)),
        (APSVM(easy_fraction=0.5, tol=1e-6), relevant(11, n=30, shift=2.5)),
        (LatentAPSVM(C=20.0), bags(8, n=20)),
    ],
    ids=repr,
)
def test_an_interrupt_anywhere_keeps_a_certified_model_or_is_passed_on(model, data, monkeypatch):
    """In the search for a start (of the ramp: nine, and the one that is taken), in a step, between two."""
    passed, kept = interrupt_everywhere(monkeypatch, model, *data)
    for each in kept:
        check(each, *data)
    assert passed == list(range(1, len(passed) + 1))
    assert len(passed) == 10 or not model.get_params().get("ramp")
    assert len(kept) > (len(kept) + len(passed)) // 4


READ = [name for name, case in CASES.items() if len(case.data) == 2 and name != "latent"]


@pytest.mark.parametrize("form", ["dense", "csr", "unsorted csr", "fortran", "mapped"])
@pytest.mark.parametrize("name", READ)
def test_inputs_are_never_mutated(name, form, tmp_path):
    case = CASES[name]
    X, y = (part.copy() for part in case.data)
    n, d = X.shape
    if form == "unsorted csr":  # and with an entry stored in two parts
        data = np.column_stack([X[:, -1], X[:, 0] - 1.0, X[:, 1:-1], np.ones(n)])
        columns = np.tile([d - 1, *range(d - 1), 0], n)
        given = sp.csr_array((data.ravel(), columns, (d + 1) * np.arange(n + 1)), X.shape)
    elif form == "mapped":
        np.save(tmp_path / "X.npy", X)
        given = np.load(tmp_path / "X.npy", mmap_mode="r")
    else:
        given = sp.csr_array(X) if form == "csr" else np.array(X, order="CF"[form == "fortran"])
    more, takes = {}, inspect.signature(case.model.fit).parameters
    if "groups" in takes:
        more = {"groups": np.arange(n) % 3}
    elif "sample_weight" in takes and name != "truncated":
        more = {"sample_weight": np.random.default_rng(0).uniform(0, 1, n)}
    parts = [given.data, given.indices, given.indptr] if sp.issparse(given) else [given]
    arrays = [*parts, y, *more.values()]
    before = [np.array(a) for a in arrays]
    for a in arrays:
        a.flags.writeable = False
    model = quietly(clone(case.model).set_params(tol=1e-2), given, y, **more)
    model.predict(given)
    model.score(given, y, **more)
    for a, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(a, old)
    check_certificate(model, X, y, **more)


@pytest.mark.parametrize("model", [TopKSVC(), TopKLogisticRegression()])
def test_metadata_names_and_the_page_of_a_notebook(model):
    """Weights go where they are asked for, names come back, and no link leads to a page that is not there."""
    X, y = classes(20)
    frame, weight = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]), np.arange(len(y))
    with config_context(enable_metadata_routing=True):
        asked = clone(model).set_fit_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asked)
        routed = pipe.fit(frame, y, sample_weight=weight)[-1]
        both = asked.set_score_request(sample_weight=True)
        found = cross_validate(both, frame, y, cv=3, params={"sample_weight": weight})["test_score"]
        with pytest.raises(UnsetMetadataPassedError):
            cross_validate(model, X, y, params={"sample_weight": weight}, error_score="raise")
    right = clone(model).fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    np.testing.assert_allclose(routed.coef_, right.coef_, rtol=1e-9)
    assert np.isfinite(found).all()
    assert pipe.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        pipe.predict(frame.iloc[:, ::-1])
    stack = StackingClassifier([("a", model)], cv=2).set_output(transform="pandas").fit(X, y)
    assert stack.transform(X).columns[0] == "stackingclassifier_a0"
    assert pipe[-1]._get_doc_link() == ""
    assert "href" not in pipe[-1]._repr_html_()
