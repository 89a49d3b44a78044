"""Python functions in a process of their own."""

import ctypes
import functools
import os
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest

from fast.sets import topk_simplex_alpha
from verification import (
    CandidateSignatureError,
    InvalidArgumentError,
    adapt,
    external,
    faulty_solvers,
    verify,
)
from verification.external import wire
from verification.instances.instance import Instance
from verification.kit import fixing
from verification.kit.solver_call import Caller, CandidateCrashError, CandidateTimeoutError
from verification.problems.problem import lookup
from verification.reference_solvers import projections

NAME = "topk_simplex_alpha.projection"
A = np.array([3.0, 1.0, 2.0])


COMMAND = [sys.executable, "-m", "verification.external.serve"]


def half(a, k, r, rho):
    return a / 2


def test_it_is_the_same_function():
    project = topk_simplex_alpha.project
    with external.isolated("fast.sets.topk_simplex_alpha:project", NAME) as solver:
        assert solver.label == "fast.sets.topk_simplex_alpha.project"
        assert solver(A, 2, r=1.5).tobytes() == project(A, 2, r=1.5).tobytes()
        assert solver(np.array([A, -A]), 2).shape == (2, 3)
        single = A.astype(np.float32)
        assert solver(single, 2).dtype == project(single, 2).dtype
        large = np.random.default_rng(0).normal(size=6000)
        assert np.array_equal(solver(large, 2), project(large, 2))
        with pytest.raises(CandidateCrashError, match="k"):
            solver(A, 0)
        assert solver.deaths == 0, "an exception is not the end of the process"


def test_closures_and_functions_of_this_module_are_sent_by_value():
    factor = np.array([1.0, 2.0, 4.0])
    for function in (lambda a: a * factor, functools.partial(half, k=1, r=1.0, rho=0.0)):
        with external.isolated(function, NAME) as solver:
            assert np.array_equal(solver(A), function(a=A))
    module = types.ModuleType("nowhere_to_be_found")
    exec("import numpy as np\ndef least(a): return np.full(a.size, a.min())", module.__dict__)
    sys.modules[module.__name__] = module
    try:
        with external.isolated(module.least, NAME) as solver:
            assert solver(A).tolist() == [1.0, 1.0, 1.0]
            assert solver.label == "nowhere_to_be_found.least"
    finally:
        del sys.modules[module.__name__]


def bites(a, k, r, rho):
    if a.size == 2:
        os._exit(7)
    if a.size == 3:
        print("on standard output")
        os.write(1, b"on descriptor 1\n")
        ctypes.string_at(0)
    if a.size == 4:
        sys.exit(1)
    if a.size == 5:
        while True:
            time.sleep(10)
    return a


def test_what_would_end_or_hang_the_run_is_an_exception():
    with external.isolated(bites, NAME) as solver:
        assert solver(np.ones(1), 1, 1.0, 0.0).tolist() == [1.0]
        with pytest.raises(CandidateCrashError, match="exit code 7"):
            solver(np.ones(2), 1, 1.0, 0.0)
        with pytest.raises(CandidateCrashError, match="SIGSEGV") as caught:
            solver(np.ones(3), 1, 1.0, 0.0)
        assert "on descriptor 1" in str(caught.value), "it prints where it does no harm"
        with pytest.raises(CandidateCrashError, match="SystemExit: 1"):
            solver(np.ones(4), 1, 1.0, 0.0)
        assert solver(np.ones(1), 1, 1.0, 0.0).tolist() == [1.0]
        solver.timeout = 0.2
        with pytest.raises(CandidateTimeoutError, match=r"within 0\.2 s"):
            solver(np.ones(5), 1, 1.0, 0.0)
        solver.timeout = 10.0
        assert solver(np.ones(1), 1, 1.0, 0.0).tolist() == [1.0]


def test_what_cannot_be_had_is_said_at_once():
    with pytest.raises(InvalidArgumentError, match="importable"):
        external.isolated("nowhere:project", NAME)
    with pytest.raises(InvalidArgumentError, match="no_such"):
        external.isolated("fast.sets.simplex:no_such", NAME)
    with pytest.raises(CandidateSignatureError, match="radius"):
        external.isolated(lambda a, k, radius: a, NAME)
    with pytest.raises(CandidateSignatureError, match="takes no a"):
        external.isolated("os:getcwd", NAME)
    lock = threading.Lock()
    with pytest.raises(InvalidArgumentError, match="isolate=False"):
        external.isolated(lambda a: lock, NAME)


def test_a_module_that_ends_the_process_when_it_is_imported(tmp_path, monkeypatch):
    (tmp_path / "module_that_exits.py").write_text("import os; os._exit(5)")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InvalidArgumentError, match="did not start: ended with exit code 5"):
        external.isolated("module_that_exits:f", NAME)


DEFECTS = {
    "reuses_buffer": "purity",
    "sorts_in_place": "purity",
    "remembers_threshold": "ties",
    "ap_one_method_is_wrong": "methods",
}


@pytest.mark.parametrize("name", DEFECTS)
def test_isolation_hides_no_defect(name):
    """In place, across calls, by one of the methods: the same results, instance by instance."""
    mutant = faulty_solvers.anew(name)  # it may remember what earlier tests of this process gave it
    alone, isolated = (
        verify(
            mutant.candidate, mutant.problem, checks=[DEFECTS[name]], isolate=isolate, shrink=False
        )
        for isolate in (False, True)
    )
    assert not alone.ok
    assert [(r.verdict, r.message) for r in isolated.results] == [
        (r.verdict, r.message) for r in alone.results
    ]
    assert isolated.candidate == alone.candidate


