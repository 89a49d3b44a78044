"""Declared losses: value against its definition, conjugate against the supremum, E1."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from _draw import CONVEX, MULTICLASS, example, loss_params

import refsolve
from refsolve import catalogue, certificates, derive, oracle
from refsolve.proofs.loss import Loss

SMOOTH = [stem for stem in MULTICLASS if "gamma" in catalogue.load(stem).SPEC.names]


def _top(z, k):
    return np.sort(z)[::-1][:k].sum()


DEFINITIONS = {  # hinges over the others
    "multiclass_hinge": lambda z: max(0.0, max(z)),
    "topk_hinge_alpha": lambda z, k: max(0.0, _top(z, k) / k),
    "topk_hinge_beta": lambda z, k: _top(np.maximum(z, 0), k) / k,
    "topk_hinge_alpha_printed": lambda z, k: max(0.0, _top([*z, 0.0], k) / k),
}


def _points(rng, d):
    tied = rng.integers(-2, 3, size=d) * 1.0
    return rng.normal(size=d), tied, -abs(rng.normal(size=d)), np.zeros(d)


@pytest.mark.parametrize("stem", DEFINITIONS)
def test_hinges_are_what_their_definition_says(stem):
    rng = np.random.default_rng(31)
    for d in (1, 2, 5):
        for k in range(1, d + 1):
            params = {"k": k} if "k" in catalogue.load(stem).SPEC.names else {}
            for z in _points(rng, d):
                expected = DEFINITIONS[stem](z, **params)
                declared = catalogue.load(stem).value(cp.Constant(z), **params).value
                assert declared == pytest.approx(expected, abs=1e-14)
                lower, upper = Loss(stem, params, d).value_bounds(z)
                assert lower == pytest.approx(expected, abs=1e-14)
                assert upper == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("stem", SMOOTH)
def test_smooth_losses_are_the_moreau_envelope(stem):
    module = catalogue.load(stem)
    rng = np.random.default_rng(32)
    for d in (1, 3, 6):
        for z in _points(rng, d):
            params = loss_params(stem, rng, d)
            problem = cp.Problem(cp.Minimize(module.value(cp.Constant(z), **params)))
            envelope = problem.solve(solver="CLARABEL")
            lower, upper = Loss(stem, params, d).value_bounds(z.astype(np.longdouble))
            assert 0 <= upper - lower <= 1e-15 * max(1, abs(z).max())
            assert float(upper) == pytest.approx(envelope, abs=1e-7)
            hinge = module.hinge.value(cp.Constant(z), params["k"]).value
            assert -1e-12 <= hinge - upper <= params["gamma"] / (2 * params["k"]) + 1e-12


@pytest.mark.parametrize("stem", CONVEX)
def test_declared_conjugate_is_the_supremum_of_the_value(stem):
    rng = np.random.default_rng(33)
    for m in (2, 4, 6):
        for _ in range(3):
            case = example(stem, rng, m)
            loss, d = case.loss, case.loss.d
            x = loss.repair(rng.uniform(0, 2 / d, size=d)).astype(float)
            expression, domain = loss.module.conjugate(
                cp.Constant(x), *loss.arguments, **case.params
            )
            assert max(float(np.max(c.violation())) for c in domain) <= 1e-12
            supremum, z = derive.conjugate_from_value(stem, x, **case.labels, **case.params)
            assert supremum == pytest.approx(float(expression.value), abs=1e-6)
            assert float(loss.conjugate(x)) == pytest.approx(
                float(expression.value), rel=1e-12, abs=1e-13
            )
            # no z beats it: Fenchel-Young at the maximiser and elsewhere
            for point in (z, rng.normal(size=d)):
                assert loss.fenchel_young(point.astype(np.longdouble), x) >= 0


@pytest.mark.parametrize("stem", CONVEX)
def test_the_supremum_grows_without_bound_outside_the_domain(stem):
    rng = np.random.default_rng(34)
    tried = 0
    for m in (3, 5):
        case = example(stem, rng, m)
        loss, d = case.loss, case.loss.d
        for x in (
            np.full(d, 1.5 / d),
            np.r_[0.9, np.full(d - 1, -0.1)],
            np.r_[1.2, np.zeros(d - 1)],
        ):
            if loss.violation(x) <= 0.05:
                continue  # the box and the cone hold the first of them
            near, far = (
                derive.conjugate_from_value(stem, x, bound=b, **case.labels, **case.params)[0]
                for b in (50, 100)
            )
            assert far > near + 0.5
            assert (
                refsolve.solve(f"{stem}.conjugate", x=x, **case.labels, **case.params).value
                == np.inf
            )
            tried += 1
    assert tried >= (4 if loss.domain.stem in ("box", "topk_cone") else 6)


@pytest.mark.parametrize("stem", CONVEX)
def test_fenchel_young_is_value_plus_conjugate_minus_inner_product(stem):
    rng = np.random.default_rng(35)
    for m in (2, 5, 10):
        loss = example(stem, rng, m).loss
        d = loss.d
        z = 3 * rng.normal(size=(20, d)).astype(np.longdouble)
        x = loss.repair(rng.uniform(-0.2, 0.6, size=z.shape).astype(np.longdouble))
        lower, upper = loss.value_bounds(z)
        plain = loss.conjugate(x) - (z * x).sum(axis=1)
        gap = loss.fenchel_young(z, x)
        assert (gap >= lower + plain - 1e-15).all()
        assert (gap <= upper + plain + 1e-15).all()


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


@pytest.mark.parametrize("stem", [s for s in CONVEX if "k" in catalogue.load(s).SPEC.names])
def test_the_value_at_k_equal_to_d_can_be_handed_to_a_second_solver(stem):
    # cvxpy's sum_largest raises there when k is the size: the declarations must not use it
    z = cp.Variable(3)
    params = {"k": 3} | ({"gamma": 1.0} if stem in SMOOTH else {})
    value = catalogue.load(stem).value(z, **params) + cp.sum_squares(z - 1)
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
        proof = certificates.prox(stem, z.value, np.ones(3), t=0.5, costs=np.zeros(3), **params)
        assert proof.gap <= oracle.TOLERANCE * proof.scale
