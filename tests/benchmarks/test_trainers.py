"""The trainers' judge: passes the real one, and sees through every kind of wrong one."""

import dataclasses
from functools import partial
from typing import Any

import numpy as np
import pytest
from _trainers import half, twice_C, wrong

import refsolve
from fast import MultilabelClassifier, OneVsAllClassifier, TopKLogisticRegression, TopKSVC
from refsolve.errors import Status
from verification.app import main_job
from verification.app.rows import finished
from verification.trainers import multiclass as trainers
from verification.verdicts.verdict import Verdict

INSTANCES = trainers.instances("quick", 0)


def test_instances_cover_every_loss_and_family_and_depend_on_the_seed() -> None:
    assert {i["loss"] for i in INSTANCES} == set(trainers.losses())
    assert {i.family for i in INSTANCES} == set(trainers.FAMILIES)
    assert trainers.instances("quick", 0) == INSTANCES != trainers.instances("quick", 1)
    assert len(trainers.instances("thorough", 0)) > len(INSTANCES)


def test_losses_are_those_declared() -> None:
    from verification.problems.objects import discover

    declared = {s.name for s in discover() if s.kind == "losses" and not s.oracle_only}
    # rankings have judges of their own
    assert set(trainers.losses()) == declared - {"average_precision", "ndcg"}


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda i: f"{i['loss']}-{i.family}")
def test_the_trainer_passes(instance: Any) -> None:
    judgement = trainers.examine(instance)
    assert judgement.verdict is Verdict.PASS, judgement.message
    assert judgement.gap is not None
    assert judgement.gap <= judgement.gap_tolerance


#: Solves the problem with twice the C, and is perfectly consistent about it.
TwiceC = wrong(TopKSVC, C=twice_C)
WRONG = {
    "twice the C": TwiceC,
    "half of the weights": wrong(TopKSVC, told={"coef_": half}),
    # predictions agree, the objective does not
    "every score is off by the same vector": wrong(
        TopKSVC, told={"coef_": lambda m, X: m.coef_ + 0.1}
    ),
    "the plain multiclass hinge whatever k is": wrong(TopKSVC, k=lambda m, y, given: 1),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_trainer_is_caught(name: str) -> None:
    hinges = [i for i in INSTANCES if "topk_hinge" in i["loss"] and i.get("k", 1) > 1]
    verdicts = [trainers.examine(i, WRONG[name]).verdict for i in hinges]
    assert Verdict.FAIL in verdicts


class NotTruncated(TopKLogisticRegression):
    """Softmax with the attributes of the truncated loss."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TopKLogisticRegression:
        self.truncated = False
        k, self.k = self.k, 1
        super().fit(X, y, sample_weight=sample_weight)
        self.truncated, self.k = True, k
        self.kept_ = np.ones(self.dual_coef_.shape, dtype=bool)
        self.truncated_objectives_ = np.array([self.primal_objective_])
        return self


def backwards(model: Any, X: Any) -> np.ndarray:
    """A descent that is told backwards."""
    return model.truncated_objectives_[-1] * np.array([1 - 1e-6, 1])


Rising = wrong(TopKLogisticRegression, told={"truncated_objectives_": backwards})


@pytest.mark.parametrize(("trainer", "words"), [(NotTruncated, "truncated"), (Rising, "rises")])
def test_a_wrong_descent_is_caught(trainer: type[TopKLogisticRegression], words: str) -> None:
    chosen = [i for i in INSTANCES if i["loss"] == "truncated_topk_entropy" and i["k"] > 1]
    judged = [trainers.examine(i, trainer) for i in chosen]
    assert all(j.verdict is Verdict.FAIL for j in judged)
    assert any(words in j.message for j in judged)


def shifted(base: Any) -> Any:
    """A trainer that takes the labels of the example before."""

    class Shifted(base):  # type: ignore[misc]
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            return super().fit(X, np.roll(y, 1, axis=0), sample_weight)

    return Shifted


@pytest.mark.parametrize("base", [OneVsAllClassifier, MultilabelClassifier])
def test_wrong_trainers_of_one_score_per_class_are_caught(base: Any) -> None:
    """Of another C, of weights that the dual does not belong to, and of other labels."""
    for loss, object_name in base.object_names.items():
        chosen = [i for i in INSTANCES if i["loss"] == object_name]
        for trainer in (wrong(base, C=twice_C), wrong(base, told={"coef_": half}), shifted(base)):
            assert Verdict.FAIL in [trainers.examine(i, trainer).verdict for i in chosen], loss


def test_an_uncertain_oracle_passes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = refsolve.solve

    def uncertain(*args: Any, **params: Any) -> Any:
        return dataclasses.replace(solve(*args, **params), status=Status.UNCERTAIN)

    monkeypatch.setattr(refsolve, "solve", uncertain)
    judgement = trainers.examine(INSTANCES[0])
    assert judgement.verdict is Verdict.INCONCLUSIVE
    assert "gap" in judgement.message


def test_jobs_run_side_by_side_and_an_exception_gets_out() -> None:
    """Functions of Python, so that a worker need not import this file."""
    assert dict(finished({"a": partial(abs, -1), "b": partial(abs, -2)})) == {"a": 1, "b": 2}
    with pytest.raises(ZeroDivisionError):
        dict(finished({"a": partial(abs, -1), "bad": partial(divmod, 1, 0)}))


def test_the_main_job_leaves_out_rows_of_letter_and_nothing_else() -> None:
    short, whole = (main_job._jobs(None, ["box.projection"], "quick", 0, t) for t in (False, True))
    left_out = set(whole) - set(short)
    assert set(short) < set(whole)
    assert all(name.startswith("Letter: ") for name in left_out)
    assert short["box.projection"].keywords["every"] > whole["box.projection"].keywords["every"]
