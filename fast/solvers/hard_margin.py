"""Linear constraints y_i (<x_i, w> + b) >= 1 with a free b: a feasible point, or a proof of none.

The distance between the hulls of the two classes, min ||sum_i mu_i y_i x_i|| over mu >= 0 with sum 1 in
each class, is 2/||w|| for the shortest feasible w; no w is feasible if it is 0 (Farkas). The examples
that matter are collected in a working set.
"""

from typing import Any, NamedTuple

import numpy as np

from fast.errors import InseparableError
from fast.solvers import interior_point
from fast.solvers.cuts import Product
from fast.solvers.rows import is_sparse

ADDED = 10  # examples of each class that enter the working set at a time
ROUNDS = 1000
SMALL = 1e-6  # weights that are left out if the points come no further apart by that
ROUGHLY = 0.05  # accuracy of the distance, relative
CROWDED, NEGLIGIBLE = 200, 1e-12  # a larger working set forgets weights below this
INSEPARABLE = 1e-9  # distance of the hulls that counts as 0, relative to the largest ||x_i - mean||


class Separation(NamedTuple):
    """Feasible w, and the examples (indices) that it was found with."""

    w: np.ndarray
    members: np.ndarray


class Margins:
    """The examples, signed: what their constraints say of a w.

    Parameters
    ----------
    X : (n, d) array or CSR
    signs : (n,) array of +-1
        Both occur.
    """

    def __init__(self, X: Any, signs: np.ndarray) -> None:
        self.X, self.signs, self.product = X, signs, Product(X)
        self.up = signs > 0.0
        self.mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()

    def rows(self, members: np.ndarray) -> np.ndarray:
        """y_i (x_i - mean) of some examples, dense float64; b takes up what is subtracted.

        sum_i mu_i y_i x_i is the same, as sum_i mu_i y_i = 0, and loses no digits far from 0.
        """
        rows = self.X[members]
        rows = rows.toarray() if is_sparse(rows) else rows
        return self.signs[members, None] * (rows.astype(np.float64) - self.mean)

    def of(self, w: np.ndarray) -> tuple[np.ndarray, float]:
        """y_i (<x_i, w> + b) (n,) at the best b, and that b: both classes have the same least one."""
        scores = self.product.scores(w)
        b = 0.0 - 0.5 * float(scores[self.up].min() + scores[~self.up].max())
        return self.signs * (scores + b), b

    def worst(self, margins: np.ndarray, members: np.ndarray, least: float) -> np.ndarray:
        """Examples outside ``members`` with margins below ``least``, the smallest of each class."""
        found = [np.empty(0, np.int64)]
        outside = margins < least
        outside[members] = False
        for side in (self.up, ~self.up):
            where = np.flatnonzero(outside & side)
            # Of equals the first: which ones a partition takes hangs on the processor.
            found.append(where[np.argsort(margins[where], kind="stable")[:ADDED]])
        return np.concatenate(found)


def separate(margins: Margins, accuracy: float = ROUGHLY) -> Separation:
    """A feasible w, at most 1 + ``accuracy`` times as long as the shortest.

    Raises
    ------
    InseparableError
        With the weights mu of a convex combination of each class that (nearly) coincide.
    """
    signs, size = margins.signs, 0.0
    members = margins.worst(np.zeros(len(signs)), np.empty(0, np.int64), 1.0)
    for _ in range(ROUNDS):
        rows, up = margins.rows(members), signs[members] > 0.0
        size = max(size, float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max())))
        mu = nearest(rows, up)
        u = mu @ rows
        square = float(u @ u)
        reached, _ = margins.of(u)
        least = float(reached.min())
        if least > 0.0 and 2.0 * least * (1.0 + accuracy) >= square:
            break
        new = margins.worst(reached, members, 0.5 * square)
        if np.sqrt(square) <= INSEPARABLE * size or not len(new):
            break
        kept = members if len(members) <= CROWDED else members[mu > NEGLIGIBLE]
        members = np.concatenate([kept, new])
    if least <= 0.0 or np.sqrt(square) <= INSEPARABLE * size:
        proof = np.zeros(len(signs))
        proof[members[: len(mu)]] = 0.5 * mu
        raise InseparableError(proof, 0.5 * float(np.sqrt(square)))
    return Separation(u / least, members)


def nearest(rows: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Weights mu (k,) with sum 1 in each class that minimise ||mu rows||; rows are signed."""
    start = np.where(up, 1.0 / up.sum(), 1.0 / (~up).sum())
    sums = np.array([up, ~up], float)
    mu = interior_point.minimise(rows, np.zeros(len(rows)), sums, np.ones(2), start, 0.0)
    few = np.where(mu > SMALL * mu.max(), mu, 0.0)
    both = [m / np.where(up, m[up].sum(), m[~up].sum()) for m in (mu, few)]
    return np.asarray(min(both, key=lambda m: float(np.linalg.norm(m @ rows))))
