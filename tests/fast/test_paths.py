"""Paths of C of the rankers and of SVM+: single fits, certified, found sooner where a start helps."""

import numpy as np
import pytest
from _problems import assert_same_optimum, bags, classes, privileged, relevant
from _watched import interrupt_call
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from fast import APSVM, LatentAPSVM, SVMPlusClassifier, TopKSVC, TopPush, regularization_path
from fast.errors import InvalidParameterError
from fast.metrics import average_precision
from fast.ranking.queries import Queries

CS = [10.0, 0.1, 1.0]


@pytest.mark.parametrize("model", [APSVM(tol=1e-5), TopPush(tol=1e-5)], ids=repr)
def test_rankers_begin_at_the_solution_before(model):
    X, y = relevant(3, n=200, d=12)
    data = {"groups": np.arange(200) % 4} if isinstance(model, APSVM) else {}
    path = regularization_path(model, X, y, CS, **data)
    alone = [clone(model).set_params(C=C).fit(X, y, **data) for C in sorted(CS)]
    for found, single in zip(path, alone, strict=True):
        assert found.C == single.C
        assert not found.warm_start
        assert found._last is None
        assert_same_optimum(found, single, 1e-5)
    assert not hasattr(model, "coef_")
    if data:
        assert sum(m.n_oracle_calls_ for m in path) < sum(m.n_oracle_calls_ for m in alone)
    ranked = [m.score(X, y, **data) for m in path]
    np.testing.assert_array_equal(path.scores(X, y, **data), ranked)
    best = path.best(X, y, **data)
    assert best is path.models[int(np.argmax(ranked))]
    if not data:
        value = average_precision(y, X @ path.models[0].coef_[0])
        assert path.scores(X, y)[0] == pytest.approx(value)
    np.testing.assert_allclose(
        path.accuracies(X, y, [1])[0], [(m.predict(X) == y).mean() for m in path]
    )


def test_paths_of_bags_are_certified_step_by_step():
    X, y = bags(2)
    path = regularization_path(LatentAPSVM(), X, y, CS)
    assert all(model.dual_gap_ <= model.tol for model in path)
    assert path.best(X, y).score(X, y) == max(path.scores(X, y))


@pytest.mark.filterwarnings("ignore::fast.errors.CollapseWarning")
@pytest.mark.parametrize("params", [{}, {"loss": "hinge"}, {"kernel": "rbf", "kernel_z": "rbf"}])
@pytest.mark.parametrize("m", [2, 3])
def test_paths_of_svm_plus_are_single_fits(params, m):
    X, y, Z = privileged(4, classes=m)
    weight = 1.0 + np.arange(len(y)) % 2
    model = SVMPlusClassifier(**params)
    path = regularization_path(model, X, y, CS, Z=Z, sample_weight=weight)
    for C, found in zip(sorted(CS), path, strict=True):
        single = clone(model).set_params(C=C).fit(X, y, Z, sample_weight=weight)
        np.testing.assert_array_equal(found.decision_function(X), single.decision_function(X))
        assert found.dual_gap_ == single.dual_gap_ <= model.tol
    assert path.best(X, y).score(X, y) == max(path.accuracies(X, y, [1])[0])
    assert path.best(X, y, k=1) is path.best(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [APSVM(tol=1e-9), SVMPlusClassifier(tol=1e-9)], ids=repr)
def test_an_interrupt_keeps_what_was_found(model, monkeypatch):
    X, y = relevant(5)
    fit, calls = type(model).fit, []

    def interrupted(self, *args, **data):
        calls.append(self.C)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return fit(self, *args, **data)

    monkeypatch.setattr(type(model), "fit", interrupted)
    assert [m.C for m in regularization_path(model, X, y, CS)] == [0.1]
    calls = [0.0]
    with pytest.raises(KeyboardInterrupt):
        regularization_path(model, X, y, CS)


def test_a_fit_that_was_interrupted_is_the_last(monkeypatch):
    X, y = relevant(6)
    calls = interrupt_call(monkeypatch, Queries, "infer", 3)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        path = regularization_path(APSVM(tol=1e-9), X, y, CS)
    assert len(path) == 1 < len(CS)
    assert calls
    assert path.models[0].dual_gap_ > 1e-9


def test_a_path_takes_only_what_fit_takes():
    X, y = classes(1)
    given = [(TopKSVC(), {"groups": y}), (SVMPlusClassifier(), {"eval_set": [(X, y)]}),
             (TopPush(), {"Z": X}), (TopKSVC(), {"checkpoint": "x"})]  # fmt: skip
    for model, data in given:
        with pytest.raises(InvalidParameterError, match=r"what .*fit takes") as caught:
            regularization_path(model, X, y, CS, **data)
        assert caught.value.argument == next(iter(data))
