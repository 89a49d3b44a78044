"""Models as problems: right trainers pass, wrong ones fail with a message that says what is wrong."""

import re
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from _problems import quietly
from _references import drawn, judged

import fast
from verification import Candidate, Verdict, verify
from verification.checks import trained
from verification.instances import datasets
from verification.kit.loop import SHRINK_SECONDS
from verification.models import multiclass_erm
from verification.verdicts import verify_model

ERM, DUAL = "multiclass_erm.primal", "multiclass_erm.dual"
LOSS = {"loss": "topk_hinge_alpha"}


def fit(X, y, C, k, **given):
    params = {"k": k, "C": C, "tol": 1e-6, "random_state": 0, **given}
    return quietly(fast.TopKSVC(**params), X, y)


small = partial(drawn, count=2, seed=3, largest=24)


@pytest.fixture
def few(monkeypatch):
    """Three instances per family."""
    monkeypatch.setattr(trained, "COUNTS", {"quick": 3})


def run(trainer, problem=ERM, **given):
    return verify(trainer, problem, fixed=LOSS, checks=["trained"], **given)


def test_every_loss_that_fast_trains_passes_with_both_sides():
    report = verify(None, ERM).raise_if_failed()
    losses = {r.instance["loss"] for r in report.results if r.verdict is Verdict.PASS}
    assert losses == set(multiclass_erm.trained())
    passed = {r.family for r in report.results if r.verdict is Verdict.PASS}
    assert passed == {*multiclass_erm.TASK.families, "wide"}  # more than 64 columns
    right = [r.instance for r in report.results if r.verdict is Verdict.PASS]
    assert all(i.get("costs") is None for i in right)  # fast has no costs: skipped
    assert report.counts["inconclusive"] == 0
    assert report.worst_gap <= 1e-6


def gives(answer, **given):
    """A trainer that fits with these parameters, and returns something of W and A."""

    def train(X, y, C, k):
        model = fit(X, y, C, k, **given)
        return answer(model.coef_, model.dual_coef_)

    return train


def right_gram(K, y, C, k):
    return fit(K, y, C, k, kernel="precomputed").dual_coef_


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("problem", "trainer"),
    [
        (ERM, gives(lambda W, A: W)),
        (DUAL, gives(lambda W, A: {"A": A})),
        (ERM, gives(lambda W, A: (W, A))),
        (ERM, gives(lambda W, A: Candidate(x=W, dual=A.toarray()))),
        (ERM, right_gram),
    ],
)
def test_right_trainers_pass(problem, trainer):
    report = run(trainer, problem).raise_if_failed()
    assert report.checked >= 3
    assert report.counts["inconclusive"] == 0


def wrong_c(X, y, C, k):
    return fit(X, y, C / len(y), k).coef_


def wrong_k(X, y, C, k):
    return fit(X, y, C, max(1, k - 1)).coef_


def raises(X, y, C, k):
    raise RuntimeError("no convergence")


EARLY = {"tol": 0.5, "max_iter": 3, "solver": "sdca"}
LAST_CLASS = gives(lambda W, A: np.tile(W[-1], (len(W), 1)))
W_SIDE, A_SIDE = r"the primal side \(W\)", r"the dual side \(A\) has objective"


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("problem", "trainer", "words"),
    [
        (ERM, wrong_c, f"optimal for C/n in the place of C.*{W_SIDE}"),
        (ERM, gives(lambda W, A: W, **EARLY), f"{W_SIDE} has objective .*, a certified witness"),
        (ERM, gives(lambda W, A: (W, A), **EARLY), f"gap .* declared tolerance 1e-06.*{A_SIDE}"),
        (ERM, wrong_k, "optimal for k = "),
        (ERM, gives(lambda W, A: W, variant="beta"), "optimal for the loss topk_hinge_beta"),
        (ERM, LAST_CLASS, W_SIDE),
        (ERM, gives(lambda W, A: W, fit_intercept=True), W_SIDE),
        (ERM, raises, "RuntimeError: no convergence"),
    ],
)
def test_wrong_trainers_fail_with_the_reason(problem, trainer, words):
    report = run(trainer, problem, shrink=False)
    assert not report.ok
    messages = "\n".join(r.message for r in report.failures)
    assert re.search(words, messages), messages[:2000]


