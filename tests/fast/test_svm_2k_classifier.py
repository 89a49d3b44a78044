"""SVM2KClassifier: its model is that of the trainer, and it predicts from one view or from both."""

import numpy as np
import pytest
import scipy.sparse as sp
from _problems import privileged

from fast import SVM2KClassifier, SVMPlusClassifier
from fast.errors import InvalidParameterError
from fast.models import svm_2k
from verification.certificates.fitted import judge_claims


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
