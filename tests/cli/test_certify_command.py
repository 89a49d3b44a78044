"""``refsolve certify``."""

from pathlib import Path

import pytest
from _commands import data, refused, run

CODE = """
from __future__ import annotations
from dataclasses import dataclass
import cvxpy as cp
import numpy as np
x = cp.Variable(3)
good = cp.Problem(cp.Minimize(cp.sum_squares(x - np.arange(3))), [cp.sum(x) == 1])
@dataclass
class Lies:
    at: float = 0.5
def lying():
    y = cp.Variable(3)
    y.value = np.array([0.0, Lies().at, 1.0])
    return cp.Problem(cp.Minimize(cp.sum_squares(y - np.arange(3))), [cp.sum(y) == 1])
def none():
    y = cp.Variable()
    return cp.Problem(cp.Minimize(y), [y >= 1, y <= 0])
print("a file may say something")
number = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(CODE, encoding="utf-8")
    return path


def test_it_certifies_refutes_and_proves(file: Path, tmp_path: Path) -> None:
    good = run("certify", f"{file}:good", "-o", tmp_path / "page.html")
    assert "certified: feasible and optimal" in good.stdout
    assert "a feasible point is from the optimum by at most" in (tmp_path / "page.html").read_text()
    told = data("certify", f"{file}:lying", code=1)
    assert (told["status"], round(told["delta"], 12)) == ("violated", 0.5)
    assert "no point is feasible" in run("certify", f"{file}:none", code=1).stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere", "mine.py has no attribute"),
        ("number", "expected a cvxpy.Problem"),
        ("", "FILE.py:NAME"),
    ],
)
def test_what_is_no_problem_is_an_error(file: Path, name: str, words: str) -> None:
    assert words in refused("certify", f"{file}:{name}")


def test_an_unknown_solver_is_an_error(file: Path) -> None:
    assert "CLARABEL" in refused("certify", f"{file}:good", "--solver", "NIX")


def test_answers_stand_alone_on_standard_output(file: Path) -> None:
    """HiGHS names itself there, below Python."""
    assert data("certify", f"{file}:good", "--solver", "HIGHS")["status"] == "certified"


def test_a_certificate_that_cannot_be_written_is_an_error(file: Path, tmp_path: Path) -> None:
    assert "save=" in refused("certify", f"{file}:good", "--save", str(tmp_path / "no" / "c.cert"))
