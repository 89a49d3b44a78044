import numpy as np
import pytest

from verification import Instance, Verdict, verify
from verification.failures.shrink import complexity, shrink
from verification.instances import drawing, families
from verification.instances.instance import FrozenArray
from verification.reference_solvers import projections
from verification.verdicts.verdict import Judgement, Result

PROBLEM = "topk_simplex_alpha.projection"


def run(fails, instance):
    verdict = Verdict.FAIL if fails(instance) else Verdict.PASS
    return Result.of("check", instance, Judgement(verdict))


def smallest(fails, instance):
    start = run(fails, instance)
    assert start.verdict is Verdict.FAIL
    return shrink(start, lambda i: run(fails, i), seconds=20).instance


@pytest.mark.parametrize("seed", range(5))
def test_reaches_the_minimum(seed):
    instance = families.draw(PROBLEM, "random", 50, seed=seed, largest=12)[-1]
    instance = instance.with_params(k=max(2, instance["k"])) if instance["a"].size > 1 else None
    if instance is None:
        pytest.skip("one entry only")
    found = smallest(lambda i: i["a"].size >= 2 and i["k"] >= 2, instance)
    assert found["a"].tolist() == [0.0, 0.0]
    assert (found["k"], found["r"], found["rho"]) == (2, 1.0, 0.0)


def test_numbers_become_dyadic():
    instance = Instance.of(PROBLEM, a=np.array([3.7191, -0.2137, 9.13]), k=1, r=0.3, rho=0.77)
    found = smallest(lambda i: i["a"].max() > 0.4 and i["rho"] > 0.3, instance)
    assert found["a"].tolist() in ([0.5], [1.0])
    assert found["rho"] in (0.5, 1.0)
    assert found["r"] == 1.0


def test_scores_keep_their_ground_truth():
    start = Instance.of(
        "topk_hinge_alpha.value",
        scores=np.array([0.3, 1.7, -2.2, 0.9]),
        y=2,
        k=2,
        costs=np.array([1.0, 2.0, 0.0, 1.0]),
        sample_weight=2.5,
    )
    found = smallest(lambda i: i["scores"].size > 1, start)
    assert found["scores"].tolist() == [0.0, 0.0]
    assert (found["y"], found["k"], found["costs"], found["sample_weight"]) == (0, 1, None, None)
    assert drawing.valid(found)


def test_every_step_is_valid_and_simpler():
    seen = []

    def fails(instance):
        seen.append(instance)
        return instance["q"].size > 2 and instance["k_ii"] > 0.1

    start = families.draw("topk_hinge_beta.sdca_update", "random", 30, seed=1, largest=9)
    start = next(i for i in start if i["q"].size > 4 and i["k_ii"] > 0.1)
    smallest(fails, start)
    assert len(seen) > 5
    assert all(drawing.valid(i) for i in seen)
    assert all(complexity(i) < complexity(start) for i in seen[1:])


def test_a_crash_stays_the_same_crash():
    def project(a, k, r, rho):
        if len(a) == 0 or (k > 1 and len(a) < 3):
            raise ValueError("k is too large")
        if max(a) > 1:
            raise OverflowError("too large")
        return projections.alpha(a, k, r, rho)

    report = verify(project, PROBLEM, checks=["ground_truth"])
    found = report.counterexample_result
    assert found.verdict is Verdict.CRASH
    assert found.instance["a"].size <= 2


def test_time_limit_keeps_the_failure():
    instance = families.draw(PROBLEM, "random", 1, seed=0)[0]
    assert shrink(run(lambda i: True, instance), lambda i: 1 / 0, seconds=0.0).instance == instance


def test_complexity_orders_as_a_reader_would():
    def of(*a, **given):
        return Instance.of(PROBLEM, a=np.array(a), **{"k": 1, "r": 1.0, "rho": 0.0, **given})

    ordered = [of(0.0), of(1.0), of(-1.0), of(0.5), of(0.3), of(1.0, rho=1.0), of(1.0, k=2)]
    ordered += [of(0.0, 0.0), of(1.0, 0.0), of(0.0, 1.0)]
    assert [complexity(i) for i in ordered] == sorted(complexity(i) for i in ordered)
    assert isinstance(ordered[0].items[0][1], FrozenArray)


def test_units_are_rescaled_together():
    """The failure depends on a ratio: neither number may change alone."""
    start = Instance.of(PROBLEM, a=np.array([3 * 2.0**90]), k=1, r=2.0**89, rho=0.0)
    found = smallest(lambda i: 0 < 5 * i["r"] < i["a"].max() < 7 * i["r"], start)
    assert found["a"].tolist() == [6.0]
    assert found["r"] == 1.0


def test_no_instance_is_tried_twice():
    seen = []

    def fails(instance):
        seen.append(instance)
        return instance["a"].size >= 3 and len(set(instance["a"].tolist())) >= 2

    start = families.draw(PROBLEM, "random", 40, seed=2, largest=12)
    smallest(fails, next(i for i in start if i["a"].size > 5))
    assert len(seen) == len(set(seen))
