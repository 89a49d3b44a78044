"""Fits that are watched, stopped or interrupted, for the tests of all estimators."""

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


def assert_told(plain, capsys, *data):
    """Fits with a bar, with progress or with printing have the bits of the plain one, and say so."""
    plain = clone(plain).fit(*data)
    assert capsys.readouterr().out == ""
    with_bar = clone(plain).set_callbacks(ProgressBar())
    with_bar.fit(*data)
    assert type(plain).__name__ in capsys.readouterr().out
    model = clone(plain).set_params(verbose=1)
    model.fit(*data)
    assert "gap" in capsys.readouterr().err
    told = clone(plain).set_params(verbose=2)
    told.fit(*data)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(", ")[0].rpartition(" ")[0] for line in lines] == [
        f"iteration {i}: primal" for i in range(1, told.n_iter_ + 1)
    ]
    if "class" not in told.history_:  # or the last line is of the last class
        last = float(lines[-1].rpartition(" ")[2])
        assert last == pytest.approx(told.dual_gap_, rel=0.01, abs=1e-12)
    name = "coef_" if hasattr(plain, "coef_") else "kernel_coef_"
    for other in (with_bar, model, told):
        assert (getattr(other, name) == getattr(plain, name)).all()
