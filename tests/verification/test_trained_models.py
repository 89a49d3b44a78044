"""What `fast.TopKSVC` claims of itself, judged by formulas that share nothing with the trainer."""

import numpy as np
import pytest
import scipy.sparse as sp

from fast import TopKSVC
from fast.datasets import load_letter, make_gaussian_mixture
from verification import Verdict, certificates

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
    judgement = certificates.judge_claims(model, X, y)
    assert judgement.verdict is Verdict.FAIL
    assert "gap" in judgement.message
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
