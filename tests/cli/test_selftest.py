"""``refsolve selftest``: the detection matrix as a command."""

import json
from functools import partial

import _commands
import pytest

import fast
from verification import faulty_solvers
from verification.faulty_solvers import Mutant
from verification.selftest import detection_matrix

run = partial(_commands.run, "selftest", "--jobs", "1")
data = partial(_commands.data, "selftest", "--jobs", "1")


def test_it_prints_the_matrix_and_the_right_solvers() -> None:
    result = run("--only", "box_*")
    assert "1 of 1 wrong solvers killed (100.0 %" in result.stdout
    assert "1 of 1 right ones passed" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 160


def test_json_says_which_instance_killed() -> None:
    found = data("--only", "box_*", "--until-killed", "--no-right")
    assert (found["mutants"], found["killed"], found["complete"]) == (1, 1, False)
    cells = found["rows"]["box_symmetric"]["cells"]
    assert len(cells) == 1
    assert all(number > 0 for number in cells.values())


@pytest.mark.parametrize(("required", "code"), [(0.5, 0), (0.95, 1)])
def test_survivors_decide_on_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, required: float, code: int
) -> None:
    found = faulty_solvers.discover()["box_symmetric"]
    survivor = Mutant("as_good_as_new", "box.projection", "none", fast.sets.box.project)
    monkeypatch.setattr(faulty_solvers, "discover", lambda: {m.name: m for m in (found, survivor)})
    monkeypatch.setitem(detection_matrix.REQUIRED, "quick", required)
    result = run("--no-right", code=code)
    assert "survived: as_good_as_new" in result.stdout
    assert "1 of 2 wrong solvers killed (50.0 %" in result.stdout


def test_the_profiles_ask_for_what_they_promise() -> None:
    assert detection_matrix.REQUIRED == {"quick": 0.95, "thorough": 1.0}


def test_a_right_solver_that_fails_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    from verification.reference_solvers import solvers

    wrong = faulty_solvers.discover()["box_symmetric"].candidate
    monkeypatch.setattr(solvers, "SOLVERS", {"box.projection": wrong})
    assert "0 of 1 right ones passed" in run("--only", "box_*", code=1).stdout


def test_a_name_that_matches_nothing() -> None:
    assert "matches no mutant" in run("--only", "no_such_mutant", code=2).output


def test_wrong_certificates_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    from verification.selftest.certificates import matrix

    monkeypatch.setattr(matrix, "CHECKS", {"conjugates": matrix.CHECKS["conjugates"]})
    found = data("--certificates", "--only", "*:conjugate")
    assert found["certificates"] == found["refuted"] >= 2
    assert found["right"] == {"conjugates": True}
    assert found["rows"]["infinite_everywhere"]["check"] == "conjugates"
    assert "refuted by" in run("--certificates", "--only", "infinite_*").stdout
    run("--certificates", "--only", "order_is_free", code=1)  # not a matter of this check
    run("--certificates", "--only", "no_such*", code=2)


def test_cells_that_a_record_lacks_are_filled_and_no_others(tmp_path) -> None:
    whole = data("--only", "box_*", "--no-right")
    cells = whole["rows"]["box_symmetric"]["cells"]
    record = tmp_path / "record.json"
    part = {name: 7 if name == "ties" else n for name, n in cells.items() if name != "history"}
    whole["rows"]["box_symmetric"]["cells"] = dict(part)
    record.write_text(json.dumps(whole))
    fill = partial(data, "--fill", str(record), "--check", "history", "--check", "ties")
    assert fill()["filled"] == 1
    found = json.loads(record.read_text())["rows"]["box_symmetric"]["cells"]
    assert found == {**part, "history": cells["history"]}
    assert list(found) == list(cells)
    assert fill()["filled"] == 0
    assert "no_such" in run("--fill", str(record), "--check", "no_such", code=2).output
    assert "together" in run("--fill", str(record), code=2).output
    assert "together" in run("--check", "ties", code=2).output
    record.write_text("{}")
    assert "fill=" in run("--fill", str(record), "--check", "ties", code=2).output
