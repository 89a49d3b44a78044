"""Scores as log-odds, by a straight line through them: in this unit those of several classes compare."""

import numpy as np
from scipy.special import expit

MOST, FLAT, ROUNDED = 100, 1e-12, 1e-13


def log_odds(f: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """(a, c), a >= 0, such that a f + c is the logarithm of the odds of the positive class.

    Minimises sum_i w_i log(1 + exp(a f_i + c)) - w_i t_i (a f_i + c), t = (N+ + 1)/(N+ + 2) of positive
    examples, 1/(N- + 2) of negative ones, N their weights: (a, c) stays finite where scores separate
    (Platt, "Probabilistic outputs for support vector machines", 1999). A falling line is a = 0.
    """
    up, down = float(weight[positive].sum()), float(weight[~positive].sum())
    t = np.where(positive, (up + 1.0) / (up + 2.0), 1.0 / (down + 2.0))
    share = weight / weight.sum()
    target = float(share @ t)
    prior = float(np.log(target / (1.0 - target)))
    middle = float(share @ f)
    spread = float(np.sqrt(share @ (f - middle) ** 2))
    if not spread > FLAT * float(abs(f).max(initial=0.0)):
        return 0.0, prior
    u = (f - middle) / spread

    def value(x: np.ndarray) -> float:
        z = x[0] * u + x[1]
        return float(share @ (np.logaddexp(0.0, z) - t * z))

    x = np.array([0.0, prior])
    now = value(x)
    for _ in range(MOST):
        p = expit(x[0] * u + x[1])
        pull, bend = share * (p - t), share * p * (1.0 - p)
        slope = np.array([float(pull @ u), float(pull.sum())])
        far, mixed, near = float(bend @ (u * u)) + FLAT, float(bend @ u), float(bend.sum()) + FLAT
        step = np.array([near * slope[0] - mixed * slope[1], far * slope[1] - mixed * slope[0]])
        step /= far * near - mixed * mixed
        fall, length = float(slope @ step), 1.0
        if fall <= ROUNDED * now:  # which no value shows: the last step squares what is left
            x = x - step
            break
        while True:
            ahead = x - length * step
            found = value(ahead)
            if not (found > now - 0.25 * length * fall and length > FLAT):
                break
            length *= 0.5
        x, now = ahead, found
    a = float(x[0]) / spread
    return (a, float(x[1]) - a * middle) if a > 0.0 else (0.0, prior)
