"""The command line: what a user types, sees, and gets as exit code."""

import errno
import json
import logging
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from _commands import data, refused, run
from _processes import python

from verification.cli import command_names, is_ours
from verification.problems import objects
from verification.problems.problem import lookup
from verification.verdicts.verdict import Verdict

ONE = ("verify", "--problem", "simplex.projection")
GROUPS = {
    "reproduce": ("letter", "circle", "convergence", "ap"),
    "bench": ("topk", "entropy", "ap", "torch"),
}


def leaves() -> list[tuple[str, ...]]:
    return [
        (name, *rest)
        for name in command_names()
        for rest in ([(s,) for s in GROUPS.get(name, ())] or [()])
    ]


@pytest.mark.parametrize("command", leaves(), ids=" ".join)
def test_every_command_explains_itself_and_speaks_json(command: tuple[str, ...]) -> None:
    assert "--json" in run(*command, "--help").stdout


def test_help_names_every_command() -> None:
    result = run("--help")
    assert [name for name in command_names() if name not in result.stdout] == []


def test_help_is_quick_because_commands_import_late() -> None:
    code = (
        "import sys; from verification.cli import app\n"
        "try: app(['--help'])\nexcept SystemExit as end: assert not end.code\n"
        "print([n for n in ('cvxpy', 'numba', 'sklearn') if n in sys.modules], file=sys.stderr)"
    )
    assert python("-c", code).stderr.strip() == "[]"


def test_an_unknown_command_is_a_usage_error() -> None:
    run("nonsense", code=2)


def test_list_has_every_object() -> None:
    found = {s["name"] for s in data("list")["objects"]}
    assert found == {s.name for s in objects.discover()}
    shown = run("list").stdout
    assert [name for name in found if name not in shown] == []


@pytest.mark.parametrize("object_name", [s.name for s in objects.discover()])
def test_show_tells_the_declaration(object_name: str) -> None:
    from refsolve import catalogue

    spec = catalogue.load(object_name).SPEC
    shown = data("show", object_name)
    assert shown["formulas"] == dict(spec.formulas)
    assert [s["name"] for s in shown["symbols"]] == list(spec.names)
    assert [s["range"] for s in shown["symbols"]] == [s.range_text() for s in spec.symbols]
    assert shown["source"] == spec.source
    assert shown["problems"] == [
        p for p in catalogue.problems() if p.rpartition(".")[0] == object_name
    ]
    text = run("show", object_name).stdout
    assert spec.title in text
    assert all(s.range_text() in text for s in spec.symbols)
    assert all(f.splitlines()[-1] in text for f in spec.formulas.values())
    in_fast = next(s.in_fast for s in objects.discover() if s.name == object_name)
    assert (f"computed  fast.{catalogue.kind(object_name)}.{object_name}" in text) is in_fast
    for name in shown["problems"]:  # whoever sees JSON only knows what stands here
        rows = shown["arguments"][name]
        assert [row[0] for row in rows] == list(lookup(name).arguments)
        assert all(row[1] for row in rows)
        assert shown["answers"][name]
        assert f"Answer of {name}" in text


def test_show_says_why_there_is_no_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    from refsolve.models import svm

    monkeypatch.setattr(svm, "SPEC", replace(svm.SPEC, reason="because"))
    assert "Not computed in fast: because." in run("show", "svm").stdout


def test_show_takes_a_problem() -> None:
    shown = data("show", "svm_plus_hinge.dual")
    assert list(shown["answers"]) == ["svm_plus_hinge.dual"]
    assert "alpha, beta" in shown["answers"]["svm_plus_hinge.dual"]
    meanings = {name: text for name, text, _ in shown["arguments"]["svm_plus_hinge.dual"]}
    assert meanings["y"].startswith("-1 or 1")
    defaults = {name: text for name, _, text in shown["arguments"]["svm_plus_hinge.dual"]}
    assert (defaults["nonneg_slack"], defaults["Kz"]) == ("true", "null")  # as JSON has them
    run("show", "simplex.value", code=2)


