"""Every way to misbehave is an exception with its evidence, in time, and leaves no process."""

import os
import time

import numpy as np
import pytest
from _processes import running, soon

from verification import InvalidArgumentError, Verdict, external, verify
from verification.external import process
from verification.kit.solver_call import (
    CandidateCrashError,
    CandidateTimeoutError,
    NotApplicableError,
)

A = np.array([1.0, 2.0])
NAME = "simplex.projection"


def gone(pid):
    return soon(lambda: not running(pid), 600.0)


CRASHES = {
    "exit code": ("sys.stdin.readline(); sys.exit(3)", "exit code 3"),
    "last words": (
        "sys.stdin.readline(); print('no memory', file=sys.stderr); sys.exit(1)",
        "no memory",
    ),
    "segmentation fault": ("sys.stdin.readline(); os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    "abort": ("sys.stdin.readline(); os.abort()", "SIGABRT"),
    "never started": ("sys.exit(0)", "exit code 0"),
    "half a line": (
        "sys.stdin.readline(); print('{\"id\": 1, \"x\": [0.5', end='')",
        "half a line",
    ),
    "invalid JSON": ('sys.stdin.readline(); print(\'{"id": 1, "x": [nan]}\', flush=True)', "JSON"),
    "no id": ("next(requests()); print('{\"x\": [1]}', flush=True); time.sleep(60)", "no id"),
    "wrong id": ("r = next(requests()); r['id'] = 7; reply(r, x=ones(r))", "wrong id"),
    "id true": ("r = next(requests()); r['id'] = True; reply(r, x=ones(r))", "wrong id"),
    "closed stdout": ("sys.stdin.readline(); os.close(1); time.sleep(60)", "closed its stdout"),
    "closed stdin": ("os.close(0); time.sleep(60)", "stdin|standard input|no answer"),
    "other version": ('print(\'{"hello": "me", "v": 2}\', flush=True); time.sleep(60)', "version"),
    "strings": ("[reply(r, x=['0.5', '0.5']) for r in requests()]", "not quoted"),
    "null": ("[reply(r, x=[None, 1]) for r in requests()]", "null"),
    "no x": ("[reply(r, status='infeasible') for r in requests()]", "no x.*infeasible"),
    "ragged": ("[reply(r, x=[[1], 2]) for r in requests()]", "unequal"),
    "own error": ("[reply(r, status='error', message='singular') for r in requests()]", "singular"),
    "endless line": (
        "sys.stdin.readline()\nwhile True: os.write(1, b'{' * 65536)",
        "endless output",
    ),
    "endless lines": ("sys.stdin.readline()\nwhile True: print('working ...')", "endless output"),
    "noise, then death": ("print('banner'); sys.stdin.readline(); sys.exit(2)", "banner"),
}


@pytest.mark.parametrize("case", CRASHES)
def test_crashes(program, monkeypatch, case):
    monkeypatch.setattr(process, "LONGEST_LINE", 2**20)
    body, evidence = CRASHES[case]
    with external(program(body), problem=NAME, timeout=60.0) as solver:
        pid = solver.pid
        if case == "closed stdin":
            solver.timeout = solver.startup = 0.1
        with pytest.raises((CandidateCrashError, CandidateTimeoutError), match=evidence) as caught:
            solver(A)
        assert (caught.type is CandidateCrashError) or case == "closed stdin"
    assert gone(pid)


# `ready` says that what the message is to show has been written: starting takes its time.
READY = "def ready(): open(PATH, 'w').close()\n"
HANGS = {
    "no answer": "ready(); time.sleep(60)",
    "half a line": "os.write(1, b'{\"id\": 1'); ready(); time.sleep(60)",
    "not flushed": 'ready(); r = next(requests()); sys.stdout.write(\'{"id": 1, "x": [1]}\\n\'); time.sleep(60)',
    "deaf": "signal.signal(signal.SIGTERM, signal.SIG_IGN); ready()\nwhile True: time.sleep(1)",
    "busy": "ready()\nwhile True: pass",
    "talkative": "while True: print('still here', file=sys.stderr); ready(); time.sleep(0.01)",
}


@pytest.mark.parametrize("case", HANGS)
def test_hangs(program, tmp_path, case):
    path = tmp_path / "ready"
    command = program(READY.replace("PATH", repr(str(path))) + HANGS[case])
    with external(command, problem=NAME, timeout=0.15, startup=0.15) as solver:
        pid = solver.pid
        while not path.exists():
            assert running(pid)
            time.sleep(0.01)
        with pytest.raises(CandidateTimeoutError, match=r"within 0\.3 s") as caught:
            solver(A)
        assert ("half a line" in str(caught.value)) == (case == "half a line")
        assert ("still here" in str(caught.value)) == (case == "talkative")
        assert gone(pid)


def test_while_a_program_is_waited_for_it_is_said(program, monkeypatch):
    monkeypatch.setattr("verification.kit.timeouts.EVERY", 0.02)
    said = []
    with external(program("time.sleep(60)"), problem=NAME, timeout=1.5, startup=0.1) as solver:
        verify(solver, NAME, checks=["lengths"], timeout=1.5, waiting=said.append, shrink=False)
    assert "waited for project(a[33], r=1.0, rho=0.0), after 0 of 3 timeouts" in said[0]
    assert "after 2 of 3" in said[-1]


def test_a_program_that_does_not_read_is_not_waited_for(program):
    large = np.ones(200_000)
    with (
        external(program("time.sleep(60)"), problem=NAME, timeout=0.3, startup=0, npz=None) as s,
        pytest.raises(CandidateTimeoutError, match="does not read"),
    ):
        s(large)


def test_a_program_that_writes_while_it_should_read_does_not_block(program):
    body = "print('x' * 300_000, flush=True)\nfor r in requests(): reply(r, x=ones(r))"
    with external(program(body), problem=NAME, npz=None) as solver:
        assert solver(np.ones(100_000)).shape == (100_000,)


def test_noise_and_standard_error_are_no_harm(program):
    body = """
print("a banner")
for r in requests():
    print("e" * 100_000, file=sys.stderr)
    print("solving ...")
    reply(r, x=ones(r), extra={"unknown": [1]})
"""
    with external(program(body), problem=NAME) as solver:
        for _ in range(3):
            assert solver(A).tolist() == [0.5, 0.5]


def test_it_is_started_again_but_not_for_ever(program, tmp_path):
    body = f"open({str(tmp_path / 'starts')!r}, 'a').write('|'); sys.stdin.readline(); sys.exit(1)"
    with external(program(body), problem=NAME) as solver:
        for _ in range(9):
            with pytest.raises(CandidateCrashError):
                solver(A)
        assert solver.exhausted
        assert (tmp_path / "starts").read_text() == "|" * 5


def test_one_crash_costs_one_instance(program):
    body = """
for r in requests():
    if len(r["arrays"]["a"]["values"]) == 3:
        os.abort()
    reply(r, x=ones(r))
"""
    with external(program(body), problem=NAME) as solver:
        assert solver(A).tolist() == [0.5, 0.5]
        with pytest.raises(CandidateCrashError, match="SIGABRT"):
            solver(np.ones(3))
        assert solver(np.ones(4)).tolist() == [0.25] * 4
        assert solver.deaths == 1


def test_one_that_ends_after_each_answer_is_told_so(program):
    with external(program("r = next(requests()); reply(r, x=ones(r))"), problem=NAME) as solver:
        assert solver(A).tolist() == [0.5, 0.5]
        gone(solver._child.popen.pid)
        with pytest.raises(CandidateCrashError, match="exit code 0 after 1 answer"):
            solver(A)


FORKS = """
read, write = os.pipe()
def linger(away):
    if os.fork() == 0:
        if away:
            os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.write(write, b"%d " % os.getpid())
        time.sleep(100)
linger(False), linger(True)
pids = b""
while pids.count(b" ") < 2:
    pids += os.read(read, 100)
open(PATH, "wb").write(pids)
"""


@pytest.mark.parametrize("end", ["close", "crash", "timeout", "forgotten"])
def test_grandchildren_are_found_and_killed(program, tmp_path, end):
    """Also one in a session of its own; both keep the pipes open."""
    rest = {
        "close": "for r in requests(): reply(r, x=ones(r))",
        "crash": "r = next(requests()); reply(r, x=ones(r)); os.abort()",
        "timeout": "r = next(requests()); reply(r, x=ones(r)); time.sleep(60)",
        "forgotten": "for r in requests(): reply(r, x=ones(r))",
    }
    path = tmp_path / "pids"
    body = FORKS.replace("PATH", repr(str(path))) + rest[end]
    solver = external(program(body), problem=NAME, timeout=60.0)
    solver(A)
    pids = [solver.pid, *map(int, path.read_text().split())]
    assert len(pids) == 3
    if end == "close":
        solver.close()
    elif end == "forgotten":
        del solver
    else:
        solver.timeout = 0.2
        with pytest.raises((CandidateCrashError, CandidateTimeoutError)):
            solver(A)
    assert all(gone(pid) for pid in pids), [pid for pid in pids if running(pid)]


def test_an_interrupt_leaves_nothing(program, monkeypatch):
    with external(program("time.sleep(60)"), problem=NAME) as solver:
        pid = solver.pid

        def interrupt(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(process.Child, "read_line", interrupt)
        with pytest.raises(KeyboardInterrupt):
            solver(A)
        assert gone(pid)


def test_statuses_are_recorded_and_not_believed(program):
    body = """
for r in requests():
    a = r["arrays"]["a"]
    if a["shape"] != [len(a["values"])]:
        reply(r, status="unsupported", message="no batches")
    else:
        reply(r, x=ones(r), status="optimal")
"""
    with external(program(body), problem=NAME) as solver:
        report = verify(solver, NAME, checks=["certified_gap"])
    assert report.counts["fail"] > 0
    assert "its status was 'optimal'" in report.failures[0].message
    assert "external([" in report.counterexample
    assert report.candidate == solver.label


def test_a_right_answer_with_a_bad_status_passes_with_a_remark(program):
    body = "for r in requests(): reply(r, x=[r['params']['r']], status='failed')"
    with external(program(body), problem=NAME) as solver:
        report = verify(solver, NAME, checks=["ground_truth"], shrink=False)
    right = [r for r in report.results if r.verdict is Verdict.PASS]
    assert right
    assert {r.message for r in right} == {"its status was 'failed'"}


def test_unsupported_is_skipped(program):
    body = "for r in requests(): reply(r, status='unsupported', message='too wide')"
    with external(program(body), problem=NAME) as solver:
        with pytest.raises(NotApplicableError, match="too wide"):
            solver(A)
        report = verify(solver, NAME, checks=["ties"])
    assert not report.ok
    assert report.counts["skipped"] == len(report.results)


def test_programs_that_cannot_be_started_are_named(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("no program")
    for command, said in [
        ("./nowhere", "no such program"),
        (["nowhere-at-all"], "no such program"),
        (str(plain), "chmod"),
        ([], "expected a program"),
        ("'open", "quotation"),
    ]:
        with pytest.raises(InvalidArgumentError, match=said):
            external(command, problem=NAME)
    plain.chmod(0o755)
    with pytest.raises(InvalidArgumentError, match="cannot be started"):
        external(str(plain), problem=NAME)
    assert not os.path.exists("./nowhere")
