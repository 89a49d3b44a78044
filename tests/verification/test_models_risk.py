"""Pointwise risk as a problem: closed forms pass, wrong scores fail, hinges of few classes exactly."""

from fractions import Fraction

import numpy as np
import pytest
from _references import asked, fails, judged

from verification import Candidate, InvalidArgumentError, Verdict, verify
from verification.checks import trained
from verification.instances.instance import Instance
from verification.models import pointwise_risk
from verification.verdicts import verify_model

PROBLEM = "pointwise_risk.primal"


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Two instances per family."""
    monkeypatch.setattr(trained, "COUNTS", {"quick": 2})


def instance(**given):
    params = {**pointwise_risk.TASK.defaults, **given}
    return Instance.of(PROBLEM, "given", **{n: params[n] for n in pointwise_risk.TASK.arguments})


def log_probabilities(p):
    return np.log(np.maximum(p, 1e-300))


def first_among_equals(p, k):
    """The k most probable classes at 1: ignores how probable they are."""
    g = np.zeros(len(p))
    g[np.argsort(-p)[:k]] = 1.0
    return g


def test_log_probabilities_minimise_softmax():
    report = verify(log_probabilities, PROBLEM, fixed={"loss": "softmax"}, checks=["trained"])
    report.raise_if_failed()
    assert report.checked >= 8
    assert report.counts["inconclusive"] == 0


@pytest.mark.parametrize("loss", ["topk_hinge_alpha", "topk_hinge_beta"])
def test_indicators_of_the_most_probable_do_not_minimise_hinges(loss):
    report = verify(first_among_equals, PROBLEM, fixed={"loss": loss}, checks=["trained"])
    assert not report.ok
    assert report.counterexample_result.instance["p"].size <= 3


def test_hinges_of_few_classes_are_settled_in_fractions():
    """p = (4, 3, 3)/10, k = 1: the constant is the minimiser, whatever is the most probable."""
    given = instance(p=np.array([4.0, 3.0, 3.0]), loss="multiclass_hinge")
    proof = pointwise_risk.TASK.certify(given.params, {"g": np.zeros(3)}, None)
    assert (proof.primal, proof.dual, proof.gap, proof.error) == (1.0, 1.0, 0.0, 0.0)
    lead = np.array([1.0, 0.0, 0.0])  # 4/10 * 0 + 6/10 * 2
    proof = pointwise_risk.TASK.certify(given.params, {"g": lead}, None)
    assert proof.gap == float(Fraction(1, 5))
    assert judged(given, {"g": lead}).verdict is Verdict.FAIL


def test_an_order_that_is_asked_for_is_a_constraint():
    p, behind = np.array([0.6, 0.3, 0.1]), np.array([0, 2])
    given = instance(p=p, behind=behind)
    free = {"g": np.log(p)}
    fails(judged(given, free), "g_0 <= g_2 is violated")
    assert "without the asked order" in verify_model.hint(given, Candidate(None, parts=free))
    equal = np.log([0.35, 0.3, 0.35])  # the two share their mass
    assert judged(given, {"g": equal}).ok


def test_an_unbalanced_dual_point_is_refused():
    given = instance(p=np.array([0.5, 0.5]))
    dual = {"x": np.array([[0.9], [0.1]])}
    fails(judged(asked(given, dual), dual), "sum_y p_y block(x_y) = 0")


def test_fast_has_none():
    with pytest.raises(InvalidArgumentError, match="fast has no pointwise_risk"):
        verify(None, PROBLEM)
