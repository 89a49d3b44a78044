"""The SVM+ trainers against the oracle, on problems of every family and variant."""

import itertools

import pytest
from _trainers import wrong

import fast
from fast import SVMPlusClassifier
from verification.instances.svm_plus import STEMS
from verification.trainers import real_data
from verification.trainers import svm_plus as trainers
from verification.verdicts.verdict import Verdict

INSTANCES = [i for stem in STEMS for i in trainers.instances("quick", 0, stem)]


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda i: f"{i.stem}-{i.family}")
def test_the_trainer_passes(instance):
    judgement = trainers.examine(instance)
    assert judgement.verdict is Verdict.PASS, judgement.message
    assert judgement.gap <= judgement.gap_tolerance
    assert judgement.distance <= judgement.distance_tolerance


WRONG = {
    "C/n": wrong(SVMPlusClassifier, C=lambda m, y, given: m.C / len(y)),
    "lam/2 for lam": wrong(SVMPlusClassifier, lam=lambda m, y, given: m.lam / 2),
    "scales Z": wrong(SVMPlusClassifier, standardize_z=lambda m, y, given: True),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_trainers_are_found(name):
    linear = [i for i in INSTANCES if "K" not in i.params or name != "scales Z"]
    bad = (i for i in linear if trainers.examine(i, WRONG[name]).verdict is Verdict.FAIL)
    least = len(linear) // 2
    assert len(list(itertools.islice(bad, least))) == least


def test_the_report(monkeypatch):
    monkeypatch.setattr(trainers, "COUNTS", {"quick": 3})
    for stem in STEMS:
        report = trainers.verify_plus(stem).raise_if_failed()
        assert report.problem == f"{stem}.primal"
        assert report.counts["pass"] == 3


def test_models_of_digits(monkeypatch):
    """All models are certified; a model with false claims is not."""
    names = ("SVM, squared hinge", "SVM2+", "SVM1+", "SVM2+, rbf, free slack")
    monkeypatch.setattr(real_data, "MODELS", {name: real_data.MODELS[name] for name in names})
    found = real_data.digits()
    assert [record["model"] for record in found] == list(names)
    assert all(record.reached and record["accuracy_test"] > 0.8 for record in found)
    monkeypatch.setattr(fast, "SVMPlusClassifier", WRONG["C/n"])
    found = real_data.digits_model("SVM2+")
    assert not found.reached
    assert "problem 0" in found.objection
    images = real_data.load_digits()
    assert images.X.shape[1:] == (16,)
    assert images.X[:, 5] == pytest.approx(images.Z[:, [18, 19, 26, 27]].mean(axis=1))
