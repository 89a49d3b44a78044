import functools
import json
from pathlib import Path

import pytest
from _processes import python

import fast
from verification import InvalidArgumentError, faulty_solvers, verify
from verification.checks import discover as checks
from verification.faulty_solvers import Mutant
from verification.problems.problem import names
from verification.reference_solvers.program import command
from verification.selftest import detection_matrix, detection_report

MUTANTS = faulty_solvers.discover()
PROBLEM = "topk_simplex_alpha.projection"
RECORDS = Path(__file__).resolve().parents[2] / "docs" / "selftest"


@functools.cache
def recorded(profile):
    """What `refsolve selftest --json` wrote."""
    return json.loads((RECORDS / f"{profile}.json").read_text(encoding="utf-8"))


def killer(name):
    """The check that needs the fewest instances, by the record; all of them for a new mutant."""
    cells = recorded("quick")["rows"].get(name, {"cells": {}})["cells"]
    found = [check for check, number in cells.items() if number]
    if not found:
        return None
    # the oracle compiles for every shape, and tests take few of what takes long (see conftest.py)
    few = ("agreement", "shapes", "products", "distributions", "history", "concurrency")
    best = min(found, key=lambda c: (c in few, cells[c]))
    # a trainer may remember what another check gave it
    return found if best == "trained_purity" else [best]


# What each of these checks must catch is caught by no other reasoning: the defect leaves every
# single answer in double precision right, or all but those of long vectors.
ONLY_BY = {
    "sorts_in_place": "purity",
    "complement_by_subtraction": "complement",
    "complement_is_the_sum": "complement",
    "ap_one_method_is_wrong": "methods",
    "cached_by_ten_digits": "history",
    "stale_after_a_thousand_calls": "history",
    "workspace_of_all_threads": "concurrency",
    "michelot_stopped_after_15_rounds": "distributions",
}
STATE = ("leaves_errors_raised", "leaves_rounding_upward", "leaves_subnormals_flushed")


def test_they_are_found_without_what_they_need():
    """Torch costs a second to import, and need not be there."""
    python(
        "-c",
        "import sys; sys.modules['torch'] = None; from verification import faulty_solvers; "
        "assert any(m.needs for m in faulty_solvers.discover().values())",
    )


def test_there_are_enough_of_them():
    assert len(MUTANTS) >= 130
    assert len({m.problem for m in MUTANTS.values()}) >= 45


def kills():
    """Every mutant with its killer; and for checks that are nobody's, what they kill most easily.

    A check that catches no mutant has not been shown to be able to fail.
    """
    found = [(name, killer(name)) for name in MUTANTS]
    seen = {
        by[0]
        for name, by in found
        if by and len(by) == 1 and name not in STATE and MUTANTS[name].runs
    }
    for check in sorted({*checks()} - seen):
        rows = (
            (name, recorded("quick")["rows"].get(name, {"cells": {}})["cells"]) for name in MUTANTS
        )
        least = min((cells[check], name) for name, cells in rows
                    if cells.get(check) and name not in STATE and MUTANTS[name].runs)  # fmt: skip
        found.append((least[1], [check]))
    return found


@pytest.mark.parametrize(("name", "by"), kills())
def test_killed_in_the_quick_profile(name, by):
    if not MUTANTS[name].runs:
        pytest.skip(f"{', '.join(MUTANTS[name].needs)} not installed")
    assert detection_matrix.row(MUTANTS[name], checks=by, until_killed=True).killed


@pytest.mark.parametrize("profile", sorted(detection_matrix.REQUIRED))
def test_the_record_is_that_of_the_library(profile):
    """docs/faulty_solvers.md has the commands that write it anew."""
    record = recorded(profile)
    assert set(record["rows"]) == set(MUTANTS)
    assert record["survivors"] == []
    assert record["killed"] == record["mutants"] == len(MUTANTS)
    assert all(right["ok"] for right in record["right"].values())


@pytest.mark.parametrize("name", ONLY_BY)
def test_killed_by_one_check_alone(name):
    cells = detection_matrix.row(MUTANTS[name]).cells
    assert [check for check, at in cells.items() if at] == [ONLY_BY[name]]


@pytest.mark.parametrize("name", STATE)
def test_killed_by_what_it_leaves_in_the_floating_point_state(name):
    """Which is looked at around every call, and said once: in the first check."""
    if not MUTANTS[name].runs:
        pytest.skip(f"{', '.join(MUTANTS[name].needs)} not installed")
    row = detection_matrix.row(MUTANTS[name], checks=("ties", "distributions"))
    assert list(row.why) == ["ties"]
    assert row.why["ties"].startswith("fail: the call changed ")


def test_kill_matrix(monkeypatch):
    names = ("ignores_rho", "conjugate_without_domain")
    sound = Mutant("sound", "simplex.projection", "none", fast.sets.simplex.project)
    chosen = {n: MUTANTS[n] for n in names} | {"sound": sound}
    monkeypatch.setattr(faulty_solvers, "discover", lambda: chosen)
    matrix = detection_matrix.run(jobs=1, only="*", right=False)
    assert [row.name for row in matrix.rows] == [*names, "sound"]
    assert matrix.survivors == (matrix.rows[-1],)
    assert matrix.share == pytest.approx(2 / 3)
    assert not matrix.ok
    cells = matrix.rows[1].cells
    assert cells["conjugate"] > 0
    assert "ground_truth" not in cells
    assert not any(matrix.rows[-1].cells.values())
    assert "SURVIVED" in str(detection_report.document(matrix))
    json.dumps(matrix.to_dict())


