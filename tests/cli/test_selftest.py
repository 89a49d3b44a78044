"""``refsolve selftest``: the kill matrix as a command."""

import json

import pytest
from typer.testing import CliRunner, Result

import fast
from verification import mutants
from verification.cli import app
from verification.mutants import Mutant
from verification.selftest import kill_matrix


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["selftest", "--jobs", "1", *words])


def test_it_prints_the_matrix_and_the_right_solvers() -> None:
    result = run("--only", "ignores_rho")
    assert result.exit_code == 0
    assert "1 of 1 wrong solvers killed (100.0 %" in result.stdout
    assert "1 of 1 right ones passed" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 160


def test_json_says_which_instance_killed() -> None:
    result = run("--only", "box_*", "--until-killed", "--no-right", "--json")
    data = json.loads(result.stdout, parse_constant=pytest.fail)
    assert (data["mutants"], data["killed"], data["complete"]) == (1, 1, False)
    cells = data["rows"]["box_symmetric"]["cells"]
    assert len(cells) == 1
    assert all(number > 0 for number in cells.values())


@pytest.mark.parametrize(("required", "code"), [(0.5, 0), (0.95, 1)])
def test_survivors_decide_on_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, required: float, code: int
) -> None:
    found = mutants.discover()["box_symmetric"]
    survivor = Mutant("as_good_as_new", "box.projection", "none", fast.sets.box.project)
    monkeypatch.setattr(mutants, "discover", lambda: {m.name: m for m in (found, survivor)})
    monkeypatch.setitem(kill_matrix.REQUIRED, "quick", required)
    result = run("--no-right")
    assert result.exit_code == code
    assert "survived: as_good_as_new" in result.stdout
    assert "1 of 2 wrong solvers killed (50.0 %" in result.stdout


def test_the_profiles_ask_for_what_they_promise() -> None:
    assert kill_matrix.REQUIRED == {"quick": 0.95, "thorough": 1.0}


def test_a_right_solver_that_fails_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    from verification.mutants.sound import solvers

    wrong = mutants.discover()["box_symmetric"].candidate
    monkeypatch.setattr(solvers, "SOLVERS", {"box.projection": wrong})
    result = run("--only", "box_*")
    assert result.exit_code == 1
    assert "0 of 1 right ones passed" in result.stdout


def test_a_name_that_matches_nothing() -> None:
    result = run("--only", "no_such_mutant")
    assert result.exit_code == 2
    assert "matches no mutant" in result.output


def test_wrong_certificates_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    from verification.selftest.certificates import matrix

    monkeypatch.setattr(matrix, "CHECKS", {"conjugates": matrix.CHECKS["conjugates"]})
    result = run("--certificates", "--only", "*:conjugate", "--json")
    assert result.exit_code == 0
    data = json.loads(result.stdout, parse_constant=pytest.fail)
    assert data["certificates"] == data["refuted"] >= 2
    assert data["right"] == {"conjugates": True}
    assert data["rows"]["infinite_everywhere"]["check"] == "conjugates"
    assert "refuted by" in run("--certificates", "--only", "infinite_*").stdout
    assert (
        run("--certificates", "--only", "order_is_free").exit_code == 1
    )  # not a matter of this check
    assert run("--certificates", "--only", "no_such*").exit_code == 2
