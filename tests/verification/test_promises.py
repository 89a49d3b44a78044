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
from verification.kit.loop import select
from verification.mutants.sound.projections import beta
from verification.mutants.sound.promised import PROMISED
from verification.problems.problem import fast_candidate, lookup
from verification.verdicts import promise
from verification.verdicts.report import round_up
from verification.verdicts.verdict import Judgement, Verdict

PROBLEM = "topk_simplex_beta.projection"
#: One of each kind of answer, and by how much it may be off what was added: bounds have several terms.
KINDS = {
    "simplex.projection": 1.2,
    "topk_hinge_alpha.prox": 1.2,
    "ova_logistic.prox": 1.2,
    "softmax.value": 1.2,
    "multiclass_hinge.conjugate": 1.2,
    "topk_hinge_beta.gradient": 1.2,
    "average_precision.value": 1.2,
    "lambert_w_exp.value": 2.1,
}


def larger(problem, by):
    """The solver of `fast`, whose answers are larger by a part."""
    solver = fast_candidate(problem)

    def off(**given):
        return np.asarray(solver(**given)) * (1 + by)

    return off


@pytest.mark.parametrize("problem", KINDS)
def test_the_accuracy_that_would_have_passed_does(problem):
    wrong, names = larger(problem, 1e-7), {"checks": _plain(problem), "shrink": False, "every": 6}
    without = verify(wrong, problem, **names)
    assert not without.ok
    assert 2e-8 < without.passes_at <= 1e-7 * KINDS[problem] + 1e-8
    assert "judged by rounding: not met; passes at" in without.summary()
    kept = verify(wrong, problem, accuracy=without.passes_at, **names)
    assert kept.ok
    # measured under a promise as without it
    assert 2e-8 < kept.passes_at <= without.passes_at
    broken = verify(wrong, problem, accuracy=kept.passes_at / 2, **names)
    assert not broken.ok
    assert broken.passes_at == kept.passes_at or broken.passes_at == without.passes_at


def _plain(problem):
    names = ("certified_gap", "ground_truth", "fenchel_young", "conjugate", "ties", "scales")
    applying = [n for n, c in select(None).items() if c.applies(lookup(problem)) and n in names]
    return applying


@pytest.mark.parametrize("problem", PROMISED)
def test_right_solvers_pass_at_their_promise_and_only_there(problem):
    solver, accuracy = PROMISED[problem]
    assert verify(solver, problem, accuracy=accuracy, every=5, shrink=False).ok
    names = _plain(problem)[:1]
    assert verify(solver, problem, checks=names, every=5, shrink=False).counts["fail"]


@pytest.mark.parametrize("accuracy", [0, -1e-9, math.nan, math.inf, 1, 1.5, "1e-3", True])
def test_what_is_no_promise_is_refused(accuracy):
    with pytest.raises(InvalidArgumentError, match=r"accuracy=.*0 < accuracy < 1, e\.g\. 1e-10"):
        verify(beta, PROBLEM, accuracy=accuracy)


def test_a_promise_takes_the_place_of_rounding_and_no_less():
    instance = Instance.of(PROBLEM, a=np.ones(6), k=2)
    own = tolerance.size_factor(6) * tolerance.precision(instance)
    for promised, relative in ((None, own), (1e-20, own), (1e-6, 1e-6)):
        with promise.held(lambda at=promised: at):
            assert tolerance.relative(instance, 6) == pytest.approx(relative, rel=1e-15)
    assert promise.current() is None


def test_a_promise_turns_no_check_off():
    """Shapes, numbers, inputs, and the same answer twice are asked for at an accuracy of 99 %, too."""
    rng = np.random.default_rng(0)

    def shorter(a, k, r, rho):
        return beta(a, k, r, rho)[:-1]

    def infinite(a, k, r, rho):
        return beta(a, k, r, rho) * np.inf

    def sorting(a, k, r, rho):
        x = beta(a, k, r, rho)
        a.sort()
        return x

    def random(a, k, r, rho):
        return rng.permutation(beta(a, k, r, rho) + 9 * (np.abs(a).max() + r))

    names = ["certified_gap", "ground_truth", "purity"]
    for solver in (shorter, infinite, sorting, random):
        report = verify(solver, PROBLEM, accuracy=0.99, checks=names, shrink=False)
        assert not report.ok, solver
    report = verify(sorting, PROBLEM, accuracy=0.99, checks=names, shrink=False)
    assert report.passes_at == math.inf
    assert "no promise of an accuracy lets pass: " in report.summary()
    assert "in purity" in report.summary()


