"""Certificates: true bounds for every candidate, small for right ones, large for wrong ones."""

from fractions import Fraction

import numpy as np
import pytest
from _draw import CONVEX, LOSSES, SETS, biased, example, set_params

import refsolve
from refsolve import catalogue, certificates, exact
from refsolve.errors import InvalidParameterError, Status


def _objective(x, a, rho):
    """1/2||x - a||^2 + rho/2 s^2 in Fractions."""
    x, a = ([Fraction(float(v)) for v in vector] for vector in (x, a))
    square = sum((p - q) ** 2 for p, q in zip(x, a, strict=True))
    return float((square + Fraction(rho) * sum(x) ** 2) / 2)


@pytest.mark.parametrize("stem", SETS)
def test_projection_bounds_hold_for_any_candidate(stem):
    rng = np.random.default_rng(51)
    module = catalogue.load(stem)
    for _ in range(60):
        d = int(rng.integers(1, 8))
        a = rng.normal(size=d) if rng.random() < 0.5 else rng.integers(-2, 3, size=d) * 1.0
        rho = float(rng.choice([0.0, 0.5, 8.0]))
        params = set_params(stem, int(rng.integers(1, d + 1)), float(rng.choice([0.3, 2.0])), d)
        bias = biased(stem, rho)
        rho = bias.get("rho", 0.0)
        truth = exact.project(stem, a, **bias, **params)
        noise = 10.0 ** rng.uniform(-16, 0)
        x = truth.array() + noise * rng.normal(size=d)
        proof = certificates.projection(stem, x, a, **bias, **params)
        error = float(np.linalg.norm(x - truth.array()))
        assert error <= proof.distance + 1e-15 * (1 + np.linalg.norm(x))
        repaired = np.asarray(module.repair(x.astype(np.longdouble), **params), dtype=float)
        excess = _objective(repaired, a, rho) - float(truth.value)
        assert excess <= proof.gap + 1e-14 * (1 + float(truth.value))
        assert proof.violation <= 4 * d * noise * max(1, abs(rng.normal())) * 3 + 1e-15


@pytest.mark.parametrize("stem", SETS)
def test_a_right_answer_has_a_tiny_certificate(stem):
    rng = np.random.default_rng(52)
    for scale in (1e-6, 1.0, 1e6):
        for d in (1, 5, 40):
            a = rng.normal(size=d) * scale
            params = set_params(stem, min(d, 3), 1.0, d) | biased(stem, 0.3)
            x = exact.project(stem, a, **params).array()
            proof = certificates.projection(stem, x, a, **params)
            assert proof.gap <= 1e-14 * proof.scale
            assert proof.violation <= 1e-15 * max(1, scale)
            # points of a set without 0 have a size of their own, with which the digits of a are rounded
            plain = {n: v for n, v in params.items() if n != "rho"}
            fixed = "rho" not in params and catalogue.load(stem).violation(np.zeros(d), **plain) > 0
            size = max(scale, x.max()) if fixed else scale
            assert proof.distance <= 1e-8 * np.sqrt(max(size, size**2))


def test_a_dual_point_sharpens_the_gap():
    a, k, rho = np.array([1.0, 0.7, 0.2, -0.4]), 2, 0.5
    truth = exact.project("topk_simplex_alpha", a, k=k, rho=rho).array()
    w = a - truth - rho * truth.sum()
    x = refsolve.sets.topk_simplex_alpha.repair(truth + 1e-5, k)
    first = certificates.projection_gap("topk_simplex_alpha", x, a, rho=rho, k=k)
    sharp = certificates.projection_gap("topk_simplex_alpha", x, a, w, rho=rho, k=k)
    true = _objective(x, a, rho) - _objective(truth, a, rho)
    assert true - 1e-15 <= sharp <= first


@pytest.mark.parametrize("stem", LOSSES)
def test_wrong_values_and_gradients_are_caught(stem):
    rng = np.random.default_rng(53)
    case = example(stem, rng, 5)
    loss, scores = case.loss, rng.normal(size=5)
    scores[np.asarray(case.y) if np.ndim(case.y) == 0 else case.y == 1] -= 2  # a loss, not 0
    given = {"scores": scores, **case.given, "sample_weight": 2.0}
    right = 2 * float(loss.value_bounds(case.margins(scores))[1])
    assert certificates.loss_value(stem, right, **given).gap <= 1e-14
    assert certificates.loss_value(stem, right + 1e-3, **given).gap == pytest.approx(1e-3, rel=1e-6)
    assert certificates.loss_value(stem, right - 1e-3, **given).gap == pytest.approx(1e-3, rel=1e-6)
    g = refsolve.solve(f"{stem}.gradient", **given).x
    assert certificates.gradient(stem, g, **given).gap <= 1e-8
    assert certificates.gradient(stem, g, **given).violation <= 1e-12
    # forgetting the weight, the sign, or the entry at the ground truth
    reversed_sign = certificates.gradient(stem, -g, **given)
    assert max(reversed_sign.gap, reversed_sign.violation) > 0.05
    lost = g.copy()
    top = int(abs(g).argmax())
    lost[top] = 0
    without = certificates.gradient(stem, lost, **given)
    assert max(without.gap, without.violation) > 1e-3
    if loss.family.coupled:
        assert certificates.gradient(stem, -g, **given).violation > 0.1
        assert without.violation > 0.1
    if g[top] < -1e-3:
        shrunk = certificates.gradient(stem, g / 2, **given)
        assert max(shrunk.gap, shrunk.violation) > 1e-3


