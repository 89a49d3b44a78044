import json
import pickle

import numpy as np
import pytest
from _part import every
from _references import SOUND, passes_every_check

from verification import (
    InvalidArgumentError,
    UnknownProblemError,
    Verdict,
    VerificationFailedError,
    verify,
)
from verification.kit.loop import applicable
from verification.problems.problem import lookup
from verification.reference_solvers import projections
from verification.reference_solvers.solvers import PROMISES

PROBLEM = "topk_simplex_alpha.projection"


@pytest.mark.parametrize("problem", SOUND)
def test_sound_algorithms_pass(problem):
    passes_every_check(SOUND[problem], problem, 4, fixed=PROMISES.get(problem))


def test_thorough_is_a_larger_quick():
    problem = "topk_simplex_beta.projection"
    report = verify(projections.beta, problem, "thorough", every=28).raise_if_failed()
    assert len(report.results) > 3 * len(verify(projections.beta, problem, every=28).results)
    assert max(r.instance["a"].size for r in report.results) >= 30


def test_one_in_three_instances_is_a_part_of_every_check():
    whole = verify(None, "box.projection")
    part = verify(None, "box.projection", every=3)
    assert {r.check for r in part.results} == {r.check for r in whole.results}
    assert {(r.check, r.instance) for r in part.results} < {
        (r.check, r.instance) for r in whole.results
    }
    assert len(part.results) < len(whole.results) / 2


def test_same_seed_same_report():
    problem = "topk_simplex_beta.projection"
    # without the oracle, whose first solve of a shape may differ from later ones in the last bit
    names = [name for name in applicable(lookup(problem)) if name != "agreement"]
    first, second = (
        verify(projections.beta, problem, seed=4, checks=names, every=every(8)) for _ in "ab"
    )
    assert [r.to_dict() for r in first.results] == [r.to_dict() for r in second.results]
    third = verify(projections.beta, problem, seed=5, checks=names[:2], every=every(8))
    mine = [r.instance for r in first.results if r.check in names[:2]]
    assert mine != [r.instance for r in third.results]


@pytest.mark.parametrize("problem", ["simplex.projection", "topk_hinge_alpha.prox", "svm.primal"])
def test_a_report_goes_to_another_process(problem):
    report = verify(None, problem, checks=["trained" if "svm" in problem else "certified_gap"])
    assert report.checked > 0
    assert lookup(problem).symbols  # what must not go with it
    assert pickle.loads(pickle.dumps(report)).summary() == report.summary()


def test_failure_prints_the_smallest_counterexample():
    def project(a, k, r, rho):
        return projections.alpha(a, k, r, 0.0)

    report = verify(project, PROBLEM, every=8)
    assert not report.ok
    with pytest.raises(VerificationFailedError) as caught:
        report.raise_if_failed()
    assert report.counterexample in str(caught.value)
    assert repr(report) == report.summary()  # what a notebook shows of it
    assert "np.array([1.0]), k=1, r=1.0, rho=1.0" in report.counterexample
    assert "# returned [1.0]" in report.counterexample
    assert "# right    [0.5]" in report.counterexample
    json.dumps(report.to_dict())


def test_nothing_judged_is_a_failure():
    """A candidate that takes no k on a problem whose instances all have k > 1."""
    report = verify(lambda a: a, PROBLEM, checks=["agreement"], seed=0)
    skipped = report.counts["skipped"]
    only_skipped = [r for r in report.results if r.verdict is Verdict.SKIPPED]
    assert skipped == len(only_skipped) > 0
    empty = type(report)(PROBLEM, "quick", 0, tuple(only_skipped))
    assert empty.checked == 0
    assert not empty.ok
    with pytest.raises(VerificationFailedError, match="nothing was judged"):
        empty.raise_if_failed()


def test_uncertain_oracle_is_no_pass(monkeypatch):
    from verification.certificates import truth

    def uncertain(*args):
        raise truth.UncertainError("no certificate")

    monkeypatch.setattr(truth, "solution", uncertain)
    report = verify(projections.alpha, PROBLEM, checks=["ground_truth"])
    assert report.counts["inconclusive"] == len(report.results) > 0
    assert not report.ok


def test_wrong_exact_solver_is_caught_by_its_own_certificate(monkeypatch):
    """The ground truth is believed for its zero gap only."""
    from refsolve.exact import topk_simplex_alpha
    from verification.certificates import truth

    truth.solution.cache_clear()
    monkeypatch.setattr(topk_simplex_alpha, "project", lambda a, k, r, rho: [0 * v for v in a])
    report = verify(lambda a, k, r, rho: np.zeros_like(a), PROBLEM, checks=["ground_truth"])
    truth.solution.cache_clear()
    counts = report.counts
    assert counts["fail"] == 0
    assert 0 < counts["pass"] < counts["inconclusive"]  # passes: zero is right for some


