"""The workflow that projects are told to copy is one, and its commands judge the example solver."""

import os
import shlex
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from typer.testing import CliRunner

from verification.cli import app

SOLVERS = Path(__file__).resolve().parents[2] / "docs" / "solvers"
WORKFLOW = yaml.safe_load((SOLVERS / "verify.yml").read_text(encoding="utf-8"))
STEPS = WORKFLOW["jobs"]["verify"]["steps"]
COMMANDS = [step["run"] for step in STEPS if "run" in step]


def test_it_is_a_workflow():
    """As the syntax of GitHub's workflows has it: events, jobs, a machine, steps that use or run."""
    assert set(WORKFLOW) == {"name", True, "jobs"}  # YAML 1.1 takes a bare ``on`` for true
    assert set(WORKFLOW[True]) == {"push", "schedule"}
    assert WORKFLOW["jobs"]["verify"]["runs-on"] == "ubuntu-latest"
    for step in STEPS:
        assert len({"uses", "run"} & set(step)) == 1
        assert set(step) <= {"uses", "run", "with", "if"}
        assert "@v" in step.get("uses", "@v")
    assert COMMANDS[0] == "pip install refsolve"
    assert len(COMMANDS) == 3


@pytest.mark.parametrize("command", COMMANDS[1:])
@pytest.mark.parametrize("broken", [False, True])
def test_its_commands_run(command, broken, tmp_path, monkeypatch):
    source = (SOLVERS / "solver.py").read_text(encoding="utf-8")
    wrong = source.replace("u[below < u][-1]", "u[below < u][0]")
    assert wrong != source
    (tmp_path / "solver.py").write_text(wrong if broken else source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert shutil.which("python")
    words = shlex.split(command.replace("--seconds 600", "--seconds 0.5"))
    few = (
        [] if "soak" in words else ["--check", "ties"]
    )  # the rest of a quick run is the kit's own test
    assert words[0] == "refsolve"
    done = CliRunner().invoke(app, [*words[1:], *few])
    assert done.exit_code == broken, done.output
    if "--output" in words:
        folder = next(step["with"]["path"] for step in STEPS if "upload" in step.get("uses", ""))
        suites = ET.parse(tmp_path / folder / "junit.xml").getroot()
        assert (int(suites.get("failures")) > 0) is broken
