"""The command of a run does the same run again."""

import functools
import importlib
import json
import shlex
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from verification import adapt, external, verify
from verification.app import command_line
from verification.bridges.cases import cases
from verification.cli import app
from verification.errors import VerificationFailedError
from verification.external import isolated
from verification.failures import replay, run_command
from verification.failures.run_command import command
from verification.problems.problem import fast_candidate

NAME = "simplex.projection"
SOLVER = '''
import numpy as np

def project(a, r=1.0):
    """Right, unless two entries are equal."""
    s = np.sort(a)[::-1]
    c = (np.cumsum(s) - r) / np.arange(1, a.size + 1)
    return np.maximum(a - (c.max() if np.unique(a).size == a.size else c[0]), 0.0)
'''


@pytest.fixture
def solver(tmp_path, monkeypatch):
    (tmp_path / "run_command_solver.py").write_text(SOLVER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("run_command_solver").project
    del sys.modules["run_command_solver"]


def outcome(report):
    """What a report found, without the times."""
    found = report.to_dict()
    return [found[n] for n in ("problem", "profile", "seed", "counts", "by_check", "failures")]


def again(line, tmp_path):
    """The report of a command, as it writes it."""
    words = shlex.split(line)
    assert words[0] == "refsolve"
    CliRunner().invoke(app, [*words[1:], "--report", "json", "-o", str(tmp_path / "out")])
    return json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))


RUNS = [
    {"checks": ["certified_gap", "ties"], "xfail": ["ties", "certified_gap/border"]},
    {"checks": ["certified_gap"], "fixed": {"r": 2.0}, "seed": 3, "isolate": True, "timeout": 7.5},
    {"checks": "batch", "batch": True},
    {"checks": ["purity", "ties"], "profile": "soak", "count": 50, "batch": False},
]


@pytest.mark.parametrize("given", RUNS)
def test_it_finds_the_same(solver, given, tmp_path):
    found = verify(solver, NAME, shrink=False, **given)
    assert found.checked
    repeated = again(command(found), tmp_path)
    for name in ("problem", "profile", "seed", "counts", "by_check"):
        assert repeated[name] == found.to_dict()[name], command(found)
    keys = ("checks", "fixed", "isolate", "timeout", "batch", "count", "xfail", "solver")
    first, second = json.loads(found.to_json())["settings"], repeated["settings"]
    assert {n: second[n] for n in keys} == {n: first[n] for n in keys}
    assert repeated["command"] == command(found)


def test_that_of_fast_and_of_a_program(tmp_path):
    assert command(verify(None, NAME, checks=["ties"])) == (
        f"refsolve verify --problem {NAME} --profile quick --seed 0 --check ties"
    )
    program = tmp_path / "my solver"
    program.write_text('#!/bin/sh\nread x\necho \'{"id": 1, "x": [1]}\'\nread x\n')
    program.chmod(0o755)
    given = {"checks": ["ties"], "shrink": False}
    with external([str(program), "-v"], problem=NAME) as started:
        words = shlex.split(command(verify(started, NAME, **given)))
        assert words[4:6] == ["--exec", f"'{program}' -v"]
        assert "--isolate" not in words
    with external(["./my solver"], problem=NAME, cwd=str(tmp_path), hexadecimal=True) as started:
        assert f"hexadecimal=True, cwd={str(tmp_path)!r})" in started.origin
        found = verify(started, NAME, **given)
    assert command(found) == ""  # no option says it
    path = replay.save(found, tmp_path / "a failure.json")
    stored = replay.load(path)
    assert stored.settings["started"] == {"hexadecimal": True, "cwd": str(tmp_path)}
    with stored.calling(trust=True) as call:  # it is found where it was
        assert call.function.hexadecimal


class Solver:
    def project(self, a, r=1.0):
        return np.maximum(a, 0.0)

    def __call__(self, a, r=1.0):
        return np.maximum(a, 0.0)


def other(a, r=1.0):
    return np.maximum(a, 0.0)


def local():
    def other(a, r=1.0):
        return np.maximum(a, 0.0)

    return other


@functools.wraps(other)
def wrapping(a, r=1.0):
    return other(a)


adapted = adapt(other, NAME)


@pytest.mark.parametrize(
    "candidate",
    [local(), Solver(), Solver().project, lambda a, r=1.0: a, wrapping, adapt(other, NAME)],
)
def test_a_name_that_is_that_of_another_is_not_used(candidate):
    assert run_command.solver(candidate) == ""
    assert command(verify(candidate, NAME, checks=["ties"], shrink=False)) == ""


def test_names():
    assert run_command.solver(other) == f"{__name__}:other"
    assert run_command.solver(adapted) == f"{__name__}:adapted"
    assert run_command.solver(fast_candidate(NAME)) == "fast.sets.simplex:project"
    with isolated("fast.sets.simplex:project", NAME) as function:
        assert run_command.solver(function) == "fast.sets.simplex:project"


def test_values_are_read_back():
    fixed = {"k": 3, "loss": "softmax", "bias": True, "costs": np.array([0.1, 1.0]), "a": None}
    fixed |= {"word": "true", "r": 0.1}
    words = [f"{name}={run_command._text(value)}" for name, value in fixed.items()]
    read = command_line.fixed_arguments(words)
    assert {**read, "costs": None} == {**fixed, "costs": None}
    assert read["costs"] == [0.1, 1.0]


def test_replay_files_and_tests_say_it_too(solver, tmp_path):
    found = verify(solver, NAME, checks=["ties"], xfail=["ties/random"], timeout=5.0, shrink=False)
    path = replay.save(found, tmp_path / "a failure.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["command"] == "refsolve replay 'a failure.json'"
    assert data["found_by"] == command(found) == command(replay.load(path))
    case = next(c for c in cases(NAME, checks=["ties"]) if c.family != "random")
    with pytest.raises(VerificationFailedError) as failed:
        case.run(solver, timeout=5.0)
    line = str(failed.value).splitlines()[-1]
    assert line == (
        f"refsolve verify --problem {NAME} --solver run_command_solver:project --profile quick "
        "--seed 0 --check ties --timeout 5.0 --no-isolate"
    )
