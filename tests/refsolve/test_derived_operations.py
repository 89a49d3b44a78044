"""value, gradient, prox and sdca_update: certified, and right by an independent route."""

import numpy as np
import pytest
from _draw import CONVEX, LOSSES, certified, example

import refsolve
from refsolve import catalogue, certificates, exact
from refsolve.proofs.loss import generator_of

#: Conjugate quadratic on a set with exact projections.
TAME = [
    stem
    for stem in CONVEX
    if generator_of(catalogue.load(stem)).rational
    and catalogue.load(stem).dual_set in exact.stems()
]


def projected(loss, b, curvature, coupling, mass):
    """Minimiser of curvature/2 ||x||^2 + coupling/2 s^2 - <b,x> + mass h(x/mass), exactly.

    With h(x) = gamma/2 ||x||^2 + sigma/2 s^2 - ell s it is a biased projection.
    """
    form = loss.generator
    den = curvature + float(form.gamma) / mass
    rho = (coupling + float(form.sigma) / mass) / den
    radius = {"r": mass} if "r" in catalogue.load(loss.domain.stem).SPEC.names else {}
    bias = {"rho": rho} if rho else {}
    point = (b + float(form.ell)) / den
    return exact.project(loss.domain.stem, point, **bias, **radius, **loss.domain.params)


@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e5])
@pytest.mark.parametrize("stem", LOSSES)
def test_value_and_gradient_agree_with_the_formulas(stem, scale):
    rng = np.random.default_rng(41)
    for _ in range(4):
        case = example(stem, rng, scale=scale)
        m, weight, loss = case.m, case.weight, case.loss
        scores = rng.normal(size=m) * scale
        given = {"scores": scores, **case.given}
        value = certified(f"{stem}.value", **given)
        gradient = certified(f"{stem}.gradient", **given)
        size = weight * float(loss.size(case.margins(scores)))
        truth = weight * float(loss.value_bounds(case.margins(scores))[1])
        assert value.value == pytest.approx(truth, abs=1e-7 * size)
        assert abs(value.value - truth) <= value.certificate.distance * (1 + 1e-9) + 1e-15 * size
        assert gradient.x.shape == (m,)
        # in a bounded domain no entry exceeds the weight
        assert loss.family.unbalance(gradient.x) <= 1e-12 * max(weight, abs(gradient.x).max())
        if stem not in CONVEX:
            continue
        # the subgradient inequality, at random other scores
        for _ in range(5):
            other = scores + rng.normal(size=m) * scale
            there = weight * float(loss.value_bounds(case.margins(other))[1])
            assert there >= truth + gradient.x @ (other - scores) - 1e-6 * size


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("stem", LOSSES)
def test_prox_is_certified_and_obeys_moreau(stem, scale):
    """The dual of the prox is a projection on the domain, computed here in exact arithmetic."""
    rng = np.random.default_rng(43)
    for _ in range(3):
        case = example(stem, rng, scale=scale)
        loss, c = case.loss, case.own_costs
        v, t = rng.normal(size=loss.d) * scale, float(10 ** rng.uniform(-1, 1))
        result = certified(f"{stem}.prox", v=v, t=t, costs=c, **case.labels, **case.params)
        if stem in TAME:
            dual = projected(loss, v + c, t, 0.0, 1.0)
            truth = v - t * dual.array()
            assert np.linalg.norm(result.x - truth) <= result.certificate.distance + 1e-14 * scale


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("stem", CONVEX)
def test_sdca_update_is_the_biased_projection(stem, scale):
    rng = np.random.default_rng(44)
    for trial in range(4):
        case = example(stem, rng, scale=scale)
        loss, y, weight = case.loss, case.y, case.weight
        q, C = rng.normal(size=case.m) * scale, float(10 ** rng.uniform(-1, 1))
        k_ii = 0.0 if trial == 0 else float(rng.uniform(0, 2))
        given = {"q": q, "k_ii": k_ii, "C": C, **case.given}
        result = certified(f"{stem}.sdca_update", **given)
        assert loss.family.unbalance(result.x) <= 1e-12 * C * weight
        mass = weight * C
        if stem not in TAME or k_ii + float(loss.generator.gamma) / mass == 0:
            continue
        coupling = k_ii if loss.family.coupled else 0.0
        x = projected(loss, case.margins(q).astype(float), k_ii, coupling, mass)
        error = np.linalg.norm(result.x - loss.block(x.array(), y))
        size = max(C * weight, abs(result.x).max())
        assert error <= result.certificate.distance + 1e-14 * size


def test_update_without_curvature_puts_the_mass_on_the_top_k():
    costs = np.array([0.0, 3.0, 1.0, 2.0])
    result = refsolve.solve(
        "topk_hinge_alpha.sdca_update", q=np.zeros(4), y=0, k_ii=0.0, C=2.0, k=2, costs=costs
    )
    np.testing.assert_allclose(result.x, [2.0, -1.0, 0.0, -1.0], atol=1e-7)
    assert np.isnan(result.certificate.distance)


def test_an_example_of_weight_zero_has_no_dual_mass():
    given = {"q": np.ones(3), "y": 1, "k_ii": 1.0, "C": 1.0, "sample_weight": 0.0}
    result = refsolve.solve("smooth_topk_hinge_beta.sdca_update", **given, k=1, gamma=1.0)
    assert (result.x == 0).all()
    assert result.certificate.gap == 0
    wrong = certificates.sdca_update("topk_hinge_alpha", [-1.0, 1.0, 0.0], **given, k=1)
    assert wrong.violation > 1
