"""The AP models as problems of the kit: who passes, who fails, and what is left undecided."""

import numpy as np
import pytest
from _references import judge as judged

from refsolve.models import binary_svm
from verification import models
from verification.errors import NoDualPointError
from verification.instances import datasets
from verification.verdicts.verdict import Verdict

CONVEX = ("ap_svm", "ap_svm_appx", "binary_svm")


def trained(instance):
    return models.load(instance.object_name).train(**instance.params)


def test_a_free_bias_has_no_price_and_balances_the_multipliers():
    X, y = np.array([[0.0], [1.0], [3.0]]), np.array([0, 1, 1])
    given = {"w": [2.0], "b": -1.0, "bias": "free", "C": 30.0}
    free = binary_svm.certificate(X, y, alpha=[4.0, 4.0, 0.0], **given)
    # margins 1, 1 and 5: no loss; w = 2 and alpha = 2 on both sides are the optimum 2
    assert free.primal == pytest.approx(2.0)
    assert free.gap > 1
    right = binary_svm.certificate(X, y, alpha=[2.0, 2.0, 0.0], **given)
    assert right.gap < 1e-14
    lopsided = binary_svm.certificate(X, y, alpha=[2.0, 4.0, 0.0], **given)
    assert lopsided.moved == pytest.approx(2.0)
    assert lopsided.gap < 1e-14
    assert binary_svm.check_data(X, y, 1.0, "free").best_bias(np.array([2.0])) == pytest.approx(
        -1.0
    )


def test_scores_of_w_alone_are_no_dual_point():
    for object_name in CONVEX:
        instance = datasets.draw(f"{object_name}.primal", "random", 1, 0)[0]
        with pytest.raises(NoDualPointError):
            models.load(object_name).certify(instance.params, trained(instance), None)


def test_one_candidate_per_bag_is_an_ap_svm():
    for instance in datasets.draw("latent_ap_svm.primal", "one candidate each", 5, 0, largest=10):
        order = np.argsort(instance["bags"])
        plain = models.load("ap_svm").train(instance["X"][order], instance["y"], instance["C"])
        assert judged(instance, w=plain["w"]).verdict is Verdict.PASS


def test_the_optimum_of_a_pair_is_the_one_on_paper():
    """L = max(0, 1/2 - 2(s_p - s_n)): w = 2t(x_p - x_n) with t = min(C, 1/(8||x_p - x_n||^2))."""
    for instance in datasets.draw("ap_svm.primal", "a pair", 20, 0):
        X, y, C = (instance[name] for name in ("X", "y", "C"))
        apart = X[y == 1][0] - X[y == 0][0]
        t = min(C, 1 / (8 * (apart @ apart)))
        assert judged(instance, w=2 * t * apart).verdict is Verdict.PASS
        assert judged(instance, w=2.02 * t * apart).verdict is Verdict.FAIL
        ranking = np.ones((1, 2), dtype=int)
        assert judged(instance, rankings=ranking, weights=[t]).verdict is Verdict.PASS
