"""SVM2KClassifier: its model is that of the trainer, and it predicts from one view or from both."""

import numpy as np
import pytest
import scipy.sparse as sp
from _problems import privileged
from sklearn.model_selection import GridSearchCV

from fast import SVM2KClassifier, SVMPlusClassifier, regularization_path
from fast.errors import InvalidParameterError
from fast.models import svm_2k
from verification.certificates.fitted import judge_claims


@pytest.mark.parametrize("kernel_z", ["linear", "rbf"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_class_is_certified(classes, kernel, kernel_z):
    X, y, Z = privileged(1, n=50, classes=classes)
    weight = 1.0 + np.arange(50) % 2
    model = SVM2KClassifier(0.5, 2.0, 0.7, 0.1, kernel, kernel_z, 0.3, 0.3, tol=1e-6)
    model.fit(X, y, Z, sample_weight=weight)
    assert model.dual_gap_ <= 1e-6
    said = judge_claims(model, X, y, weight, Z=Z)
    assert said.ok, said.message
    f, g = model.decision_function(X), model.correction_function(Z)
    np.testing.assert_allclose(model.decision_function(X, Z), (f + g) / 2)
    for scores, found in (f, model.predict(X)), ((f + g) / 2, model.predict(X, Z)):
        best = (scores > 0) * 1 if classes == 2 else scores.argmax(axis=1)
        np.testing.assert_array_equal(found, best)


def test_it_is_the_trainer_on_scaled_privileged_features():
    X, y, Z = privileged(2)
    Zs = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    signs = np.where(y == 1, 1.0, -1.0)
    found = svm_2k.train(X, signs, Zs, 2.0, 0.5, 1.5, eps=0.2, tol=1e-9)
    for rows in (X, sp.csr_array(X)):
        model = SVM2KClassifier(2.0, 0.5, 1.5, 0.2, tol=1e-9).fit(rows, y, Z)
        assert model.primal_objective_[0] == pytest.approx(found.primal, rel=1e-8)
        np.testing.assert_allclose(model.coef_[0], found.w, atol=1e-4)
        np.testing.assert_allclose(model.correction_coef_[0], found.v, atol=1e-4)
    given = SVM2KClassifier(2.0, 0.5, 1.5, 0.2, kernel="precomputed", kernel_z="precomputed")
    given.set_params(tol=1e-9).fit(X @ X.T, y, Zs @ Zs.T)
    np.testing.assert_allclose(
        given.decision_function(X @ X.T, Zs @ Zs.T), model.decision_function(X, Z), atol=1e-4
    )


def test_without_z_it_is_the_ordinary_svm():
    X, y, _ = privileged(3)
    model = SVM2KClassifier(0.5, tol=1e-9).fit(X, y)
    other = SVMPlusClassifier("hinge", 0.5, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_)
    assert judge_claims(model, X, y).ok
    assert not hasattr(model, "tie_dual_coef_")
    with pytest.raises(InvalidParameterError, match=r"fit\(X, y, Z\)"):
        model.predict(X, X)


def test_weight_zero_leaves_and_a_kernel_must_be_one():
    X, y, Z = privileged(4)
    weight = 1.0 * (np.arange(60) > 9)
    model = SVM2KClassifier(standardize_z=False, tol=1e-8).fit(X, y, Z, sample_weight=weight)
    rest = SVM2KClassifier(standardize_z=False, tol=1e-8).fit(X[10:], y[10:], Z[10:])
    assert model.primal_objective_ == pytest.approx(rest.primal_objective_, rel=1e-7)
    duals = (model.dual_coef_, model.correction_dual_coef_, model.tie_dual_coef_)
    assert not np.stack(duals)[..., :10].any()
    with pytest.raises(InvalidParameterError, match=r"^kernel_z: "):
        SVM2KClassifier(kernel_z="precomputed").fit(X, y, -np.eye(60))


def test_searches_and_paths_take_z():
    X, y, Z = privileged(5)
    search = GridSearchCV(SVM2KClassifier(), {"D": [0.0, 1.0]}, cv=2).fit(X, y, Z=Z)
    assert search.best_estimator_.correction_coef_.shape == (1, 3)
    path = regularization_path(SVM2KClassifier(), X, y, [0.1, 1.0], Z=Z)
    assert max(model.dual_gap_ for model in path.models) <= 1e-3