def test_broken_once_in_ten_thousand():
    """A soak finds it, names the instance, and says what would have been true."""
    calls = iter(range(10**6))

    def broken(a, k, r, rho):
        x = beta(a, k, r, rho)
        return x * (1 + 1e-4) if next(calls) == 7000 else x

    report = verify(broken, PROBLEM, "soak", accuracy=1e-6, count=10_000, checks=["ties"])
    assert report.counts["fail"] == 1
    assert 1e-6 < report.passes_at <= 1.1e-4
    (failure,) = report.failures
    assert report.tally.least.instance == failure.instance
    assert f"a=np.array({failure.instance['a'].tolist()}"[:40] in report.summary()


def test_a_trained_model_promises_a_gap():
    asked = set()

    def trainer(X, y, C, tol, sample_weight=None, **given):
        asked.add(tol)
        found = fast_candidate("svm.primal")(
            X=X, y=y, C=C, tol=1e-9, sample_weight=sample_weight, **given
        )
        return (
            {"w": found["w"] * (1 + 1e-3), "b": found["b"]} if "b" in found else found["w"] * 1.001
        )

    names = {"checks": ["trained"], "shrink": False, "every": 5}
    without = verify(trainer, "svm.primal", **names)
    assert asked == {1e-6}
    assert not without.ok
    asked.clear()
    kept = verify(trainer, "svm.primal", accuracy=without.passes_at, **names)
    assert asked == {without.passes_at}
    assert kept.counts["fail"] == 0
    assert kept.counts["pass"] > 0


def test_terms_say_which_promise_would_do():
    for terms, verdict, least in (
        ({"error": (3.0, 1.0), "other": (2.0, 4.0)}, Verdict.FAIL, 3e-9),
        ({"error": (0.5, 1.0), "beyond": (2.0, 1.0), "sum": (9.0, None)}, Verdict.PASS, 5e-10),
        ({"error": (0.5, 1.0)}, Verdict.FAIL, math.inf),
        ({}, Verdict.FAIL, math.inf),
        ({"error": (math.nan, 1.0)}, Verdict.FAIL, math.inf),
        ({"zeros": (1.0, 0.0)}, Verdict.FAIL, math.inf),
        ({}, Verdict.CRASH, math.inf),
        ({"error": (3.0, 1.0)}, Verdict.ORACLE_UNCERTAIN, None),
        ({}, Verdict.SKIPPED, None),
    ):
        found = Judgement(verdict, terms=terms).least_promise(1e-9)
        assert found == pytest.approx(least) if found is not None else least is None


@pytest.mark.parametrize("number", [2.71e-14, 3e-14, 9.96e-3, 1e-7, 0.123456])
def test_what_is_shown_is_no_less(number):
    assert number <= round_up(number) <= 1.1 * number


#: Projects single numbers, nearly right, and refuses all else; its hello promises an accuracy.
PROGRAM = """
import json, sys
print(json.dumps({"v": 1, "hello": "mine", "accuracy": float(sys.argv[1])}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    one = request["arrays"]["a"]["shape"] == [1]
    x = [request["params"]["r"] * 1.0001]
    said = {"x": x, "status": "ok"} if one else {"status": "unsupported"}
    print(json.dumps({"id": request["id"], **said}), flush=True)
"""


def test_a_program_announces_its_promise():
    def program(said):
        return [sys.executable, "-I", "-S", "-c", PROGRAM, said]

    name = {"problem": "simplex.projection"}
    for said, ok in (("1e-3", True), ("1e-6", False)):
        with external(program(said), **name) as solver:
            report = verify(solver, checks=["ground_truth", "ties"], shrink=False, **name)
        assert report.ok is ok
        assert f"promised accuracy {float(said):g} (announced by the program)" in report.summary()
        assert report.refused == {"len(a) > 1": report.counts["skipped"]}
    with external(program("1e-6"), **name) as solver:  # who judges has the last word
        assert verify(solver, checks=["ties"], accuracy=1e-3, **name).ok
    with external(program("2"), **name) as solver:
        report = verify(solver, checks=["ties"], shrink=False, **name)
    assert "hello with accuracy=2.0: expected a relative accuracy" in report.failures[0].message


def limited(a, k, r=1.0, rho=0.0):
    """Refuses k > 3 by a ValueError, and a bias by a NotImplementedError."""
    if k > 3:
        raise ValueError(f"k={k} is more than 3")
    if rho > 0:
        raise NotImplementedError("no bias")
    return beta(a, k, r, rho)


