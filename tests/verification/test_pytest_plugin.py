"""The pytest plugin, run on small suites of its own."""

import json
import sys

import pytest
from _processes import ROOT, python

# Imported here, for the inner runs: pytester forgets what they import.
import verification.bridges.cases
import verification.bridges.pytest_items
import verification.checks.agreement
import verification.external
import verification.failures.replay
import verification.report.junit
from verification import UnknownProblemError, Verdict, pytest_plugin
from verification.bridges.cases import Case, cases
from verification.verdicts.verdict import Judgement

pytest_plugins = ["pytester"]
PROBLEM = "simplex.projection"
PLUGIN = ("-p", "verification.pytest_plugin", "-p", "no:cacheprovider")

SOLVERS = """
import numpy as np
from fast.sets.simplex import project as right

def wrong(a, r=1.0, rho=0.0):
    return np.maximum(a, 0.0) * r

def wrong_ties(a, r=1.0, rho=0.0):
    out = right(a, r=r, rho=rho)
    return out + (a.size > 1 and a[0] == a[1])
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    pytester.makepyfile(some_solvers=SOLVERS)
    monkeypatch.syspath_prepend(pytester.path)
    return pytester


def run(suite, *words):
    return suite.runpytest_inprocess(*PLUGIN, *words)


def only(*checks):
    return [word for check in checks for word in ("--verify-check", check)]


def many(*checks):
    """How many families of instances some checks have."""
    return len(cases(PROBLEM, checks=checks))


HERE = ("--verify-no-isolate",)  # spares every test a second


def command(solver, *more):
    return ("--verify-problem", PROBLEM, "--verify-solver", f"some_solvers:{solver}", *HERE, *more)


def test_one_item_per_check_and_family(suite):
    suite.makepyfile("def test_not_asked_for(): raise AssertionError")
    found = run(suite, *command("right"), "--collect-only", "-q")
    listed = [line for line in found.outlines if line.startswith(PROBLEM)]
    assert listed == [f"{PROBLEM}::{c.check}[{c.family}]" for c in cases(PROBLEM)]
    assert len(listed) > 10
    found.stdout.no_fnmatch_line("*test_not_asked_for*")


def test_a_right_solver_passes_and_the_counts_are_shown(suite):
    found = run(suite, *command("right"), *only("ties", "batch", "purity"))
    assert found.ret == 0
    wanted = many("ties", "batch", "purity")
    found.assert_outcomes(passed=wanted)
    found.stdout.fnmatch_lines(
        [
            "verification: some_solvers:right against simplex.projection*",
            f"*results in {wanted} cases: *",
        ]
    )
    found.stdout.fnmatch_lines(["* pass, 0 skipped, 0 inconclusive"])


def test_a_failure_is_the_counterexample_and_leaves_a_replay_file(suite):
    found = run(suite, *command("wrong", "--verify-output", "out"), *only("certified_gap"))
    assert found.ret == 1
    found.stdout.fnmatch_lines(
        ["print(wrong(a=np.array([[]*[]])*", "# returned *", "# right *", "*refsolve replay *"]
    )
    found.stdout.no_fnmatch_line("*Traceback*")
    found.stdout.no_fnmatch_line("*verification/bridges/cases.py*")
    (path,) = (suite.path / "out").iterdir()
    assert verification.failures.replay.load(path).run(trust=True).verdict is Verdict.FAIL


def test_what_is_known_to_fail(suite):
    known = ("--verify-xfail", "ties", "--verify-xfail", "purity/random")
    found = run(suite, *command("wrong_ties", *known), *only("ties", "purity"))
    # one of the families of purity has no ties, and passes although it is listed
    assert found.parseoutcomes()["xfailed"] == 1
    found.stdout.fnmatch_lines(["*XPASS(strict)*purity/random*listed in --verify-xfail*did not*"])
    assert found.ret == 1


def test_nothing_judged_is_a_failure(suite):
    words = command("wrong", "--verify-timeout", "5")
    found = run(suite, *words, *only("batch"))
    found.assert_outcomes(skipped=many("batch"))
    found.stdout.fnmatch_lines(["*nothing was judged, which counts as a failure*"])
    assert found.ret == 1


def undecided(monkeypatch, count):
    """The first so many instances of a check are inconclusive."""
    agreement = verification.checks.agreement
    examine, seen = agreement.examine, []

    def examined(call, instance):
        seen.append(instance)
        if len(seen) <= count:
            return Judgement(Verdict.INCONCLUSIVE, message="no certificate today")
        return examine(call, instance)

    monkeypatch.setattr(agreement, "examine", examined)


@pytest.mark.parametrize("count", [1, 10**6])
def test_a_small_instance_that_is_undecided_fails(suite, monkeypatch, count):
    """As in `refsolve verify`: some of a case, or all of it."""
    undecided(monkeypatch, count)
    found = run(suite, *command("right"), "-v", *only("agreement", "certified_gap"))
    found.stdout.fnmatch_lines(["*agreement?random? FAILED*"])
    found.stdout.fnmatch_lines(["*INCONCLUSIVE*", "*small instances are inconclusive: no cert*"])
    failed = 1 if count == 1 else many("agreement")
    passed = many("certified_gap") + many("agreement") - failed
    assert found.parseoutcomes() == {"failed": failed, **({"passed": passed} if passed else {})}
    assert found.ret == 1


def test_a_large_instance_that_is_undecided_is_neither_passed_nor_skipped(suite, monkeypatch):
    monkeypatch.setattr("verification.verdicts.verdict.SMALL", 0)
    undecided(monkeypatch, 10**6)
    found = run(suite, *command("right"), "-v", *only("agreement", "certified_gap"))
    found.stdout.fnmatch_lines(["*agreement?random? INCONCLUSIVE*"])
    found.stdout.fnmatch_lines(["* inconclusive: *agreement: no certificate today"])
    expected = {"passed": many("certified_gap"), "inconclusive": many("agreement")}
    assert expected.items() <= found.parseoutcomes().items()
    assert found.ret == 0
    alone = run(suite, *command("right"), *only("agreement"))
    assert alone.ret == 1


def test_a_pass_says_what_of_it_is_uncertain(suite, monkeypatch):
    monkeypatch.setattr("verification.verdicts.verdict.SMALL", 0)
    undecided(monkeypatch, 1)
    found = run(suite, *command("right"), "-v", *only("agreement"))
    found.stdout.fnmatch_lines(["*agreement?random? PASSED (1 inconclusive)*"])


def test_a_function_may_end_its_process(suite):
    """It is not that of the tests; and the replay file knows where to run it."""
    suite.makepyfile(leaver="import os\ndef leave(a, r, rho): os._exit(3)")
    words = ("--verify-problem", PROBLEM, "--verify-solver", "leaver:leave", *only("ties"))
    found = run(suite, *words, "--verify-output", "out")
    assert found.ret == 1
    found.stdout.fnmatch_lines(["*ended with exit code 3*"])
    (path,) = (suite.path / "out").iterdir()
    assert verification.failures.replay.load(path).settings["isolate"] is True


def test_a_program(suite):
    program = f"{sys.executable} {ROOT / 'docs' / 'solvers' / 'solver.py'}"
    words = ("--verify-problem", PROBLEM, "--verify-exec", program, *only("ties", "purity"))
    found = run(suite, *words)
    assert found.ret == 0
    assert "passed" in found.parseoutcomes()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (command("right", "--verify-check", "conjugate"), "expected some of certified_gap"),
        (("--verify-check", "ties"), "--verify-check needs --verify-problem NAME"),
        (("--verify-problem", "simplex.*"), "is not known; expected one of"),
        (command("right", "--verify-timeout", "0"), "expected seconds > 0"),
        (("--verify-solver", "a:b"), "--verify-solver needs --verify-problem NAME"),
        (("--verify-problem", "simplex.nothing"), "is not known; expected one of"),
        (command("nothing"), "some_solvers:nothing"),
        (command("right", "--verify-exec", "x"), "exclude each other"),
        (command("right", "--verify-profile", "slow"), "expected quick or thorough"),
        (command("right", "--verify-seed=-1"), "expected an integer >= 0"),
        (command("right", "--verify-set", "k"), "expected NAME=VALUE"),
        (command("right", "--verify-set", "k=3"), "simplex.projection can fix r, rho"),
        (command("right", "--verify-check", "luck"), "expected some of"),
        (command("right", "--verify-xfail", "luck"), "'check' or 'check/family'"),
        (command("right", "--verify-xfail", "ties/luck"), "expected CHECK or CHECK/FAMILY"),
    ],
)
def test_a_wrong_request_is_a_usage_error(suite, words, says):
    found = run(suite, *words)
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    assert says in found.stderr.str()
    assert "Traceback" not in found.stderr.str()


MINE = """
import some_solvers
import verification