@pytest.mark.usefixtures("few")
def test_shrinking_ends_at_a_tiny_data_set(monkeypatch):
    monkeypatch.setitem(SHRINK_SECONDS, "quick", 600.0)
    report = run(wrong_c)
    found = report.counterexample_result.instance
    assert found["X"].shape[0] <= 3
    assert found["X"].shape[1] == 1
    assert found["C"] == 1.0  # the plainest, at which C/n is worse
    assert "topk_hinge_alpha" in report.counterexample  # what is built in is said
    assert "# right" in report.counterexample


def test_one_sided_answers_are_proved_wrong_only_by_a_witness(monkeypatch):
    instance = small(ERM, count=1)[0]
    W, A = verify_model.witness(instance)[:2]
    worse = {"W": 1.1 * W["W"]}
    assert judged(instance, worse).verdict is Verdict.FAIL
    monkeypatch.setattr(verify_model, "witness", lambda instance: None)
    assert judged(instance, {**W, **A}).verdict is Verdict.PASS
    hinge = instance.with_params(loss="multiclass_hinge", k=None, gamma=None)
    found = judged(hinge, worse)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_a_poor_witness_leaves_it_open(monkeypatch):
    """Worse than tol against the witness's dual, but not worse than its primal: nobody knows."""
    drawn = datasets.draw(ERM, "random", 3, 1, largest=6, fixed={"loss": "topk_hinge_alpha"})
    hinge = next(i for i in drawn if i["X"] is not None)
    good = verify_model.witness(hinge)
    dual = {"A": 0.99 * good.dual["A"]}
    primal = {"W": 1.01 * good.primal["W"]}
    poor = verify_model.Witness(
        primal, dual, multiclass_erm.TASK.certify(hinge.params, primal, dual)
    )
    monkeypatch.setattr(verify_model, "witness", lambda instance: poor)
    found = judged(hinge, good.primal)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "witness" in found.message


@pytest.mark.parametrize("loss", multiclass_erm.MULTILABEL)
def test_rows_of_labels(loss):
    found = datasets.draw(ERM, "random", 3, 1, largest=6, fixed={"loss": loss})
    assert len(found) == 3
    for instance in found:
        primal, dual, _ = verify_model.witness(instance)
        assert judged(instance, {**primal, **dual}).ok


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (np.ones((2, 3)), {"W"}),
        (sp.csr_array(np.ones((2, 3))), {"W"}),
        ([[1.0, 2.0]], {"W"}),
        ((np.ones((2, 3)), np.ones((4, 2))), {"W", "A"}),
        ({"A": np.ones((4, 2))}, {"A"}),
        ({"A": np.ones((4, 2)), "W": np.ones((2, 3)), "status": "optimal"}, {"W", "A"}),
        (type("Model", (), {"W": np.ones((2, 3)), "b": 0})(), {"W"}),
        (Candidate(np.ones((2, 3)), np.ones((4, 2))), {"W", "A"}),
        (Candidate(None, parts={"A": np.ones((4, 2))}), {"A"}),
    ],
)
def test_what_a_trainer_may_return(answer, expected):
    from verification.kit.parts import unwrap

    assert set(unwrap(answer, ("W", "A"), 1).parts) == expected


@pytest.mark.parametrize(
    "answer",
    [None, "W", {"coef": 1}, (1, 2, 3), np.array(["a"]), [[1.0], [1.0, 2.0]], {}, {"W": None}],
)
def test_what_is_no_answer(answer):
    from verification.kit.parts import AnswerError, unwrap

    with pytest.raises(AnswerError, match="returned"):
        unwrap(answer, ("W", "A"), 1)
