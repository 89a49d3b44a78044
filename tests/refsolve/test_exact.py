"""Exact rational projections against every face of the polytope and against the KKT conditions."""

from fractions import Fraction

import numpy as np
import pytest
from _draw import SETS, biased, rational_point, set_params

from refsolve import catalogue, exact
from refsolve.exact import faces
from refsolve.proofs import rationals
from refsolve.proofs.domain import Domain


def test_every_set_has_an_exact_projection():
    assert set(exact.object_names()) == set(SETS)


@pytest.mark.parametrize("object_name", SETS)
def test_agrees_with_the_enumeration_of_faces(object_name):
    rng = np.random.default_rng(11)
    for trial in range(40):
        d = int(rng.integers(1, 4 if trial % 6 else 5))
        a = rational_point(rng, d)
        rho = Fraction(int(rng.integers(0, 4)), int(rng.integers(1, 4)))
        params = set_params(
            object_name, int(rng.integers(1, d + 2)), Fraction(int(rng.integers(0, 7)), 2), d
        )
        params |= biased(object_name, rho)
        clever = exact.project(object_name, a, **params)
        assert list(clever.x) == faces.project(object_name, a, **params)
        assert clever.gap == 0


@pytest.mark.parametrize("object_name", SETS)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_certificate_is_exactly_zero_at_moderate_size(object_name, scale):
    rng = np.random.default_rng(12)
    for d, k in ((30, 1), (30, 7), (30, 30), (200, 5)):
        for a in (rng.normal(size=d) * scale, rng.integers(-2, 3, size=d) * scale):
            params = set_params(object_name, k, 1.0, d)
            for rho in (0.0, 0.5, 1e3):
                assert exact.project(object_name, a, **biased(object_name, rho), **params).gap == 0


@pytest.mark.parametrize("rho", [0, 10])
def test_zero_if_and_only_if_the_top_sum_is_not_positive(rho):
    # Lemma 4 of Lapin et al. 2015 claims necessity for rho = 0 only (erratum E5)
    x = exact.project("topk_cone", [Fraction(1), Fraction(-9, 10)], k=2, rho=rho).x
    assert min(x) > 0
    assert exact.project("topk_cone", [Fraction(1), Fraction(-1)], k=2, rho=rho).x == (0, 0)


def test_values_of_the_errata():
    # E5: x = .00238 (1, 1);  and the tied case that a strict search loses
    x = exact.project("topk_cone", [1, -0.9], k=2, rho=10).array()
    np.testing.assert_allclose(x, 0.1 / 42, rtol=1e-12)
    a = [Fraction(v, 10) for v in (8, 21, 19, 4, -15, -2)]
    x = exact.project("topk_cone", a, k=4).x
    assert x == tuple(Fraction(v, 10) for v in (14, 14, 14, 10, 0, 4))


def test_floats_are_taken_as_the_numbers_they_are():
    a = [0.1, 0.2, 0.3]
    x = exact.project("simplex", a).x
    assert sum(x) == 1
    assert x[1] - x[0] == Fraction(0.2) - Fraction(0.1)


@pytest.mark.parametrize(
    "object_name",
    [s for s in SETS if "r" in catalogue.load(s).SPEC.names and not s.startswith("topk")],
)
def test_gaps_of_long_fractions_are_exact(object_name):
    """A support of 0 beside an integer r is no integer of numpy, that overflows with long denominators."""
    d, long = 4, Fraction(1, 3**90)
    params = set_params(object_name, 1, Fraction(1), d)
    domain = Domain(object_name, params | ({"r": 1} if "r" in params else {}), r=1)
    x = rationals.project(domain, rationals.vector([long] * d))
    gap = rationals.fw_gap(domain, x, rationals.vector([1 + long] * d), Fraction(1))
    assert gap >= 0
    assert all(type(part) is int for part in gap.as_integer_ratio())


def test_the_dual_set_of_the_loss_as_printed_agrees_with_its_faces():
    rng, object_name = np.random.default_rng(12), "topk_hinge_alpha_printed"
    for _ in range(25):
        d = int(rng.integers(1, 4))
        a, k = rational_point(rng, d), int(rng.integers(1, d + 1))
        rho = Fraction(int(rng.integers(0, 4)), 3)
        x = rationals.project(
            Domain(object_name, {"k": k, "r": Fraction(1)}), np.array(a, dtype=object), rho
        )
        assert list(x) == faces.project(object_name, a, rho=rho, k=k)
