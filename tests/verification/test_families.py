import numpy as np
import pytest
from _part import every
from _references import tells

from verification import certificates
from verification.certificates import core, truth
from verification.instances import drawing, families
from verification.problems.problem import lookup, names

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


def spoilt(instance, right, rng):
    """The right answer with an error far above rounding in one entry; None where no error shows."""
    if not np.isfinite(right).all() or instance.get("sample_weight") == 0:
        return None
    problem = instance.problem
    if not problem.point or problem.ranking or problem.kind == "functions":
        return right + 1e-6 * (1 + np.abs(right))
    size = float(np.abs(instance[problem.data]).max(initial=0)) + np.abs(right).max()
    if not problem.convex or core.is_curved(instance):
        size = 1 + size
    elif core.core(instance).linear:
        return None
    else:
        size += core.core(instance).spread
    wrong = right + 1e-6 * size * (np.arange(right.size) == rng.integers(right.size))
    return None if np.array_equal(wrong, right) else wrong


@pytest.mark.parametrize("problem", PROBLEMS)
def test_right_answers_pass_the_judge_and_an_error_in_one_entry_does_not(problem):
    rng, seen = np.random.default_rng(5), 0
    for family in ("random", "planted", "ties"):
        for instance in families.draw(problem, family, 15, seed=1)[:: every(3)]:
            right = np.asarray(certificates.expected(instance))
            wrong = spoilt(instance, right, rng)
            tells(instance, right=[right], wrong=[] if wrong is None else [wrong])
            seen += wrong is not None
    assert seen > 3 or not lookup(problem).unique
