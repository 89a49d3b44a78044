"""The AP models as problems of the kit: who passes, who fails, and what is left undecided."""

import _references
import numpy as np
import pytest
from _ap_exact import objectives
from _references import fails
from _references import judge as judged

import refsolve
from verification import models, verify
from verification.certificates.binary import binary_erm, problem
from verification.certificates.ranking_model import dual_value, ranking_erm
from verification.errors import NoDualPointError
from verification.faulty_solvers.ap_training import ap_train_penalises_the_bias
from verification.instances import datasets
from verification.models import _ap_families
from verification.reference_solvers import ap_training
from verification.verdicts.verdict import Verdict

CONVEX = ("ap_svm", "ap_svm_appx", "binary_svm")
STEMS = (*CONVEX, "ap_ramp", "latent_ap_svm")
#: Instances of a family on which a test looks at every verdict.
FEW = 2


def drawn(stem, count=FEW, seed=3):
    return _references.drawn(f"{stem}.primal", count, seed)


def trained(instance):
    return models.load(instance.stem).train(**instance.params)


# ------------------------------------------------------------------------------- who passes


@pytest.mark.parametrize("stem", STEMS)
def test_the_trainers_of_fast_pass_with_all_parts_and_with_w_alone(stem):
    for instance in drawn(stem):
        found = trained(instance)
        assert judged(instance, **found).verdict is Verdict.PASS, instance.family
        names = models.load(stem).parts["primal"]
        alone = judged(instance, **{name: found[name] for name in names})
        assert alone.verdict is Verdict.PASS, (instance.family, alone.message)


@pytest.mark.parametrize("stem", CONVEX)
def test_the_dual_alone_passes(stem):
    for instance in drawn(stem):
        found = trained(instance)
        dual = {name: found[name] for name in models.load(stem).parts["dual"]}
        assert judged(instance, **dual).verdict is Verdict.PASS, instance.family


@pytest.mark.parametrize("stem", STEMS)
def test_the_oracle_passes(stem):
    family = next(iter(models.load(stem).families))
    for instance in datasets.draw(f"{stem}.primal", family, 3, 1, largest=10):
        given = {n: v for n, v in instance.params.items() if n != "tol" and v is not None}
        w = refsolve.solve(f"{stem}.primal", **given)
        parts = {"w": w.x}
        if stem == "binary_svm":
            parts["b"] = w.certificate.b if instance["bias"] else 0.0
        assert judged(instance, **parts).verdict is Verdict.PASS


def test_a_trainer_with_inference_of_its_own_passes():
    report = verify(ap_training.train, "ap_svm.dual", seed=5)
    assert report.ok, str(report)


# -------------------------------------------------------------------------- the certificates


def test_bounds_of_one_side_are_those_of_the_formulas():
    for instance in datasets.draw("ap_svm.primal", "random", 10, 2, largest=10):
        params, found = instance.params, trained(instance)
        weights = found["weights"] * (1 - 2.0**-40)  # feasible: nothing is repaired
        model = models.load("ap_svm")
        given = {"rankings": found["rankings"], "weights": weights}
        data = {name: params[name] for name in ("X", "y", "C")}
        primal, dual, v = objectives(found["w"], **data, **given)
        upper, lower = model.upper(params, found), model.lower(params, given)
        assert float(primal) <= upper <= float(primal) + 1e-13 * params["C"]
        assert lower <= float(dual)
        assert lower >= float(dual) - 1e-13 * params["C"]
        found_v = dual_value(**data, **given)[1]
        assert np.allclose(found_v, np.array(v, float), rtol=1e-13, atol=1e-13)


def test_the_terms_add_up_to_the_gap():
    for stem in CONVEX:
        for instance in datasets.draw(f"{stem}.primal", "random", 5, 4, largest=10):
            found = trained(instance)
            proof = models.load(stem).certify(instance.params, found, found)
            assert min(proof.terms.values()) >= 0
            assert sum(proof.terms.values()) == pytest.approx(proof.gap, rel=1e-12)


def test_a_free_bias_has_no_price_and_balances_the_multipliers():
    X, y = np.array([[0.0], [1.0], [3.0]]), np.array([0, 1, 1])
    free = binary_erm([2.0], X, y, C=30.0, alpha=[4.0, 4.0, 0.0], bias=-1.0, free=True)
    # margins 1, 1 and 5: no loss; w = 2 and alpha = 2 on both sides are the optimum 2
    assert free.primal == pytest.approx(2.0)
    assert free.gap > 1
    right = binary_erm([2.0], X, y, C=30.0, alpha=[2.0, 2.0, 0.0], bias=-1.0, free=True)
    assert right.gap < 1e-14
    lopsided = binary_erm([2.0], X, y, C=30.0, alpha=[2.0, 4.0, 0.0], bias=-1.0, free=True)
    assert lopsided.moved == pytest.approx(2.0)
    assert lopsided.gap < 1e-14
    assert problem(X, y, 1.0, "free").best_bias(np.array([2.0])) == pytest.approx(-1.0)


