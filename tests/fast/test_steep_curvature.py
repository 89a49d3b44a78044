"""Proxes and dual steps of entropies where the curvature dwarfs the scores."""

import numpy as np
import pytest

from fast.losses import ova_logistic, softmax, topk_entropy_alpha, topk_entropy_beta
from verification import Instance, certificates
from verification.verdicts.verdict import Candidate

TOPK = {"topk_entropy_alpha": topk_entropy_alpha, "topk_entropy_beta": topk_entropy_beta}
VECTORS = [[0.3, -0.2, 1.1, 0.0], [1e15, 1e-15, 1.0, 0.5], [-1e15, 1e15, 1e15, 2.0], [0.0] * 4]


@pytest.mark.parametrize("t", [1e13, 1e99, 1e150])
@pytest.mark.parametrize("stem", TOPK)
def test_topk_entropies(stem, t):
    """The bracket of the multiplier must not grow with the curvature, nor may 1 - s decide alone."""
    for vector in VECTORS:
        main = np.array(vector)
        for k in (1, 2):
            prox = Instance.of(f"{stem}.prox", v=main, k=k, t=t, costs=None)
            answer = TOPK[stem].prox(main, k=k, t=t)
            assert certificates.judge(prox, Candidate(answer)).ok, (vector, k)
            params = {"q": main, "y": 3, "k_ii": t, "C": 1.0, "k": k}
            update = Instance.of(f"{stem}.sdca_update", **params, costs=None, sample_weight=None)
            answer = TOPK[stem].sdca_update(**params)
            assert certificates.judge(update, Candidate(answer)).ok, (vector, k)


@pytest.mark.parametrize("t", [1e13, 1e99, 1e150])
def test_softmax(t):
    for vector in VECTORS:
        main = np.array(vector)
        instance = Instance.of("softmax.prox", v=main, t=t, costs=None)
        assert certificates.judge(instance, Candidate(softmax.prox(main, t=t))).ok


@pytest.mark.parametrize("t", [1e3, 1e40, 1e100])
def test_a_tiny_probability_is_a_difference_not_an_exponential(t):
    """e^v has an error of |v| roundings: 345 at v = log 1e-150."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        v = rng.normal(size=3)
        instance = Instance.of("ova_logistic.prox", v=v, t=t, costs=None)
        judgement = certificates.judge(instance, Candidate(ova_logistic.prox(v, t=t)))
        assert judgement.ok, judgement
        assert judgement.distance <= 0.1 * judgement.distance_tolerance
