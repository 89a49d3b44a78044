"""The AP and SVM+ trainers of fast against the oracles, on problems of every family; and trainers with one error."""

import itertools
import math

import numpy as np
import pytest
from _trainers import half, twice_C, wrong

import fast
from fast import APSVM, LatentAPSVM, SVMPlusClassifier
from fast.models import binary_svm
from refsolve.proofs.model import ModelCertificate, Proof
from verification import InvalidArgumentError
from verification.instances.svm_plus import OBJECTS
from verification.trainers import ranking, real_data, svm_plus
from verification.verdicts.verdict import Verdict

RANKING = ranking.instances("quick", 0)
PLUS = [i for object_name in OBJECTS for i in svm_plus.instances("quick", 0, object_name)]
PLAIN, EASY, RAMP, LATENT, BINARY = (
    [i for i in RANKING if i.problem.name == getattr(ranking, name)]
    for name in ("PROBLEM", "EASY", "RAMP", "LATENT", "BINARY")
)
QUERIES = [i for i in PLAIN if i.family == "queries"]


@pytest.mark.parametrize("instance", RANKING + PLUS, ids=lambda i: f"{i.object_name}-{i.family}")
def test_the_trainer_passes(instance):
    judgement = (svm_plus if instance.object_name in OBJECTS else ranking).examine(instance)
    assert judgement.verdict is Verdict.PASS, judgement.message
    assert judgement.gap <= judgement.gap_tolerance
    if instance.problem.name not in (ranking.RAMP, ranking.LATENT):
        assert judgement.distance <= judgement.distance_tolerance


def queries_of(given):
    return 1 if given["groups"] is None else len(np.unique(given["groups"]))


def worst_candidates(model, bags):
    return np.array([int((bag @ model.coef_[0]).argmin()) for bag in bags])


def earlier(model, X):
    return np.append(0.9 * model.objectives_[-1], model.objectives_)


def half_binary(**given):
    found = binary_svm.train(**given)
    found.w = found.w / 2
    return found


def sum_for_mean(X, y, C, **given):
    return binary_svm.train(X, y, C * len(y), **given)


#: The trainer, on which problems, and the share of these that must fail.
WRONG = {
    "twice the C": (wrong(APSVM, C=twice_C), PLAIN, 0.5),
    "half of the weights": (wrong(APSVM, told={"coef_": half}), PLAIN, 0.5),
    "stops early, and says so": (wrong(APSVM, tol=lambda m, y, given: 0.1), PLAIN, 0.5),
    "the sum over queries": (wrong(APSVM, C=lambda m, y, given: queries_of(given) * m.C), QUERIES, 1.0),
    "one list of all examples": (wrong(APSVM, dropped=["groups"]), QUERIES, 1.0),
    "easy examples are ranked like all others, and claimed as difficult":
        (wrong(APSVM, dropped=["easy_mask"]), EASY, 1.0),
    "goes back to an earlier model of the descent, and says so":
        (wrong(APSVM, told={"objectives_": earlier}), RAMP, 1.0),
    "names the worst candidates for the best ones":
        (wrong(LatentAPSVM, told={"latent_": worst_candidates}), LATENT, 1.0),
    "half of the objective":
        (wrong(LatentAPSVM, told={"objectives_": lambda m, X: 0.5 * m.objectives_}), LATENT, 1.0),
    "half of the binary SVM": (half_binary, BINARY, 1.0),
    "the sum for the mean": (sum_for_mean, BINARY, 1.0),
    "C/n": (wrong(SVMPlusClassifier, C=lambda m, y, given: m.C / len(y)), PLUS, 0.5),
    "lam/2 for lam": (wrong(SVMPlusClassifier, lam=lambda m, y, given: m.lam / 2), PLUS, 0.5),
    "scales Z": (wrong(SVMPlusClassifier, standardize_z=lambda m, y, given: True),
                 [i for i in PLUS if "K" not in i.params], 0.5),
}  # fmt: skip


def fails(name, instance):
    try:
        judged = (svm_plus if instance.object_name in OBJECTS else ranking).examine(
            instance, WRONG[name][0]
        )
    except InvalidArgumentError:  # its rankings are not those of the queries
        return name == "one list of all examples"
    return judged.verdict is Verdict.FAIL


@pytest.mark.parametrize("name", WRONG)
def test_wrong_trainers_are_found(name):
    _, instances, share = WRONG[name]
    least = math.floor(share * len(instances))
    assert least >= 3 or instances is QUERIES
    assert len(list(itertools.islice((i for i in instances if fails(name, i)), least))) == least > 0


def test_the_reports(monkeypatch):
    monkeypatch.setattr(ranking, "COUNTS", {"quick": 1})
    monkeypatch.setattr(svm_plus, "COUNTS", {"quick": 3})
    reports = {r.problem: r.raise_if_failed() for r in ranking.verify_rankers()}
    assert set(reports) == {problem for problem, _ in ranking.FAMILIES}
    assert sum(r.counts["pass"] for r in reports.values()) == len(ranking.FAMILIES)
    for object_name in OBJECTS:
        report = svm_plus.verify_plus(object_name).raise_if_failed()
        assert (report.problem, report.counts["pass"]) == (f"{object_name}.primal", 3)


def test_what_rounding_hides_is_uncertain():
    """A gap that consists of the certificate's own rounding is neither pass nor fail."""
    w = np.zeros(PLAIN[0]["X"].shape[1])
    for error, verdict in ((1e-3, Verdict.INCONCLUSIVE), (1e-9, Verdict.FAIL)):
        gap = np.array([1e-3 - error])
        found = ModelCertificate.of(Proof(1.0 - error, 0.999, gap, 0.0, {}, error))
        assert ranking.beside(PLAIN[0], found, w).verdict is verdict


def test_models_of_digits(monkeypatch):
    """All models are certified; a model with false claims is not."""
    names = ("SVM, squared hinge", "SVM2+", "SVM1+", "SVM2+, rbf, free slack")
    monkeypatch.setattr(real_data, "MODELS", {name: real_data.MODELS[name] for name in names})
    found = real_data.digits()
    assert [record["model"] for record in found] == list(names)
    assert all(record.reached and record["accuracy_test"] > 0.8 for record in found)
    monkeypatch.setattr(fast, "SVMPlusClassifier", WRONG["C/n"][0])
    found = real_data.digits_model("SVM2+")
    assert not found.reached
    assert "problem 0" in found.objection
    images = real_data.load_digits()
    assert images.X.shape[1:] == (16,)
    assert images.X[:, 5] == pytest.approx(images.Z[:, [18, 19, 26, 27]].mean(axis=1))