def test_scores_of_w_alone_are_no_dual_point():
    for stem in CONVEX:
        instance = datasets.draw(f"{stem}.primal", "random", 1, 0)[0]
        with pytest.raises(NoDualPointError):
            models.load(stem).certify(instance.params, trained(instance), None)


# ---------------------------------------------------------------------------- who fails, and why


def one(stem, **changes):
    instance = datasets.draw(f"{stem}.primal", "random", 8, 6, largest=12)[-1]
    return instance.with_params(**changes) if changes else instance


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: {"w": p["w"][None]}, "w has shape"),
        (lambda p: {"w": p["w"] * np.nan}, "nan or infinite"),
        (lambda p: {"w": 1.1 * p["w"]}, "a certified witness"),
        (lambda p: {"rankings": p["rankings"] + 1, "weights": p["weights"]}, "rankings"),
        (lambda p: {"rankings": p["rankings"] + 0.5, "weights": p["weights"]}, "integers"),
        (lambda p: {"rankings": p["rankings"], "weights": p["weights"][1:]}, "weights"),
        (lambda p: {"rankings": p["rankings"], "weights": 2 * p["weights"]}, "sum of the weights"),
        (lambda p: {"rankings": p["rankings"], "weights": -p["weights"]}, "weights >= 0"),
        (lambda p: {"rankings": p["rankings"], "weights": 0.5 * p["weights"]}, "dual side"),
        (lambda p: {**p, "w": 1.001 * p["w"]}, "gap .* relative"),
    ],
)
def test_a_wrong_ap_svm_fails_and_the_reason_is_named(change, message):
    import re

    instance = one("ap_svm")
    found = judged(instance, **change(trained(instance)))
    assert found.verdict is Verdict.FAIL
    assert re.search(message, found.message)


def test_an_easy_example_beyond_its_margin_is_named():
    instance = next(
        i for i in drawn("ap_svm_appx", 6) if i["easy"].any() and len(set(i["y"][i["easy"]])) == 2
    )
    found = trained(instance)
    assert "y_i (<x_i,w> + b) >= 1" in judged(instance, w=0.5 * found["w"]).message
    moved = judged(instance, w=found["w"], b=found["b"] + 1.0)
    assert "y_i (<x_i,w> + b) >= 1" in moved.message
    lopsided = {**found, "mu": found["mu"] * np.where(instance["y"] > 0, 2, 1)}
    assert "sum_i mu_i y_i = 0" in judged(instance, **lopsided).message
    hard = {**found, "mu": found["mu"] + ~instance["easy"]}
    assert "mu" in judged(instance, **hard).message


def test_a_margin_that_is_missed_by_less_than_tol_is_no_failure():
    seen = 0
    for instance in drawn("ap_svm_appx", 3):
        found = trained(instance)
        if not instance["easy"].any() or not found["mu"].any():
            continue
        near = {**found, "w": found["w"] * (1 - 3e-7)}
        near["b"] = models.load("ap_svm_appx").complete(instance.params, {"w": near["w"]})["b"]
        assert judged(instance, **near).verdict is Verdict.PASS
        seen += 1
    assert seen >= 5


def test_a_bias_where_there_is_none_fails():
    instance = one("binary_svm", bias=False)
    found = trained(instance)
    assert judged(instance, w=found["w"]).verdict is Verdict.PASS
    assert "b = 0 without a bias" in judged(instance, w=found["w"], b=1e-3).message
    priced = instance.with_params(bias=True)
    assert "expected" in judged(priced, w=found["w"]).message  # its b cannot be guessed


# ------------------------------------------------------------------------- what is not convex


@pytest.mark.parametrize("stem", ["ap_ramp", "latent_ap_svm"])
def test_objectives_that_rise_or_end_elsewhere_fail(stem):
    instance = one(stem)
    found = trained(instance)
    path = found["objectives"]
    rising = {**found, "objectives": np.append(0.9 * path[-1], path)}
    assert "rises" in judged(instance, **rising).message
    elsewhere = {**found, "objectives": 0.5 * path}
    assert "claimed" in judged(instance, **elsewhere).message
    assert judged(instance, objectives=path).verdict is Verdict.FAIL  # no w


@pytest.mark.parametrize("stem", ["ap_ramp", "latent_ap_svm"])
def test_a_last_step_with_a_wide_gap_fails(stem):
    instance = one(stem)
    found = trained(instance)
    found["weights"] = 0.5 * found["weights"]
    assert "last convex step" in judged(instance, **found).message