def softmax(scores, y, return_complement=False):
    """Its gradient without costs and weights, with 1 - s beside it where that is asked for."""
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    gradient = shares - np.eye(scores.size)[y]
    return (gradient, shares[y]) if return_complement else gradient


def test_options_pairs_and_unknowns_of_models_come_through():
    report = verify(softmax, "softmax.gradient", isolate=True, checks=["complement"])
    assert report.counts["pass"] + report.counts["fail"] > 10, "the complement is asked for"
    problem = lookup("multiclass_erm.primal")
    with external.isolated(lambda X, y, C: {"W": X, "A": np.ones(1)}, problem) as solver:
        instance = {"X": np.ones((2, 3)), "y": np.array([0, 1]), "C": 1.0}
        answer = Caller(solver, problem).raw(instance)
        assert answer.parts["W"].tolist() == np.ones((2, 3)).tolist()
        assert answer.parts["A"].tolist() == [1.0]


def test_a_program_is_isolated_already():
    command = [*COMMAND, "verification.reference_solvers.projections:alpha", "--problem", NAME]
    with external(command, problem=NAME) as solver:
        report = verify(solver, NAME, checks=["certified_gap"], isolate=True)
        assert report.ok
        assert solver.pid, "and belongs to the one who started it"


def test_the_server_by_itself():
    """What the documentation shows: a pipe in, a pipe out."""
    request = {
        "v": 1,
        "id": "any",
        "problem": NAME,
        "params": {"k": 1, "r": 1.0, "rho": 0.0},
        "arrays": {"a": {"values": [1.0, 1.0]}},
    }
    done = subprocess.run(
        [*COMMAND, "verification.reference_solvers.projections:alpha", "--problem", NAME],
        input=wire.dumps(request) + b"\n" + wire.dumps({**request, "params": {}}),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    assert b"ResourceWarning" not in done.stderr, "its input is closed"
    hello, answer, refused = map(wire.loads, done.stdout.splitlines())
    assert hello["arguments"] == ["a", "k", "r", "rho"]
    assert answer["id"] == "any"
    assert wire.decode(answer["x"], "x").tolist() == [0.5, 0.5]
    assert refused["status"] == "error"
    assert "TypeError" in refused["message"]


def test_an_adapter_keeps_its_name_and_its_precision():
    """Without its precision, rounding to float32 would be a false alarm."""
    report = verify(single, NAME, isolate=True, checks=["certified_gap"], shrink=False)
    assert report.ok, report.summary()
    assert report.checked > 50
    assert report.candidate == f"{__name__}.single"


single = adapt(projections.alpha, NAME, dtype=np.float32)


def test_arguments_keep_their_order():
    """Counterexamples name them as the function does, though X may be missing and y may not."""

    def train(X, y, *, k, C):
        return X

    problem = fixing.fix(lookup("multiclass_erm.primal"), {"loss": "topk_hinge_alpha"})
    with external.isolated(train, problem) as solver:
        call = Caller(solver, problem)
        assert (*call.positional, *call.named) == ("X", "y", "k", "C")
        assert "y=" in call.arguments_code({"X": A, "y": A, "k": 1, "C": 2.0})
    with external("true", "multiclass_erm.primal") as program:
        assert tuple(Caller(program, lookup("multiclass_erm.primal")).named) == problem.arguments


def test_exits_and_questions_are_errors_of_one_call():
    """Neither ends the process, and a function that asks does not read our requests."""

    def leaves(a, k, r, rho):
        if k == 1:
            raise SystemExit("bye")
        if k == 2:
            raise KeyboardInterrupt
        if k == 4:
            os.close(2)
            raise type("Odd", (Exception,), {"__str__": lambda self: 1 / 0})
        return np.zeros(len(input()))

    with external.isolated(leaves, NAME) as solver:
        for k, said in (
            (1, "SystemExit: bye"),
            (2, "KeyboardInterrupt"),
            (3, "EOFError"),
            (4, "Odd"),
        ):
            with pytest.raises(CandidateCrashError, match=said):
                solver(A, k, 1.0, 0.0)
        assert solver.deaths == 0


def test_time_to_compile_is_granted_once():
    """Three timeouts of a function that never answers take a moment, not minutes."""

    def hangs(a, k, r, rho):
        time.sleep(60)

    with external.isolated(hangs, NAME, timeout=0.05) as solver:
        assert solver.allowance == pytest.approx(0.6)
        call = Caller(solver, lookup(NAME), timeout=0.05)
        instance = Instance.of(NAME, a=A, k=1, r=1.0, rho=0.0)
        for _ in range(2):
            with pytest.raises(CandidateTimeoutError):
                call(instance)
            assert solver.pid is None
            assert solver.allowance == 0.0


def test_a_process_may_start_again_as_slowly_as_it_did_at_first():
    with external.isolated(half, NAME, timeout=50.0) as solver:
        solver(A, 1, 1.0, 0.0)
        assert solver.allowance == 0.0
        solver.close()
        assert 1.0 < solver.allowance < 600.0
