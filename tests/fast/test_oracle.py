"""The optimum that the oracle finds lies between what the trainers claim of P and of D."""

import _problems
import numpy as np
import pytest

import refsolve
from fast import TopKSVC
from fast.models import ap_svm_appx, binary_svm, latent_ap_svm, recall_at_k, top_push

X, Y = _problems.relevant(3, n=40, d=3, shift=2.0)
EASY = ap_svm_appx.easy_examples(X, Y, 10.0, 0.5)
K = int(Y.sum())
PROBLEMS = {
    "binary svm": ("binary_svm", {"C": 10.0}, lambda: binary_svm.train(X, Y, 10.0, tol=1e-8)),
    "easy": (
        "ap_svm_appx",
        {"C": 5.0, "easy": EASY},
        lambda: ap_svm_appx.train(X, Y, 5.0, EASY, tol=1e-8),
    ),
    "bags of one candidate": (
        "ap_svm",
        {"C": 10.0},
        lambda: latent_ap_svm.train(X, np.arange(40), Y, 10.0, tol=1e-7),
    ),
}
for C in (0.1, 10.0):
    PROBLEMS[f"top push {C}"] = (
        "top_push",
        {"C": C},
        lambda C=C: top_push.train(X, Y, C, tol=1e-9),
    )
    for k in (K, 4, 30):
        PROBLEMS[f"recall {k} {C}"] = (
            "recall_at_k",
            {"C": C, "k": k},
            lambda C=C, k=k: recall_at_k.train(X, Y, C, k, tol=1e-8),
        )
        PROBLEMS[f"recall {k} {C} by cutting planes"] = (
            "recall_at_k",
            {"C": C, "k": k},
            lambda C=C, k=k: recall_at_k.train(
                X, Y, C, k, tol=1e-6, max_iter=3000, solver="cutting_plane"
            ),
        )


@pytest.mark.parametrize("name", PROBLEMS)
def test_rankers_and_binary_svms(name):
    problem, given, train = PROBLEMS[name]
    asked = refsolve.solve(f"{problem}.primal", X=X, y=Y.astype(int), **given)
    value = asked.raise_if_uncertain().value
    found = train()
    assert found.gap <= 1e-6
    assert found.dual <= value * (1 + 2e-6)
    assert value <= found.primal * (1 + 2e-6)


@pytest.mark.parametrize(
    ("loss", "params"),
    [
        ("topk_hinge_alpha", {"variant": "alpha", "k": 2}),
        ("topk_hinge_beta", {"variant": "beta", "k": 2}),
        ("smooth_topk_hinge_alpha", {"variant": "alpha", "k": 3, "gamma": 0.5}),
        ("smooth_topk_hinge_beta", {"variant": "beta", "k": 2, "gamma": 2.0}),
    ],
)
def test_top_k_hinges(loss, params):
    X, y = _problems.classes(3, n=10, m=4, d=3)
    given = {n: v for n, v in params.items() if n != "variant"}
    truth = refsolve.solve("multiclass_erm.primal", loss=loss, y=y, X=X, C=0.4, **given).certificate
    lam = 1.0 / (0.4 * len(y))  # refsolve's P is ours times lambda
    high, low = truth.primal / lam, (truth.primal - truth.gap) / lam
    assert high - low <= 1e-4 * high
    for solver in ("active", "sdca", *(["newton"] if "gamma" in params else [])):
        model = TopKSVC(C=0.4, solver=solver, random_state=0, **params)
        tol = 1e-2 if solver == "sdca" else 1e-8
        _problems.quietly(model.set_params(tol=tol), X, y)
        assert model.dual_objective_ <= high * (1 + 1e-12)
        assert low <= model.primal_objective_ * (1 + 1e-12)
