"""A promised accuracy widens what rounding excuses, by as much as it says, and turns nothing off."""

import json
import math
import sys

import numpy as np
import pytest
from _commands import data, refused

from verification import Candidate, InvalidArgumentError, certificates, external, verify
from verification.certificates import tolerance
from verification.failures import replay
from verification.failures.run_command import command
from verification.instances.instance import Instance
from verification.problems.problem import fast_candidate, lookup
from verification.reference_solvers.projections import beta
from verification.reference_solvers.promised import PROMISED
from verification.report.run_report import report_document, unjudged_table
from verification.verdicts import accuracy_contract
from verification.verdicts.run import round_up
from verification.verdicts.verdict import Judgement, Verdict

PROBLEM = "topk_simplex_beta.projection"
#: One of each kind of answer, and how much more than was added is needed: bounds have several terms.
KINDS = {
    "simplex.projection": 1.3, "topk_hinge_alpha.prox": 1.3, "ova_logistic.prox": 1.3,
    "softmax.value": 1.3, "multiclass_hinge.conjugate": 1.3, "topk_hinge_beta.gradient": 1.3,
    "average_precision.value": 1.3, "lambert_w_exp.value": 2.2,
}  # fmt: skip
#: Projects single numbers, nearly right, and refuses all else; its hello promises an accuracy.
PROGRAM = """
import json, sys
print(json.dumps({"v": 1, "hello": "mine", "accuracy": float(sys.argv[1])}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    said = {"x": [request["params"]["r"] * 1.0001], "status": "ok"}
    one = request["arrays"]["a"]["shape"] == [1]
    print(json.dumps({"id": request["id"], **(said if one else {"status": "unsupported"})}), flush=True)
"""


@pytest.mark.parametrize("problem", KINDS)
def test_the_accuracy_that_would_have_passed_does(problem):
    def wrong(**given):
        return np.asarray(fast_candidate(problem)(**given)) * (1 + 1e-7)

    options = {"shrink": False, "every": 40}
    without = verify(wrong, problem, **options)
    assert not without.ok
    assert 2e-8 < without.passes_at <= 1e-7 * KINDS[problem]
    assert "judged by the floating-point error bound: not met; passes at" in without.summary()
    kept = verify(wrong, problem, accuracy=without.passes_at, **options)
    assert kept.ok
    assert 2e-8 < kept.passes_at <= without.passes_at  # measured under a promise as without it
    assert not verify(wrong, problem, accuracy=kept.passes_at / 2, **options).ok


@pytest.mark.parametrize("problem", PROMISED)
def test_right_solvers_pass_at_their_promise_and_only_there(problem):
    solver, accuracy = PROMISED[problem]
    assert verify(solver, problem, accuracy=accuracy, every=9, shrink=False).ok
    assert verify(solver, problem, checks=["scales"], every=5, shrink=False).counts["fail"]


def test_a_threshold_by_halving_keeps_its_promise_also_where_thousands_of_entries_add_up():
    solver, accuracy = PROMISED["simplex.projection"]
    report = verify(
        solver, "simplex.projection", accuracy=accuracy, checks=["distributions"], shrink=False
    )
    assert max(result.instance["a"].size for result in report.results) >= 10_000
    assert report.ok


def test_a_promise_takes_the_place_of_rounding_and_no_less():
    instance = Instance.of("simplex.projection", a=np.array([1.0, 0.7, -0.3]), r=1.0, rho=0.0)
    own = tolerance.size_factor(6) * tolerance.precision(instance)
    for promised, relative in ((None, own), (1e-20, own), (1e-6, 1e-6)):
        with accuracy_contract.held(lambda at=promised: at):
            assert tolerance.relative(instance, 6) == pytest.approx(relative, rel=1e-15)
    near, far = (Candidate(np.array([0.65 + e, 0.35 - e, 0.0])) for e in (1e-4, 1e-2))
    with accuracy_contract.held(lambda: 1e-3):
        assert certificates.judge(instance, near).ok
        assert "the bound at the declared tolerance 0.001, 0.00" in certificates.judge(instance, far).message
    assert "the rounding-error bound" in certificates.judge(instance, near).message


@pytest.mark.parametrize("wrong", ["shape", "number", "input", "random"])
def test_a_promise_turns_no_check_off(wrong):
    """Shapes, numbers, inputs, and the same answer twice are asked for at an accuracy of 99 %, too."""
    rng = np.random.default_rng(0)

    def solver(a, k, r, rho):
        x = beta(a, k, r, rho)
        if wrong == "input":
            a.sort()
        away = 9 * rng.random(x.size) * (np.abs(a).max() + r)
        return {"shape": x[:-1], "number": x * np.inf, "input": x, "random": x + away}[wrong]

    names = ["ground_truth", "purity"]
    report = verify(solver, PROBLEM, accuracy=0.99, checks=names, every=3, shrink=False)
    assert not report.ok
    assert report.passes_at == math.inf
    assert "no declared tolerance lets pass: " in report.summary()


