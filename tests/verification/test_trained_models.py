"""What our estimators claim of themselves, judged by formulas that share nothing with the trainer."""

import numpy as np
import pytest
import scipy.sparse as sp
from _references import fails
from sklearn.multiclass import OneVsRestClassifier

from fast import TopKLogisticRegression, TopKSVC
from fast.datasets import load_letter, make_gaussian_mixture
from verification import InvalidArgumentError, Verdict, certificates

SETTINGS = [
    {},
    {"k": 2},
    {"k": 3, "variant": "beta"},
    {"k": 2, "gamma": 0.5},
    {"k": 3, "variant": "beta", "gamma": 1.0, "C": 0.05},
    {"k": 2, "fit_intercept": True, "class_weight": "balanced"},
    {"k": 2, "solver": "sdca", "max_iter": 30},
    {"gamma": 1.0, "solver": "newton"},
]


@pytest.fixture(scope="module")
def mixture():
    rng = np.random.default_rng(3)
    X, y = make_gaussian_mixture(300, 6, 8, separation=2.0, random_state=3)
    return X, np.array(list("fedcba"))[y], rng.uniform(0, 2, 300) * (rng.random(300) > 0.1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("form", ["dense", "csr", "float32", "weighted"])
def test_claims_are_true(mixture, settings, form):
    X, y, weight = mixture
    X = {"csr": sp.csr_array, "float32": np.float32}.get(form, np.asarray)(X)
    weight = weight if form == "weighted" else None
    model = TopKSVC(**{"C": 0.1, "tol": 1e-4, "random_state": 0, **settings})
    model.fit(X, y, sample_weight=weight)
    found = certificates.trained(model, X, y, weight)
    judgement = certificates.judge_claims(model, X, y, weight)
    assert judgement.ok, judgement.message
    if "max_iter" not in settings:
        assert found.relative_gap <= 1.01e-4
    assert found.moved <= 1e-12
    assert found.primal == pytest.approx(model.primal_objective_, rel=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_false_claims_are_refuted(mixture):
    X, y, _ = mixture
    model = TopKSVC(k=2, C=0.1, tol=1e-9, solver="sdca", max_iter=4, random_state=0).fit(X, y)
    assert model.dual_gap_ > 1e-6
    assert certificates.judge_claims(model, X, y).ok
    model.dual_gap_ /= 3
    fails(certificates.judge_claims(model, X, y), "gap")
    model.dual_gap_ = 1.0
    model.primal_objective_ *= 1 - 1e-6
    assert "primal" in certificates.judge_claims(model, X, y).message
    model.primal_objective_ = np.inf
    model.dual_objective_ *= 1 + 1e-2
    assert "dual" in certificates.judge_claims(model, X, y).message


def test_letter():
    X, y = load_letter(subset="train")
    model = TopKSVC(k=5, C=1e-4, tol=1e-3, random_state=0).fit(X, y)
    assert certificates.judge_claims(model, X, y).ok


LOGISTIC = [
    {},
    {"k": 2},
    {"k": 3, "variant": "beta"},
    {"k": 3, "truncated": True},
    {"k": 2, "fit_intercept": True, "class_weight": "balanced"},
    {"k": 2, "kernel": "rbf", "kernel_params": {"gamma": 0.2}},
    {"kernel": "rbf", "fit_intercept": True},
    {"k": 2, "truncated": True, "kernel": "rbf"},
]


@pytest.mark.parametrize("settings", LOGISTIC)
@pytest.mark.parametrize("weighted", [False, True])
def test_logistic_claims_are_true(mixture, settings, weighted):
    X, y, weight = mixture
    weight = weight if weighted else None
    model = TopKLogisticRegression(**{"C": 0.5, "tol": 1e-6, **settings})
    model.fit(X, y, sample_weight=weight)
    found = certificates.trained(model, X, y, weight)
    judgement = certificates.judge_claims(model, X, y, weight)
    assert judgement.ok, judgement.message
    assert found.relative_gap <= 1.01e-6
    assert found.primal == pytest.approx(model.primal_objective_, rel=1e-9)
    model.dual_gap_ = model.dual_gap_ / 3 - 1e-9
    assert certificates.judge_claims(model, X, y, weight).verdict is Verdict.FAIL


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
