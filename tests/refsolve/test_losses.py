"""Declared losses: value against its definition, conjugate against the supremum, E1."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from _draw import CONVEX, MULTICLASS

import refsolve
from refsolve import catalogue, certificates, derive, oracle

SMOOTH = [
    object_name for object_name in MULTICLASS if "gamma" in catalogue.load(object_name).SPEC.names
]


def _top(z, k):
    return np.sort(z)[::-1][:k].sum()


DEFINITIONS = {  # hinges over the others
    "multiclass_hinge": lambda z: max(0.0, max(z)),
    "topk_hinge_alpha": lambda z, k: max(0.0, _top(z, k) / k),
    "topk_hinge_beta": lambda z, k: _top(np.maximum(z, 0), k) / k,
    "topk_hinge_alpha_printed": lambda z, k: max(0.0, _top([*z, 0.0], k) / k),
}


def test_the_printed_loss_is_the_larger_of_two_over_the_others():
    # erratum E1: max{phi_k, (k-1)/k phi_(k-1)}; for k = 2 the beta variant
    rng = np.random.default_rng(36)
    alpha, beta = DEFINITIONS["topk_hinge_alpha"], DEFINITIONS["topk_hinge_beta"]
    printed = refsolve.losses.topk_hinge_alpha_printed.value
    for _ in range(50):
        z = rng.normal(size=5)
        for k in (2, 3, 4):
            value = printed(cp.Constant(z), k).value
            assert value == pytest.approx(
                max(alpha(z, k), (k - 1) / k * alpha(z, k - 1)), abs=1e-14
            )
        assert printed(cp.Constant(z), 2).value == pytest.approx(beta(z, 2), abs=1e-14)


def test_the_printed_dual_is_not_the_dual_of_the_printed_loss():
    # E1 at m = 3, k = 2, v = (.5, 0): restricted to v_y = 0 the supremum is finite, -<c,v> = -.5 for
    # the printed loss over all m entries, but v is outside the published domain
    v = np.array([0.5, 0.0])
    assert refsolve.solve("topk_hinge_alpha_printed.conjugate", x=v, k=2).value == pytest.approx(
        -0.5
    )
    assert refsolve.solve("topk_hinge_alpha.conjugate", x=v, k=2).value == np.inf
    supremum, _ = derive.conjugate_from_value("topk_hinge_alpha_printed", v, k=2)
    assert supremum == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("object_name", [s for s in CONVEX if "k" in catalogue.load(s).SPEC.names])
def test_the_value_at_k_equal_to_d_can_be_handed_to_a_second_solver(object_name):
    # cvxpy's sum_largest raises there when k is the size: the declarations must not use it
    z = cp.Variable(3)
    params = {"k": 3} | ({"gamma": 1.0} if object_name in SMOOTH else {})
    value = catalogue.load(object_name).value(z, **params) + cp.sum_squares(z - 1)
    problem = cp.Problem(cp.Minimize(value))
    for solver, settings in oracle.SOLVERS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "may be inaccurate": the certificate decides
            try:
                problem.solve(solver=solver, **settings)
            except cp.SolverError:  # OSQP has no exponential cone
                assert solver == "OSQP"
                continue
        # phi(z) + ||z - 1||^2 is the prox at v = 1 and t = 1/2, without costs
        proof = certificates.prox(
            object_name, z.value, np.ones(3), t=0.5, costs=np.zeros(3), **params
        )
        assert proof.gap <= oracle.TOLERANCE * proof.scale