@pytest.mark.parametrize(
    ("refuses", "isolate"),
    [(ValueError, False), ("ValueError", True), ((KeyError, ValueError), False)],
)
def test_refusals_are_skipped_and_counted(refuses, isolate):
    names = ["ground_truth", "ties"]
    report = verify(limited, PROBLEM, checks=names, refuses=refuses, isolate=isolate)
    assert report.ok
    assert set(report.refused) == {"k > 3", "rho > 0"}
    assert sum(report.refused.values()) == report.counts["skipped"] > 100
    assert f"k > 3: {report.refused['k > 3']} skipped" in report.summary()


def test_who_is_not_told_to_refuse_crashes():
    names = {"checks": ["ground_truth"], "shrink": False}
    assert verify(limited, PROBLEM, **names).counts["crash"] > 100
    only = verify(limited, PROBLEM, refuses=NotImplementedError, **names)
    assert {f.message.partition(":")[0] for f in only.failures} == {"ValueError"}


def test_k_beside_the_length_and_nothing_judged():
    def short(a, k, r=1.0, rho=0.0):
        if k > a.size:
            raise ValueError("k > d")
        return beta(a, k, r, rho)

    report = verify(short, PROBLEM, checks=["lengths", "ties"], refuses=ValueError)
    assert report.ok
    assert list(report.refused) == ["k > len(a)"]

    def never(a, k, r=1.0, rho=0.0):
        raise ValueError("not today")

    report = verify(never, PROBLEM, checks=["ties"], refuses=ValueError)
    assert not report.ok
    assert "nothing was judged" in report.summary()
    assert report.refused == {"ValueError: not today": report.counts["skipped"]}


@pytest.mark.parametrize(
    "refuses", [Exception, int, "Nothing", "no_such_module:Error", 3, KeyboardInterrupt]
)
def test_what_is_no_refusal_is_refused(refuses):
    with pytest.raises(InvalidArgumentError, match="refuses="):
        verify(limited, PROBLEM, refuses=refuses)


def test_on_the_command_line_and_again_from_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "coarse.py").write_text(
        "from verification.mutants.sound.promised import bisect\n"
        "def project(a, r=1.0, rho=0.0):\n"
        "    if a.size > 2:\n        raise ValueError('too long')\n"
        "    return bisect(a, r)\n"
    )
    words = [
        "verify",
        "--problem",
        "simplex.projection",
        "--solver",
        "coarse:project",
        "--check",
        "ties",
    ]
    words += ["--no-isolate", "--refuses", "ValueError"]
    kept = data(*words, "--accuracy", "1e-8")
    assert kept["promised"] == 1e-8
    assert list(kept["refused"]) == ["len(a) > 2"]
    broken = data(*words, "--accuracy", "1e-12", "-o", "found", code=1)
    assert 1e-12 < broken["passes_at"] < 1e-8
    stored = replay.load("found/simplex.projection.replay.json")
    assert stored.settings["accuracy"] == 1e-12
    assert stored.run(trust=True).verdict is Verdict.FAIL
    again = stored.to_dict() | {"command": "", "found_by": ""}
    again["settings"]["accuracy"] = 1e-8
    (tmp_path / "kept.json").write_text(json.dumps(again))
    assert replay.load("kept.json").run(trust=True).ok
    again["settings"]["accuracy"] = 7
    (tmp_path / "spoilt.json").write_text(json.dumps(again))
    with pytest.raises(InvalidArgumentError, match="accuracy=7"):
        replay.load("spoilt.json")
    assert "--accuracy 1e-12 --refuses builtins.ValueError" in command(stored)
    assert "accuracy=2.0: expected" in refused(*words, "--accuracy", "2")
    assert "--accuracy" in refused("verify", "--all", "--accuracy", "1e-3")
    assert "refuses='Nothing'" in refused(*words[:-1], "Nothing")


def test_messages_name_the_bound():
    instance = Instance.of("simplex.projection", a=np.array([1.0, 0.7, -0.3]), r=1.0, rho=0.0)
    near, far = (Candidate(np.array([0.65 + e, 0.35 - e, 0.0])) for e in (1e-4, 1e-2))
    with promise.held(lambda: 1e-3):
        assert certificates.judge(instance, near).ok
        assert "the bound of the promised 0.001, 0.00" in certificates.judge(instance, far).message
    assert "the rounding-error bound" in certificates.judge(instance, near).message
