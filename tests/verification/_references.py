"""Naive twins for the tests: no formula of the code under test."""

from __future__ import annotations

import itertools

import numpy as np

from verification.mutants import _sound, _sound_entropy


def updates(project):
    """The SDCA updates of a hinge and of its smooth version, from a projection."""

    def hinge(q, y, k_ii, C=1.0, k=1, costs=None, sample_weight=None):
        return _sound.update(project, q, y, k_ii, C, k, 0.0, costs, sample_weight)

    def smooth(q, y, k_ii, C=1.0, k=1, gamma=1.0, costs=None, sample_weight=None):
        return _sound.update(project, q, y, k_ii, C, k, gamma, costs, sample_weight)

    return hinge, smooth


def prox(project, smooth):
    """Prox of a hinge (or of its smooth version) by Moreau's identity."""

    def of_hinge(v, k=1, t=1.0, costs=None):
        return _prox(v, k, t, 0.0, costs)

    def of_smooth(v, k=1, t=1.0, gamma=1.0, costs=None):
        return _prox(v, k, t, gamma, costs)

    def _prox(v, k, t, gamma, costs):
        v = np.asarray(v, dtype=float)
        c = np.ones(v.size) if costs is None else costs
        return v - t * project((v + c) / (t + gamma), k, 1.0, 0.0)

    return of_smooth if smooth else of_hinge


def others(scores, y, costs):
    """Margins z of the other classes."""
    scores = np.asarray(scores, dtype=float)
    c = np.ones(scores.size) if costs is None else np.asarray(costs, dtype=float)
    return np.delete(scores - scores[y] + c, y)


def hinge_value(z, k, variant):
    """Loss by its definition: a maximum over all subsets of k classes."""
    if variant == "beta":
        z = np.maximum(z, 0)
    sums = [sum(subset) for subset in itertools.combinations(z, k)]
    return max(0.0, max(sums) / k)


def entropy(operation, shared):
    """An operation of a top-k entropy, with the complement where it is asked for."""

    def value(scores, y, k=1, costs=None, sample_weight=None):
        weight = 1.0 if sample_weight is None else sample_weight
        return weight * _sound_entropy.value(_sound_entropy.margins(scores, y, costs), k, shared)

    def gradient(scores, y, k=1, costs=None, sample_weight=None, return_complement=False):
        both = _sound_entropy.gradient(scores, y, k, shared, costs, sample_weight)
        return both if return_complement else both[0]

    def prox(v, k=1, t=1.0, costs=None, return_complement=False):
        both = _sound_entropy.prox(v, k, t, shared, costs)
        return both if return_complement else both[0]

    def sdca_update(
        q, y, k_ii, C=1.0, k=1, costs=None, sample_weight=None, return_complement=False
    ):
        both = _sound_entropy.update(q, y, k_ii, C, k, shared, costs, sample_weight)
        return both if return_complement else both[0]

    return locals()[operation]


SOUND = {
    "topk_simplex_alpha.projection": _sound.alpha,
    "topk_simplex_beta.projection": _sound.beta,
    "topk_cone.projection": _sound.unbounded,
    "topk_hinge_alpha.sdca_update": updates(_sound.alpha)[0],
    "topk_hinge_beta.sdca_update": updates(_sound.beta)[0],
    "smooth_topk_hinge_alpha.sdca_update": updates(_sound.alpha)[1],
    "smooth_topk_hinge_beta.sdca_update": updates(_sound.beta)[1],
    "topk_hinge_alpha.prox": prox(_sound.alpha, False),
    "topk_hinge_beta.prox": prox(_sound.beta, False),
    "smooth_topk_hinge_alpha.prox": prox(_sound.alpha, True),
    "smooth_topk_hinge_beta.prox": prox(_sound.beta, True),
    "topk_entropy_alpha.gradient": entropy("gradient", True),
    "topk_entropy_alpha.sdca_update": entropy("sdca_update", True),
    "topk_entropy_beta.prox": entropy("prox", False),
    "topk_entropy_beta.sdca_update": entropy("sdca_update", False),
}
