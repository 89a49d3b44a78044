"""What an external program is told, what is made of its answers, and when it ends."""

import gc
import inspect
import os
import shlex
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification import (
    Candidate,
    CandidateSignatureError,
    InvalidArgumentError,
    UnknownProblemError,
    external,
    verify,
)
from verification.external import wire
from verification.instances.instance import Instance
from verification.kit.solver_call import (
    Caller,
    CandidateCrashError,
    CandidateTimeoutError,
    NotApplicableError,
)
from verification.problems.problem import lookup

NAME = "topk_simplex_alpha.projection"
A = np.array([0.1, -0.0, 5e-324])
# Says what it was asked, on standard error, and answers with the entries of the first array.
ECHO = """
for r in requests():
    print(json.dumps(r), file=sys.stderr, flush=True)
    reply(r, x=next(iter(r["arrays"].values()))["values"])
"""
# Keeps what it was asked in a file.
RECORD = """
for r in requests():
    open(PATH, "a").write(json.dumps(r) + "\\n")
    reply(r, x=[1.0])
"""


def recorder(program, tmp_path):
    path = tmp_path / "requests"
    return program(RECORD.replace("PATH", repr(str(path)))), path


def test_the_request_is_what_the_protocol_says(program, tmp_path):
    command, path = recorder(program, tmp_path)
    with external(command, problem=NAME) as solver:
        solver(A, 2, r=np.inf, rho=0.1)
        solver(A, 2)
    first, second = (wire.loads(line.encode()) for line in path.read_text().splitlines())
    assert first == {
        "v": 1,
        "id": 1,
        "problem": NAME,
        "params": {"k": 2, "r": "inf", "rho": 0.1},
        "arrays": {"a": {"dtype": "float64", "shape": [3], "values": [0.1, -0.0, 5e-324]}},
    }
    assert second["id"] == 2
    assert second["params"] == {"k": 2}, "an argument that was not given is not invented"


@pytest.mark.parametrize("hexadecimal", [False, True])
def test_numbers_come_back_to_the_bit(program, hexadecimal):
    with external(program(ECHO), problem=NAME, hexadecimal=hexadecimal) as solver:
        values = np.array([0.1, -0.0, 5e-324, np.inf, -np.inf, 1 / 3, 1.7976931348623157e308])
        assert solver(values, 1).tobytes() == values.tobytes()


def test_large_arrays_are_files_that_do_not_stay(program, tmp_path):
    body = """
for r in requests():
    sent = r["arrays"]["a"]
    assert set(sent) == {"npz", "key", "dtype", "shape"} and os.path.dirname(sent["npz"]) == r["folder"]
    assert os.stat(r["folder"]).st_mode & 0o77 == 0, "private"
    os.rename(sent["npz"], os.path.join(r["folder"], "back.npz"))
    reply(r, x={"npz": "back.npz", "key": "a"})
"""
    values = np.random.default_rng(0).normal(size=(50, 100))
    with external(program(body), problem=NAME) as solver:
        assert np.array_equal(solver(values, 1), values)
        folder = solver._folder.path
        assert folder.is_dir()
    assert not folder.exists()


def test_one_that_reads_no_files_is_asked_again_without(program):
    body = """
for r in requests():
    a = r["arrays"]["a"]
    if "npz" in a:
        reply(r, status="unsupported")
    else:
        reply(r, x=a["values"])
"""
    values = np.random.default_rng(0).normal(size=5000)
    with external(program(body), problem=NAME) as solver:
        assert np.array_equal(solver(values, 1), values)
        assert solver.npz is None


def test_the_signature_is_the_problems(program):
    with external(program(ECHO), problem=NAME) as solver:
        assert list(inspect.signature(solver).parameters) == ["a", "k", "r", "rho"]
        with pytest.raises(TypeError, match="radius"):
            solver(A, 1, radius=2)
    with external(program(ECHO), problem=NAME, arguments=["a", "k"]) as solver:
        call = Caller(solver, lookup(NAME))
        assert call.accepts(Instance.of(NAME, a=A, k=1, r=1.0, rho=0.0))
        assert not call.accepts(Instance.of(NAME, a=A, k=1, r=2.0, rho=0.0))
    with pytest.raises(InvalidArgumentError, match="radius"):
        external(program(ECHO), problem=NAME, arguments=["a", "radius"])
    with pytest.raises(UnknownProblemError):
        external(program(ECHO), problem="topk")


