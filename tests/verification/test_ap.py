"""The judge of the AP loss: right answers pass, wrong ones fail for the right reason."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from _part import every

from refsolve.proofs import ranking_truth
from refsolve.proofs.ranking_truth import UnprovedError
from verification import certificates, verify
from verification.certificates import ranking
from verification.instances import families
from verification.instances.instance import Instance
from verification.kit.loop import applicable
from verification.kit.solver_call import Caller, CandidateCrashError
from verification.problems.problem import lookup
from verification.reference_solvers import rankings as sound
from verification.verdicts.verdict import Candidate, Verdict

INFERENCE, VALUE = "average_precision.loss_augmented_inference", "average_precision.value"


def infer(scores, y):
    return sound.infer(scores, y)


def value(scores, y):
    return sound.infer(scores, y)[0]


def test_the_truth_in_extended_precision_is_the_exact_one():
    rng = np.random.default_rng(0)
    for P, N in ((1, 40), (40, 1), (12, 70), (30, 30)):
        scores = np.round(rng.normal(size=P + N), 2)
        y = rng.permutation((np.arange(P + N) < P).astype(int))
        exact, extended = (ranking_truth.solve(scores, y, limit) for limit in (10**6, 0))
        assert exact.error == 0 < extended.error < 1e-14
        assert abs(exact.value - extended.value) <= extended.error
        assert ranking_truth.objective(scores, y, extended.inversions)[0] <= exact.value


def test_rankings_are_conjugate_partitions():
    found = 0
    for counts in itertools.product(range(3), range(3), range(3), range(3)):
        inversions, y = np.array(counts), np.array([1, 1, 0, 0])
        found += ranking_truth.ranking_defect(y, inversions) is None
    assert found == 14  # of 4! orders, those that differ in a pair of unequal labels
    assert "no ranking" in ranking_truth.ranking_defect(np.array([1, 0, 0]), np.array([1, 0, 0]))
    assert "not in 0..2" in ranking_truth.ranking_defect(np.array([1, 0, 0]), np.array([3, 1, 1]))


@pytest.mark.parametrize(("candidate", "problem"), [(infer, INFERENCE), (value, VALUE)])
def test_the_sound_algorithm_passes(candidate, problem):
    """What kills a mutant is its defect."""
    report = verify(candidate, problem, seed=1, every=every(4)).raise_if_failed()
    assert set(report.by_check()) == set(applicable(lookup(problem)))
    for check, counts in report.by_check().items():
        assert counts["pass"] > 0 or check in ("methods", "products")
    assert verify(candidate, problem, checks=["products"]).counts["pass"]
    assert report.counts["inconclusive"] == 0
    assert report.worst_gap < 1e-15


def test_coefficients_alone_are_an_answer():
    report = verify(lambda scores, y: sound.infer(scores, y)[2], INFERENCE, checks=["ties"])
    assert report.raise_if_failed().counts["pass"] == 400


def test_checks_that_make_no_sense_for_rankings_do_not_apply():
    names = set(applicable(lookup(INFERENCE)))
    assert not names & {"batch", "conjugate", "complement", "saturation"}
    assert {"ground_truth", "subgradient", "methods", "purity", "agreement"} <= names
    assert "methods" not in applicable(lookup(VALUE))


INSTANCE = Instance.of(
    INFERENCE, "given", scores=np.array([0.5, 0.25, 0.0, 0.75]), y=np.array([1, 0, 1, 0])
)


ANSWER = ranking.expected_answer(INSTANCE)


def judged(**changes):
    parts = {"x": ANSWER.x, "value": ANSWER.value, "counts": ANSWER.counts, **changes}
    return certificates.judge(INSTANCE, Candidate(**parts))


def test_each_part_of_the_answer_is_judged():
    right = ANSWER
    assert judged().verdict is Verdict.PASS
    assert judged(value=None, counts=None).verdict is Verdict.PASS
    assert "value" in judged(value=right.value + 1e-12).message
    assert "counts" in judged(counts=right.counts[::-1]).message
    assert "counts" in judged(counts=right.counts.astype(float)).message
    assert "whole number" in judged(x=right.x * 0.5).message
    assert "whole number" in judged(x=right.x * (1 + 1e-13)).message
    assert "finite" in judged(x=right.x * math.nan).message
    assert "shape" in judged(x=right.x[:3]).message
    assert "no ranking" in judged(x=np.where(INSTANCE["y"] == 1, 0.0, right.x)).message
    assert "ranking of value 0.0" in judged(x=0 * right.x, counts=0 * right.counts).message
    bad = (np.nan, np.array([1.0, 2.0]))
    assert all(judged(value=v).verdict is Verdict.FAIL for v in bad)


def test_a_ranking_within_rounding_of_the_best_is_right():
    """At a kink both neighbours are best; an ulp beyond it the worse one is 1e-16 short."""
    for step in (-1, 0, 1):
        up = np.nextafter(0.25, 0.25 + step)
        instance = Instance.of(INFERENCE, "kink", scores=np.array([up, 0.0]), y=np.array([1, 0]))
        for inversions in (0.0, 1.0):
            x = np.array([-2.0, 2.0]) * inversions
            assert certificates.judge(instance, Candidate(x)).verdict is Verdict.PASS


def test_float32_is_judged_by_its_own_precision():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=8)
    y = np.array([1, 0] * 4)
    coarse = Instance.of(VALUE, "given", scores=scores.astype(np.float32), y=y)
    off = sound.infer(coarse["scores"], y)[0] + 1e-7
    assert certificates.judge(coarse, Candidate(np.asarray(off))).ok
    fine = coarse.with_params(scores=coarse["scores"].astype(float))
    assert not certificates.judge(fine, Candidate(np.asarray(off))).ok


@pytest.mark.parametrize(
    "output",
    [(1.0, np.array([1])), (np.array([1.0, 2.0]), np.array([1]), np.zeros(2)),
     (1.0, np.array([0.5]), np.zeros(2)), (1.0, np.array([1]), np.array(["a", "b"]))],
)  # fmt: skip
def test_malformed_answers_are_crashes(output):
    call = Caller(lambda scores, y: output, lookup(INFERENCE))
    with pytest.raises(CandidateCrashError):
        call(INSTANCE)


def test_families_hold_what_their_names_promise():
    drawn = families.draw(INFERENCE, "adversarial", 600, seed=0)
    sizes = {(int(i["y"].sum()), int((1 - i["y"]).sum())) for i in drawn}
    assert any(P == 1 < N for P, N in sizes)
    assert any(N == 1 < P for P, N in sizes)
    assert any(2 <= N < P for P, N in sizes)
    scores = [i["scores"] for i in drawn]
    assert any(np.ptp(s) == 0 for s in scores)
    assert any(s.dtype.kind == "i" for s in scores)
    assert any(abs(s).max() > 1e100 for s in scores)
    assert any(0 < abs(s).max() < 1e-200 for s in scores)
    none = [ranking.optimum(i).value == 0 for i in drawn]
    assert any(none)
    assert not all(none)


def test_the_tie_grid_is_complete_and_has_exact_kinks():
    drawn = families.draw(INFERENCE, "ties", 4000, seed=0)
    assert len({(i["scores"].tobytes(), i["y"].tobytes()) for i in drawn}) >= 3900
    assert drawn[0]["scores"].size <= 4
    assert any(
        i["y"].tolist() == [1, 0] and i["scores"].tolist() == [0.25, 0.0] for i in drawn
    )  # h_1(1) = 0


@pytest.mark.parametrize("limit", [10**6, 0])
def test_a_truth_that_does_not_certify_itself_is_no_truth(monkeypatch, limit):
    """A ranking that misses the bound is not taken for the best one: the oracle is uncertain."""
    honest = ranking_truth._maxima

    def wrong(gains, P, N):
        bound, below = honest(gains, P, N)
        return bound, np.minimum(below + 1, P)

    monkeypatch.setattr(ranking_truth, "_maxima", wrong)
    with pytest.raises(UnprovedError, match="does not attain the bound"):
        ranking_truth.solve(np.array([3.0, 0.0, 0.5]), [1, 0, 0], limit)
    ranking.optimum.cache_clear()
    judgement = certificates.judge(INSTANCE, ANSWER)
    ranking.optimum.cache_clear()
    assert judgement.verdict is Verdict.INCONCLUSIVE


def test_an_answer_above_the_bound_is_uncertain(monkeypatch):
    """It would prove the bound wrong, not the answer."""
    low = ranking_truth.Optimum(Fraction(0), 0.0, np.zeros(4, int))
    monkeypatch.setattr(ranking, "optimum", lambda instance: low)
    assert certificates.judge(INSTANCE, ANSWER).verdict is Verdict.INCONCLUSIVE
