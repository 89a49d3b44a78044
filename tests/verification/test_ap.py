"""The judge of the AP loss: right answers pass, wrong ones fail for the right reason."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from _part import every

import refsolve
from refsolve.proofs import ranking_truth
from refsolve.proofs.ranking_truth import UnprovedError
from verification import certificates, verify
from verification.certificates import ranking
from verification.failures import replay
from verification.faulty_solvers.ranking import ap_loss_off_by_one, ap_without_the_last_rank
from verification.instances import drawing, families
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


def by_orders(scores, y):
    """The loss by its definition: every order of the samples, AP and Psi from the order itself."""
    scores = [Fraction(float(s)) for s in scores]
    up = [i for i in range(len(y)) if y[i]]
    down = [i for i in range(len(y)) if not y[i]]

    def psi(place):
        return sum(
            (1 if place[i] < place[j] else -1) * (scores[i] - scores[j]) for i in up for j in down
        ) / Fraction(len(up) * len(down))

    def precision(place):
        ranked = sorted(place[i] for i in up)
        return sum(Fraction(k, p + 1) for k, p in enumerate(ranked, 1)) / len(up)

    ideal = {i: p for p, i in enumerate(up + down)}
    best = None
    for order in itertools.permutations(range(len(y))):
        place = {i: p for p, i in enumerate(order)}
        found = 1 - precision(place) + psi(place) - psi(ideal)
        best = found if best is None else max(best, found)
    return best


@pytest.mark.parametrize("family", ["random", "planted", "ties", "adversarial", "scales"])
def test_the_truth_is_the_maximum_over_all_orders(family):
    for instance in families.draw(INFERENCE, family, 40, seed=2, largest=5):
        if instance["y"].size <= 5:
            best = ranking.optimum(instance)
            assert best.value == by_orders(instance["scores"], instance["y"])
            assert best.error == 0


def test_the_truth_in_extended_precision_is_the_exact_one():
    rng = np.random.default_rng(0)
    for P, N in ((1, 40), (40, 1), (12, 70), (30, 30)):
        scores = np.round(rng.normal(size=P + N), 2)
        y = rng.permutation((np.arange(P + N) < P).astype(int))
        exact, extended = (ranking_truth.solve(scores, y, limit) for limit in (10**6, 0))
        assert exact.error == 0 < extended.error < 1e-14
        assert abs(exact.value - extended.value) <= extended.error
        assert ranking_truth.objective(scores, y, extended.inversions)[0] <= exact.value


def test_printed_counterexamples():
    """M1: opt may be P + 1. M3: opt rises with j."""
    far = ranking_truth.solve(np.array([10.0, 0.0]), [1, 0])
    assert far.value == 0
    assert far.inversions.tolist() == [0, 0]
    mixed = ranking_truth.solve(np.array([0.0, 1.0, -100.0]), [1, 0, 0])
    assert mixed.value == Fraction(3, 2)
    assert mixed.inversions.tolist() == [1, 1, 0]


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


def test_subgradients_are_compared_as_they_were_returned():
    right = ranking.expected(INSTANCE)
    h = INSTANCE["scores"] + np.array([0.0, 3.0, 0.0, 0.0])
    assert ranking.subgradient_defect(INSTANCE, right, h)[0] <= 0
    too_steep = right + np.array([0.0, 3.0, 0.0, 0.0])
    defect, allowed = ranking.subgradient_defect(INSTANCE, too_steep, h)
    assert defect > allowed


@pytest.mark.parametrize(
    "output",
    [(1.0, np.array([1])), (np.array([1.0, 2.0]), np.array([1]), np.zeros(2)),
     (1.0, np.array([0.5]), np.zeros(2)), (1.0, np.array([1]), np.array(["a", "b"]))],
)  # fmt: skip
def test_malformed_answers_are_crashes(output):
    call = Caller(lambda scores, y: output, lookup(INFERENCE))
    with pytest.raises(CandidateCrashError):
        call(INSTANCE)


def test_many_negatives_need_64_bits():
    """(j + k)(j + k - 1) exceeds int32 from j + k = 46 342 on; the truth is then extended."""

    def narrow(up, down):
        j = np.arange(1, len(down) + 1, dtype=np.int32)[:, None]
        k = np.arange(1, len(up) + 1, dtype=np.int32)
        return (k / ((j + k) * (j + k - 1)) - 2 * (up - down[:, None]) / len(down)) / len(up)

    rng = np.random.default_rng(2)
    N = 60_000
    scores = np.concatenate([[0.1, 0.0, 0.0], 1e-9 * rng.normal(size=N)])
    y = (np.arange(N + 3) < 3).astype(int)
    instance = Instance.of(INFERENCE, "given", scores=scores, y=y)
    for gains, ok in ((sound.gains, True), (narrow, False)):
        found, counts, x = sound.infer(scores, y, gains=gains)
        judgement = certificates.judge(instance, Candidate(x, value=found, counts=counts))
        assert judgement.ok is ok, judgement


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


def test_planted_instances_are_at_kinks():
    """Some other ranking is as good as the best one, up to rounding."""
    at_kinks = 0
    for instance in families.draw(INFERENCE, "planted", 100, seed=0, largest=6):
        scores, y = instance["scores"], instance["y"]
        best = ranking.optimum(instance)
        inversions = (np.array(c) for c in itertools.product(range(len(y)), repeat=len(y)))
        if len(y) > 4:
            continue
        near = [
            c
            for c in inversions
            if ranking_truth.ranking_defect(y, c) is None
            and best.value - ranking_truth.objective(scores, y, c)[0] < 1e-8
        ]
        at_kinks += len(near) > 1
    assert at_kinks >= 20


def test_the_tie_grid_is_complete_and_has_exact_kinks():
    drawn = families.draw(INFERENCE, "ties", 4000, seed=0)
    assert len({(i["scores"].tobytes(), i["y"].tobytes()) for i in drawn}) >= 3900
    assert drawn[0]["scores"].size <= 4
    assert any(
        i["y"].tolist() == [1, 0] and i["scores"].tolist() == [0.25, 0.0] for i in drawn
    )  # h_1(1) = 0


def test_counterexamples_shrink_to_two_samples_and_replay(tmp_path, capsys):
    for wrong in (ap_without_the_last_rank, ap_loss_off_by_one):
        mutant = wrong.mutant
        report = verify(mutant.candidate, mutant.problem, every=5)
        smallest = report.counterexample_result.instance
        assert smallest["scores"].size == 2
        assert set(np.abs(smallest["scores"]).tolist()) <= {0.0, 1.0, 2.0, 0.5, 0.25}
        namespace = {}
        exec(report.counterexample, namespace)
        shown = capsys.readouterr().out
        assert shown
        stored = replay.load(replay.save(report, tmp_path / "failure.json"))
        assert stored.instance == smallest
        again = stored.run(mutant.candidate)
        assert again.verdict is Verdict.FAIL
        honest = infer if mutant.problem == INFERENCE else value
        assert stored.run(honest).verdict is Verdict.PASS


def test_a_wrong_answer_is_shown_with_all_of_its_parts():
    report = verify(ap_without_the_last_rank, INFERENCE, every=5)
    lines = report.counterexample.splitlines()
    returned, right = (
        eval(next(x for x in lines if x.startswith(f"# {word}")).split(word, 1)[1])
        for word in ("returned", "right")
    )
    assert len(returned) == len(right) == 3
    assert returned[1] != right[1]
    assert right[0] == pytest.approx(0.0)


def test_valid_instances_have_both_kinds():
    assert drawing.valid(INSTANCE)
    assert not drawing.valid(INSTANCE.with_params(y=np.ones(4, int)))
    assert not drawing.valid(INSTANCE.with_params(y=np.zeros(4, int)))
    assert not drawing.valid(INSTANCE.with_params(y=np.array([0, 1, 2, 0])))
    assert not drawing.valid(INSTANCE.with_params(y=np.array([0, 1])))
    assert set(families.RANKINGS) == set(families.FAMILIES)


def test_the_oracle_passes_as_a_candidate():
    """Its ranking, rounded from an interior point, is judged like any other."""

    def oracle(scores, y):
        return refsolve.solve(INFERENCE, scores=scores, y=y)

    report = verify(oracle, INFERENCE, checks=["certified_gap"], timeout=60).raise_if_failed()
    assert report.counts["pass"] == 150


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
