"""Arguments that a candidate has built in, and soak runs, which keep counts in the place of results."""

import numpy as np
import pytest

from verification import InvalidArgumentError, Verdict, verify
from verification.checks import discover, trained
from verification.kit import fixing
from verification.problems.problem import lookup
from verification.reference_solvers import projections
from verification.verdicts.expectations import Expectations, Known
from verification.verdicts.report import Report
from verification.verdicts.tally import Tally
from verification.verdicts.verdict import Judgement, Result

PROBLEM = "topk_simplex_alpha.projection"
CHECKS = ["certified_gap", "ground_truth", "trained"]


def top3(a, rho):
    """k and r are built in."""
    return projections.alpha(a, 3, 2.0, rho)


def test_a_candidate_without_the_fixed_arguments_passes():
    report = verify(top3, PROBLEM, fixed={"k": 3, "r": 2}, checks=CHECKS).raise_if_failed()
    assert {(r.instance["k"], r.instance["r"]) for r in report.results} == {(3, 2.0)}
    assert report.counts["skipped"] == 0
    assert report.settings["fixed"] == {"k": 3, "r": 2.0}
    plain = verify(projections.alpha, PROBLEM, checks=CHECKS)
    assert report.checked == plain.checked  # as many as without


def test_another_fixed_value_shows_the_candidate_wrong():
    report = verify(top3, PROBLEM, fixed={"k": 2, "r": 2.0}, checks=CHECKS)
    assert not report.ok
    found = report.counterexample_result.instance
    assert (found["k"], found["r"]) == (2, 2.0)  # shrinking leaves them alone
    assert found["a"].size <= 2


def test_without_fixed_a_candidate_is_skipped_where_it_lacks_an_argument():
    report = verify(top3, PROBLEM, checks=CHECKS)
    assert report.counts["skipped"] > 0
    assert not report.ok  # k = 1 is the default


@pytest.mark.parametrize(
    "fixed",
    [
        {"loss": "hinge"},
        {"loss": 3},
        {"C": -1.0},
        {"gamma": 0.0},
        {"k": 0},
        {"loss": "softmax", "k": 2},
        {"tol": 0.0},
        {"tol": float("nan")},
    ],
)
def test_bad_fixed_values_of_a_model_are_refused(fixed, monkeypatch):
    monkeypatch.setattr(fixing, "PROBES", 5)  # in 1 000 draws, not in 12 000
    with pytest.raises(InvalidArgumentError, match=r"no instance of multiclass_erm\.primal"):
        verify(None, "multiclass_erm.primal", fixed=fixed)


def test_a_fixed_loss_gets_the_arguments_that_it_has():
    problem = fixing.fix(lookup("multiclass_erm.primal"), {"loss": "smooth_topk_hinge_beta"})
    drawn = fixing.instances(trained, problem, "quick", 0)
    assert {i["loss"] for i in drawn} == {"smooth_topk_hinge_beta"}
    assert all(i["k"] >= 1 and i["gamma"] > 0 for i in drawn)
    assert len(drawn) == len(fixing.instances(trained, lookup(problem.name), "quick", 0))


def test_a_looser_promise_is_judged_as_such():
    import fast

    def rough(X, y, C, k):
        return fast.TopKSVC(k=k, C=C, tol=1e-3).fit(X, y).coef_ * (1 + 1e-5)

    given = {"loss": "topk_hinge_alpha", "tol": 1e-3}
    problem = "multiclass_erm.primal"
    report = verify(rough, problem, fixed=given, checks=["trained"], every=5).raise_if_failed()
    assert report.worst_gap > 1e-6
    usual = {"loss": "topk_hinge_alpha"}
    strict = verify(rough, problem, fixed=usual, checks=["trained"], every=5, shrink=False)
    assert strict.counts["fail"] > 0, "the same answers break the usual promise"


def test_soak_runs_over_seed_after_seed_and_keeps_counts_only():
    report = verify(projections.alpha, PROBLEM, "soak", count=700, checks=["certified_gap"])
    assert report.ok
    assert report.counts["pass"] == 700
    assert report.results == ()
    assert report.worst_gap is not None
    assert report.by_check()["certified_gap"]["pass"] == 700
    assert "700 pass" in report.summary()
    with_time = verify(projections.alpha, PROBLEM, "soak", seconds=0.05, checks=["certified_gap"])
    assert with_time.checked > 0


def test_soak_keeps_some_failures_and_counts_them_all(monkeypatch):
    monkeypatch.setattr("verification.kit.loop.SOAK_KEEPS", 3)
    wrong = {"k": 2, "r": 2.0}
    report = verify(top3, PROBLEM, "soak", fixed=wrong, count=300, checks=["certified_gap"])
    assert report.counts["fail"] > 10
    assert len(report.results) == 3
    assert not report.ok
    assert report.counterexample_result is not None


def test_soak_with_the_next_seed_is_another_run():
    batches = [discover()["certified_gap"].instances(lookup(PROBLEM), "quick", s) for s in (0, 1)]
    assert batches[0] != batches[1]
    seen = []

    def note(a, k, r, rho):
        seen.append(a.tobytes())
        return projections.alpha(a, k, r, rho)

    verify(note, PROBLEM, "soak", count=1500, checks=["certified_gap"])
    assert len(set(seen)) > 0.9 * 1500  # nothing is run twice


def result(verdict, check="ties", family="ties", **figures):
    instance = None
    found = Result.of(check, instance, Judgement(verdict, **figures))
    return found if not family else Result(**{**vars(found), "family": family})


def test_unexpected_passes_are_bad_and_nothing_is_judged_by_them():
    expected = Expectations([Known("ties"), Known("purity")])
    kept = [expected.apply(result(Verdict.PASS)), expected.apply(result(Verdict.SKIPPED, "purity"))]
    unmet = expected.unmet()
    assert [r.verdict for r in unmet] == [Verdict.UNEXPECTED_PASS] * 2
    assert "did not" in unmet[0].message
    assert "nothing of it was judged" in unmet[1].message
    assert Verdict.UNEXPECTED_PASS.is_bad
    report = Report(PROBLEM, "quick", 0, (*kept, *unmet))
    assert not report.ok
    assert report.checked == 1
    assert not Report(PROBLEM, "quick", 0, tuple(unmet)).checked


def test_expected_failures_take_the_narrowest_entry():
    expected = Expectations([Known("ties", "all of them"), Known("ties/ties", "this family")])
    found = expected.apply(result(Verdict.FAIL))
    assert found.verdict is Verdict.EXPECTED_FAILURE
    assert found.message.startswith("this family")


def test_a_tally_is_what_the_results_say():
    results = [
        result(Verdict.PASS, gap=1e-9, distance=1e-8, distance_tolerance=1e-7),
        result(Verdict.PASS, gap=3e-9),
        result(Verdict.FAIL, gap=1.0),
        result(Verdict.SKIPPED, "scales", "scales"),
    ]
    tally = Tally.of(results)
    assert tally.by_check == {"ties": {"pass": 2, "fail": 1}, "scales": {"skipped": 1}}
    assert tally.by_family[("ties", "ties")] == {"pass": 2, "fail": 1}
    assert (tally.worst_gap, tally.worst_distance) == (3e-9, 1e-8)
    assert tally.worst_distance_ratio == pytest.approx(0.1)
    assert tally.count() == 4
    assert tally.count("pass", "fail") == 3
    report = Report(PROBLEM, "soak", 0, (), tally=tally)
    assert report.counts["fail"] == 1
    assert not report.ok
    assert np.isclose(report.worst_gap, 3e-9)
