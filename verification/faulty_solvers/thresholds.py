"""Losses on the softplus of torch, which is the identity beyond a threshold of 20: e^-20 is lost, of 20."""

from typing import Any

import numpy as np
from scipy.special import expit

from verification.bridges.torch_losses import torch
from verification.faulty_solvers import wrong
from verification.faulty_solvers.torch_losses import wrong_row
from verification.reference_solvers import entropies as sound
from verification.reference_solvers.projections import Array, Costs, Weight, weight
from verification.reference_solvers.torch_losses import others

THRESHOLD = 20.0


def softplus(v: float) -> float:
    """log(1 + e^v) up to the threshold, v beyond."""
    return v if v > THRESHOLD else sound.softplus(v)


def binary(scores: Array, y: int, costs: Costs) -> tuple[Array, Array]:
    """Margins of all classes against the rest, and the signs of their scores."""
    signs = np.where(np.arange(len(scores)) == y, -1.0, 1.0)
    return signs * scores + (0.0 if costs is None else costs), signs


@wrong("softmax.value")
def softmax_with_a_threshold(sample_weight: Weight, **given: Any) -> float:
    """Softmax on torch's softplus: beyond 20 it is the margin."""
    return weight(sample_weight) * sound.value(sound.margins(**given), 1, True, softplus)


@wrong("topk_entropy_alpha.value")
def entropy_alpha_with_a_threshold(k: int, sample_weight: Weight, **given: Any) -> float:
    """The alpha entropy on torch's softplus."""
    return weight(sample_weight) * sound.value(sound.margins(**given), k, True, softplus)


@wrong("topk_entropy_beta.value")
def entropy_beta_with_a_threshold(k: int, sample_weight: Weight, **given: Any) -> float:
    """The beta entropy on torch's softplus."""
    return weight(sample_weight) * sound.value(sound.margins(**given), k, False, softplus)


@wrong("truncated_topk_entropy.value")
def truncated_with_a_threshold(k: int, sample_weight: Weight, **given: Any) -> float:
    """The truncated entropy on torch's softplus."""
    rest = np.sort(sound.margins(**given))
    return weight(sample_weight) * softplus(sound.log_sum(rest[: rest.size - k + 1]))


@wrong("ova_logistic.value")
def logistic_with_a_threshold(scores: Array, y: int, costs: Costs, sample_weight: Weight) -> float:
    """The logistic losses are torch's softplus."""
    return weight(sample_weight) * sum(map(softplus, binary(scores, y, costs)[0].tolist()))


@wrong("ova_logistic.gradient")
def logistic_slope_with_a_threshold(
    scores: Array, y: int, costs: Costs, sample_weight: Weight
) -> Array:
    """The derivative of torch's softplus: 1 beyond 20."""
    z, signs = binary(scores, y, costs)
    return np.asarray(weight(sample_weight) * signs * np.where(z > THRESHOLD, 1.0, expit(z)))


@wrong("multilabel_entropy.value")
def multilabel_with_a_threshold(
    scores: Array, y: Array, costs: Costs, sample_weight: Weight
) -> float:
    """The mean over the right labels of torch's softplus of the others' log-sum."""
    z = np.asarray(scores, dtype=float) + (0.0 if costs is None else costs)
    rest = [sound.log_sum(np.delete(z, i)) - float(z[i]) for i in np.flatnonzero(y)]
    return weight(sample_weight) * float(np.mean(list(map(softplus, rest))))


@wrong_row("softmax.value")
def torch_threshold(f: Any, y: Any, costs: Any = None) -> Any:
    """torch.nn.functional.softplus itself."""
    return torch.nn.functional.softplus(torch.logsumexp(others(f, y, costs, 0.0), -1))
