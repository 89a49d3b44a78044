"""Every model on every family of its instances: what is right passes whichever side is given, what is wrong does not,
and a certificate is what lies between the two sides.
"""

import numpy as np
import pytest
from _references import drawn, judge, judged

import refsolve
from verification import Verdict, models
from verification.instances import datasets
from verification.instances.instance import Instance
from verification.problems.problem import lookup, names
from verification.verdicts import verify_model

OBJECTS = models.object_names()
TWO_SIDED = [object_name for object_name in OBJECTS if len(models.load(object_name).parts) == 2]
FAMILIES = [
    (object_name, family) for object_name in OBJECTS for family in models.load(object_name).families
]


@pytest.mark.parametrize("object_name", OBJECTS)
def test_a_model_is_declared_and_its_instances_are_valid_and_repeat(object_name):
    task = models.load(object_name)
    assert task.arguments[-1] == "tol"
    assert {f"{object_name}.{side}" for side in task.parts} <= set(names("models"))
    assert set(task.defaults) <= set(task.arguments)
    for side, parts in task.parts.items():
        assert lookup(f"{object_name}.{side}").parts[: len(parts)] == tuple(parts)
    found = drawn(f"{object_name}.primal", 2, 3)
    assert len(found) == 2 * len(task.families)
    assert found == drawn(f"{object_name}.primal", 2, 3) != drawn(f"{object_name}.primal", 2, 4)
    for instance in found:
        assert task.valid(instance.params)
        assert Instance.from_json(instance.to_json()) == instance
        assert set(task.shapes(instance.params)) >= {n for p in task.parts.values() for n in p}


@pytest.mark.parametrize(("object_name", "family"), FAMILIES)
def test_what_is_right_passes_whichever_side_is_given(object_name, family):
    """Whole, by the primal or the dual side alone; and a primal side that is off fails."""
    for instance in datasets.draw(f"{object_name}.primal", family, 2, 3, largest=12):
        known = verify_model.witness(instance)
        primal, dual = dict(known.primal), dict(known.dual)
        assert judged(instance, primal | dual).verdict is Verdict.PASS
        alone = judge(instance, **primal)
        assert alone.verdict is Verdict.PASS, alone.message
        if object_name in TWO_SIDED:
            assert judge(instance, **dual).verdict is Verdict.PASS
        name = next(iter(models.load(object_name).parts["primal"]))
        size = 1 + np.abs(primal[name]).max()
        away = 9 * size * np.arange(1, primal[name].size + 1).reshape(primal[name].shape)
        off = judged(instance, primal | dual | {name: primal[name] + away})
        assert off.verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE), off


@pytest.mark.parametrize(("object_name", "family"), [f for f in FAMILIES if "classes" not in f[1]])
def test_the_oracle_certifies_itself(object_name, family):
    """From either side, family after family: scales, ties, one class, zero weights, whatever there is."""
    sides = sorted(models.load(object_name).parts)
    side = sides[list(models.load(object_name).families).index(family) % len(sides)]
    [instance] = datasets.draw(f"{object_name}.{side}", family, 1, 1, largest=8)
    given = {
        n: tuple(v) if n == "behind" else v
        for n, v in instance.params.items()
        if n != "tol" and v is not None
    }
    assert refsolve.solve(f"{object_name}.{side}", **given).status == "certified"


@pytest.mark.parametrize("object_name", TWO_SIDED)
def test_a_certificate_is_what_lies_between_any_two_sides(object_name):
    """P - D is the gap, its terms are not negative, and no side contradicts the optimum."""
    rng, task = np.random.default_rng(0), models.load(object_name)
    for instance in drawn(f"{object_name}.primal", 1, 2):
        known, params = verify_model.witness(instance), instance.params
        moved = {
            n: np.asarray(v) * (1 + 0.1 * rng.uniform(0, 1, np.shape(v)))
            if np.asarray(v).dtype.kind == "f" else v
            for n, v in known.primal.items()
        }  # fmt: skip
        proof = task.certify(params, moved, known.dual)
        high, low = task.upper(params, moved), task.lower(params, known.dual)
        assert proof.gap == pytest.approx(high - low, rel=1e-6, abs=1e-9 * abs(high) + proof.error)
        assert min(proof.terms.values()) >= -1e-15 * abs(high)
        assert sum(proof.terms.values()) == pytest.approx(proof.gap, rel=1e-9, abs=1e-15)
        best = known.certificate
        slack = 1e-12 * abs(best.primal) + best.error
        assert best.dual <= high + slack
        assert low <= best.primal + slack


@pytest.mark.parametrize("object_name", OBJECTS)
def test_what_is_simpler_is_smaller_and_valid(object_name):
    task = models.load(object_name)
    instance = max(drawn(f"{object_name}.primal", 2, 3), key=lambda i: len(i.get("y", i.get("p"))))
    kept = [s for s in task.simpler(instance.params) if task.valid(s)]
    data = "p" if object_name == "pointwise_risk" else "y"
    assert len(kept) > 3
    assert min(len(s[data]) for s in kept) < len(instance[data])
    assert all(len(s[data]) <= len(instance[data]) for s in kept)


@pytest.mark.parametrize("object_name", TWO_SIDED)
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_the_side_that_is_asked_for_must_be_there(object_name, side):
    parts = models.load(object_name).parts
    [instance] = datasets.draw(
        f"{object_name}.{side}", next(iter(models.load(object_name).families)), 1, 1, largest=8
    )
    known = verify_model.witness(instance)
    mine, other = (known.primal, known.dual)[:: 1 if side == "primal" else -1]
    assert judged(instance, {**other, **mine}).ok
    found = judged(instance, other)
    assert found.verdict is Verdict.FAIL
    assert f"the {side} part is missing" in found.message
    assert f"expected {', '.join(parts[side])}" in found.message


@pytest.mark.parametrize("object_name", OBJECTS)
def test_parts_of_the_wrong_form_are_named(object_name):
    instance = drawn(f"{object_name}.primal", 1, 1)[0]
    known = verify_model.witness(instance)
    for name in models.load(object_name).parts["primal"]:
        right = np.asarray(known.primal[name])
        if right.ndim == 0:  # a number may be an array of one
            continue
        for wrong, said in ((right * np.nan, "nan"), (right[..., None], f"{name} has shape")):
            found = judged(instance, dict(known.primal) | {name: wrong})
            assert found.verdict is Verdict.FAIL
            assert said in found.message
