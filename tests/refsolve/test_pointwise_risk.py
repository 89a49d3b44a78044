"""The pointwise risk: against closed forms, another solver's minimum, and wrong duals."""

from itertools import combinations

import numpy as np
import pytest

import refsolve
from refsolve.models import pointwise_risk

LOSSES = [
    ("multiclass_hinge", {}),
    ("topk_hinge_alpha", {"k": 2}),
    ("topk_hinge_beta", {"k": 3}),
    ("smooth_topk_hinge_alpha", {"k": 2, "gamma": 0.5}),
    ("smooth_topk_hinge_beta", {"k": 2, "gamma": 2.0}),
    ("softmax", {}),
    ("topk_entropy_alpha", {"k": 2}),
    ("topk_entropy_beta", {"k": 2}),
    ("ova_hinge", {}),
    ("ova_smooth_hinge", {"gamma": 0.5}),
    ("ova_logistic", {}),
]
IDS = [loss for loss, _ in LOSSES]


def probabilities(seed, m):
    return np.random.default_rng(seed).dirichlet(np.ones(m))


@pytest.mark.parametrize(("loss", "params"), LOSSES, ids=IDS)
@pytest.mark.parametrize("m", [4, 6])
def test_primal_and_dual_meet(loss, params, m):
    p = probabilities(m, m)
    given = {"loss": loss, "p": p, **params}
    least = refsolve.solve("pointwise_risk.primal", **given).raise_if_uncertain()
    most = refsolve.solve("pointwise_risk.dual", **given).raise_if_uncertain()
    proof = pointwise_risk.certificate(loss, p, g=least.x, x=most.x, **params)
    assert proof.gap <= 1e-7 * max(1, proof.scale)
    assert proof.primal - proof.dual == pytest.approx(proof.gap, abs=1e-12)


@pytest.mark.parametrize("loss", ["softmax", "ova_logistic", "ova_smooth_hinge"])
def test_minimisers_with_a_closed_form(loss):
    p = probabilities(7, 4)
    odds = p / (1 - p)
    gamma = 0.5
    known = {
        "softmax": np.log(p) - np.log(p).mean(),
        "ova_logistic": np.log(odds),
        "ova_smooth_hinge": np.where(p >= 0.5, 1 - gamma / odds, -1 + gamma * odds),
    }[loss]
    params = {"gamma": gamma} if loss == "ova_smooth_hinge" else {}
    found = refsolve.solve("pointwise_risk.primal", loss=loss, p=p, **params)
    stated = pointwise_risk.certificate(loss, p, g=known, **params)
    assert stated.gap <= 1e-14
    assert found.value == pytest.approx(stated.primal, abs=1e-8)


def test_a_forbidden_order_costs_what_its_bound_says():
    p = np.array([0.45, 0.3, 0.15, 0.1])
    least = refsolve.solve("pointwise_risk.primal", loss="softmax", p=p)
    other = refsolve.solve("pointwise_risk.primal", loss="softmax", p=p, behind=(1, 2))
    # tied second and third classes share their mass
    q = np.array([0.45, 0.225, 0.225, 0.1])
    assert other.value == pytest.approx(-(p * np.log(q)).sum(), abs=1e-9)
    dual = refsolve.solve("pointwise_risk.dual", loss="softmax", p=p, behind=(1, 2))
    for x in (other.dual, dual.x):
        price = pointwise_risk.margin("softmax", p, 1, 2, x=x, g=other.x, least=least.x)
        assert 0 < price <= other.value - least.value + 1e-12
    free = refsolve.solve("pointwise_risk.primal", loss="softmax", p=p, behind=(2, 1))
    assert free.value == pytest.approx(least.value, abs=1e-9)
    wrong = pointwise_risk.margin("softmax", p, 2, 1, x=free.dual, g=free.x, least=least.x)
    assert wrong <= 1e-12


@pytest.mark.parametrize(("loss", "params"), LOSSES, ids=IDS)
@pytest.mark.parametrize("behind", [None, (0, 1), (1, 2), (2, 1)])
def test_classes_that_never_occur(loss, params, behind):
    """Nothing pushes them up; the order asked for may hold one of them."""
    p, params = np.array([0.6, 0.4, 0.0, 0.0]), {**params, **({"k": 2} if "k" in params else {})}
    given = {"loss": loss, "p": p, "behind": behind, **params}
    found = refsolve.solve("pointwise_risk.dual", **given)
    proof = pointwise_risk.certificate(loss, p, g=found.dual, x=found.x, behind=behind, **params)
    assert proof.gap <= 1e-6 * max(1, proof.scale)
    rows = np.abs(proof.x[2:]).max(initial=0)
    assert rows == 0  # no example of the last two classes


def test_scores_in_the_forbidden_order_are_moved_and_reported():
    p = np.array([0.5, 0.3, 0.2])
    proof = pointwise_risk.certificate("softmax", p, g=[0.0, -1.0, -2.0], behind=(0, 1))
    assert proof.violation == pytest.approx(1)
    assert proof.primal == pytest.approx(
        pointwise_risk.certificate("softmax", p, g=[-0.5, -0.5, -2.0]).primal
    )


@pytest.mark.parametrize("seed", range(20))
def test_expected_errors_against_all_sets_of_guesses(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 6))
    k, p = int(rng.integers(1, m + 1)), probabilities(seed, m)
    g = rng.integers(0, 3, size=m).astype(float)
    sets = [
        chosen
        for chosen in combinations(range(m), k)
        if min(g[list(chosen)]) >= max((g[j] for j in range(m) if j not in chosen), default=0)
    ]
    assert pointwise_risk.expected_error(g, p, k) == pytest.approx(
        max(1 - p[list(chosen)].sum() for chosen in sets)
    )
    assert pointwise_risk.bayes_error(p, k) == pytest.approx(
        min(1 - p[list(chosen)].sum() for chosen in combinations(range(m), k))
    )