@verification.parametrize("simplex.projection", checks=["ties", "purity", "batch"])
def test_mine(case):
    case.run(some_solvers.{solver})

def test_other():
    pass
"""


def test_the_decorator(suite):
    suite.makepyfile(MINE.format(solver="wrong"))
    found = run(suite, "-v", "-rs")
    outcomes = found.parseoutcomes()
    assert (outcomes["failed"], outcomes["passed"]) == (many("ties"), many("purity") + 1)
    assert outcomes["skipped"] == many("batch")
    found.stdout.fnmatch_lines(
        [
            "*test_mine?simplex.projection-ties-ties? FAILED*",
            "*smallest counterexample found, as code:*",
            "*# right *",
            f"*results in {many('ties', 'purity', 'batch')} cases: *",
            "SKIPPED*single vectors only*",
        ]
    )
    found.stdout.no_fnmatch_line("*def finalize*")


def test_the_decorator_needs_the_plugin_for_the_summary_only(suite):
    suite.makepyfile(MINE.format(solver="right"))
    found = suite.runpytest_inprocess(
        "-p", "no:cacheprovider", "-p", "no:verification.pytest_plugin"
    )
    assert found.ret == 0


def test_names_of_objects_and_problems_match():
    wanted = {"topk_hinge_alpha.prox", "topk_hinge_beta.prox"}
    found = cases("topk_hinge_*.prox", checks=["purity"])
    assert {c.problem for c in found} == wanted
    assert {c.problem for c in cases("topk_hinge_*", checks=["purity"])} > wanted
    assert {c.operation for c in found} == {"prox"}
    assert len({str(c) for c in found}) == len(found)
    assert all(c.instances() for c in found)
    with pytest.raises(UnknownProblemError, match="expected"):
        cases("no_such_*")
    with pytest.raises(UnknownProblemError, match="no pattern given"):
        pytest_plugin.parametrize()


def test_the_cases_are_those_of_verify():
    """Together they have the instances of a run, no more and no less."""
    report = verification.verify(None, PROBLEM, checks=["ties", "ground_truth"], shrink=False)
    found = cases(PROBLEM, checks=["ties", "ground_truth"])
    parts = [(c.check, i) for c in found for i in c.instances()]
    assert sorted(parts, key=repr) == sorted(
        ((r.check, r.instance) for r in report.results), key=repr
    )


def test_a_case_by_hand():
    case = Case(PROBLEM, "ties", "ties")
    assert case.report().ok
    assert (case.object_name, case.operation) == ("simplex", "projection")


def test_pytest_xdist(suite):
    pytest.importorskip("xdist")
    suite.makepyfile("def test_not_asked_for(): raise AssertionError")
    suite.makepyfile(some_solvers=SOLVERS.replace("from fast", "#"))  # a quick start
    words = (*command("wrong"), "-n", "2", "-q", *only("ties", "purity", "batch"))
    found = suite.runpytest_subprocess(*PLUGIN, *words)
    assert found.ret == 1
    outcomes = found.parseoutcomes()
    assert (outcomes["failed"], outcomes["passed"]) == (many("ties"), many("purity"))
    assert outcomes["skipped"] == many("batch")
    found.stdout.fnmatch_lines(["*results in * cases: *"])
    found.stdout.no_fnmatch_line("*test_not_asked_for*")


def test_other_suites_pay_nothing(tmp_path):
    """Loaded by a suite that has nothing to do with it, the plugin imports nothing but itself."""
    (tmp_path / "test_other.py").write_text("def test_other(): pass\n", encoding="utf-8")
    code = (
        "import sys, pytest\n"
        f"ended = pytest.main(['-q', '-p', 'verification.pytest_plugin', {str(tmp_path)!r}])\n"
        "heavy = ('numpy', 'cvxpy', 'numba', 'refsolve', 'fast', 'verification.verdicts')\n"
        "print([m for m in heavy if m in sys.modules], int(ended), file=sys.stderr)"
    )
    plain = ["-p", "no:benchmark", "-p", "no:hypothesispytest"]
    done = python("-c", code.replace("['-q'", f"[*{plain!r}, '-q'"))
    assert done.stderr.strip() == "[] 0", done.stdout + done.stderr


def test_the_entry_point_has_the_name_of_the_module():
    """So that pytest loads it once, also where `-p` asks for it."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = project["entry-points"]["pytest11"]
    assert points == {pytest_plugin.__name__: pytest_plugin.__name__}


def test_outcomes_travel_as_plain_text(suite):
    """In the properties of a report, which pytest-xdist and --junitxml can carry."""
    run(suite, *command("right"), *only("ties"), "--junitxml", "out.xml")
    text = (suite.path / "out.xml").read_text(encoding="utf-8")
    from xml.etree import ElementTree as ET

    (value,) = (p.get("value") for p in ET.fromstring(text).iter("property"))
    assert json.loads(value)["counts"]["pass"] > 0