def test_broken_once_in_a_thousand():
    """A soak finds it, names the instance, and says what would have been true."""
    calls = iter(range(10**6))

    def broken(a, k, r, rho):
        return beta(a, k, r, rho) * (1 + 1e-4 * (next(calls) == 700))

    report = verify(broken, PROBLEM, "soak", accuracy=1e-6, count=1_000, checks=["ties"])
    (failure,) = report.failures
    assert 1e-6 < report.passes_at <= 1.1e-4
    assert report.tally.least.instance == failure.instance
    assert f"a=np.array({failure.instance['a'].tolist()}"[:40] in report.summary()


def test_a_trained_model_promises_a_gap():
    asked = set()

    def trainer(*, tol, **given):
        asked.add(tol)
        found = fast_candidate("svm.primal")(tol=1e-9, **given)
        return found | {"w": found["w"] * 1.001}

    options = {"checks": ["trained"], "shrink": False, "every": 5}
    without = verify(trainer, "svm.primal", **options)
    assert without.counts["fail"]
    kept = verify(trainer, "svm.primal", accuracy=without.passes_at, **options)
    assert asked == {1e-6, without.passes_at}
    assert kept.ok


@pytest.mark.parametrize(
    ("terms", "verdict", "least"),
    [
        ({"error": (3.0, 1.0), "other": (2.0, 4.0)}, Verdict.FAIL, 3e-9),
        ({"error": (0.5, 1.0), "beyond": (2.0, 1.0), "sum": (9.0, None)}, Verdict.PASS, 5e-10),
        ({"error": (0.5, 1.0)}, Verdict.FAIL, math.inf),
        ({"error": (math.nan, 1.0)}, Verdict.FAIL, math.inf),
        ({"zeros": (1.0, 0.0)}, Verdict.FAIL, math.inf),
        ({}, Verdict.CRASH, math.inf),
        ({"error": (3.0, 1.0)}, Verdict.INCONCLUSIVE, None),
    ],
)
def test_terms_say_which_promise_would_do(terms, verdict, least):
    assert Judgement(verdict, terms=terms).least_promise(1e-9) == pytest.approx(least)


@pytest.mark.parametrize("number", [2.71e-14, 3e-14, 9.96e-3, 1.0000000000000003e-5, 0.123456])
def test_what_is_shown_is_no_less(number):
    assert number <= round_up(number) <= 1.1 * number


def test_a_program_announces_its_promise():
    name = {"problem": "simplex.projection"}

    def report(said, **options):
        with external([sys.executable, "-I", "-S", "-c", PROGRAM, said], **name) as solver:
            return verify(solver, checks=["ground_truth", "ties"], shrink=False, **name, **options)

    kept, broken = report("1e-3"), report("1e-6")
    assert kept.ok
    assert not broken.ok
    assert "declared tolerance 1e-06 (announced by the program)" in broken.summary()
    assert kept.refused == {"len(a) > 1": kept.counts["skipped"]}
    assert report("1e-6", accuracy=1e-3).ok  # who judges has the last word
    assert "hello with accuracy=2.0: expected a relative" in report("2").failures[0].message


def limited(a, k, r=1.0, rho=0.0):
    """Refuses k > 3 by a ValueError, and a bias by a NotImplementedError."""
    if k > 3:
        raise ValueError(f"k={k} is more than 3")
    if rho > 0:
        raise NotImplementedError("no bias")
    return beta(a, k, r, rho)


@pytest.mark.parametrize(
    ("refuses", "isolate"), [("ValueError", True), ((KeyError, ValueError), False)]
)
def test_refusals_are_skipped_and_counted(refuses, isolate):
    options = {"refuses": refuses, "isolate": isolate, "every": 3}
    report = verify(limited, PROBLEM, checks=["ground_truth", "ties"], **options)
    assert report.ok
    assert set(report.refused) == {"k > 3", "rho > 0"}
    assert sum(report.refused.values()) == report.counts["skipped"] > 30
    assert f"k > 3: {report.refused['k > 3']} skipped" in report.summary()


def test_who_is_not_told_to_refuse_crashes():
    names = {"checks": ["ground_truth"], "shrink": False}
    crashed = verify(limited, PROBLEM, fixed={"k": 4}, **names)
    assert crashed.counts["crash"] == len(crashed.results) > 100
    assert "judged by the floating-point error bound: -" in crashed.summary()
    only = verify(limited, PROBLEM, refuses=NotImplementedError, **names)
    assert {f.message.partition(":")[0] for f in only.failures} == {"ValueError"}


