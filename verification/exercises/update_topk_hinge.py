"""The coordinate ascent step of the top-k hinge.

Write `sdca_update(q, y, k_ii, C=1.0, k=1)`: the new dual block of one example, everything
else fixed. Here q = W'x_i - K_ii a_i are the m scores without the example's own block, K_ii
= ||x_i||^2, and the dual is

    D(A) = -C sum_i L*(a_i / C) - 1/2 ||W||^2,  W = X'A.

With x = -a over the d = m - 1 other classes and a_y = s = <1,x> the block maximises

    sum_j x_j (q_j - q_y + 1) - K_ii/2 (||x||^2 + s^2)  over  {x >= 0, s <= C, x_j <= s/k}.

Return all m entries of a. K_ii may be 0, then so are the scores q.

Hints
-----
Complete the square: the step is a projection with one more term, the square of the sum.

With b = (q - q_y + 1)/K_ii over the others: minimise ||x - b||^2 + <1,x>^2 over the top-k
simplex of radius C. It is found as without that term, with another height u.

As in `project_topk_alpha` at b, but u = min((S_k(b) + delta)/(k (1 + k)), C/k). To allow
K_ii = 0 work with z = K_ii b; at K_ii = 0 the k largest z get C/k each if their sum is
positive. Then a = -x, a_y = <1,x>.
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 6
PROBLEM = "topk_hinge_alpha.sdca_update"


def sdca_update(q: np.ndarray, y: int, k_ii: float, C: float = 1.0, k: int = 1) -> np.ndarray:
    """The biased projection (rho = 1) of z/K_ii, solved for K_ii x."""
    z = np.delete(q - q[y] + 1.0, y)
    x = np.zeros(z.size)
    order = -np.sort(-z)
    total = order[:k].sum()
    if k_ii == 0:  # and q = 0, so z = 1
        x[np.argsort(-z, kind="stable")[:k]] = C / k
    elif total > 0:
        top, rest = order[:k] - order[k - 1], order[k - 1] - order[k:]

        def height(q: float) -> tuple[float, float]:
            delta = np.maximum(q - rest, 0.0).sum()
            u = min((total + delta) / (k * (1 + k)), k_ii * C / k)
            return u, delta - np.maximum(u - q - top, 0.0).sum()

        low, high = 0.0, min(order[0], k_ii * C / k)
        while low < (middle := low + (high - low) / 2) < high:
            low, high = (middle, high) if height(middle)[1] < 0 else (low, middle)
        x = np.clip(z - order[k - 1] + high, 0.0, height(high)[0]) / k_ii
    return np.insert(-x, y, x.sum())


@wrong
def square_of_the_sum_forgotten(
    q: np.ndarray, y: int, k_ii: float, C: float = 1.0, k: int = 1
) -> np.ndarray:
    """a_y is part of the block's norm: without s^2 the step is too long."""
    from verification.exercises.project_topk_alpha import project

    z = np.delete(q - q[y] + 1.0, y)
    if k_ii == 0:
        return sdca_update(q, y, k_ii, C, k)
    x = project(z / k_ii, k, C)
    return np.insert(-x, y, x.sum())


@wrong
def truth_without_the_sum(
    q: np.ndarray, y: int, k_ii: float, C: float = 1.0, k: int = 1
) -> np.ndarray:
    """a_y is left at 0: the block does not add up to 0."""
    a = sdca_update(q, y, k_ii, C, k)
    a[y] = 0.0
    return a


@wrong
def radius_one(q: np.ndarray, y: int, k_ii: float, C: float = 1.0, k: int = 1) -> np.ndarray:
    """The radius is 1 instead of C = 1/(lambda n)."""
    return sdca_update(q, y, k_ii, 1.0, k)
