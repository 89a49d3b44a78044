"""A kit that is killed takes its child processes with it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from _processes import running, soon

from verification import external
from verification.external import process
from verification.external.guardian import with_token

NAME = "simplex.projection"
# A process, one that it starts, and one in a session of its own.
HANGS = """
import os, subprocess, sys, time

def hang(a, r=1.0):
    sleep = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
    pids = [os.getpid()]
    pids += [subprocess.Popen(sleep, start_new_session=own).pid for own in (False, True)]
    with open("pids.new", "w") as file:
        file.write(" ".join(map(str, pids)))
    os.rename("pids.new", "pids")
    while True:
        time.sleep(600)
"""
KIT = f"""
from verification.external import isolated
isolated("hanging:hang", "{NAME}", timeout=600.0)([1.0])
"""
FORKED = """
import os, sys, time
from verification.external.process import Child
child = Child([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
fork = os.fork()
if fork == 0:
    time.sleep(600)
print(child.popen.pid, child.token, fork, flush=True)
time.sleep(600)
"""


@pytest.fixture
def guards():
    """Guardians of this process that were not there before the test."""
    before = guardians(os.getpid())
    return lambda: [pid for pid in guardians(os.getpid()) if pid not in before]


def guardians(of):
    """Guardians of the children of a process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[3:4] and words[3].endswith(b"guardian.py") and int(words[4]) == of:
            found.append(int(folder.name))
    return found


def end(*pids):
    """Leave nothing behind if a test fails."""
    for pid in filter(running, pids):
        os.kill(pid, signal.SIGKILL)


def test_what_hangs_ends_with_a_kit_that_is_killed(tmp_path):
    (tmp_path / "hanging.py").write_text(HANGS, encoding="utf-8")
    path = tmp_path / "pids"
    with subprocess.Popen(
        [sys.executable, "-c", KIT],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as kit:
        started = soon(lambda: path.exists() or kit.poll() is not None)
        soon(lambda: guardians(kit.pid) or kit.poll() is not None)
        guards = guardians(kit.pid)
        kit.kill()
    assert started
    pids = [int(word) for word in path.read_text().split()]
    assert len(pids) == 3
    try:
        assert soon(lambda: not any(map(running, [*pids, *guards])), 600.0)
    finally:
        end(*pids)
    assert len(guards) == 1


def test_a_fork_of_the_kit_does_not_keep_them():
    """It has the kit's end of the pipe too, which stays open."""
    with subprocess.Popen([sys.executable, "-c", FORKED], stdout=subprocess.PIPE, text=True) as kit:
        assert kit.stdout is not None
        pid, token, fork = kit.stdout.readline().split()
        assert with_token(token) == [int(pid)]
        kit.kill()
        kit.wait()
        try:
            assert soon(lambda: not running(int(pid)), 600.0)
            assert running(int(fork))
        finally:
            end(int(pid), int(fork))
    assert soon(lambda: not guardians(kit.pid))


WORKERS = """
import os, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from verification.kit.workers import end_with_parent

if __name__ == "__main__":
    with ProcessPoolExecutor(2, get_context("spawn"), end_with_parent) as pool:
        waiting = [pool.submit(time.sleep, s) for s in (0, 0.1, 600)]
        waiting[1].result()
        print(*pool._processes, flush=True)
        waiting[2].result()
"""


def test_workers_end_with_a_kit_that_is_killed(tmp_path):
    """One that works and one that waits for work."""
    (tmp_path / "run_workers.py").write_text(WORKERS, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "run_workers.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as kit:
        assert kit.stdout is not None
        pids = [int(word) for word in kit.stdout.readline().split()]
        kit.kill()
    assert pids
    try:
        assert soon(lambda: not any(map(running, pids)), 600.0)
    finally:
        end(*pids)


@pytest.mark.parametrize("end", ["close", "crash", "forgotten"])
def test_a_guardian_goes_with_its_child(program, guards, end):
    # it crashes when it is told to: by itself it may be gone before it is looked for
    crash = "sys.stdin.readline(); sys.exit(3)"
    body = {"crash": crash}.get(end, "for r in requests(): reply(r, x=ones(r))")
    solver = external(program(body), problem=NAME)
    assert soon(lambda: len(guards()) == 1)
    if end == "close":
        solver.close()
    elif end == "crash":
        solver._child.popen.stdin.close()
        with pytest.raises(process.GoneError):
            solver._child.read_line(time.monotonic() + 60)
    else:
        del solver
    assert soon(lambda: not guards())


def test_without_an_interpreter_there_is_no_guardian(program, guards, monkeypatch):
    command = program("for r in requests(): reply(r, x=ones(r))")
    monkeypatch.setattr(sys, "executable", "")
    with external(command, problem=NAME) as solver:
        assert not guards()
        assert solver([1.0, 0.0]).tolist() == [0.5, 0.5]


def test_a_program_that_cannot_be_started_leaves_no_guardian(tmp_path, guards):
    path = tmp_path / "no_program"
    path.write_text("\x7fELF", encoding="utf-8")
    path.chmod(0o755)
    with pytest.raises(process.InvalidArgumentError, match="cannot be started"):
        external(str(path), problem=NAME)
    assert soon(lambda: not guards())


def test_a_guardian_that_is_killed_is_no_harm(program, guards):
    with external(program("for r in requests(): reply(r, x=ones(r))"), problem=NAME) as solver:
        assert soon(lambda: len(guards()) == 1)
        [pid] = guards()
        os.kill(pid, signal.SIGKILL)
        assert solver([1.0, 0.0]).tolist() == [0.5, 0.5]
