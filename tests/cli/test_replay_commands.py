"""replay, shrink and explain: what a user does with a failure that was written to a file."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from _commands import data, refused, run

from verification.errors import UntrustedFileError
from verification.failures import answers, replay
from verification.instances.files import LONGEST

ROOT = Path(__file__).resolve().parents[2]
PROBLEM = "simplex.projection"
WRONG = """
import numpy as np

def project(a, r=1.0, rho=0.0):
    return np.maximum(a, 0.0) * r
"""
# The example solver that ships, with its answer spoilt.
PROGRAM = """
import sys
sys.path.insert(0, {solvers!r})
import solver
solver.serve({{"simplex.projection": lambda a, r, rho: 2.0 * solver.project(a, r)}})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a wrong solver is, and what `verify` writes about it."""
    here = tmp_path_factory.mktemp("cli")
    (here / "a_wrong_solver.py").write_text(WRONG, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.setattr(sys, "path", list(sys.path))
        run(
            "verify", "--problem", PROBLEM, "--solver", "a_wrong_solver:project", "--set", "r=2",
            "--check", "certified_gap", "--report", "json, html", "-o", "out", code=1,
        )  # fmt: skip
    return here


@pytest.fixture
def file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return folder / "out" / f"{PROBLEM}.replay.json"


def test_the_formats_asked_for_are_written(file: Path) -> None:
    assert {p.name for p in file.parent.iterdir()} == {"report.html", "report.json", file.name}
    found = json.loads((file.parent / "report.json").read_text(encoding="utf-8"))
    assert found["settings"]["fixed"] == {"r": 2.0}
    assert "--set r=2.0" in found["command"]


def test_what_cannot_be_written_is_said_before_the_run(file: Path) -> None:
    (file.parent.parent / "other" / "junit.xml").mkdir(parents=True)
    solver = ("--problem", PROBLEM, "--solver", "a_wrong_solver:never_looked_for")
    assert "junit.xml" in refused("verify", *solver, "--report", "json,junit", "-o", "other")
    assert not (file.parent.parent / "other" / "report.json").exists()


def test_replay_ends_with_1_while_the_failure_is_there(file: Path) -> None:
    assert replay.load(file).instance["r"] == 2.0
    failing = run("replay", file, "--trust", code=1)
    assert "still fails" in failing.stdout
    assert "the same bits as then" in failing.stdout
    found = data("replay", file, "--trust", code=1)
    assert (found["then"]["verdict"], found["now"]["verdict"]) == ("fail", "fail")
    assert found["same_bits"] is True
    assert "passes now" in run("replay", file, "--solver", "fast.sets.simplex:project").stdout


def test_shrink_writes_a_smaller_one(file: Path) -> None:
    result = run("shrink", file, "--trust", "--seconds", "1", "-o", "smaller.json", "--json")
    found = json.loads(result.stdout)
    small, large = replay.load("smaller.json"), replay.load(file)
    assert small.instance["a"].size <= large.instance["a"].size
    assert found["after"]["code"] == small.code
    assert "wrote smaller.json" in result.stderr
    again = run("shrink", "smaller.json", "--trust", "--seconds", "1")  # in its place
    header = next(line for line in again.stdout.splitlines() if "numbers in arrays" in line)
    assert header.split() == ["numbers", "in", "arrays", "message"], "the simplex has no k"
    kept = "None smaller was found" in again.stdout
    assert ("not made smaller" in again.stdout) is kept
    solver = ("--solver", "fast.sets.simplex:project")
    assert "the failure is gone" in refused("shrink", file, *solver)


def test_explain_says_by_how_much_and_what_is_right(file: Path) -> None:
    result = run("explain", file, "--output", "why.html")
    assert "What fails: " in result.stdout
    assert "EXCEEDED" in result.stdout
    assert "Certificate of the right answer" in result.stdout
    assert "<table>" in Path("why.html").read_text(encoding="utf-8")
    found = data("explain", file)
    assert found["exceeded"]
    stored = replay.load(file)
    assert answers.equal(answers.from_dict(found["returned"]), stored.returned)
    right = answers.from_dict(found["right"])
    assert np.isclose(right.x.sum(), 2.0)


def test_a_program_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solvers = str(ROOT / "docs" / "solvers")
    program = tmp_path / "spoilt.py"
    program.write_text(PROGRAM.format(solvers=solvers), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    run(
        "verify", "--problem", PROBLEM, "--exec", f"{sys.executable} spoilt.py",
        "--check", "certified_gap", "-o", "out", code=1,
    )  # fmt: skip
    file = Path("out") / f"{PROBLEM}.replay.json"
    stored = replay.load(file)
    assert stored.program == (sys.executable, "spoilt.py")
    assert "the same bits as then" in run("replay", file, "--trust", code=1).stdout
    sound = f"{sys.executable} {solvers}/solver.py"
    run("replay", file, "--exec", sound)
    program.unlink()
    run("explain", file)  # the program is gone, its answer is not


@pytest.mark.parametrize("command", ["replay", "shrink", "explain"])
def test_what_is_no_replay_file(command: str, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}", encoding="utf-8")
    deep = tmp_path / "deep.json"  # json reads these, and cannot write them
    deep.write_text('{"schema": 2, "settings": ' + "[" * 700 + "]" * 700 + "}", encoding="utf-8")
    nested, digits = tmp_path / "nested.json", tmp_path / "digits.json"
    nested.write_text("[" * 100_000, encoding="utf-8")
    digits.write_text('{"schema": ' + "9" * 5000, encoding="utf-8")
    endless, huge = tmp_path / "pipe.json", tmp_path / "huge.json"
    os.mkfifo(endless)
    with huge.open("wb") as stream:
        stream.truncate(LONGEST + 1)
    for path, says in (
        (other, "expected a replay file"),
        (tmp_path / "no.json", "No such file"),
        (nested, "nested too deeply"),
        (deep, "nested too deeply"),
        (digits, "digits"),
        (tmp_path, "Is a directory"),
        (endless, "need not end"),
        (Path("/dev/zero"), "need not end"),
        (huge, "more than 134217728 bytes"),
    ):
        result = run(command, path, code=2)
        assert result.stdout == ""
        assert says in " ".join(result.stderr.split())


def test_a_solver_that_is_gone(file: Path) -> None:
    orphan = {**json.loads(file.read_text(encoding="utf-8")), "candidate": "no.module"}
    Path("orphan.json").write_text(json.dumps(orphan), encoding="utf-8")
    assert "no.module" in refused("replay", "orphan.json", "--trust")
    run("explain", "orphan.json")
    run("shrink", file, "--seconds", "0", code=2)
    run("explain", file, "--output", "no/such/folder.html", code=2)


def spoilt(file: Path, name: str, **parts: object) -> Path:
    """A copy of a replay file in which somebody has changed some parts."""
    stored = json.loads(file.read_text(encoding="utf-8"))
    path = Path(name)
    path.write_text(json.dumps({**stored, **parts}), encoding="utf-8")
    return path


@pytest.mark.parametrize("command", ["replay", "shrink", "explain"])
def test_a_file_decides_nothing_about_what_is_run(file: Path, command: str) -> None:
    """Neither its program, with the folder and environment it asks for, nor its module is touched."""
    sent = Path("sent")
    sent.mkdir(exist_ok=True)
    for evil in (Path("evil.py"), sent / "evil.py"):
        evil.write_text("open('was_here', 'w')\ndef f(a): return a\n", encoding="utf-8")
    started = {"cwd": str(sent), "env": {"PYTHONPATH": "sent"}}
    settings = {**json.loads(file.read_text(encoding="utf-8"))["settings"], "started": started}
    program = [sys.executable, "evil.py"]
    by_program = spoilt(file, "program.json", program=program, settings=settings)
    by_name = spoilt(file, "name.json", candidate="evil.f")
    before = list(sys.path)
    for path, says in ((by_program, "start the program"), (by_name, "call the Python function")):
        if command == "explain":
            run("explain", path)
        else:
            said = refused(command, path)
            assert says in said
            assert "--trust" in said
            assert "--solver or --exec" in said
    if command != "explain":
        said = refused(command, by_program)
        assert f"{program!r} with {started!r}" in said
        assert "'evil.f'" in refused(command, by_name)
    assert sys.path == before
    assert "evil" not in sys.modules
    assert not Path("was_here").exists()
    assert not (sent / "was_here").exists()
    with pytest.raises(UntrustedFileError):
        replay.load(by_name).run()
    with pytest.raises(UntrustedFileError):
        replay.load(by_program).shrink(0.1)


@pytest.mark.parametrize("started", [{"shell": True}, {"env": {"A": 1}}])
def test_spoilt_options_of_a_trusted_program(file: Path, started: object) -> None:
    settings = json.loads(file.read_text(encoding="utf-8"))["settings"] | {"started": started}
    path = spoilt(file, "started.json", program=[sys.executable], settings=settings)
    assert "--solver or --exec" in refused("replay", path, "--trust")


def test_a_solver_that_is_given_is_run_in_the_place_of_that_in_the_file(file: Path) -> None:
    given = ("--solver", "fast.sets.simplex:project")
    path = spoilt(file, "elsewhere.json", program=["./never_started"])
    for words in (given, (*given, "--trust")):
        assert "passes now" in run("replay", path, *words).stdout


def test_a_file_cannot_steer_the_terminal(file: Path) -> None:
    odd = "\x1b]0;a title\x07 \x9b31m [bold]not markup[/]"
    path = spoilt(file, "odd.json", message=odd, code=odd, candidate=odd, check=odd)
    shown = run("explain", path).output + run("replay", path, code=2).output
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    assert "[bold]not markup[/]" in shown
