"""Correcting functions with the label's sign, xi_i = y_i (v'z_i + rho): footnote 1 of Xu et al. 2016."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from fast import SVMPlusClassifier
from fast.errors import InvalidParameterError, InvalidTypeError
from fast.models import svm_plus_hinge, svm_plus_squared_hinge
from fast.svm_plus.correction import Correction, SignedCorrection
from fast.svm_plus.formulas import HingeExamples
from tests.fast import _naive_svm_plus as naive
from verification.certificates import plus_fitted

TRAINERS = {True: svm_plus_squared_hinge, False: svm_plus_hinge}
#: The loss, whether xi >= 0 is kept, own slacks: all that signed functions can do.
KINDS = [
    (True, False, 0.0),
    (True, False, 0.4),
    (True, True, 0.4),
    (False, True, 0.4),
    (False, True, 60.0),
]


def draw(rng, delta, n=21):
    """Data with weights, one of them 0; what has no own slacks is separated by z."""
    X, y, Z = naive.instance(rng, n, 3, 2)
    if not delta:
        Z[:, 0] = y * np.abs(Z[:, 0])
    weight = rng.uniform(0.3, 2.0, n)
    weight[4] = 0.0
    return X, y, Z, weight


@pytest.mark.parametrize(("squared", "nonneg", "delta"), KINDS)
def test_working_sets_of_many_rows_dense_and_sparse(squared, nonneg, delta, rng):
    """More rows than the first working set has, so that violated ones have to be found."""
    X, y, Z, weight = draw(rng, delta, 900)
    weight[:] = rng.uniform(0.3, 2.0, 900)
    options = {"nonneg_slack": nonneg, "free_slack": delta, "sample_weight": weight, "tol": 1e-6}
    kind = {"squared": squared, "nonneg": nonneg, "delta": delta, "weight": weight, "signed": True}
    dense, sparse = (
        TRAINERS[squared].train(rows(X), y, rows(Z), 0.5, 2.0, label_signed=True, **options)
        for rows in (np.array, sp.csr_array)
    )
    primal, dual, _ = naive.objectives(dense, X, y, Z, 0.5, 2.0, **kind)
    for found in (dense, sparse):
        assert found.gap <= 1e-6
        assert dual * (1 - 1e-9) <= found.primal <= primal * (1 + 2e-6)
    assert primal - dual <= 2e-6 * primal


def test_the_kernel_of_signed_functions_is_that_of_signed_features(rng):
    _, y, Z, weight = draw(rng, 0.4)
    cost, delta = 1.7 * (weight + 0.1), 0.4 / (weight + 0.1)
    for linear in (True, False):
        space = SignedCorrection(Correction(Z if linear else Z @ Z.T, linear, cost, 0.6, delta), y)
        Zt = y[:, None] * np.column_stack([Z, np.ones(len(y))])
        Kt = Zt @ Zt.T + np.diag(delta)
        wanted = np.linalg.solve(0.6 * np.eye(len(y)) + Kt * cost, Kt)
        np.testing.assert_allclose(space.Q, wanted, rtol=0, atol=1e-11)
        gamma = rng.standard_normal(len(y))
        np.testing.assert_allclose(space.deformed_product(gamma), wanted @ gamma, atol=1e-11)
        np.testing.assert_allclose(
            space.product(gamma), Zt[:, :2] @ (Zt[:, :2].T @ gamma), atol=1e-11
        )
        rest = gamma - y * (y @ gamma) / len(y)  # y'rest = 0
        square = rest @ (Zt @ Zt.T + np.diag(delta)) @ rest / 0.6
        assert space.centred_square(rest) == pytest.approx(square, rel=1e-10)
        assert rest @ space.centred @ rest == pytest.approx(square, rel=1e-10)


@pytest.mark.parametrize("scale", [0.05, 1.0, 40.0])
def test_the_best_offsets_of_signed_functions(scale, rng):
    """No (b, rho) is better than those that bisection finds, by a search from many starts."""
    for _ in range(12):
        n = int(rng.integers(4, 30))
        data, y = HingeExamples(), np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
        data.price_examples(
            y, rng.uniform(0.5, 2.0, n), 1.3, scale * rng.uniform(0.5, 2.0, n), True, True
        )
        f, g = rng.standard_normal(n) + 0.5 * y, rng.standard_normal(n)

        def value(x, data=data, f=f, g=g, y=y):
            return data.objective(0.0, 0.0, y * (f + x[0]), y * (g + x[1]))

        found = value(data.offsets(f, g))
        accurate = {"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}
        for start in ((0.0, 0.0), data.offsets(f, g)):
            best = minimize(value, start, method="Nelder-Mead", options=accurate)
            assert found <= best.fun * (1 + 1e-12)


def test_what_the_estimator_refuses(rng):
    X, y, Z, _ = draw(rng, 0.4)
    for value in (1, "yes", None):
        with pytest.raises(InvalidTypeError, match=r"label_signed|free_slack"):
            svm_plus_hinge.train(X, y, Z, 1.0, 1.0, label_signed=value)
        with pytest.raises(InvalidTypeError, match=r"label_signed|free_slack"):
            SVMPlusClassifier(label_signed=value).fit(X, y, Z)
    for given, message in (
        ({"free_slack": 0.0}, "free_slack > 0"),
        ({"nonneg_slack": False}, "keep xi >= 0"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            SVMPlusClassifier(loss="hinge", label_signed=True, **given).fit(X, y, Z)
    apart = SVMPlusClassifier(free_slack=0.0, label_signed=True)
    with pytest.raises(InvalidParameterError, match=r"(label_signed|free_slack): .* free_slack > 0"):
        apart.fit(np.zeros((4, 1)), [0, 1, 0, 1], np.zeros((4, 1)))


@pytest.mark.filterwarnings("ignore::fast.errors.CollapseWarning")
@pytest.mark.parametrize(
    ("loss", "kernel", "kernel_z", "delta", "nonneg"),
    [
        ("squared_hinge", "linear", "linear", 1.0, None),
        ("squared_hinge", "linear", "linear", 0.0, None),
        ("squared_hinge", "rbf", "linear", 0.3, True),
        ("squared_hinge", "rbf", "rbf", 0.1, None),
        ("hinge", "linear", "linear", 1.0, None),
        ("hinge", "rbf", "rbf", 0.1, None),
        ("hinge", "linear", "rbf", 1.0, None),
    ],
)
def test_the_estimator_claims_what_the_certificate_finds(
    loss, kernel, kernel_z, delta, nonneg, rng
):
    """One against the rest, with weights; the slacks are y times the correcting function."""
    n, m = 45, 3
    y = np.arange(n) % m
    signs = np.where(y[:, None] == np.arange(m), 1.0, -1.0)
    X, weight = rng.standard_normal((n, m)) + signs, rng.uniform(0.2, 2.0, n)
    weight[4] = 0.0
    Z = rng.standard_normal((n, m))
    if delta == 0.0:
        Z = signs * np.abs(Z)
    model = SVMPlusClassifier(
        loss, 2.0, 0.7, kernel=kernel, kernel_z=kernel_z, free_slack=delta, nonneg_slack=nonneg,
        label_signed=True, tol=1e-5,
    ).fit(X, y, Z, sample_weight=weight)  # fmt: skip
    assert model.dual_gap_ <= 1e-5
    found = plus_fitted.certify(model, X, y, Z, weight)
    for part, primal, dual in zip(
        found.parts, model.primal_objective_, model.dual_objective_, strict=True
    ):
        assert part.relative_gap <= 1.1e-5
        assert part.primal <= primal * (1 + 1e-6)
        assert part.dual >= dual * (1 - 1e-6)
    if delta == 0.0:
        sums = model.decision_function(X) + model.correction_function(Z)
        assert (signs * sums)[weight > 0].min() >= 1 - 1e-9