def test_a_number_in_the_matrix_is_the_first_instance_that_fails():
    name, check = "flat_at_k_equals_d", "ties"
    found = detection_matrix.row(MUTANTS[name], checks=[check]).cells[check]
    results = verify(MUTANTS[name].candidate, PROBLEM, checks=[check], shrink=False).results
    assert found == 1 + [r.verdict.is_bad for r in results].index(True)


def test_the_program_without_a_defect_passes():
    """What kills the wrong programs is neither the protocol nor the algorithm."""
    right = Mutant("right", "simplex.projection", "none", command=command("right"))
    row = detection_matrix.row(right)
    assert not row.killed
    assert row.judged > 1000


def test_a_process_that_ends_is_killed_by_the_verdict_crash():
    why = detection_matrix.row(MUTANTS["ends_the_interpreter"], checks=["ties"]).why["ties"]
    assert why.startswith("crash")
    assert "11" in why


def test_right_solvers_are_judged_too():
    ours = ["box.projection", "multiclass_erm.dual", "svm_plus_hinge.primal", PROBLEM]
    assert detection_matrix.right_solvers(ours) == [
        ("fast", "box.projection"),
        ("fast", "multiclass_erm.dual"),
        ("fast", "svm_plus_hinge.primal"),
        ("sound", "svm_plus_hinge.primal"),
        ("sound", PROBLEM),
    ]
    (right,) = detection_matrix.judge_right("sound", PROBLEM, "quick", 0)
    assert right.ok
    assert right.counts["pass"] > 1000


def test_every_problem_has_a_right_solver():
    assert {problem for _, problem in detection_matrix.right_solvers(names())} == set(names())


def test_a_run_with_a_file_goes_on_where_it_stopped(tmp_path, monkeypatch):
    chosen = {n: MUTANTS[n] for n in ("ignores_rho", "conjugate_without_domain")}
    monkeypatch.setattr(faulty_solvers, "discover", lambda: chosen)
    path, tasks = tmp_path / "rows.jsonl", []
    monkeypatch.setattr(detection_matrix, "TOGETHER", 1)
    rows = detection_matrix.rows
    monkeypatch.setattr(
        detection_matrix, "rows", lambda *args: tasks.append(args[0]) or rows(*args)
    )
    right = detection_matrix.RightSolver("fast", "box.projection", True, {"pass": 3})
    monkeypatch.setattr(detection_matrix, "right_solvers", lambda _: [(right.name, right.problem)])
    monkeypatch.setattr(detection_matrix, "judge_right", lambda *_: [right])

    def run(seed=0):
        return detection_matrix.run("quick", seed, jobs=1, only="*_*", until_killed=True, file=path)

    first = run()
    lines = path.read_text().splitlines()
    assert len(lines) == 3
    path.write_text(lines[0] + "\n" + lines[2] + "\n")
    second = run()
    assert tasks == [["ignores_rho"], ["conjugate_without_domain"], ["conjugate_without_domain"]]
    assert second.rows[0] == first.rows[0]
    assert second.rows[1].cells == first.rows[1].cells
    assert second.right == first.right == (right,)
    assert second.commits == first.commits != ()
    assert run().rows == second.rows
    assert len(tasks) == 3
    run(seed=1)  # other instances
    assert len(tasks) == 5
    path.write_text("{}\n")
    with pytest.raises(InvalidArgumentError, match="give another file"):
        run()


@pytest.mark.parametrize("wrong", [{"only": "no_such*"}, {"jobs": 0}, {"profile": "soak"}])
def test_bad_requests(wrong):
    with pytest.raises(InvalidArgumentError, match="expected"):
        detection_matrix.run(**wrong)


def test_a_folder_of_ones_own_is_discovered(tmp_path, monkeypatch):
    (tmp_path / "of_my_own.py").write_text(OWN)
    monkeypatch.setattr(faulty_solvers, "__path__", [*faulty_solvers.__path__, str(tmp_path)])
    found = faulty_solvers.discover.__wrapped__()
    assert set(found) == {*MUTANTS, "mine", "my_program"}
    mine, program = found["mine"], found["my_program"]
    assert (mine.defect, mine.fixed, mine.timeout) == ("Wrong in two ways.", {"k": 2}, 10.0)
    assert (mine.candidate(), mine.command, mine.isolate) == (1, (), False)
    assert (program.candidate, program.command, program.errata) == (None, ("a", "b"), ("c/d",))
    assert mine.candidate() == 2
    assert faulty_solvers.discover.__wrapped__()["mine"].candidate() == 3
    monkeypatch.setattr(faulty_solvers, "discover", faulty_solvers.discover.__wrapped__)
    assert faulty_solvers.anew("mine").candidate() == 1


OWN = '''
from verification.faulty_solvers import wrong

calls = []


@wrong("a.b", fixed={"k": 2})
def mine():
    """Wrong

    in two ways."""
    calls.append(1)
    return len(calls)


@wrong("a.b", erratum="c/d", command=("a", "b"))
def my_program():
    """Wrong."""
'''
