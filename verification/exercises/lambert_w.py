"""The Lambert function of an exponential.

Write `value(t)`: the number w > 0 with w + log w = t, that is W(e^t), to full relative
precision for every t that a float can be. t may be an array of any shape, the answer has
the same.

It appears in every entropy update. `lambertw(exp(t))` overflows from t = 710 on and is 0
below -745 at best.

Hints
-----
Where t is very small w is e^t, and where it is large w is about t - log t. Newton does the
rest, if the equation is written so that nothing overflows.

For t <= 1 solve for l = log w: l + e^l = t; for t > 1 solve w + log w = t itself. Both left
sides are concave or convex, so Newton does not leave its side.

t > 1: start w = t - log(t) (or 1), iterate w <- w (1 + t - log w)/(1 + w). t <= 1: w =
e^t/(1 + e^t) at first, then w <- w exp(r/(1 + w)) with r = t - w - log w while w is a
normal float; below t = -36, w = e^t.
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 12
PROBLEM = "lambert_w_exp.value"


def value(t: np.ndarray) -> np.ndarray:
    """Newton in w for large t, in log w for small t."""
    t = np.asarray(t, dtype=float)
    large = np.maximum(t, 1.0)
    w = np.maximum(large - np.log(large), 1.0)
    for _ in range(8):
        w = w * ((1 + large - np.log(w)) / (1 + w))
    small = np.clip(t, -36.0, 1.0)
    # w = e^(t - w): Newton for w, where log w is not formed
    v = np.exp(small) / (1 + np.exp(small))
    for _ in range(8):
        e = np.exp(small - v)
        v = v - (v - e) / (1 + e)
    return np.where(t > 1, w, np.where(t < -36, np.exp(np.minimum(t, 0)), v))


@wrong
def overflows(t: np.ndarray) -> np.ndarray:
    """W of the exponential, as the papers print it: infinite beyond t = 710."""
    from scipy.special import lambertw

    with np.errstate(over="ignore", invalid="ignore"):
        return np.real(lambertw(np.exp(t)))


@wrong
def one_step(t: np.ndarray) -> np.ndarray:
    """One Newton step from a good start: five digits, where full precision was asked for."""
    t = np.asarray(t, dtype=float)
    large = np.maximum(t, 1.0)
    w = np.maximum(large - np.log(large), 1.0)
    w = w * ((1 + large - np.log(w)) / (1 + w))
    return np.where(t > 1, w, value(np.minimum(t, 1.0)))


@wrong
def asymptotic(t: np.ndarray) -> np.ndarray:
    """Only the first terms of two series: t - log t for large t, and e^t for the rest."""
    t = np.asarray(t, dtype=float)
    return np.where(t > 2, t - np.log(np.maximum(t, 2)), np.exp(np.minimum(t, 2)))
