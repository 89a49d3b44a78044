"""The first matrix of quasi-Newton steps: I + C' (curvature in the scores) (x) X'wX, and its inverse.

Where the last feature is an intercept, a constant c, and there are many classes, that is far too steep:
the curvature of class j lies on rows that are like its own, so that w_j can do what its intercept does.
There the matrix of class j is I + C' b (Z'wZ + sum(w) a_j a_j'), with b the mean curvature, Z the other
features less their means z and a_j = (z + kappa (z_j - z), c), where z_j is the mean of the class's rows.
kappa, measured on some rows, is 0 where curvature does not depend on the class: that is I + C' b X'wX.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from .block_sums import FEW, class_sums, gram, power, slopes_at, squares
from .iterate import Point
from .passes import Block, Passes
from .rows import is_sparse

WIDEST = 4096  # features up to which X'wX is decomposed
POWERS = 3  # products for the largest eigenvalue
WEAK = 1.0  # C ||X'wX|| / m up to which the Hessian is close to the identity
FLOOR = 0.1  # part of the mean below which no eigenvalue of the curvature is believed
CONSTANT = 1e-5  # relative variance of a constant, as float32 knows it


class FirstMatrix:
    """X'wX = Q diag(sizes) Q'; its diagonal alone where that costs too much, or is close to it.

    Parameters
    ----------
    passes : Passes
    sample : Block
        Some of the rows.
    C : float
        The largest C'.
    single : bool
        Whether passes go through float32.
    known : callable
        ``known(name, make)``, what ``make()`` gives unless it is known of these rows and weights.
    """

    def __init__(
        self, passes: Passes, sample: Block, C: float, single: bool, known: Callable[..., Any]
    ) -> None:
        self.passes, self.sample, self.single = passes, sample, single
        self.Q: Any = None
        self.apart: Any = None
        n, d = passes.source.shape
        last = sample.X[:, [-1]]
        last = last.toarray() if is_sparse(last) else last
        many = passes.m > FEW and d > 1 and passes.y.ndim == 1  # one class per row
        c = float(last[0, 0]) if many and np.ptp(last) == 0.0 else 0.0
        constant = c * c * float(passes.w.sum())  # of squares, if it is one everywhere
        weak = passes.source.in_memory and C * known("largest", self._largest) <= WEAK * passes.m
        if weak or is_sparse(sample.X) or d > min(WIDEST, 2 * n):
            (self.sizes,) = known("squares", lambda: passes.total(squares))
            if constant > 0.0 and abs(self.sizes[-1] - constant) <= CONSTANT * constant:
                self.sizes = self.sizes[:-1]  # of features that are not centred: only a diagonal
        else:
            self.sizes, self.Q = known(("basis", c), lambda: self._basis(constant))
        self.largest = max(float(self.sizes.max()), constant)
        if len(self.sizes) < d:
            self._take_constant(c)

    def _basis(self, constant: float) -> tuple[np.ndarray, np.ndarray]:
        (found,) = self.passes.total(gram, single=self.single)
        if constant > 0.0 and abs(found[-1, -1] - constant) <= CONSTANT * constant:
            across = found[:-1, -1] / np.sqrt(found[-1, -1])
            found = found[:-1, :-1] - np.outer(across, across)
        sizes, Q = np.linalg.eigh(found)
        return np.maximum(sizes, 0.0), Q

    def _largest(self) -> float:
        """About the largest eigenvalue of X'wX."""
        v = np.random.default_rng(0).standard_normal(self.passes.source.shape[1])
        v = v.astype(np.float32 if self.single else np.float64)
        size = float(np.linalg.norm(v))
        for _ in range(POWERS):
            with np.errstate(over="ignore", invalid="ignore"):  # then the data are not weak
                (v,) = self.passes.total(power, v / size, single=self.single)
                size = float(np.linalg.norm(v))
            if not 0.0 < size < np.inf:
                break
        return size

    # -- with an intercept --------------------------------------------------------------------
    def _take_constant(self, c: float) -> None:
        """Means of the rows, of all and of classes, and what the sample's kappa needs of them."""
        passes, some = self.passes, self.sample
        (sums,) = passes.total(class_sums)
        mass = np.bincount(passes.y, passes.w, passes.m)
        mean = sums[:, :-1].sum(axis=0) / mass.sum()
        apart = sums[:, :-1] / np.where(mass > 0.0, mass, 1.0)[:, None] - mean
        apart[mass == 0.0] = 0.0
        self.constant, self.kappa = c, 0.0
        self.alike = np.asarray(some.X[:, :-1] @ apart.T) - apart @ mean
        self.squares = np.einsum("jt,jt->j", apart, apart)
        self.mean, self.apart = (mean, apart) if self.Q is None else (mean @ self.Q, apart @ self.Q)

    def look(self, scores: Callable[[], np.ndarray]) -> None:
        """Measure kappa at the sample's scores."""
        if self.apart is None:
            return
        w = np.maximum(self.sample.w, np.finfo(float).tiny)[:, None]
        A = np.abs(slopes_at(self.sample, scores())[0])
        A *= 1.0 - A / w  # the curvature of each class
        size = float(A.sum(axis=0) @ self.squares)
        self.kappa = min(max(float(np.vdot(A, self.alike)) / size, 0.0), 1.0) if size > 0.0 else 0.0

    # -- its inverse --------------------------------------------------------------------------
    def solved(self, V: np.ndarray, C: float, point: Point) -> np.ndarray:
        """The inverse times V (m, d)."""
        if self.apart is not None:
            return self._solved_beside(V, C * point.bend)
        inside = V.copy() if self.Q is None else V @ self.Q
        if point.bends is None:
            inside /= 1.0 + C * point.bend * self.sizes
        else:
            bends, U = np.linalg.eigh(point.bends)
            bends = np.maximum(bends, FLOOR * bends.mean())
            inside = U @ ((U.T @ inside) / (1.0 + C * bends[:, None] * self.sizes))
        return inside if self.Q is None else inside @ self.Q.T

    def _solved_beside(self, V: np.ndarray, bend: float) -> np.ndarray:
        """The same with an intercept: one more direction a_j for each class."""
        c, steep = self.constant, 1.0 + bend * self.sizes
        out = np.empty_like(V)
        inside = (V[:, :-1] if self.Q is None else V[:, :-1] @ self.Q) / steep
        a = self.apart * self.kappa
        a += self.mean
        along = np.einsum("jt,jt->j", a, inside) + c * V[:, -1]
        turned = a / steep
        bent = np.einsum("jt,jt->j", a, turned) + c * c
        size = bend * float(self.passes.w.sum())
        share = along * size / (1.0 + size * bent)
        turned *= share[:, None]
        inside -= turned
        out[:, :-1] = inside if self.Q is None else inside @ self.Q.T
        out[:, -1] = V[:, -1] - c * share
        return out
