"""A fit is a transaction: it fails and the model is the old one, whole, or it is a new one."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from _transactions import OUTCOMES, REFITS, lines_of, refit_that_fails
from _watched import Recorder, interrupt_call
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from fast import TopKSVC
from fast._interrupts import Interrupts, hold_back, let_through
from fast.errors import InvalidParameterError
from fast.estimators import _svm_plus_training
from fast.svm_plus import kernel_trainer

EVERY = pytest.mark.parametrize("name", REFITS)
ONE_EACH = ["hinge", "entropy", "AP", "latent", "plus"]
EXACT = ["plus", "plus, hinge", "top push"]  # solved to rounding in one round
ELSEWHERE = 25  # of so many lines outside of the estimators one is tried, all when it is recorded


@pytest.fixture(autouse=True)
def _usual_handler():
    """Python's own, also where the tests run in the background of a shell that ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Fails(Recorder):
    """A callback that raises in one of its hooks."""

    def __init__(self, hook, kind):
        super().__init__()
        self.hook, self.kind = hook, kind

    def _maybe(self, hook):
        if hook == self.hook:
            raise self.kind

    def setup(self, estimator, context):
        self._maybe("setup")

    def teardown(self, estimator, context):
        self._maybe("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self._maybe(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self._maybe(f"end {context.task_name}")


# ---- refusals ---------------------------------------------------------------------------------
def test_a_refused_refit_keeps_the_labels_that_the_weights_belong_to():
    X = np.random.default_rng(0).standard_normal((30, 3))
    model = TopKSVC().fit(X, np.arange(30) % 3)
    before = model.predict(X)
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.fit(X, np.array(list("uvw"))[np.arange(30) % 3], sample_weight=np.zeros(30))
    np.testing.assert_array_equal(model.predict(X), before)


@EVERY
def test_a_refused_refit_changes_nothing(name):
    refit = REFITS[name]
    model = refit.fitted()
    before = refit.state(model)
    X, y, *Z = refit.new
    nan = [bag * np.nan for bag in X] if isinstance(X, list) else X * np.nan
    for bad in ((nan, y, *Z), (X, y[:-1], *Z), (X, y[:1].repeat(len(y)), *Z)):
        with pytest.raises(ValueError, match=r".+"):
            model.fit(*bad)
        assert refit.state(model) == before
    model.set_params(tol=-1.0)
    with pytest.raises(InvalidParameterError, match="tol"):
        refit.fit(model)
    assert model.set_params(tol=refit.model.tol).predict(refit.old[0]).shape == (len(refit.old[1]),)
    assert refit.state(model) == before


@EVERY
def test_a_failed_first_fit_leaves_a_model_that_is_not_fitted(name):
    refit = REFITS[name]
    model = clone(refit.model)
    for hook in ("setup", "begin iteration", "end iteration", "end fit"):
        with pytest.raises(MemoryError):
            refit.fit(model.set_callbacks(Fails(hook, MemoryError)))
        with pytest.raises(NotFittedError):
            model.predict(refit.new[0])
        assert not [attribute for attribute in vars(model) if attribute.endswith("_")]


@EVERY
def test_a_raising_callback_keeps_the_old_model(name):
    refit = REFITS[name]
    hooks = ("setup", "begin fit", "begin iteration", "end iteration", "end fit", "teardown")
    for hook in hooks:
        model = refit.fitted()
        model.set_callbacks(Fails(hook, ZeroDivisionError))
        with pytest.raises(ZeroDivisionError):
            refit.fit(model)
        model.set_callbacks()
        assert refit.outcome(model, refit.state(refit.fitted())) == "old"


# ---- what a fit takes over --------------------------------------------------------------------
@pytest.mark.parametrize("name", [name for name in REFITS if name not in EXACT])
def test_a_warning_that_is_an_error_keeps_the_new_model(name):
    refit = REFITS[name]
    model = refit.fitted().set_params(tol=1e-15, max_iter=1)
    with pytest.raises(ConvergenceWarning, match="gap"):
        refit.fit(model)
    assert refit.outcome(model, b"") == "new"


def test_parameters_set_by_a_callback_stay_set():
    refit = REFITS["hinge"]
    model = refit.fitted()

    class Sets(Recorder):
        def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
            model.max_iter = 77  # the caller's, and the one that it is given
            estimator.set_params(verbose=0.0 + 0).seen_ = len(X)

    refit.fit(model.set_callbacks(Sets()))
    assert (model.max_iter, model.seen_) == (77, len(refit.new[1]))
    assert vars(model).keys() - vars(refit.fit(refit.fitted())).keys() == {
        "seen_",
        "_skl_callbacks",
    }


def test_a_snapshot_predicts_or_there_is_none():
    refits = [REFITS[name] for name in ("hinge, kernel", "plus, kernels", "plus", "hinge", "AP")]
    for refit, predicts in zip(refits, (False, False, True, True, True), strict=True):
        seen = Recorder()
        for model in (clone(refit.model), refit.fitted()):
            refit.fit(model.set_callbacks(seen))
        for snapshot in seen.models:
            assert (snapshot is not None) == predicts
            assert not predicts or set(snapshot.predict(refit.new[0])) <= set(refit.new[1])


# ---- at every line ----------------------------------------------------------------------------
@pytest.mark.parametrize("name", ONE_EACH)
def test_whatever_line_fails_the_model_is_whole(name):
    refit = REFITS[name]
    lines = lines_of(refit)
    own = [line for line in lines if "estimators" in Path(line[0]).parts]
    rest = [line for line in lines if line not in own]
    for i, line in enumerate(own + rest[::ELSEWHERE]):
        kind = (MemoryError, KeyboardInterrupt)[i % 2]
        assert refit_that_fails(refit, line, kind) in OUTCOMES[kind], line


# ---- Ctrl-C -----------------------------------------------------------------------------------
def test_real_interrupts_leave_whole_models():
    """In a process of its own: an interrupt that came late would end the test run."""
    command = [sys.executable, "-W", "error", str(Path(__file__).with_name("_sigints.py")), "8"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for name, found in json.loads(done.stdout).items():
        assert sum(found.values()) == 8, name
        assert not [said for said in found if said.startswith("broken")], found


def interrupted():
    os.kill(os.getpid(), signal.SIGINT)


def within(*calls):
    """How many of the calls came to their end, and whether there was an interrupt at last."""
    done = 0
    try:
        with Interrupts():
            for call in calls:
                call()
                done += 1
    except KeyboardInterrupt:
        return done, True
    return done, False


def test_an_interrupt_waits_while_it_is_held_back_and_no_longer():
    usual = signal.getsignal(signal.SIGINT)
    assert within(hold_back) == (1, False)
    assert within(interrupted, hold_back) == (0, True)
    assert within(hold_back, interrupted, hold_back) == (3, True)
    assert within(hold_back, interrupted, interrupted, hold_back) == (2, True)
    assert within(hold_back, interrupted, let_through) == (2, True)
    assert within(hold_back, let_through, interrupted) == (2, True)
    inner = []  # a fit in a callback of another

    def fit():
        inner.append(within(hold_back, interrupted, hold_back))

    assert within(fit, interrupted, hold_back) == (1, True)
    assert within(hold_back, fit, interrupted, hold_back) == (4, True)
    assert inner == [(3, True)] * 2
    assert signal.getsignal(signal.SIGINT) is usual
    hold_back()
    with pytest.raises(KeyboardInterrupt):
        interrupted()


def test_the_handler_of_somebody_else_stays():
    seen = []
    usual = signal.signal(signal.SIGINT, lambda *_: seen.append("theirs"))
    try:
        with Interrupts():
            hold_back()
            interrupted()
    finally:
        signal.signal(signal.SIGINT, usual)
    assert seen == ["theirs"]


@pytest.mark.parametrize("name", REFITS)
def test_an_interrupt_in_the_certification_waits_for_the_new_model(name, monkeypatch):
    refit = REFITS[name]
    model = refit.fitted()
    owner = type(model)
    inner = owner._concerns

    def late(self, *given):
        interrupted()
        return inner(self, *given)

    monkeypatch.setattr(owner, "_concerns", late)
    with pytest.raises(KeyboardInterrupt):
        refit.fit(model)
    assert refit.outcome(model, b"") == "new"


@pytest.mark.parametrize(
    ("name", "module", "attribute"),
    [
        ("plus", _svm_plus_training, "CheckedInput"),
        ("plus, kernels", kernel_trainer, "KernelState"),
    ],
)
def test_an_interrupt_between_two_classes_keeps_what_is_trained(
    name, module, attribute, monkeypatch
):
    refit = REFITS[name]
    model = refit.fitted()
    calls = interrupt_call(monkeypatch, module, attribute, 2)
    with suppress(ConvergenceWarning):  # one round may be enough for the others
        refit.fit(model)
    assert len(calls) == 4
    assert refit.outcome(model, b"") == "new"
    assert model.dual_gaps_[0] <= model.tol
