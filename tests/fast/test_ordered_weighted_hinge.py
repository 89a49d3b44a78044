"""The ordered weighted hinge: the hinges that it holds, its trainer and the claims of that, bad weights."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits

import fast
import refsolve
from fast.errors import InvalidParameterError
from fast.losses import multiclass_hinge, ordered_weighted_hinge, topk_hinge_beta
from fast.losses.ordered_weighted_hinge import OrderedWeightedHinge
from fast.models.multiclass_erm import train
from fast.solvers.multiclass_bounds import claims
from verification.certificates.model import erm

NAME = "ordered_weighted_hinge"
X, Y = load_digits(return_X_y=True)
X, Y = X[:400] / 16, Y[:400]
FALLING = 1 / np.arange(1, 10)


@pytest.mark.parametrize("m", [2, 3, 6, 20])
def test_top_k_and_multiclass_hinge_are_special_cases(m, rng):
    scores, y = np.round(rng.normal(size=(100, m)) * 2, 1), rng.integers(0, m, 100)
    norms = rng.exponential(size=100) * rng.choice([0.0, 1.0, 10.0], 100)
    weight = rng.exponential(size=100)
    x = rng.dirichlet(np.ones(m), size=100)[:, :-1] * rng.choice([0.5, 1.0], (100, 1))
    near = {"rtol": 1e-12, "atol": 1e-12}
    for k in range(1, m):
        beta = (np.arange(m - 1) < k) / k
        special = [(topk_hinge_beta, {"k": k})] + [(multiclass_hinge, {})] * (k == 1)
        for other, given in special:
            for operation, arguments in {
                "value": {"scores": scores, "y": y, "sample_weight": weight},
                "gradient": {"scores": scores, "y": y, "sample_weight": weight},
                "conjugate": {"x": x},
                "prox": {"v": scores[:, 1:], "t": 0.7},
                "sdca_update": {"q": scores, "y": y, "k_ii": norms, "C": 1.3, "sample_weight": weight},
            }.items():  # fmt: skip
                found = getattr(ordered_weighted_hinge, operation)(**arguments, beta=beta)
                np.testing.assert_allclose(
                    found, getattr(other, operation)(**arguments, **given), **near
                )


def test_biased_projections_have_those_of_the_top_k_simplex_and_of_sums_as_special_cases(rng):
    project = fast.sets.cardinality_polymatroid.project
    for d in (1, 2, 7, 40):
        a = np.round(rng.normal(size=(30, d)), 1) * 3
        rho = rng.choice([0.0, 1e-3, 1.0, 50.0], 30)
        for k in range(1, d + 1):
            right = fast.sets.topk_simplex_beta.project(a, k=k, rho=rho)
            found = project(a, (np.arange(d) < k) / k, rho)
            np.testing.assert_allclose(found, right, rtol=0, atol=1e-13)
        # without bounds that matter: the root of s = sum (a - rho s)_+
        free = project(a, 100.0, rho)
        shifted = np.maximum(a - (rho * free.sum(axis=1))[:, None], 0)
        np.testing.assert_allclose(free, shifted, rtol=0, atol=1e-12)
        beta = -np.sort(-rng.exponential(size=d))
        np.testing.assert_allclose(
            project(a + 2.0**40, beta, 1.0).sum(axis=1), beta.sum(), rtol=1e-14
        )
    huge = project([1e300, 1e300, 1.0], [1e300, 1.0, 1.0], [1e300])
    assert np.isfinite(huge).all()


def test_weights_are_numbers_of_the_loss():
    loss = OrderedWeightedHinge(np.array([0.75, 0.25]))
    assert loss == OrderedWeightedHinge([0.75, 0.25]) == OrderedWeightedHinge((0.75, 0.25))
    assert loss.at_zero(3) == 1.0
    assert OrderedWeightedHinge().at_zero(5) == 4.0
    scores = np.array([[1.0, 2.0, -1.0, 0.0]])
    np.testing.assert_array_equal(ordered_weighted_hinge.value(scores, [0]), [2.0])
    for bad, said in {
        (0.25, 0.75, 0.5): "beta: a rise by 0.5; expected beta_1 >=",
        (0.5, 0.25): r"beta: shape \(2,\); expected one number, or shape \(3,\)",
        (0.5, 0.25, -0.25): "beta: -0.25; expected weights >= 0",
        (0.5, np.nan, 0.0): r"beta\[1\] = nan",
        (1e80, 1.0, 0.0): r"beta\[0\] = 1e\+80",
    }.items():
        with pytest.raises(InvalidParameterError, match=said):
            ordered_weighted_hinge.value(scores, [0], beta=bad)
        with pytest.raises(refsolve.errors.InvalidParameterError, match="beta"):
            refsolve.solve(f"{NAME}.value", scores=scores[0], y=0, beta=np.array(bad))


@pytest.mark.parametrize("intercept", [False, True])
def test_a_model_of_top_k_weights_is_that_of_the_top_k_hinge(intercept):
    given = {"C": 0.1, "tol": 1e-6, "fit_intercept": intercept, "max_iter": 5000}
    for k in (1, 3):
        ours = fast.TopKSVC(beta=(np.arange(9) < k) / k, **given).fit(X, Y)
        other = fast.TopKSVC(k=k, variant="beta", **given).fit(X, Y)
        assert ours.dual_gap_ <= 1e-6
        off = np.square(ours.coef_ - other.coef_).sum()
        assert off <= 8e-6 * other.primal_objective_  # twice both gaps, between W and each


@pytest.mark.parametrize("beta", [FALLING, np.repeat([0.5, 0.25, 0.0], 3), 0.1], ids=str)
@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, "rbf"], ids=["dense", "sparse", "kernel"]
)
def test_a_trained_model_is_certified_and_claims_no_more(beta, form):
    weight = np.linspace(0, 2, len(Y))
    model = fast.TopKSVC(beta=beta, C=0.1, tol=1e-4)
    data = X
    if form == "rbf":
        model.kernel = "rbf"
    else:
        data = form(X)
    model.fit(data, Y, sample_weight=weight)
    assert model.dual_gap_ <= 1e-4
    if form == "rbf":
        K = model._map.between(X, X)
        judged = erm(model.dual_coef_.toarray(), y=Y, K=K, loss=NAME, beta=beta, C=0.1,
                     dual=model.dual_coef_, sample_weight=weight)  # fmt: skip
        slack = 1e-9 * judged.primal
    else:
        judged = erm(model.coef_, data, Y, loss=NAME, beta=beta, C=0.1, dual=model.dual_coef_,
                     sample_weight=weight)  # fmt: skip
        slack = 0.0
    assert judged.primal <= model.primal_objective_ + slack
    assert judged.dual >= model.dual_objective_ - slack
    assert judged.gap <= 1.001e-4 * judged.primal + slack


def test_claims_hold_for_dual_variables_outside_of_the_domain(rng):
    loss, r = OrderedWeightedHinge(FALLING), np.full(len(Y), 0.1)
    sharp = train(X, Y, r, 10, loss, tol=1e-6, max_iter=5000)
    x = sharp.dual_variables.toarray() * 1.0002 + 1e-7 * rng.normal(size=(len(Y), 10))
    x[np.arange(len(Y)), Y] = 0
    A = -x
    A[np.arange(len(Y)), Y] = x.sum(axis=1)
    naive = x.sum() - np.square(A.T @ X).sum() / 2
    assert naive > sharp.primal  # better than the optimum
    for real in (np.float64, np.longdouble):
        P, D = claims(X.astype(real), None, sharp.W, x, Y, r, loss, (sharp.primal, naive), 1e-3)
        assert sharp.primal * (1 - 1e-15) <= P <= sharp.primal * (1 + 1e-10)
        assert 0.9 * sharp.primal < D <= sharp.primal


def test_the_oracle_has_the_same_optimum():
    few = {"X": X[::40], "y": Y[::40] % 3}
    small = fast.TopKSVC(beta=[0.75, 0.5], tol=1e-6).fit(few["X"], few["y"])
    for side in ("primal", "dual"):
        best = refsolve.solve(f"multiclass_erm.{side}", **few, C=1.0, loss=NAME, beta=[0.75, 0.5])
        assert best.certificate.relative_gap < 1e-7
        assert small.dual_objective_ <= best.certificate.primal * 10 * (1 + 1e-9)
        assert small.primal_objective_ >= best.certificate.dual * 10 * (1 - 1e-9)


def test_the_estimator_refuses_what_does_not_fit_and_starts_warm():
    for given, said in (
        ({"beta": [1.0, 0.5]}, "beta: shape"),
        ({"beta": FALLING[::-1]}, "beta: a rise"),
        ({"beta": FALLING, "gamma": 1.0}, "gamma: 1.0 with beta; expected 0"),
        ({"beta": FALLING, "solver": "active"}, "solver: 'active' for ordered_weighted_hinge"),
        ({"beta": FALLING, "k": 10}, "k: 10"),
    ):
        with pytest.raises(InvalidParameterError, match=said):
            fast.TopKSVC(**given).fit(X, Y)
    model = fast.TopKSVC(beta=FALLING, C=0.1, warm_start=True, k=3).fit(X, Y)
    cold = model.n_iter_
    assert model.predict_topk(X[:2]).shape == (2, 3)
    assert model.fit(X, Y).n_iter_ < cold
    model.beta = FALLING / 2  # for which the dual is infeasible
    again = clone(model).fit(X, Y)
    model.fit(X, Y)
    np.testing.assert_array_equal(model.coef_, again.coef_)
