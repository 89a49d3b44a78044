"""Claims of fitted estimators: true ones pass; none that is too good, or of another model, does."""

import functools
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from _problems import quietly
from _references import fails
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier

from fast import APSVM, SVMPlusClassifier, TopKLogisticRegression, TopKSVC
from fast.datasets import load_letter, make_gaussian_mixture
from fast.errors import CollapseWarning
from verification import InvalidArgumentError, certificates

FORMS = {"dense": np.asarray, "csr": sp.csr_array, "float32": np.float32, "weighted": np.asarray}
LOSSES = ("hinge", "squared_hinge")
#: By estimator, settings whose claims are judged.
SETTINGS = {
    TopKSVC: [
        {},
        {"k": 2},
        {"k": 3, "variant": "beta"},
        {"k": 2, "gamma": 0.5},
        {"k": 3, "variant": "beta", "gamma": 1.0, "C": 0.05},
        {"k": 2, "fit_intercept": True, "class_weight": "balanced"},
        {"k": 2, "solver": "sdca", "max_iter": 30},
        {"gamma": 1.0, "solver": "newton"},
    ],
    TopKLogisticRegression: [
        {},
        {"k": 2},
        {"k": 3, "variant": "beta"},
        {"k": 3, "truncated": True},
        {"k": 2, "fit_intercept": True, "class_weight": "balanced"},
        {"k": 2, "kernel": "rbf", "kernel_params": {"gamma": 0.2}},
        {"kernel": "rbf", "fit_intercept": True},
        {"k": 2, "truncated": True, "kernel": "rbf"},
    ],
    SVMPlusClassifier: [
        {"loss": loss, "kernel": kernel, "kernel_z": kernel_z, "nonneg_slack": nonneg, "free_slack": own}
        for loss, (kernel, kernel_z), (nonneg, own) in itertools.product(
            LOSSES,
            (("linear", "linear"), ("rbf", "linear"), ("linear", "rbf")),
            ((False, 0.3), (True, 0.3), (True, 0.0)),
        )
    ],
    APSVM: [{}, {"C": 1000.0}, {"C": 0.1}],
}  # fmt: skip
CASES = [(kind, settings) for kind, several in SETTINGS.items() for settings in several]
#: What else than the defaults: tolerances that data of this size are solved to in a moment.
BASE = {
    TopKSVC: {"C": 0.1, "tol": 1e-4, "random_state": 0},
    TopKLogisticRegression: {"C": 0.5, "tol": 1e-6},
    SVMPlusClassifier: {"C": 3.0, "tol": 1e-7},
    APSVM: {"C": 10.0, "tol": 1e-5},
}


@functools.cache
def examples(kind):
    """X, y, privileged features or queries, and weights of which some are 0."""
    rng = np.random.default_rng(3)
    if kind in (TopKSVC, TopKLogisticRegression):
        X, y = make_gaussian_mixture(300, 6, 8, separation=2.0, random_state=3)
        return X, np.array(list("fedcba"))[y], {}, rng.uniform(0, 2, 300) * (rng.random(300) > 0.1)
    X = rng.standard_normal((60, 4))
    score = X[:, 0] + 0.6 * rng.standard_normal(60)
    if kind is APSVM:
        return X, score > np.quantile(score, 0.7), {"groups": np.arange(60) % 3}, None
    y = np.digitize(score, np.quantile(score, [1 / 3, 2 / 3]))
    Z = np.column_stack([10 + 3 * abs(score), rng.standard_normal(60)])
    return X, y, {"Z": Z}, rng.integers(0, 3, 60) * 0.5


def fitted(kind, settings, form="dense"):
    """A fitted model, and the data that its claims are about."""
    X, y, more, weight = examples(kind)
    more = {name: FORMS[form](value) if name == "Z" else value for name, value in more.items()}
    if form == "weighted" and weight is not None:
        more = more | {"sample_weight": weight}
    model, X = kind(**(BASE[kind] | settings)), FORMS[form](X)
    quietly(model, X, y, ignored=(ConvergenceWarning, CollapseWarning), **more)
    return model, (X, y), more


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kind", "settings"), CASES)
def test_claims_are_true(kind, settings, form):
    model, data, more = fitted(kind, settings, form)
    found = certificates.trained(model, *data, **more)
    judgement = certificates.judge_claims(model, *data, **more)
    assert judgement.ok, judgement.message
    assert found.primal == pytest.approx(np.sum(model.primal_objective_), rel=1e-9)
    assert found.moved <= 1e-11 * model.C
    if "max_iter" not in settings:
        assert found.relative_gap <= 1.1 * model.tol


@pytest.mark.parametrize(("kind", "settings"), CASES)
def test_claims_that_are_too_good_are_refuted(kind, settings):
    model, data, more = fitted(kind, settings | {"tol": 1e-2})
    for name, by in (
        ("dual_gap_", -0.7),
        ("dual_gaps_", -0.7),
        ("primal_objective_", -1e-6),
        ("dual_objective_", 1e-2),
    ):
        honest, word = getattr(model, name, None), name.split("_")["gap" in name].rstrip("s")
        if honest is None or (word == "gap" and np.max(honest) < 1e-9):
            continue
        setattr(model, name, honest + by * np.abs(honest))
        fails(certificates.judge_claims(model, *data, **more), word)
        setattr(model, name, honest)
    for name in {"dual_gap_", "dual_gaps_"} & set(vars(model)):  # a weaker claim
        setattr(model, name, 10 * getattr(model, name))
    assert certificates.judge_claims(model, *data, **more).ok