def test_show_prints_no_markup_of_docstrings():
    text = run("show", "svm_plus_hinge.dual").stdout
    assert "zeros without nonneg_slack" in " ".join(text.split())
    assert "``" not in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("show", "topk_simplx_alpha"), "did you mean"),
        (("verify",), "either --problem NAME"),
        (("verify", "--all", "--problem", "simplex.projection"), "either --problem NAME"),
        (("verify", "--all", "--solver", "a:b"), "go with --problem"),
        ((*ONE, "--thorough"), "--thorough goes with --all"),
        (("verify", "--problem", "simplex.nothing"), "simplex.projection"),
        ((*ONE, "--solver", "no_such_module:f"), "no_such_module"),
        ((*ONE, "--solver", "math:pi"), "expected a function"),
        ((*ONE, "--profile", "slow"), "quick, thorough"),
        ((*ONE, "--seed=-1"), "seed=-1: expected"),
        (("verify", "--all", "--seed=-1"), "seed=-1: expected"),
        (("verify", "--all", "--profile", "slow"), "profile='slow': expected"),
        ((*ONE, "--timeout=-1"), "timeout=-1.0: expected"),
        ((*ONE, "--check", "luck"), "certified_gap"),
        (("claims", "--paper", "nobody_1900"), "lapin_2015"),
        (("claims", "--only", "Theorem 99"), "Theorem 99"),
        (("reproduce", "letter", "--lowest", "2", "--highest", "1"), "lowest <= highest"),
        (("reproduce", "letter", "--method", "SVM"), "SVM-OVA, LR-OVA"),
        (("reproduce", "circle", "--reading", "square"), "segments, uniform"),
        (("reproduce", "convergence", "--dataset", "iris"), "letter, digits, deep"),
        (("reproduce", "convergence", "--seconds", "0"), "seconds is 0"),
        (("reproduce", "ap", "--dataset", "iris"), "letter, digits"),
        (("reproduce", "ap", "--dataset", "digits", "--classes", "A"), "0, 1, 2"),
        (("reproduce", "ap", "--method", "SVM"), "binary SVM, AP-SVM"),
        (("reproduce", "ap", "--lowest", "2", "--highest", "1"), "lowest <= highest"),
        (("reproduce", "ap", "--tol", "0"), "tol is 0"),
        (("reproduce", "ap", "--classes", ","), "classes is ['', '']"),
        (("reproduce", "ap", "--highest", "400"), "from -70 to 70"),
        (("reproduce", "ap", "--lowest=-400", "--highest", "1"), "from -70 to 70"),
        (("reproduce", "ap", "--output", "/dev/null/x"), "output='/dev/null/x': expected a folder"),
        (("reproduce", "circle", "--output", "/dev/null"), "output='/dev/null': expected a folder"),
        (("verify", "--all", "--output", "/dev/null"), "output='/dev/null': expected a folder"),
        (("verify", "--all", "--report", "pdf"), "report='pdf': expected some of html,junit,json"),
        (("verify", "--all", "--exec", "true"), "go with --problem"),
        (("verify", "--all", "--profile", "soak"), "quick or thorough"),
        ((*ONE, "--count", "5"), "only a soak run"),
        ((*ONE, "--set", "k"), "expected NAME=VALUE"),
        ((*ONE, "--set", "K=3"), "simplex.projection can fix"),
        ((*ONE, "--solver", "a:b", "--exec", "c"), "exclude each other"),
        ((*ONE, "--exec", "./no_such_program"), "no_such_program"),
        (
            ("bench", "ap", "--no-inference", "--no-grid", "--no-training", "--no-exactness"),
            "nothing to measure",
        ),
        (("bench", "topk", "--dataset", "iris"), "mixture-400"),
        (("bench", "--record", "x.md", "topk"), "leave the name of one out"),
        (("bench", "--record", "/dev/null/x.md"), "expected a file that can be written"),
        (("bench", "entropy", "--dataset", "iris"), "mixture-400"),
        (("bench", "ap", "--C", "3"), "one of 10.0, 1000.0"),
        (("train", "missing.csv"), "No such file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_wrong_request_gets_one_paragraph_and_exit_code_2(
    words: tuple[str, ...], expected: str
) -> None:
    result = run(*words, code=2)
    assert result.stdout == ""
    text = " ".join(result.stderr.split())
    assert text.startswith("Error: ")
    assert expected in text
    assert "Traceback" not in text


