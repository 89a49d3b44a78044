"""Certificates of trained AP models: right about good ones, and not fooled by wrong ones."""

import copy

import numpy as np
import pytest
from _trainers import half, twice_C, wrong

import refsolve
from fast import APSVM, LatentAPSVM
from fast.models import binary_svm
from verification import InvalidArgumentError
from verification.certificates import judge_claims, trained
from verification.certificates.model import ModelCertificate
from verification.certificates.ranking_model import ranking_erm
from verification.trainers import ranking as ranking_trainers
from verification.verdicts.verdict import Verdict

INSTANCES = ranking_trainers.instances("quick", 0)
PLAIN = [i for i in INSTANCES if i.problem.name == ranking_trainers.PROBLEM]


def data(n=60, d=5, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = X[:, 0] + 0.7 * rng.standard_normal(n) > np.quantile(X[:, 0], 1 - share)
    return X, y, rng.permutation(np.arange(n) % 3)


def test_easy_examples():
    """Problem (10): the oracle's answer is certified, also from a model that is a little infeasible."""
    X, y, _ = data(24, 3)
    w0 = np.array([3.0, 0.0, 0.0])
    easy = (np.where(y, 1, -1) * (X @ w0 - 2.0)) >= 1
    assert 2 <= easy.sum() <= 22
    oracle = refsolve.solve("ap_svm_appx.primal", X=X, y=y.astype(int), C=5.0, easy=easy)
    proof = oracle.certificate
    mu = np.zeros(len(y))
    mu[easy] = proof.mu
    given = {"C": 5.0, "rankings": proof.rankings, "weights": proof.weights, "easy": easy}
    found = ranking_erm(oracle.x, X, y, easy_weights=mu, **given)
    assert found.relative_gap < 1e-7
    assert found.dual <= proof.primal * (1 + 1e-12)
    assert proof.dual <= found.primal * (1 + 1e-12)
    shorter = ranking_erm(oracle.x * (1 - 1e-6), X, y, easy_weights=mu, **given)
    assert found.primal * (1 - 1e-12) <= shorter.primal <= found.primal * (1 + 1e-5)
    with pytest.raises(InvalidArgumentError, match="misses its margin"):
        ranking_erm(-oracle.x, X, y, easy_weights=mu, **given)
    # multipliers of one side only mean nothing: b is free
    unbalanced = ranking_erm(oracle.x, X, y, easy_weights=mu * y, **given)
    assert unbalanced.moved > 0
    assert unbalanced.gap > 100 * found.gap


def bags_of(n=30, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    return [rng.standard_normal((rng.integers(1, 5), 3)) + p for p in y], y


def test_candidates_that_do_not_exist_or_disagree():
    bags, y = bags_of()
    model = LatentAPSVM(C=10.0, tol=1e-4).fit(bags, y)
    assert len(model.dual_coef_) >= 2
    large = next(i for i in np.flatnonzero(y) if len(bags[i]) > 1)
    for change, message in (
        (len(bags[large]), "each in its bag"),
        (1 - min(model.candidates_[0, large], 1), "one candidate per positive"),
    ):
        wrong = copy.deepcopy(model)
        wrong.candidates_[0, large] = change
        with pytest.raises(InvalidArgumentError, match=message):
            trained(wrong, bags, y)


# -- wrong models -----------------------------------------------------------------------------


def model_of(X, y, **changes):
    model = APSVM(C=10.0, tol=1e-6).fit(X, y)
    for name, value in changes.items():
        setattr(model, name, value(getattr(model, name)))
    return model


def test_weights_beyond_C_and_negative_ones_do_not_raise_the_dual():
    X, y, _ = data()
    honest = trained(model_of(X, y), X, y)
    heavy = trained(model_of(X, y, dual_coef_=lambda v: 1.5 * v), X, y)
    assert heavy.moved == pytest.approx(5.0)  # half of C: scaled back
    assert heavy.gap == pytest.approx(honest.gap, rel=1e-6)
    for change in (lambda v: -v, lambda v: 0.9 * v):
        wrong = model_of(X, y, dual_coef_=change)
        found = trained(wrong, X, y)
        assert found.dual < honest.dual
        assert found.gap > 10 * honest.gap
        assert not judge_claims(wrong, X, y).ok


def test_rankings_that_do_not_exist():
    X, y, groups = data()

    def stretched(rankings):
        out = rankings.copy()
        out[0, np.flatnonzero(y)[0]] += 1
        return out

    with pytest.raises(InvalidArgumentError, match=r"no ranking|not in"):
        trained(model_of(X, y, rankings_=stretched), X, y)
    with pytest.raises(InvalidArgumentError, match=r"no ranking|not in"):
        trained(model_of(X, y), X, y, groups=groups)  # those of one query
    with pytest.raises(InvalidArgumentError, match="expected integers"):
        trained(model_of(X, y, rankings_=lambda r: r.astype(float)), X, y)
    with pytest.raises(InvalidArgumentError, match="a row per weight"):
        trained(model_of(X, y, rankings_=lambda r: r[:-1]), X, y)
    with pytest.raises(InvalidArgumentError, match="to fit X"):
        trained(model_of(X, y), X[:, :3], y)


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda i: f"{i.stem}-{i.family}")
def test_the_trainer_passes(instance):
    judgement = ranking_trainers.examine(instance)
    assert judgement.verdict is Verdict.PASS, judgement.message
    assert judgement.gap <= judgement.gap_tolerance
    if instance.problem.name not in (ranking_trainers.RAMP, ranking_trainers.LATENT):
        assert judgement.distance <= judgement.distance_tolerance


def worst_candidates(model, bags):
    return np.array([int((bag @ model.coef_[0]).argmin()) for bag in bags])


OF_OTHER_MODELS = {
    "easy examples are ranked like all others, and claimed as difficult": (
        ranking_trainers.EASY,
        wrong(APSVM, dropped=["easy_mask"]),
    ),
    "goes back to an earlier model of the descent, and says so": (
        ranking_trainers.RAMP,
        wrong(
            APSVM,
            told={"objectives_": lambda m, X: np.append(0.9 * m.objectives_[-1], m.objectives_)},
        ),
    ),
    "names the worst candidates for the best ones": (
        ranking_trainers.LATENT,
        wrong(LatentAPSVM, told={"latent_": worst_candidates}),
    ),
    "half of the objective": (
        ranking_trainers.LATENT,
        wrong(LatentAPSVM, told={"objectives_": lambda m, X: 0.5 * m.objectives_}),
    ),
}


@pytest.mark.parametrize("name", OF_OTHER_MODELS)
def test_wrong_trainers_of_the_other_models_are_found(name):
    problem, trainer = OF_OTHER_MODELS[name]
    mine = [i for i in INSTANCES if i.problem.name == problem]
    assert len(mine) >= 3
    assert all(ranking_trainers.examine(i, trainer).verdict is Verdict.FAIL for i in mine)


WRONG = {
    "twice the C": wrong(APSVM, C=twice_C),
    "the sum over queries": wrong(APSVM, C=lambda m, y, given: queries_of(given) * m.C),
    "one list of all examples": wrong(APSVM, dropped=["groups"]),
    "half of the weights": wrong(APSVM, told={"coef_": half}),
    "stops early, and says so": wrong(APSVM, tol=lambda m, y, given: 0.1),
}


def queries_of(given):
    return 1 if given["groups"] is None else len(np.unique(given["groups"]))


@pytest.mark.parametrize("name", WRONG)
def test_wrong_trainers_are_found(name):
    failures, trainer = 0, WRONG[name]
    several = sum(i.family == "queries" for i in PLAIN)
    of_queries = ("the sum over queries", "one list of all examples")
    least = several if name in of_queries else len(PLAIN) // 2
    for instance in PLAIN:
        try:
            failures += ranking_trainers.examine(instance, trainer).verdict is Verdict.FAIL
        except InvalidArgumentError:  # its rankings are not those of the queries
            failures += name == "one list of all examples"
        if failures >= least:
            return
    pytest.fail(f"{failures} of {least}")


def test_the_reports(monkeypatch):
    monkeypatch.setattr(ranking_trainers, "COUNTS", {"quick": 1})
    reports = {r.problem: r.raise_if_failed() for r in ranking_trainers.verify_rankers()}
    assert set(reports) == {problem for problem, _ in ranking_trainers.FAMILIES}
    assert sum(r.counts["pass"] for r in reports.values()) == len(ranking_trainers.FAMILIES)


# -- the binary SVM ---------------------------------------------------------------------------


def test_wrong_trainers_of_the_binary_svm_are_found():
    def half(**given):
        found = binary_svm.train(**given)
        found.w = found.w / 2
        return found

    def sum_for_mean(X, y, C, **given):
        return binary_svm.train(X, y, C * len(y), **given)

    mine = [i for i in INSTANCES if i.problem.name == ranking_trainers.BINARY]
    assert len(mine) >= 3
    for trainer in (half, sum_for_mean):
        assert all(ranking_trainers.examine(i, trainer).verdict is Verdict.FAIL for i in mine)


def test_what_rounding_hides_is_uncertain():
    """A gap that consists of the certificate's own rounding is neither pass nor fail."""
    instance = PLAIN[0]
    w = np.zeros(instance["X"].shape[1])
    for error, verdict in ((1e-3, Verdict.INCONCLUSIVE), (1e-9, Verdict.FAIL)):
        found = ModelCertificate(1.0, 0.999, 1e-3, error, 0.0)
        assert ranking_trainers.beside(instance, found, w).verdict is verdict
