"""value, gradient, prox and sdca_update: certified, and right by an independent route."""

import numpy as np

import refsolve
from refsolve import certificates


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