@pytest.mark.parametrize("stem", CONVEX)
def test_bounds_of_prox_and_update_hold_for_any_candidate(stem):
    rng = np.random.default_rng(54)
    for _ in range(12):
        case = example(stem, rng, int(rng.integers(2, 6)))
        loss, params = case.loss, {**case.labels, **case.params}
        v, t = rng.normal(size=loss.d), float(rng.uniform(0.2, 3))
        right = refsolve.solve(f"{stem}.prox", v=v, t=t, **params)
        u = right.x + 10.0 ** rng.uniform(-9, 0) * rng.normal(size=loss.d)
        proof = certificates.prox(stem, u, v, t=t, **params)
        error = np.linalg.norm(u - right.x)
        assert error <= proof.distance + right.certificate.distance + 1e-15
        best = right.certificate.value - right.certificate.gap
        assert proof.value - best <= proof.gap + right.certificate.gap + 1e-12

        y, q, C = case.y, rng.normal(size=case.m), 1.3
        given = {"q": q, "k_ii": float(rng.uniform(0.1, 2)), "C": C, "y": y, **case.params}
        right = refsolve.solve(f"{stem}.sdca_update", **given)
        near = loss.family.coordinates(right.x, y) / C + rng.uniform(0, 0.3, size=loss.d)
        a = loss.block(loss.repair(near).astype(float), y) * C
        proof = certificates.sdca_update(stem, a, **given)
        error = np.linalg.norm(a - right.x)
        assert error <= proof.distance + right.certificate.distance + 1e-15
        best = right.certificate.value - right.certificate.gap
        assert proof.value - best <= proof.gap + 1e-12
        if error > 1e-4:  # and it sees the error
            assert proof.gap > 0.01 * error**2


def test_conjugate_certificate():
    x, costs = [0.2, 0.2, 0.0], [1.0, 3.0, 1.0]
    proof = certificates.conjugate("smooth_topk_hinge_beta", -0.76, x, costs=costs, k=2, gamma=1.0)
    assert proof.gap < 1e-15
    assert certificates.conjugate(
        "topk_hinge_beta", -0.7, x, costs=costs, k=2
    ).gap == pytest.approx(0.1)
    assert certificates.conjugate(
        "topk_hinge_alpha", 0, [1.0, 0, 0], k=2
    ).violation == pytest.approx(0.5)
    # +inf is proved by a point outside, and by no other
    assert certificates.conjugate("topk_hinge_alpha", np.inf, [1.0, 0, 0], k=2).gap == 0
    assert certificates.conjugate("topk_hinge_alpha", np.inf, x, k=2).gap == np.inf
    assert certificates.conjugate("topk_hinge_alpha", -np.inf, [1.0, 0, 0], k=2).gap == np.inf


@pytest.mark.parametrize(
    ("problem", "given"),
    [
        ("topk_hinge_beta.conjugate", {"x": [0.2, 0.2, 0.0], "k": 2}),
        ("topk_hinge_beta.sdca_update", {"q": np.ones(3), "y": 1, "k_ii": 1, "k": 2}),
    ],
)
def test_formulas_are_judged_by_their_gap_like_solvers(problem, given, monkeypatch):
    if "q" in given:
        given = {**given, "sample_weight": 0}
    assert refsolve.solve(problem, **given).status is Status.CERTIFIED
    wrong = certificates.Certificate(1e-3, 0.0, 1e-3, 1.0, 1.0)
    monkeypatch.setattr(certificates, problem.split(".")[1], lambda *args, **kwargs: wrong)
    assert refsolve.solve(problem, **given).status is Status.UNCERTAIN


def test_candidates_of_the_wrong_shape_or_content_are_refused():
    with pytest.raises(InvalidParameterError, match=r"x = .*shape \(2,\)"):
        certificates.projection("simplex", [0.5, 0.5, 0.0], [1.0, 2.0])
    with pytest.raises(InvalidParameterError, match="NaN"):
        certificates.projection("simplex", [0.5, np.nan], [1.0, 2.0])
    with pytest.raises(InvalidParameterError, match="one of"):
        certificates.prox("simplex", [0.5], [1.0])


def test_longdouble_candidates_keep_their_digits():
    a = np.array([0.5, 0.25, -0.3])
    x = np.array(exact.project("topk_cone", a, k=2, rho=0.3).x, dtype=object)
    long = np.array([np.longdouble(v.numerator) / np.longdouble(v.denominator) for v in x])
    short = long.astype(float)
    proof = [certificates.projection("topk_cone", v, a, k=2, rho=0.3).gap for v in (long, short)]
    assert proof[0] <= proof[1] <= 1e-15
