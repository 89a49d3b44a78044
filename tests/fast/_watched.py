"""Fits that are watched, stopped or interrupted, for the tests of all estimators."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.exceptions import ConvergenceWarning

from fast.ranking.queries import Queries


class Recorder:
    """A scikit-learn callback that remembers its calls; may stop or interrupt at an iteration."""

    def __init__(self, stop=None, interrupt=None):
        self.stop, self.interrupt = stop, interrupt
        self.begun, self.models, self.tasks = 0, [], []

    def setup(self, estimator, context):
        self.tasks.append("setup")

    def teardown(self, estimator, context):
        self.tasks.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.tasks.append(f"begin {context.task_name}")
        self.begun += context.task_name == "iteration"

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.tasks.append(f"end {context.task_name}")
        if context.task_name != "iteration":
            return False
        self.models.append(fitted_estimator)
        if self.interrupt is not None and len(self.models) >= self.interrupt:
            raise KeyboardInterrupt
        return len(self.models) == self.stop

    def assert_whole(self):
        """Every task begins and ends, the first and the last iteration too."""
        assert self.tasks[:3] == ["setup", "begin fit", "begin iteration"]
        assert self.tasks[-3:] == ["end iteration", "end fit", "teardown"]


def interrupt_call(monkeypatch, owner, name, at):
    """KeyboardInterrupt in the ``at``-th call of ``owner.name``; the arguments of all calls."""
    inner, calls = getattr(owner, name), []

    def interrupted(*args, **kwargs):
        calls.append(args)
        if len(calls) == at:
            raise KeyboardInterrupt
        return inner(*args, **kwargs)

    monkeypatch.setattr(owner, name, interrupted)
    return calls


def interrupt_everywhere(monkeypatch, model, X, y):
    """A fit for each call of the oracle, interrupted there; the calls that passed it on, the fits."""
    n = clone(model).fit(X, y).n_oracle_calls_
    passed, kept = [], []
    for at in range(1, n + 1):
        again = clone(model)
        with monkeypatch.context() as patch:
            interrupt_call(patch, Queries, "infer", at)
            try:
                with pytest.warns(ConvergenceWarning, match="interrupted"):
                    again.fit(X, y)
            except KeyboardInterrupt:
                assert not hasattr(again, "coef_")
                passed.append(at)
            else:
                kept.append(again)
    assert len(passed) + len(kept) == n
    return passed, kept


def fit_that_tells(plain, capsys, X, y):
    """A fit that prints, and its lines; it and one with a bar have the bits of the plain one."""
    with_bar = clone(plain).set_callbacks(ProgressBar())
    with_bar.fit(X, y)
    assert type(plain).__name__ in capsys.readouterr().out
    model = clone(plain).set_params(verbose=1)
    model.fit(X, y)
    assert "gap" in capsys.readouterr().err
    told = clone(plain).set_params(verbose=2)
    told.fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == told.n_iter_
    assert lines[-1].startswith(f"iteration {told.n_iter_}: primal")
    for other in (with_bar, model, told):
        assert (other.coef_ == plain.coef_).all()
    clone(plain).fit(X, y)
    assert capsys.readouterr().out == ""
    return told, lines
