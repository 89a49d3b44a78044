"""What is wrong with a model is named: one table of changes of the right one, and what is said of each."""

import re

import numpy as np
import pytest
from _references import drawn, judge

from verification import Verdict, models
from verification.instances import datasets
from verification.verdicts import verify_model

AP = ("ap_ramp", "latent_ap_svm")
PLUS = ("svm_plus_squared_hinge", "svm_plus_hinge")


def one(object_name):
    """An instance of which every part of the model counts."""
    if object_name == "ap_svm_appx":
        return next(
            i for i in drawn(f"{object_name}.primal", 6, 3)
            if i["easy"].any() and len(set(i["y"][i["easy"]])) == 2
        )  # fmt: skip
    some = datasets.draw(f"{object_name}.primal", "random", 8, 6, largest=12)
    found = some[2] if object_name == "multiclass_erm" else some[-1]  # of six classes
    fixed = {
        "binary_svm": {"bias": False}, "svm": {"loss": "hinge"}, "svm_plus_hinge": {"nonneg_slack": True},
        "multiclass_erm": {"loss": "topk_hinge_alpha", "k": 2, "gamma": None, "costs": None, "beta": None},
    }  # fmt: skip
    return found.with_params(**fixed.get(object_name, {}))


def right(instance):
    """Its model, with what a trainer says of it."""
    if instance.object_name in (*AP, "ap_svm", "ap_svm_appx", "binary_svm"):
        return models.load(instance.object_name).train(**instance.params)
    known = verify_model.witness(instance)
    return {**known.primal, **known.dual}


def dual(**changes):
    """The dual side alone, changed."""
    return lambda p, i: {
        n: changes[n](p[n]) if n in changes else p[n]
        for n in models.load(i.object_name).parts["dual"]
    }  # fmt: skip


def changed(**changes):
    """All parts, some of them changed."""
    return lambda p, i: p | {n: change(p[n]) for n, change in changes.items()}


WRONG = [
    ("ap_svm", lambda p, i: {"w": 1.1 * p["w"]}, "a certified witness"),
    ("ap_svm", dual(rankings=lambda r: r + 1), "rankings"),
    ("ap_svm", dual(rankings=lambda r: r + 0.5), "integers"),
    ("ap_svm", dual(weights=lambda w: w[1:]), "weights"),
    ("ap_svm", dual(weights=lambda w: 2 * w), "sum of the weights"),
    ("ap_svm", dual(weights=lambda w: -w), "weights >= 0"),
    ("ap_svm", dual(weights=lambda w: 0.5 * w), "dual side"),
    ("ap_svm", changed(w=lambda w: 1.001 * w), "gap .* relative"),
    ("ap_svm_appx", lambda p, i: {"w": 0.5 * p["w"]}, r"y_i \(<x_i,w> \+ b\) >= 1"),
    ("ap_svm_appx", lambda p, i: {"w": p["w"], "b": p["b"] + 1.0}, r"y_i \(<x_i,w> \+ b\) >= 1"),
    ("ap_svm_appx", lambda p, i: p | {"mu": p["mu"] * np.where(i["y"] > 0, 2, 1)}, "sum_i mu_i y_i = 0"),
    ("ap_svm_appx", lambda p, i: p | {"mu": p["mu"] + ~i["easy"]}, "mu"),
    ("binary_svm", lambda p, i: {"w": p["w"], "b": 1e-3}, "b = 0 without a bias"),
    *((object_name, changed(objectives=lambda path: np.append(0.9 * path[-1], path)), "rises") for object_name in AP),
    *((object_name, changed(objectives=lambda path: 0.5 * path), "claimed") for object_name in AP),
    *((object_name, lambda p, i: {"objectives": p["objectives"]}, "") for object_name in AP),  # no w
    *((object_name, changed(weights=lambda w: 0.5 * w), "last convex step") for object_name in AP),
    *((object_name, lambda p, i: {"w": 1e4 * (1.0 + np.abs(p["w"]))}, r"exceeds J\(0\)") for object_name in AP),
    ("ap_ramp", lambda p, i: {"w": 0.5 * p["w"]}, "one more convex step"),
    ("ap_ramp", changed(reference=lambda r: r + 1), "reference"),
    ("latent_ap_svm", changed(chosen=lambda c: np.roll(c, 1)), "chosen"),
    ("svm", lambda p, i: {"alpha": p["alpha"] * i["y"]}, "sum alpha_i y_i = 0"),
    ("svm", dual(alpha=lambda a: 9 * a), "alpha_i <= C w_i"),
    ("svm_plus_squared_hinge", dual(alpha=lambda a: -a), "alpha >= 0"),
    ("svm_plus_squared_hinge", dual(alpha=lambda a: a[1:]), "shape"),
    ("svm_plus_hinge", dual(beta=lambda b: b + 1), r"sum \(alpha_i \+ beta_i - C w_i\) = 0"),
    ("svm_plus_hinge", lambda p, i: {"alpha": p["alpha"]}, "expected"),
    ("multiclass_erm", lambda p, i: {"W": p["W"].T}, r"W has shape .*\(transposed\?\)"),
    ("multiclass_erm", lambda p, i: {"W": 1.1 * p["W"]}, r"primal side \(W\) has objective .*, a certified witness"),
    ("multiclass_erm", changed(A=lambda A: 1.5 * A), "x_i = .* in topk_simplex_alpha.* is violated by 0.5"),
    ("multiclass_erm", changed(A=lambda A: -A), "a_ij <= 0 for the classes j that are not y_i is violated"),
    ("multiclass_erm", lambda p, i: {"A": p["A"] * (np.arange(p["A"].shape[1]) != i["y"][:, None])},
     "sum over the classes of a_i = 0 is violated"),
    ("multiclass_erm", dual(A=lambda A: 0.9 * A), r"the dual side \(A\) has objective"),
    ("multiclass_erm", changed(W=lambda W: 1.1 * W), r"the primal side \(W\).*1/2\|\|W - A'X\|\|\^2"),
]  # fmt: skip


@pytest.mark.parametrize(("object_name", "change", "says"), WRONG)
def test_a_wrong_model_fails_and_the_reason_is_named(object_name, change, says):
    instance = one(object_name)
    found = judge(instance, **change(right(instance), instance))
    assert found.verdict is Verdict.FAIL
    assert re.search(says, found.message), found.message


def test_what_cannot_be_told_or_is_missed_by_less_than_tol_is_no_failure():
    ramp, svm = one("ap_ramp"), one("binary_svm")
    tied = judge(ramp, w=np.zeros(ramp["X"].shape[1]))  # every order of the scores is predicted
    assert tied.verdict is Verdict.INCONCLUSIVE
    assert "tie" in tied.message
    w = right(svm)["w"]
    assert judge(svm, w=w).verdict is Verdict.PASS
    assert "expected" in judge(svm.with_params(bias=True), w=w).message  # its b cannot be guessed
    seen = 0
    for instance in drawn("ap_svm_appx.primal", 3, 3):
        found = right(instance)
        if instance["easy"].any() and found["mu"].any():
            near = {**found, "w": found["w"] * (1 - 3e-7)}
            near["b"] = models.load("ap_svm_appx").complete(instance.params, {"w": near["w"]})["b"]
            assert judge(instance, **near).verdict is Verdict.PASS
            seen += 1
    assert seen >= 5
