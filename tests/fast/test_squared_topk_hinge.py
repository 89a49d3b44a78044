"""The squared top-k hinge of `fast` as a loss that is trained."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fast.losses import squared_topk_hinge as squared
from fast.models import multiclass_erm
from verification.certificates.model import erm


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_digits_are_trained_to_a_gap_that_the_trusted_core_confirms(k, C):
    X, y = (part[:300] for part in load_digits(return_X_y=True))
    loss = squared.SquaredTopKHinge(k=k)
    found = multiclass_erm.train(X / 16, y, C, 10, loss, tol=1e-6)
    assert found.solver == "active"
    assert found.gap <= 1e-6
    A = -found.dual_variables.toarray()
    A[np.arange(len(y)), y] -= A.sum(axis=1)
    proof = erm(found.W, X / 16, y, loss="squared_topk_hinge", C=C, k=k, dual=A)
    assert proof.relative_gap <= 1e-6
    reference = multiclass_erm.train(X / 16, y, C, 10, loss, tol=0.1, solver="sdca")
    assert reference.dual <= found.primal * (1 + 1e-12)
    assert found.dual <= reference.primal * (1 + 1e-12)