def test_duals_counts_and_unknowns_of_models(program):
    body = """
for r in requests():
    kind = r["problem"].rpartition(".")[2]
    if kind == "projection":
        reply(r, x=[1], dual=[2])
    elif kind == "loss_augmented_inference":
        reply(r, x=[0.5, -0.5], value=1.5, counts=[1, 0])
    else:
        reply(r, x={"W": [[1, 2]]}, dual={"A": {"values": [3, 4], "shape": [2, 1]}})
"""
    command = program(body)
    with external(command, problem="simplex.projection") as solver:
        answer = solver(A)
        assert isinstance(answer, Candidate)
        assert (answer.x.tolist(), answer.dual.tolist()) == ([1.0], [2.0])
    with external(command, problem="average_precision.loss_augmented_inference") as solver:
        call = Caller(solver, solver.problem)
        answer = call.raw({"scores": np.ones(2), "y": np.array([1, 0])})
        assert (answer.value, answer.counts.tolist()) == (1.5, [1, 0])
    with external(command, problem="multiclass_erm.primal") as solver:
        arguments = dict.fromkeys(solver.problem.arguments, 1.0)
        answer = Caller(solver, solver.problem).raw(arguments)
        assert answer.parts["W"].tolist() == [[1.0, 2.0]]
        assert answer.parts["A"].tolist() == [[3.0], [4.0]]


def test_what_a_program_says_of_its_memory_is_repeated(program):
    body = """
for r in requests():
    a = r["arrays"]["a"]
    a["values"][0] = 7.0
    reply(r, x=[7.0, 2.0], changed={"a": a}, view={"of": "a", "offset": 0, "strides": [8]})
"""
    vector = np.array([1.0, 2.0, 3.0])
    with external(program(body), problem=NAME) as solver:
        x = solver(vector, 1)
    assert vector.tolist() == [7.0, 2.0, 3.0]
    assert np.shares_memory(x, vector)
    body = "for r in requests(): reply(r, x=[1.0], overwrote={'values': [9.0]})"
    with external(program(body), problem=NAME) as solver:
        first = solver(vector, 1)
        assert first.tolist() == [1.0]
        solver(vector, 1)
        assert first.tolist() == [9.0]


@pytest.mark.parametrize("counts", ["[0.5]", "['nan']"])
def test_counts_are_integers(program, counts):
    body = f"for r in requests(): reply(r, x=[1], value=1, counts={counts})"
    name = "average_precision.loss_augmented_inference"
    with (
        external(program(body), problem=name) as s,
        pytest.raises(CandidateCrashError, match="int"),
    ):
        s(np.ones(1), np.ones(1))


def test_a_hello_is_optional_and_kept(program):
    body = "print(json.dumps({'hello': 'mine 1.2', 'v': 1}), flush=True)" + ECHO
    with external(program(body), problem=NAME) as solver:
        solver(A, 1)
        assert solver.hello["hello"] == "mine 1.2"


def test_deadlines_hold_outside_of_the_main_thread(program):
    """Where no alarm can ring."""
    found = []

    def run():
        with external(program("time.sleep(60)"), problem=NAME, startup=0.0) as solver:
            call = Caller(solver, lookup(NAME), timeout=0.2)
            try:
                call(Instance.of(NAME, a=A, k=1, r=1.0, rho=0.0))
            except CandidateTimeoutError as error:
                found.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(600.0)
    assert len(found) == 1
    assert "no answer within 0.2 s" in found[0]


def test_threads_share_one_process_in_turn(program):
    with external(program(ECHO), problem=NAME) as solver:
        right = []

        def run(i):
            right.append(all(solver(np.full(3, i), 1)[0] == i for _ in range(50)))

        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert right == [True] * 4
        assert solver.deaths == 0


def test_a_program_that_waits_for_the_end_of_input_sees_it(program, tmp_path):
    body = ECHO + f"open({str(tmp_path / 'ended')!r}, 'w').close()"
    solver = external(program(body), problem=NAME)
    solver(A, 1)
    solver.close()
    solver.close()
    assert (tmp_path / "ended").exists()
    assert solver.pid is None