@pytest.mark.parametrize("stem", ["ap_ramp", "latent_ap_svm"])
def test_worse_than_no_model_fails(stem):
    instance = one(stem)
    w = 1e4 * (1.0 + np.abs(trained(instance)["w"]))
    fails(judged(instance, w=w), "exceeds J(0)")


def test_what_a_step_improves_fails_unless_its_state_is_ambiguous():
    instance = one("ap_ramp")
    w = 0.5 * trained(instance)["w"]
    fails(judged(instance, w=w), "one more convex step")
    tied = judged(instance, w=np.zeros_like(w))  # every order of the scores is predicted
    assert tied.verdict is Verdict.INCONCLUSIVE
    assert "tie" in tied.message


def test_a_row_of_another_bag_and_a_reference_that_is_no_ranking_fail():
    instance = one("latent_ap_svm")
    found = trained(instance)
    wrong = {**found, "chosen": np.roll(found["chosen"], 1)}
    assert "chosen" in judged(instance, **wrong).message
    ramp = one("ap_ramp")
    found = trained(ramp)
    assert "reference" in judged(ramp, **{**found, "reference": found["reference"] + 1}).message


def test_one_candidate_per_bag_is_an_ap_svm():
    for instance in datasets.draw("latent_ap_svm.primal", "one candidate each", 5, 0, largest=10):
        order = np.argsort(instance["bags"])
        plain = models.load("ap_svm").train(instance["X"][order], instance["y"], instance["C"])
        assert judged(instance, w=plain["w"]).verdict is Verdict.PASS


# ------------------------------------------------------------------------ families, shrinking


@pytest.mark.parametrize("stem", STEMS)
def test_families_are_valid_and_depend_on_the_seed(stem):
    model = models.load(stem)
    first = drawn(stem, 3)
    assert len(first) == 3 * len(model.families)
    assert all(model.valid(i.params) for i in first)
    assert drawn(stem, 3) == first
    assert drawn(stem, 3, seed=4) != first


@pytest.mark.parametrize("stem", STEMS)
def test_what_is_simpler_is_smaller_or_rounder_and_never_the_same(stem):
    model = models.load(stem)
    several = [i for i in drawn(stem, 3) if len(i["y"]) >= 5][:3]
    assert several
    for instance in several:
        steps = list(model.simpler(instance.params))
        kept = [s for s in steps if model.valid(s)]
        assert len(kept) > 5
        assert all(s["X"].size <= instance["X"].size for s in kept)
        assert min(s["X"].shape[0] for s in kept) < instance["X"].shape[0]


def test_features_of_another_size_are_the_same_problem():
    instance = datasets.draw("ap_svm.primal", "huge scale", 1, 1, largest=8)[0]
    small = next(_ap_families.rescaled(instance.params))
    power = instance["X"].flat[0] / small["X"].flat[0]
    assert small["C"] == pytest.approx(power**2 * instance["C"], rel=1e-12)
    mine, other = (trained(instance.with_params(**g))["w"] for g in (instance.params, small))
    values = [
        ranking_erm(w, given["X"], given["y"], C=given["C"],
                    rankings=np.zeros((0, len(small["y"])), int), weights=[]).primal
        for w, given in ((mine, instance.params), (other, small))
    ]  # fmt: skip
    assert values[0] * power**2 == pytest.approx(values[1], rel=1e-5)
    assert np.allclose(mine * power, other, rtol=1e-4)


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


def test_features_of_any_size_stand_beside_the_constant_one():
    for family, power in (("tiny scale", -6), ("huge scale", 6)):
        found = datasets.draw("binary_svm.primal", family, 3, 0, largest=8, fixed={"bias": True})
        assert all(0.01 < np.abs(i["X"]).max() / 10.0**power < 100 for i in found)
        assert all(i["tol"] == 1e-6 for i in found)
        for instance in found:
            assert judged(instance, **trained(instance)).verdict is Verdict.PASS


def test_easy_examples_are_separable():
    X = np.array([[0.0], [1.0], [2.0]])
    assert _ap_families.separates(X, np.array([-1, 1, 1]))
    assert _ap_families.separates(X, np.array([1, 1, 1]))
    assert not _ap_families.separates(X, np.array([1, -1, 1]))
    assert not _ap_families.separates(0 * X, np.array([1, -1, 1]))


def test_a_fixed_kind_of_bias_is_that_of_every_instance():
    report = verify(
        ap_train_penalises_the_bias, "binary_svm.primal", fixed={"bias": "free"}, shrink=False
    )
    assert not report.ok
    assert all(r.instance["bias"] == "free" for r in report.results)
