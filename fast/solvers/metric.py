"""A metric of low rank for the proximal bundle, from the curvature of the function it models."""

import numpy as np

from fast.solvers.cuts import Cuts, StoredCut

RIDGE = 0.0003  # part of the median eigenvalue
NEGLIGIBLE = 1e-9  # eigenvalues, relative


class Metric:
    """B = V diag(size) V' + ridge I, V (d, r) orthonormal.

    The first is H (d, d), or R'R for a sample of pairs R (k, d). Either is too small in some directions
    without the ridge: of few kinks, or of few pairs.
    """

    def __init__(self, H: np.ndarray | None = None, R: np.ndarray | None = None) -> None:
        root = np.empty((0, 0)) if R is None else R
        k, d = root.shape if H is None else H.shape
        if H is None:
            H = root @ root.T if k < d else root.T @ root
        size, U = np.linalg.eigh(H)
        kept = size > (NEGLIGIBLE * max(float(size[-1]), 1e-300) if k < d else -np.inf)
        self.size, U = np.maximum(size[kept], 0.0), U[:, kept]
        self.V = root.T @ U / np.sqrt(self.size) if k < d else U
        self.complete = k >= d  # V V' = I
        self.ridge = RIDGE * float(np.median(self.size)) if self.complete else 0.0
        self.seen: list[StoredCut] = []
        self.rows = np.zeros((0, len(self.size)))

    @property
    def directions(self) -> float:
        """In how many directions most of the curvature lies: trace(B)^2/trace(B^2)."""
        return float(self.size.sum() ** 2 / (self.size**2).sum())

    def of(self, cuts: Cuts) -> np.ndarray:
        """G V (m, r), kept up as cuts come and go."""
        k = len(self.seen)
        if k > cuts.m or any(a is not b for a, b in zip(self.seen, cuts.stored, strict=False)):
            k = 0
        self.rows = np.vstack([self.rows[:k], cuts.G[k:] @ self.V])
        self.seen = list(cuts.stored)
        return self.rows
