"""``refsolve certify``."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from verification.cli import app

CODE = """
import cvxpy as cp
import numpy as np
x = cp.Variable(3)
good = cp.Problem(cp.Minimize(cp.sum_squares(x - np.arange(3))), [cp.sum(x) == 1])
def lying():
    y = cp.Variable(3)
    y.value = np.array([0.0, 0.5, 1.0])
    return cp.Problem(cp.Minimize(cp.sum_squares(y - np.arange(3))), [cp.sum(y) == 1])
def none():
    y = cp.Variable()
    return cp.Problem(cp.Minimize(y), [y >= 1, y <= 0])
number = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(CODE, encoding="utf-8")
    return path


def test_it_certifies_refutes_and_proves(file: Path, tmp_path: Path) -> None:
    run = CliRunner()
    good = run.invoke(app, ["certify", f"{file}:good", "-o", str(tmp_path / "page.html")])
    assert good.exit_code == 0, good.output
    assert "certified: feasible and optimal" in good.output
    assert "no feasible point is better by more than" in (tmp_path / "page.html").read_text()
    bad = run.invoke(app, ["certify", f"{file}:lying", "--json"])
    assert bad.exit_code == 1
    told = json.loads(bad.output)
    assert told["status"] == "violated"
    assert told["violation"] == 0.5
    none = run.invoke(app, ["certify", f"{file}:none"])
    assert none.exit_code == 0
    assert "no point is feasible" in none.output


@pytest.mark.parametrize(
    ("name", "words"),
    [("nowhere", "no attribute"), ("number", "expected a cvxpy.Problem"), ("", "FILE.py:NAME")],
)
def test_what_is_no_problem_is_an_error(file: Path, name: str, words: str) -> None:
    result = CliRunner().invoke(app, ["certify", f"{file}:{name}"])
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())
    unknown = CliRunner().invoke(app, ["certify", f"{file}:good", "--solver", "NIX"])
    assert unknown.exit_code == 2
    assert "CLARABEL" in unknown.output
