"""Losses and special functions of NumPy, SciPy and scikit-learn, and a published formula written anew."""

from typing import Any

import numpy as np


def numpy_logaddexp(scores: Any, y: Any) -> Any:
    """One vector."""
    signed = np.array(scores)
    signed[y] = -signed[y]
    return np.logaddexp(0.0, signed).sum()


def scipy_entropy(x: Any) -> Any:
    """<x, log x> + (1 - s) log(1 - s), infinite outside of the simplex, as entr is."""
    from scipy.special import entr

    return -entr(np.append(x, 1 - x.sum())).sum()


def scipy_expit(scores: Any, y: Any) -> Any:
    """One vector."""
    from scipy.special import expit

    return expit(scores) - (np.arange(len(scores)) == y)


def scipy_lambertw(t: Any) -> Any:
    """Element by element."""
    from scipy.special import lambertw

    with np.errstate(over="ignore"):
        return np.real(lambertw(np.exp(t)))


def scipy_log_softmax(scores: Any, y: Any) -> Any:
    """The loss of one row, or of each."""
    from scipy.special import log_softmax

    logs = np.asarray(log_softmax(scores, axis=-1))
    return -np.take_along_axis(logs, np.expand_dims(np.asarray(y), -1), -1).squeeze(-1)


def scipy_logsumexp(scores: Any, y: Any) -> Any:
    """The loss of one row, or of each."""
    from scipy.special import logsumexp

    truth = np.take_along_axis(scores, np.expand_dims(np.asarray(y), -1), -1)
    return logsumexp(scores, axis=-1) - truth.squeeze(-1)


def scipy_softmax(scores: Any, y: Any) -> Any:
    """Probabilities, less 1 at the truth."""
    from scipy.special import softmax

    p = np.array(softmax(scores, axis=-1))
    at = np.expand_dims(np.asarray(y), -1)
    np.put_along_axis(p, at, np.take_along_axis(p, at, -1) - 1, -1)
    return p


def scipy_wrightomega(t: Any) -> Any:
    """Element by element."""
    from scipy.special import wrightomega

    return wrightomega(t)


def sklearn_hinge_loss(scores: Any, y: Any) -> Any:
    """Mean over one sample."""
    from sklearn.metrics import hinge_loss

    m = len(scores)
    decision = scores[None, :] if m > 2 else np.array([scores[1] - scores[0]])
    return hinge_loss([y], decision, labels=np.arange(m))


def sklearn_log_loss(scores: Any, y: Any) -> Any:
    """The mean over one row."""
    from scipy.special import softmax
    from sklearn.metrics import log_loss

    return log_loss([y], softmax(scores)[None, :], labels=np.arange(len(scores)))


#: The quotient from which on the smooth top-k loss is the hard one.
THRESHOLD = 1e3


def log_polynomials(logs: np.ndarray, k: int) -> tuple[float, float]:
    """Logarithms of the elementary symmetric polynomials of degrees k - 1 and k of e^logs."""
    known = np.full(k + 1, -np.inf)
    known[0] = 0.0
    for each in logs:
        known[1:] = np.logaddexp(known[1:], known[:-1] + each)
    return known[k - 1], known[k]


def smooth_topk_threshold(scores: Any, y: Any, k: int = 1, tau: float = 1.0) -> Any:
    """One vector; k and tau are theirs, the margin is 0."""
    others, truth = np.delete(scores, y), scores[y]
    leads = np.sort(scores)[::-1]
    if leads[k - 1] - leads[k] >= k * tau * np.log(THRESHOLD):
        highest = np.sort(others)[::-1]
        return max(highest[:k].mean() - (highest[: k - 1].sum() + truth) / k, 0.0)
    below, without = log_polynomials(others / (k * tau), k)
    with_truth = below + truth / (k * tau)
    return tau * (np.logaddexp(without, with_truth) - with_truth)
