import numpy as np
import pytest
from _part import every

from verification import certificates
from verification.certificates import core, truth
from verification.instances import drawing, families
from verification.problems.problem import lookup, names
from verification.verdicts.verdict import Candidate

PROBLEMS = names("sets", "losses", "functions")


@pytest.mark.parametrize("family", families.FAMILIES)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_instances_are_valid_and_repeat(problem, family):
    drawn = families.draw(problem, family, 40, seed=3)
    assert len(drawn) == 40
    assert all(drawing.valid(i) and i.problem.name == problem and i.family == family for i in drawn)
    assert drawn[:20] == families.draw(problem, family, 20, seed=3)
    assert drawn[:7] != families.draw(problem, family, 7, seed=4)
    assert {n for n, _ in drawn[0].items} == set(lookup(problem).arguments)


def test_families_hold_what_their_names_promise():
    drawn = families.draw("topk_simplex_alpha.projection", "adversarial", 600, seed=0)
    vectors = [i["a"] for i in drawn]
    assert any(i["k"] == 1 < i["a"].size for i in drawn)
    assert any(i["k"] == i["a"].size > 1 for i in drawn)
    assert any(not a.any() for a in vectors)
    assert any(len(set(a.tolist())) < a.size for a in vectors)
    assert any(i["r"] == 0 for i in drawn)
    assert any(abs(a).max() >= 1e6 for a in vectors)
    assert any(0 < abs(a).max() < 1e-100 for a in vectors)
    caps = [truth.solution(i) for i in drawn]
    assert any(x.max() > 0 and (x == x.max()).sum() >= 2 for x in caps)
    scales = families.draw("topk_simplex_alpha.projection", "scales", 200, seed=0)
    assert {i["r"] for i in scales} == set(families.SCALES)


@pytest.mark.parametrize("problem", ["topk_simplex_alpha.projection", "topk_cone.projection"])
def test_planted_instances_are_degenerate(problem):
    """At λ = 0 the point itself lies in the set (up to rounding): all multipliers vanish."""
    touching = 0
    for instance in families.draw(problem, "planted", 60, seed=0):
        inner = core.core(instance)
        x = truth.solution(instance)
        w = inner.b - x - inner.rho * sum(x)
        touching += max(abs(float(v)) for v in w) < 1e-12
    assert touching >= 15


@pytest.mark.parametrize("problem", PROBLEMS)
def test_expected_answers_pass_their_own_judge(problem):
    for family in ("random", "planted", "ties"):
        for instance in families.draw(problem, family, 15, seed=1)[:: every(3)]:
            right = certificates.expected(instance)
            assert right is not None
            judgement = certificates.judge(instance, Candidate(np.asarray(right)))
            assert judgement.ok, (instance.code(), judgement)
