"""The judges themselves: against hand calculation, faces and brute force, and by spoiling answers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from _references import tells

from refsolve.proofs.rationals import floats, vector
from verification import Instance, Verdict, certificates
from verification.certificates import truth
from verification.instances import families
from verification.verdicts.verdict import Candidate

F = Fraction


def judge(instance, x):
    return certificates.judge(instance, Candidate(np.asarray(x)))


def test_by_hand():
    a = np.array([1.0, -0.875])
    instance = Instance.of("topk_simplex_alpha.projection", a=a, k=2, r=1.0, rho=10.0)
    # both entries equal u with (2 + 4 rho) u = S_2(a)
    assert truth.solution(instance).tolist() == [F(1, 8) / 42] * 2
    tells(instance, right=[floats(truth.solution(instance))], wrong=[[0.0, 0.0]])


def test_shapes_and_nonfinite_answers_fail():
    instance = families.draw("simplex.projection", "random", 1, seed=0)[0]
    right = certificates.expected(instance)
    for bad in (np.append(right, 0.0), right[None], np.full_like(right, np.nan)):
        assert judge(instance, bad).verdict is Verdict.FAIL
        assert certificates.certify(instance, Candidate(bad)).verdict is Verdict.FAIL


def test_tolerance_follows_the_input():
    a = np.array([0.3, 0.1, -0.2])
    double = Instance.of("simplex.projection", a=a, r=1.0, rho=0.0)
    single = double.astype(np.float32)
    rounded = certificates.expected(single).astype(np.float32)
    assert judge(single, rounded).ok
    assert judge(double, certificates.expected(double).astype(np.float32)).verdict is Verdict.FAIL


def test_conjugate_needs_its_domain():
    inside = Instance.of("topk_hinge_alpha.conjugate", x=np.array([0.5, 0.5]), k=2, costs=None)
    outside = inside.with_params(x=np.array([0.5, 0.25]))
    tells(inside, right=[-1.0], wrong=[math.inf])
    tells(outside, right=[math.inf], wrong=[-0.75])
    # outside by rounding only: either answer is sound
    nearly = inside.with_params(x=np.array([0.5, 0.5 - 2.0**-52]))
    tells(nearly, right=[math.inf, -1.0])


@pytest.mark.parametrize("name", ["bipartite_simplex", "topk_simplex_beta", "topk_simplex_alpha"])
def test_an_integer_radius_is_exact(name):
    """2/3 is no float, and the judge's integers do not end at 64 bits."""
    own = {"y": np.array([0, 1, 0, 1])} if name == "bipartite_simplex" else {"k": 3}
    a = np.array([0.3, 0.6, 0.1, 1 / 7])
    for r in (2, 3):
        given = Instance.of(f"{name}.projection", a=a, r=r, **own)
        right = certificates.expected(given)
        assert certificates.certify(given, Candidate(right)).ok
        for wrong in (right * 1.01, right + np.array([9.0, 0.0, 0.0, 9.0])):
            assert certificates.certify(given, Candidate(wrong)).verdict is Verdict.FAIL
        assert np.array_equal(right, certificates.expected(given.with_params(r=float(r))))


def test_zero_weight_means_a_zero_gradient():
    instance = families.draw("topk_hinge_beta.gradient", "random", 1, seed=0)[0]
    instance = instance.with_params(sample_weight=0.0)
    size = instance["scores"].size
    tells(instance, right=[np.zeros(size)], wrong=[np.eye(size)[0]])


def test_unbalanced_block_fails():
    instance = families.draw("topk_hinge_beta.sdca_update", "random", 9, seed=0)[3]
    right = certificates.expected(instance)
    wrong = right.copy()
    wrong[instance["y"]] += 1.0
    tells(instance, right=[right], wrong=[wrong])


def test_a_dual_point_sharpens_the_gap_and_a_wrong_one_does_no_harm():
    """At x off the solution on its own face, the solution's normal makes the gap second order."""
    instance = Instance.of("topk_cone.projection", a=np.array([2.0, 1.0, -1.0]), k=1, rho=0.5)
    right = truth.solution(instance)
    normal = vector(instance["a"]) - right - F(1, 2) * sum(right)
    x = floats(right)
    x[0] += 1e-4
    plain = certificates.certify(instance, Candidate(x))
    sharp = certificates.certify(instance, Candidate(x, dual=floats(normal)))
    assert sharp.verdict is Verdict.FAIL  # 1e-4 is far from rounding, with any dual point
    assert 0 < sharp.gap < 1e-3 * plain.gap
    for useless in (np.ones(3), np.full(3, np.nan), np.zeros(2), np.array(["a"])):
        assert certificates.certify(instance, Candidate(x, dual=useless)) == plain


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1.0, 1e4, 1e12])
@pytest.mark.parametrize("operation", ["gradient", "sdca_update"])
@pytest.mark.parametrize("name", ["topk_hinge_alpha", "topk_hinge_beta", "consistent_topk_hinge"])
def test_large_scores_excuse_no_distance_where_nothing_is_curved(name, operation, size, dtype):
    """An answer is a vertex there: rounding of scores may choose another, and moves none."""
    scores, eps = (size * np.array([2.0, 0.9, -0.5, 0.0])).astype(dtype), float(np.finfo(dtype).eps)
    given = {"scores": scores} if operation == "gradient" else {"q": scores, "C": 1.0, "k_ii": 0.0}
    instance = Instance.of(f"{name}.{operation}", **given, y=3, k=1)
    sign = 1.0 if operation == "gradient" else -1.0

    def passes(e, moved):
        return judge(instance, sign * np.array([1 - e, e, 0, -1] if moved else [1 + e, 0, 0, -1 - e])).ok

    assert passes(0.0, True)
    assert not any(passes(e, moved) for moved in (True, False) for e in (3e4 * eps, 1e6 * eps))


@pytest.mark.parametrize("size", [1.0, 1e6, 1e10, 1e14])
def test_a_feasible_point_has_the_value_of_the_solution_however_large_the_scores(size):
    """Beyond 1/eps a distance allows any point, which costs more than rounding of the scores."""
    a = size * np.array([1.0, 0.5, -1.0])
    update = Instance.of("topk_hinge_alpha.sdca_update", q=np.array([2.0, 0.9, -0.5, 0.0]), C=1.0,
                         k_ii=1.0 / size, y=3, k=1)  # fmt: skip
    for instance, step in (
        (Instance.of("simplex.projection", a=a, r=1.0, rho=0.0), np.array([-1.0, 1.0, 0.0])),
        (update, np.array([1.0, -1.0, 0.0, 0.0])),
    ):
        right = certificates.expected(instance)
        for judged in (certificates.judge, certificates.certify):
            assert judged(instance, Candidate(right)).ok
            assert not any(judged(instance, Candidate(right + e * step)).ok for e in (1e-7, 1e-3, 0.4))