@pytest.mark.parametrize("short", [True, False])
def test_k_beside_the_length_and_nothing_judged(short):
    def solver(a, k, r=1.0, rho=0.0):
        if k > a.size or not short:
            raise ValueError("not today")
        return beta(a, k, r, rho)

    report = verify(solver, PROBLEM, checks=["lengths", "ties"], refuses=ValueError)
    assert report.ok is short
    name = "k > len(a)" if short else "ValueError: not today"
    assert report.refused == {name: report.counts["skipped"]}
    assert ("nothing was judged" in report.summary()) is not short


def test_a_feasible_point_with_too_large_a_value_has_a_tolerance_that_passes():
    """Scores so large that any point is near enough: the value decides, and a tolerance excuses it."""
    a = np.array([-0.13, 1.33e100, -4.1e13])
    named = Instance.of(lookup("simplex.projection"), "own", a=a, r=1e-39, rho=0.0)
    far = Candidate(np.array([0.0, (1 - 2e-13) * 1e-39, 2e-13 * 1e-39]))
    found = certificates.judge(named, far)
    assert found.verdict is Verdict.FAIL
    assert "suboptimal" in found.message
    least = found.least_promise(tolerance.relative(named, 3))
    assert 0 < least < 1e-10
    with accuracy_contract.held(lambda: least):
        assert certificates.judge(named, far).ok


def test_no_accuracy_is_recommended_that_is_none():
    wrong = {"fixed": {"k": 2}, "checks": ["ties"], "shrink": False}
    report = verify(lambda a, r=1.0, rho=0.0: beta(a, 1, r, rho), PROBLEM, **wrong)
    assert report.passes_at > 0.01
    assert "no --accuracy up to 0.01 passes (worst in" in report.accuracy_lines()[0]


def test_a_reason_stands_once_with_its_checks():
    def wrong(scores, y):
        return np.log(np.exp(scores).sum()) - 1.001 * scores[y]

    report = verify(wrong, "softmax.value", checks=["ties", "saturation", "batch", "shapes"], shrink=False)
    shown = unjudged_table(report)
    found = {row[3]: row for row in shown.rows}
    assert len(found) == len(shown.rows) <= 13
    said = {}
    for (_, check), reasons in report.tally.reasons.items():
        for reason, n in reasons.items():
            said.setdefault(reason, {})[check] = n
    for reason, checks in said.items():
        if reason in found:
            names = ", ".join(checks) if len(checks) <= 3 else f"{len(checks)} checks"
            assert found[reason][1:3] == (str(sum(checks.values())), names)
    matrix = next(b for b in report_document(report).appendix if getattr(b, "title", "") == "Check by family")
    assert (len(report.tally.by_family) > 12, len(matrix.columns)) == (True, 13)
    cells = [getattr(cell, "text", "") for row in matrix.rows for cell in row[1:]]
    failed = [int(text.split()[0]) for text in cells if "fail" in text]
    assert sum(failed) == report.counts["fail"] + report.counts["crash"]
    assert sum(int(row[1]) for row in shown.rows) == sum(map(sum, (c.values() for c in said.values())))
    late = {"left out: x5 may take 0.1 s": 2, "left out: x16 may take 1e-3 s": 1, "other": 1}
    report.tally.reasons = {("skipped", "ties"): late}
    assert [row[1:] for row in unjudged_table(report).rows] == [
        ("3", "ties", "left out: x5 may take 0.1 s; 1 more differ in numbers"), ("1", "ties", "other"),
    ]  # fmt: skip


def test_on_the_command_line_and_again_from_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "coarse.py").write_text(
        "from verification.reference_solvers.promised import bisect\n"
        "def project(a, r=1.0, rho=0.0):\n"
        "    if a.size > 2:\n        raise ValueError('too long')\n"
        "    return bisect(a, r)\n"
    )
    words = ["verify", "--problem", "simplex.projection", "--solver", "coarse:project", "--check"]
    words += ["ties", "--no-isolate", "--refuses", "ValueError"]
    kept = data(*words, "--accuracy", "1e-8")
    assert (kept["promised"], list(kept["refused"])) == (1e-8, ["len(a) > 2"])
    broken = data(*words, "--accuracy", "1e-12", "-o", "found", code=1)
    assert 1e-12 < broken["passes_at"] < 1e-8
    stored = replay.load("found/simplex.projection.replay.json")
    assert "--accuracy 1e-12 --refuses builtins.ValueError" in command(stored)
    assert stored.run(trust=True).verdict is Verdict.FAIL
    again = stored.to_dict()
    for accuracy in (1e-8, 7):
        again["settings"]["accuracy"] = accuracy
        (tmp_path / "again.json").write_text(json.dumps(again))
        if accuracy < 1:
            assert replay.load("again.json").run(trust=True).ok
    with pytest.raises(InvalidArgumentError, match="accuracy=7"):
        replay.load("again.json")
    assert "accuracy=2.0: expected" in refused(*words, "--accuracy", "2")
    assert "--accuracy" in refused("verify", "--all", "--accuracy", "1e-3")
    assert "refuses='Nothing'" in refused(*words[:-1], "Nothing")
