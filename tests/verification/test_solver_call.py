import contextlib
import functools
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from verification import Candidate, CandidateSignatureError, Instance, verify
from verification.app.command_line import opened
from verification.errors import InvalidArgumentError
from verification.kit.solver_call import (
    Caller,
    CandidateCrashError,
    CandidateTimeoutError,
    NotApplicableError,
    load_callable,
)
from verification.kit.timeouts import watch
from verification.problems.problem import lookup

ALPHA = lookup("topk_simplex_alpha.projection")
A = Instance.of(ALPHA.name, a=np.array([1.0, 2.0]), k=2, r=1.0, rho=0.0)


def echo(**given):
    """What arrived, as one vector."""
    return np.array([given["a"].sum(), *(given[n] for n in ("k", "r", "rho") if n in given)])


def test_arguments_by_name_position_and_default():
    full = [3.0, 2.0, 1.0, 0.0]
    for candidate in (
        lambda a, k, r, rho: echo(a=a, k=k, r=r, rho=rho),
        lambda **kw: echo(**kw),
        lambda *, own=0, **kw: echo(**kw),
        lambda *v: echo(**dict(zip(ALPHA.arguments, v, strict=True))),
        lambda a, /, k, *, rho, r: echo(a=a, k=k, r=r, rho=rho),
        functools.partial(lambda a, k, r, rho: echo(a=a, k=k, r=r, rho=rho), rho=0.0),
    ):
        assert Caller(candidate, ALPHA)(A).x.tolist() == full
    assert Caller(lambda v, k, r, extra=None: echo(a=v, k=k, r=r), ALPHA)(A).x.tolist() == full[:3]


def test_missing_arguments_skip_what_needs_them():
    call = Caller(lambda a, k: echo(a=a, k=k), ALPHA)
    assert call(A).x.tolist() == [3.0, 2.0]
    assert not call.accepts(A.with_params(rho=1.0))
    with pytest.raises(NotApplicableError, match="r, rho"):
        call(A.with_params(rho=1.0, r=2.0))


@pytest.mark.parametrize(
    "candidate", [lambda a, k, radius: a, lambda: 0, lambda k, r: k, 3, lambda a, b: a]
)
def test_foreign_signatures_are_refused(candidate):
    with pytest.raises(CandidateSignatureError):
        Caller(candidate, ALPHA)


@pytest.mark.parametrize("answer", [None, "x", [[1.0], [1.0, 2.0]], 1j, {"x": 1}])
def test_answers_that_are_no_numbers_crash(answer):
    with pytest.raises(CandidateCrashError):
        Caller(lambda a, k, r, rho: answer, ALPHA)(A)


def test_answers_are_unwrapped():
    call = Caller(lambda a, k, r, rho: Candidate(a / 2, dual=a), ALPHA)
    assert call(A).x.tolist() == [0.5, 1.0]
    assert call(A).dual.tolist() == [1.0, 2.0]


def test_a_candidate_that_never_ends_is_stopped(monkeypatch):
    monkeypatch.setattr("verification.kit.solver_call.FIRST_CALL_ALLOWANCE", 0.0)

    def endless(a, k, r, rho):
        while True:
            time.sleep(0.001)

    call = Caller(endless, ALPHA, timeout=0.05)
    with pytest.raises(CandidateTimeoutError):
        call(A)
    assert call.timeouts == 1


@pytest.mark.parametrize(
    ("a", "shown"),
    [
        (A["a"], "project(a=np.array([1.0, 2.0]), k=2, r=1.0, rho=0.0)"),
        (np.arange(1e3), "project(a=[0.0, 1.0, 2.0, 3.0, ...] of shape (1000,), k=2, r=1.0, rho=0.0)"),
    ],
)  # fmt: skip
def test_a_hanging_call_is_named(a, shown, monkeypatch, capsys):
    """The watch names the arguments, long ones in short; here of code that ignores the alarm."""
    monkeypatch.setattr("verification.kit.solver_call.FIRST_CALL_ALLOWANCE", 0.0)
    monkeypatch.delattr("signal.setitimer")
    said = ""

    def hangs(a, k, r, rho):
        nonlocal said
        while "does not return" not in said:
            time.sleep(0.05)
            said += capsys.readouterr().err
        time.sleep(0.1)  # it is said once
        return a

    call = Caller(hangs, ALPHA, timeout=0.01)
    with watch(call, every=0.02, grace=0.0), pytest.raises(CandidateTimeoutError):
        call(A.with_params(a=a))
    said += capsys.readouterr().err
    assert said.count("does not return") == 1
    assert shown in said