def test_notices_of_fast_are_shown_once_and_on_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    from verification.app.commands import list as command

    def compiling() -> None:
        logging.getLogger("fast").info("compiling kernels")

    monkeypatch.setattr(command, "app", typer.Typer())
    command.app.command()(compiling)
    for _ in range(2):
        result = run("list")
        assert (result.stderr, result.stdout) == ("compiling kernels\n", "")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device"),
        (OSError(errno.EROFS, os.strerror(errno.EROFS), "/r/x"), "/r/x: Read-only file system"),
        (MemoryError(), "not enough memory"),
    ],
)
def test_what_the_machine_refuses_is_said(
    monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(objects, "discover", refuse)
    assert words in refused("list")


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(objects, "discover", broken)
    result = run("list", code=1)
    assert isinstance(result.exception, ZeroDivisionError)
    assert not is_ours(result.exception)


def test_verify_one_problem() -> None:
    found = data(*ONE, "--check", "purity")
    assert found["ok"] is True
    assert found["counts"]["pass"] > 0


WRONG = "import numpy as np\n\ndef project(a, r):\n    return np.maximum(a, 0.0) * r\n"


def test_verify_somebody_s_wrong_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found in the current folder, fails, and leaves a page, data and a replay file."""
    (tmp_path / "somebodys_solver.py").write_text(WRONG, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    solver = ("--solver", "somebodys_solver:project")
    result = run(*ONE, *solver, "--check", "certified_gap", "--output", "out", code=1)
    assert "Smallest counterexample found" in result.stdout
    assert "FAILED" in result.stdout
    report = json.loads(Path("out/report.json").read_text(encoding="utf-8"))
    assert report["ok"] is False
    assert report["counts"]["fail"] > 0
    assert "<table>" in Path("out/report.html").read_text(encoding="utf-8")

    from verification.failures import replay

    stored = replay.load("out/simplex.projection.replay.json")
    assert stored.run(trust=True).verdict is Verdict.FAIL


def test_a_solver_of_which_nothing_can_be_judged_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lazy = "def project(a, r):\n    raise NotImplementedError\n"
    (tmp_path / "lazy_solver.py").write_text(lazy, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    run(*ONE, "--check", "purity", "--solver", "lazy_solver:project", code=1)


def test_claims_as_json_and_markdown(tmp_path: Path) -> None:
    page = tmp_path / "ledger.md"
    words = ("claims", "--paper", "xu_2016", "--instances", "1", "--markdown", page)
    result = run(*words, "--json", code=None)
    ledger = json.loads(result.stdout, parse_constant=pytest.fail)["claims"]
    assert result.exit_code == (0 if all(c["ok"] for c in ledger) else 1)
    assert {"verified", "refuted"} <= {c["status"] for c in ledger}
    refuted = [c for c in ledger if c["status"] == "refuted"]
    assert all(c["counterexample"] for c in refuted)
    assert {c["title"] for c in ledger} <= set(
        page.read_text(encoding="utf-8").replace("## ", "").splitlines()
    )


def test_counterexamples_of_claims_are_numbers() -> None:
    shown = run("claims", "--paper", "lapin_2015", "--only", "Proposition 3").stdout
    assert "v = [1/2, 0, 0]" in " ".join(shown.split())


def test_reproduce_circle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One draw of one reading, from the command to the pictures; every gap certified; three values of C."""
    from verification.app import rows
    from verification.benchmarks import circle_runs as runs

    monkeypatch.setattr(rows, "finished", lambda jobs: ((n, job()) for n, job in jobs.items()))
    for each in (runs.run_draw, runs.run_authors_draw):
        monkeypatch.setattr(each, "__defaults__", (runs.METHODS, runs.GRID[12:25:6]))
    words = ("reproduce", "circle", "--draws", "1", "--reading", "uniform")
    found = data(*words, "--output", tmp_path)
    assert len(found["possible"]) == 4
    assert {m["method"] for m in found["uniform"]} == {m["method"] for m in found["authors_draw"]}
    written = sorted(p.name for p in tmp_path.iterdir())
    assert written == ["circle_rings.png", "circle_rings.svg", "rows.jsonl"]
    assert data(*words, "--output", tmp_path, "--resume") == found


def test_doctor_finds_nothing_in_the_way_here() -> None:
    shown = data("doctor")
    assert shown["ok"]
    assert shown["cache"]["writable"]
    assert [each["name"] for each in shown["names"]] == ["refsolve", "fast", "verification"]
    assert all(Path(each["place"]).is_dir() for each in shown["names"])


def test_doctor_sees_a_stranger_under_our_name_and_a_cache_that_cannot_be_written(
    tmp_path: Path,
) -> None:
    """Another ``fast`` earlier on the path, installed by another distribution."""
    (tmp_path / "fast").mkdir()
    (tmp_path / "fast" / "__init__.py").write_text("")
    record = tmp_path / "faster-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: faster\nVersion: 1.0\n")
    (record / "RECORD").write_text("fast/__init__.py,,\n")
    code = (
        "import sys\nfrom verification.app.commands import doctor\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "found = doctor.owner('fast')\nassert not found['ok'], found\n"
        "assert found['others'] == ['faster'], found\nassert doctor.owner('refsolve')['ok']\n"
        "from pathlib import Path\nassert not doctor.writable(Path('/proc'))"
    )
    python("-c", code)


def test_a_line_says_every_few_seconds_what_is_waited_for(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "endless.py").write_text("def project(a, r):\n    while True: pass\n")
    monkeypatch.setattr("verification.kit.timeouts.EVERY", 0.02)
    monkeypatch.setattr("verification.app.console.EVERY", 0.0)
    monkeypatch.setattr("verification.kit.solver_call.FIRST_CALL_ALLOWANCE", 1.0)
    options = ("--no-isolate", "--check", "ties", "--timeout", "0.1")
    found = run(*ONE, "--solver", "endless:project", *options, code=1)
    assert "simplex.projection: 0 s of 0.2 s waited for project(a=" in found.stderr
    assert "after 2 of 3 timeouts" in found.stderr