ENDS = {
    "normally": "",
    "by an exception": "1 / 0",
    "by sys.exit": "sys.exit(3)",
    "by an interrupt": "os.kill(os.getpid(), signal.SIGINT); time.sleep(5)",
}


ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@pytest.fixture
def interruptible():
    """A suite under nohup or in the background ignores signals; those that it starts must not.

    What is ignored is handed on, but a handler ends with exec.
    """
    ignored = [n for n in ENDING if signal.getsignal(n) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, lambda *_: None)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("end", ENDS)
def test_no_child_outlives_the_interpreter(program, end):
    """One that ignores the end of its input and SIGTERM."""
    stubborn = program(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); os.close(0)\nwhile True: time.sleep(1)"
    )
    code = (
        "import os, signal, sys, time\n"
        "from verification.external.process import Child\n"
        f"child = Child({stubborn!r})\nprint(child.popen.pid, flush=True)\n{ENDS[end]}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False
    )
    pid = int(done.stdout)
    assert (done.returncode == 0) == (end == "normally")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


# Python 3.12 warns of a fork beside threads; this one runs nothing but the finalizers.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_of_the_parent_kills_nothing(program):
    with external(program(ECHO), problem=NAME) as solver:
        if (pid := os.fork()) == 0:
            solver.close()
            os._exit(0)
        os.waitpid(pid, 0)
        assert solver(A, 1).tobytes() == A.tobytes()


def test_nothing_is_left_open(program):
    def descriptors():
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    before = descriptors()
    for _ in range(5):
        with external(program(ECHO), problem=NAME) as solver:
            solver(A, 1)
    for _ in range(5):
        external(program(ECHO), problem=NAME)(A, 1)
    assert descriptors() == before
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
ARRAYS = st.one_of(
    JSON,
    st.lists(st.floats(), max_size=4),
    st.fixed_dictionaries({"values": JSON}, optional={"shape": JSON, "dtype": JSON}),
    st.fixed_dictionaries({"npz": JSON}, optional={"key": JSON}),
)
VIEW = st.fixed_dictionaries({"of": st.just("a") | JSON, "offset": JSON, "strides": JSON})
REPLIES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("x", "dual", "complement", "value", "counts", "overwrote"), ARRAYS),
        **dict.fromkeys(("status", "message"), JSON | st.sampled_from(["error", "unsupported"])),
        "parts": JSON | st.dictionaries(st.sampled_from("WA"), ARRAYS),
        "changed": JSON | st.dictionaries(st.just("a"), ARRAYS),
        "view": JSON | VIEW,
    },
)


@pytest.fixture(scope="module")
def speechless():
    """Solvers of three kinds of problems, whose replies the test makes up."""
    names = (NAME, "average_precision.loss_augmented_inference", "multiclass_erm.primal")
    solvers = [external([sys.executable, "-c", "input()"], problem=name) for name in names]
    yield solvers
    for solver in solvers:
        solver.close()


@given(REPLIES, st.integers(0, 2))
def test_no_reply_confuses_the_kit(speechless, reply, which):
    solver = speechless[which]
    solver._exchange = lambda *_: reply
    arguments = dict.fromkeys(solver.problem.arguments, 1.0)
    arguments[solver.problem.data] = np.array([1.0, 2.0])
    said = ""
    try:
        answer = Caller(solver, solver.problem).raw(arguments)
        assert answer.x is None or np.asarray(answer.x).dtype.kind in "fiub"
    except (CandidateCrashError, NotApplicableError) as error:
        said = str(error)
    assert not said.startswith(("TypeError", "KeyError", "ValueError")), "no message of ours"


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", ENDING)
def test_a_command_that_is_told_to_end_ends_its_program(program, tmp_path, number):
    path = tmp_path / "pid"
    body = f"open({str(path)!r}, 'w').write(f'{{os.getpid()}}\\n')\nwhile True: time.sleep(1)"
    command = [sys.executable, "-m", "verification.cli", "verify", "--problem", NAME]
    with subprocess.Popen(
        [*command, "--exec", shlex.join(program(body))],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as running:
        while not (path.exists() and path.read_text().endswith("\n")):
            time.sleep(0.01)
            assert running.poll() is None
        running.send_signal(number)
        assert running.wait(600) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(path.read_text()), 0)


def test_a_program_answers_the_problem_it_was_started_for(program):
    with (
        external(program(ECHO), problem="simplex.projection") as solver,
        pytest.raises(CandidateSignatureError, match=r"started for simplex\.projection"),
    ):
        verify(solver, "topk_cone.projection")