@pytest.mark.parametrize(("kind", "settings"), CASES)
def test_attributes_of_another_model_are_refuted(kind, settings):
    """Of several problems the one whose part is not its own is named, and no other."""
    free = {"fit_intercept": True} if "fit_intercept" in kind().get_params() else {}
    model, data, more = fitted(kind, settings | {"tol": 1e-8} | free)
    names = ["coef_", "dual_coef_", "correction_coef_", "correction_intercept_"]
    judged = kind is not APSVM  # where it is no part of the ranking
    for name in [*names, *(["intercept_"] if judged else [])]:
        honest = getattr(model, name, None)
        if honest is None or sp.issparse(honest) or not np.any(honest):
            continue
        wrong = np.array(honest)
        rows = wrong[1:2] if kind is SVMPlusClassifier else wrong
        rows += 0.1 * (1 + np.abs(rows).max()) * np.random.default_rng(0).uniform(-1, 1, rows.shape)
        setattr(model, name, wrong)
        found = certificates.judge_claims(model, *data, **more)
        assert not found.ok, name
        if kind is SVMPlusClassifier:
            assert "problem 1" in found.message
            assert "problem 0" not in found.message
        setattr(model, name, honest)
    assert certificates.judge_claims(model, *data, **more).ok


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_an_intercept_that_was_not_asked_for_is_refuted(kernel):
    X, y, _, _ = examples(TopKSVC)
    model = TopKSVC(kernel=kernel, fit_intercept=False, tol=1e-2, random_state=0).fit(X, y)
    assert certificates.judge_claims(model, X, y).ok
    model.intercept_ = model.intercept_ + 0.1
    fails(certificates.judge_claims(model, X, y), "intercept_")
    with pytest.raises(InvalidArgumentError, match="intercept_"):
        certificates.trained(model, X, y)


@pytest.mark.parametrize(("kind", "settings"), CASES)
def test_a_model_of_another_problem_is_refuted(kind, settings):
    model, (X, y), more = fitted(kind, settings)
    model.set_params(C=1.1 * model.C)
    assert not certificates.judge_claims(model, X, y, **more).ok


@pytest.fixture
def mixture():
    X, y, _, weight = examples(TopKSVC)
    return X, y, weight


def test_letter():
    X, y = load_letter(subset="train")
    model = TopKSVC(k=5, C=1e-4, tol=1e-3, random_state=0).fit(X, y)
    assert certificates.judge_claims(model, X, y).ok


def test_a_kernel_that_is_given(mixture):
    X, y, _ = mixture
    K = np.asarray(X @ X.T)
    given = TopKLogisticRegression(C=0.1, tol=1e-6, kernel="precomputed").fit(K, y)
    linear = TopKLogisticRegression(C=0.1, tol=1e-6).fit(X, y)
    proofs = [certificates.trained(given, K, y), certificates.trained(linear, X, y)]
    assert all(p.relative_gap <= 1.01e-6 for p in proofs)
    # K is rounded: the two problems are not the same to the last bit
    assert max(p.dual for p in proofs) <= min(p.primal for p in proofs) * (1 + 1e-12)
    svc = TopKSVC(C=0.1, tol=1e-4, kernel="rbf", random_state=0).fit(X, y)
    assert certificates.judge_claims(svc, X, y).ok


def test_a_false_kept_mask_is_seen(mixture):
    X, y, _ = mixture
    model = TopKLogisticRegression(k=3, truncated=True, C=0.5, tol=1e-6).fit(X, y)
    model.kept_ = np.ones_like(model.kept_)
    assert certificates.trained(model, X, y).relative_gap > 1e-3


@pytest.mark.parametrize(
    "binary",
    [
        TopKSVC(C=0.3, tol=1e-5, random_state=0),
        TopKSVC(C=0.3, gamma=0.5, tol=1e-5, random_state=0, fit_intercept=True),
        TopKLogisticRegression(C=0.3, tol=1e-6),
    ],
)
def test_one_vs_rest_is_one_problem(mixture, binary):
    X, y, _ = mixture
    model = OneVsRestClassifier(binary).fit(X, y)
    found = certificates.trained(model, X, y)
    assert found.relative_gap <= 1.1e-5
    assert found.moved < 1e-12
    W = np.stack([part.coef_[1] - part.coef_[0] for part in model.estimators_])
    scores = np.column_stack([part.decision_function(X) for part in model.estimators_])
    z = np.where(model.classes_ == y[:, None], -scores, scores)
    if isinstance(binary, TopKLogisticRegression):
        assert found.primal == pytest.approx(
            0.5 * (W * W).sum() + 0.6 * np.logaddexp(0, z).sum(), rel=1e-9
        )
    elif binary.gamma == 0:
        hinge = np.maximum(0, 1 + z).sum()
        assert found.primal == pytest.approx(0.5 * (W * W).sum() + 0.6 * hinge, rel=1e-9)


def test_one_vs_rest_that_is_none_is_refused(mixture):
    X, y, _ = mixture
    two = OneVsRestClassifier(TopKSVC(C=0.1)).fit(X, y == y[0])
    with pytest.raises(InvalidArgumentError, match="3 classes"):
        certificates.trained(two, X, y == y[0])
    balanced = OneVsRestClassifier(TopKSVC(C=0.1, class_weight="balanced")).fit(X, y)
    with pytest.raises(InvalidArgumentError, match="class_weight"):
        certificates.trained(balanced, X, y)
