"""The smooth top-k SVM loss of Berrada, Zisserman and Kumar (2018), k = 1, margin 0: the softmax loss.

Written anew from the paper: tau log of a quotient of elementary symmetric polynomials of e^(s/(k tau)), and the hard
loss in its place where the k-th score leads the next by k tau log 1000, as their code does.
"""

from typing import Any

import numpy as np

PROBLEM = "softmax.value"
PACKAGES = ("numpy",)
BATCH = False
THRESHOLD = 1e3
DEFECT = "The smooth top-k loss is 0, with a gradient of 0, where it should be .69."
FOUND = """Right until the threshold switches to the hard loss: where the first score leads the second by tau log 1000
= 6.91 the answer is 0, with a gradient of 0, and with 1000 classes the loss is .69 there. The switch keeps
the authors' divisions of polynomials from losing their digits; the recursion in logarithms here needs none.
At their settings (tau 1, margin 1) the jump is at most 1.3 at 1000 classes, and grows with the logarithm of
their number."""
REPRODUCE = """
import numpy as np

# 1000 classes; the truth leads all others by 6.91, and the switch is at log 1000 = 6.9078
scores = np.zeros(1000)
scores[0] = 6.91
lead = scores[0] - np.sort(scores)[-2]
smooth = np.log(np.exp(scores - scores[0]).sum())
returned = 0.0 if lead >= np.log(1e3) else smooth
right = smooth  # 0.69
"""


def log_polynomials(logs: np.ndarray, k: int) -> tuple[float, float]:
    """Logarithms of the elementary symmetric polynomials of degrees k - 1 and k of e^logs."""
    known = np.full(k + 1, -np.inf)
    known[0] = 0.0
    for each in logs:
        known[1:] = np.logaddexp(known[1:], known[:-1] + each)
    return known[k - 1], known[k]


def candidate(scores: Any, y: Any, k: int = 1, tau: float = 1.0) -> Any:
    """One vector; k and tau are theirs, the margin is 0."""
    others, truth = np.delete(scores, y), scores[y]
    leads = np.sort(scores)[::-1]
    if leads[k - 1] - leads[k] >= k * tau * np.log(THRESHOLD):
        highest = np.sort(others)[::-1]
        return max(highest[:k].mean() - (highest[: k - 1].sum() + truth) / k, 0.0)
    below, without = log_polynomials(others / (k * tau), k)
    with_truth = below + truth / (k * tau)
    return tau * (np.logaddexp(without, with_truth) - with_truth)
