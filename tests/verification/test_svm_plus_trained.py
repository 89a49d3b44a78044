"""The SVM+ trainers against the oracle, on problems of every family and variant."""

import itertools

import pytest
from _trainers import wrong

import fast
from fast import SVMPlusClassifier
from verification.instances.svm_plus import STEMS
from verification.trainers import svm_plus as trainers
from verification.trainers import svm_plus_digits as digits
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


def test_digits(monkeypatch):
    """All models are certified; a model with false claims is not."""
    names = ("SVM, squared hinge", "SVM2+", "SVM1+", "SVM2+, rbf, free slack")
    monkeypatch.setattr(digits, "MODELS", {name: digits.MODELS[name] for name in names})
    found = digits.run()
    assert [m.name for m in found] == list(names)
    assert all(m.ok for m in found)
    assert all(m.test > 0.8 for m in found)
    assert len(digits.digits_table(found).rows) == 4
    assert found[0].to_dict()["ok"] is True
    monkeypatch.setattr(fast, "SVMPlusClassifier", WRONG["C/n"])
    found = digits.measure("SVM2+", *digits.load())
    assert not found.ok
    assert "problem 0" in found.objection
    train, _ = digits.load()
    assert train.X.shape[1:] == (16,)
    assert train.X[:, 5] == pytest.approx(train.Z[:, [18, 19, 26, 27]].mean(axis=1))
