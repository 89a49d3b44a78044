"""Certificates: true bounds for every candidate, small for right ones, large for wrong ones."""

import numpy as np
import pytest
from _draw import SETS, biased, set_params

import refsolve
from refsolve import catalogue, certificates, exact
from refsolve.errors import Status


@pytest.mark.parametrize("object_name", SETS)
def test_a_right_answer_has_a_tiny_certificate(object_name):
    rng = np.random.default_rng(52)
    for scale in (1e-6, 1.0, 1e6):
        for d in (1, 5, 40):
            a = rng.normal(size=d) * scale
            params = set_params(object_name, min(d, 3), 1.0, d) | biased(object_name, 0.3)
            x = exact.project(object_name, a, **params).array()
            proof = certificates.projection(object_name, x, a, **params)
            assert proof.gap <= 1e-14 * proof.scale
            assert proof.violation <= 1e-15 * max(1, scale)
            # points of a set without 0 have a size of their own, with which the digits of a are rounded
            plain = {n: v for n, v in params.items() if n != "rho"}
            fixed = (
                "rho" not in params
                and catalogue.load(object_name).violation(np.zeros(d), **plain) > 0
            )
            size = max(scale, x.max()) if fixed else scale
            assert proof.distance <= 1e-8 * np.sqrt(max(size, size**2))


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