def test_while_an_answer_is_waited_for_it_is_said(monkeypatch):
    monkeypatch.setattr("verification.kit.solver_call.FIRST_CALL_ALLOWANCE", 4.0)
    monkeypatch.setattr("verification.kit.solver_call.BUSY", 1.0)
    monkeypatch.setattr("verification.kit.timeouts.EVERY", 0.02)
    said = []

    monkeypatch.delattr("signal.setitimer")

    def endless(a, r=1.0):
        seen, start = len(said), time.monotonic()
        while len(said) == seen or time.monotonic() < start + 0.6:  # until it is said, and too late
            time.sleep(0.001)
        return a

    report = verify(
        endless, "simplex.projection", checks=["lengths"], timeout=0.1, waiting=said.append
    )
    assert report.counts["timeout"] == 3
    assert "s of 0.5 s waited for project(a[33], r=1.0), after 0 of 3 timeouts" in said[0]
    assert {line.partition("after ")[2][0] for line in said} == {"0", "1", "2"}


def test_a_late_answer_counts_as_a_timeout(monkeypatch):
    """Compiled code cannot be interrupted; the clock decides after it has returned."""
    monkeypatch.setattr("verification.kit.solver_call.FIRST_CALL_ALLOWANCE", 0.0)
    monkeypatch.setattr("verification.kit.solver_call.BUSY", 1.0)
    monkeypatch.delattr("signal.setitimer")
    call = Caller(lambda a, k, r, rho: time.sleep(0.05) or a, ALPHA, timeout=0.01)
    with pytest.raises(CandidateTimeoutError):
        call(A)


@pytest.mark.parametrize(
    ("wall", "cpu", "late"), [(9, 9, False), (50, 9, False), (50, 11, True), (61, 9, True)]
)
def test_others_have_the_processor(monkeypatch, wall, cpu, late):
    """Ten seconds are ten of CPU, within a minute."""
    passed = {"perf_counter": 0.0, "process_time": 0.0}
    clocks = {name: functools.partial(passed.get, name) for name in passed}
    monkeypatch.setattr("verification.kit.solver_call.time", SimpleNamespace(**clocks))
    monkeypatch.setattr("verification.kit.solver_call.FIRST_CALL_ALLOWANCE", 0.0)

    def project(a, k, r, rho):
        passed.update(perf_counter=wall, process_time=cpu)
        return a

    call = Caller(project, ALPHA, timeout=10.0)
    monkeypatch.setattr(call, "_allowed", lambda: 10.0)
    with pytest.raises(CandidateTimeoutError) if late else contextlib.nullcontext():
        call(A)


def test_complements_are_asked_for_and_unwrapped():
    problem = lookup("softmax.gradient")
    instance = Instance.of(
        problem.name, scores=np.array([1.0, 2.0]), y=0, costs=None, sample_weight=None
    )

    def pair(scores, y, return_complement=False):
        return (scores, 0.25) if return_complement else scores

    call = Caller(pair, problem)
    assert call.complements
    assert call(instance).complement is None
    assert call.raw(instance.params, complement=True).complement == 0.25
    assert not Caller(lambda scores, y: scores, problem).complements
    alone = Caller(lambda scores, y, return_complement=False: scores, problem)
    with pytest.raises(CandidateCrashError, match="pair"):
        alone.raw(instance.params, complement=True)


def test_the_main_array_of_a_function_is_no_option():
    problem = lookup("lambert_w_exp.value")
    assert problem.required == ("t",)
    instance = Instance.of(problem.name, t=np.array([1.0, 2.0]))
    assert Caller(lambda numbers: numbers, problem)(instance).x.tolist() == [1.0, 2.0]
    with pytest.raises(CandidateSignatureError):
        Caller(lambda: 0, problem)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import no_such_module\n", "No module named 'no_such_module'"),
        ("def f(:\n", "SyntaxError: "),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(4)\n", "SystemExit: 4"),
        ("", "has no attribute 'f'"),
        ("f = 3\n", "expected a function, got 3"),
    ],
)
def test_a_module_that_cannot_be_imported_is_an_error_of_the_user(
    text, says, tmp_path, monkeypatch
):
    (tmp_path / "spoilt_solver.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "spoilt_solver", raising=False)
    for name in ("spoilt_solver:f", "spoilt_solver.f"):
        with pytest.raises(InvalidArgumentError, match=r"importable|function") as found:
            load_callable(name)
        assert says in str(found.value)
    sys.modules.pop("spoilt_solver", None)


@pytest.mark.parametrize("name", ["./mine.py:f", "mine.py:f", "/some/where/mine.py:f"])
def test_the_name_of_a_file_is_not_that_of_its_module(name):
    with pytest.raises(InvalidArgumentError, match="'mine' is the module of this file"):
        load_callable(name)


@pytest.mark.parametrize("given", [{"solver": ""}, {"program": ""}])
def test_an_empty_name_is_not_the_implementation_in_fast(given):
    empty = {"solver": None, "program": None, **given}
    with (
        pytest.raises(InvalidArgumentError, match="expected a"),
        opened(problem=ALPHA.name, **empty),
    ):
        pass