def test_crashes_and_timeouts_are_counted(monkeypatch):
    monkeypatch.setattr("verification.kit.solver_call.FIRST_CALL_ALLOWANCE", 0.0)

    def crashing(a, k, r, rho):
        if len(a) > 2:
            raise ZeroDivisionError("division by zero")
        return projections.alpha(a, k, r, rho)

    report = verify(crashing, PROBLEM, checks=["ties"])
    assert report.counts["crash"] > 0
    assert not report.ok
    assert "ZeroDivisionError" in report.counterexample
    assert len(report.counterexample_result.instance["a"]) == 3

    def endless(a, k, r, rho):
        while True:
            pass

    report = verify(endless, PROBLEM, checks=["ties"], timeout=0.02)
    assert report.counts["timeout"] == 3
    assert report.counts["skipped"] == len(report.results) - 3
    assert not report.ok


def test_what_a_call_sets_in_numpy_ends_with_it():
    before = np.geterr()

    def strict(a, k, r=1.0, rho=0.0):
        np.seterr(all="raise")
        return SOUND[PROBLEM](a, k, r, rho)

    verify(strict, PROBLEM, checks=["purity"])
    assert np.geterr() == before


def test_expected_failures():
    def project(a, k, r, rho):
        return projections.alpha(a, k, r, min(rho, 50.0))

    few = {"every": 8}
    plain = verify(project, PROBLEM, **few)
    failing = {r.check for r in plain.failures}
    assert "scales" in failing
    known = verify(project, PROBLEM, xfail=dict.fromkeys(failing, "rho is capped at 50"), **few)
    known.raise_if_failed()
    assert known.counts["expected failure"] == len(plain.failures)
    assert known.counterexample is None
    one_family = verify(project, PROBLEM, xfail=["scales/scales"], **few)
    assert one_family.counts["expected failure"] > 0
    assert {r.check for r in one_family.failures} == failing - {"scales"}


def test_expected_failure_that_passes_is_a_failure():
    report = verify(
        projections.alpha, PROBLEM, checks=["purity"], xfail={"purity": "sorts in place"}
    )
    assert not report.ok
    assert "remove it from xfail" in report.summary()


ACCURACY = r"expected a relative accuracy 0 < accuracy < 1, e\.g\. 1e-10"
ERRORS = r"expected a type of errors narrower than Exception, e\.g\. ValueError"
CAN_FIX, NUMBER = "can fix k, r, rho", "expected a number > 0"
NONE_SUCH = r"no instance of .* has this value; expected one such as"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"profile": "slow"}, "expected one of quick, thorough, soak"),
        ({"checks": ["tie"]}, "expected some of certified_gap, .*, ties"),
        ({"checks": ["conjugate", "trained"]}, f"{PROBLEM} has other ones, expected some of"),
        ({"candidate": None, "problem": PROBLEM, "timeout": 0}, "expected seconds > 0"),
        ({"timeout": "3"}, "expected seconds > 0"),
        ({"xfail": ["tie"]}, r"expected a file \*\.toml, or 'check'"),
        ({"xfail": "tie"}, r"expected a file \*\.toml, or 'check'"),
        *(({"seed": value}, "expected an integer >= 0") for value in (0.5, "1")),
        *(({"accuracy": value}, ACCURACY) for value in (0, -1e-9, np.nan, np.inf, 1, 1.5, "1e-3", True)),
        *(({"refuses": value}, ERRORS) for value in (Exception, int, "Nothing", KeyboardInterrupt)),
        ({"refuses": "none:Error"}, "no such module"),
        ({"fixed": ["k"]}, "expected a mapping"),
        *(({"fixed": {name: value}}, words) for name, value, words in (
            ("K", 3, CAN_FIX), ("a", 3, CAN_FIX), ("k", 0, NONE_SUCH), ("k", "two", NONE_SUCH),
            ("k", 2.5, "expected an integer"), ("k", True, "expected a number$"),
            ("r", -1, NONE_SUCH), ("rho", np.nan, NONE_SUCH))),
        ({"count": 5}, "only a soak run is bounded by it"),
        ({"profile": "soak", "count": 0}, NUMBER),
        ({"profile": "soak", "seconds": -1.0}, NUMBER),
    ],
)  # fmt: skip
def test_bad_arguments(arguments, words):
    """The message begins with the argument, and the name that it fixes, and says what is expected."""
    with pytest.raises(InvalidArgumentError, match=words) as caught:
        verify(**{"candidate": projections.alpha, "problem": PROBLEM, **arguments})
    name, value = list(arguments.items())[-1]
    fixed = [f"{each!r}: " for each in value] if isinstance(value, dict) else []
    assert str(caught.value).startswith(f"{name}=")
    assert all(each in str(caught.value) for each in fixed)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        ("topk_simplex_gamma.projection", r"expected NAME\.OPERATION, such as topk_simplex_alpha"),
        ("simplex.value", r"expected one of simplex\.projection"),
    ],
)
def test_unknown_problems(problem, words):
    with pytest.raises(UnknownProblemError, match=f"problem='{problem}' is not known; {words}"):
        verify(projections.alpha, problem)


def test_progress_is_reported():
    calls = []
    verify(projections.alpha, PROBLEM, checks=["purity"], progress=lambda *step: calls.append(step))
    assert calls[-1] == ("purity", len(calls), len(calls))
