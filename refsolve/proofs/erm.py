"""Duality gap of a regularised risk, from the weights W and the dual blocks A, for any declared loss.

With V = A'X and mass_i = C weight_i the gap of P = 1/2||W||^2 + C sum_i weight_i L_i is

    P(W) - D(A) = 1/2||W - V||^2 + sum_i [mass_i L(z_i) + (mass_i L)*(x_i) - <z_i, x_i>],

a sum of nonnegative terms: no two large numbers are subtracted. With a Gram matrix K the model is
W = sum_i b_i phi(x_i), ||W||^2 = tr(B'KB), and the scores are KB. Sums run over blocks of rows, in
extended precision where they are not too long.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from refsolve.proofs import families
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.loss import Loss
from refsolve.proofs.model import Proof
from refsolve.proofs.space import Sparse, chunks

ROWS_AT_ONCE = 4096
#: Multiplications per matrix product up to which extended precision is affordable.
EXTENDED = 4e8


class Problem:
    """A risk over examples.

    Parameters
    ----------
    at : callable
        Slice of rows -> their loss, and costs over the coordinates of its margins.
    labels : (n,) array of int, or (n, m) of 0 and 1
    mass : (n,) array
        C weight_i >= 0.
    m : int
        Number of classes.
    X, K : (n, d) array or sparse matrix, or a Gram matrix (n, n)
    kept : (n, m) array of bool, optional
        The classes that a convex step of a truncated loss keeps.
    """

    def __init__(
        self,
        at: Callable[[slice], tuple[Loss, Array]],
        labels: Array,
        mass: Array,
        m: int,
        X: Array | Sparse | None = None,
        K: Array | None = None,
        kept: Array | None = None,
    ) -> None:
        self.at, self.labels, self.m, self.kept = at, labels, m, kept
        self.gram = X is None
        given: Any = K if X is None else X
        self.X: Any = given.tocsr() if hasattr(given, "tocsr") else given
        self.n, self.width = self.X.shape
        extended = self.n * m * self.width <= EXTENDED
        self.real: Any = np.longdouble if extended else np.float64
        self.eps = float(np.finfo(self.real).eps)
        self.mass: Array = mass.astype(self.real)

    def prove(self, W: Array, A: Array | Sparse | None = None) -> Proof:
        """Gap of W (m, d), or B' (m, n) with a Gram matrix, and of blocks A (n, m), which are repaired.

        Without A the gradients of the losses at W are taken, which are a dual point.
        """
        real, eps, m = self.real, self.eps, self.m
        W = W.astype(real)
        norms, reach = self._sizes(W)
        residuals, losses, gains = np.zeros(self.n, real), real(0), real(0)
        error, moved = 0.0, 0.0
        V = np.zeros((m, self.width), real)  # or A itself, transposed, with a Gram matrix
        spread = np.zeros(m)  # sum_i |a_ij| ||x_i||, for the rounding of V
        for rows in chunks(self.n, ROWS_AT_ONCE):
            mass, labels, part = self.mass[rows], self.labels[rows], self._rows(rows)
            one, costs = self.at(rows)
            z = one.margins(np.asarray(part @ W.T, dtype=real), labels, costs)
            if self.kept is not None:
                z = np.where(families.others(self.kept[rows], labels), z, -np.inf)
            q, off = self._dual(one, A, rows, z)
            moved = max(moved, off)
            upper, terms = _terms(one, z, q)
            residuals[rows] = mass * terms
            losses += mass @ upper
            gains += mass @ ((costs * q).sum(axis=1) - one.conjugate(q))
            blocks = one.block(q, labels) * mass[:, None]
            if self.gram:
                V[:, rows] = blocks.T
            else:
                V += np.asarray(part.T @ blocks).T
            spread += np.abs(blocks).T.astype(float) @ norms[rows]
            # scores are wrong by at most (d + 2) eps times this, a residual by twice that per term
            slip = (self.width + 2) * eps * 2 * reach[rows]
            sizes = np.abs(np.where(np.isfinite(z), z, 0)).max(axis=1).astype(float) + 1
            many = 1 if one.family.name == "multiclass" else m  # one term, or one per class
            error += float(mass @ (2 * many * slip + 4 * (m + 4) * eps * sizes * many))
        (apart, norm, squares), slip = self._squares((W - V, W, V), spread)
        longest = (min(self.n, ROWS_AT_ONCE) + 2) * eps  # longest sum taken in one go
        error += slip + longest * float(residuals.sum() + losses)
        error += (self.n + W.size) * eps * float(norm)
        named = {"1/2||W - A'X||^2": float(apart / 2), "Fenchel-Young gaps": float(residuals.sum())}
        return Proof(
            losses + norm / 2, gains - squares / 2, residuals, apart / 2, named, real(error), moved
        )

    def _rows(self, rows: slice) -> Any:
        part = self.X[rows]
        return part.astype(self.real) if hasattr(part, "tocsr") else np.asarray(part, self.real)

    def _sizes(self, W: Array) -> tuple[Array, Array]:
        """||x_i||, and a bound on sum_l |x_il| |w_jl| for every j."""
        if self.gram:
            reach = (np.abs(self.X) @ np.abs(W.T).astype(float)).max(axis=1)
            return np.sqrt(np.maximum(self.X.diagonal(), 0.0)), reach
        X = self.X
        squares = X.multiply(X) if hasattr(X, "multiply") else np.square(X, dtype=np.float64)
        norms = np.sqrt(np.asarray(squares.sum(axis=1), dtype=np.float64).ravel())
        return norms, norms * float(np.sqrt((W * W).sum(axis=1)).max())

    def _dual(
        self, one: Loss, A: Array | Sparse | None, rows: slice, z: Array
    ) -> tuple[Array, float]:
        """Feasible dual points, and the largest distance by which a block given was moved."""
        if A is None:
            return one.repair(one.maximiser(z)), 0.0
        taken: Any = A
        block = taken[rows].toarray() if hasattr(A, "toarray") else taken[rows]
        given = one.family.coordinates(np.asarray(block, dtype=self.real), self.labels[rows])
        mass = self.mass[rows, None]
        q = one.repair(given / np.where(mass > 0, mass, 1))
        if self.kept is not None:  # the classes that are dropped have no mass
            q = np.where(np.isfinite(z), q, 0)
        if not one.generator.shifted:
            q = q * (mass > 0)
        return q, float(np.sqrt(((q * mass - given) ** 2).sum(axis=1)).max(initial=0))

    def _squares(self, vectors: tuple[Array, ...], spread: Array) -> tuple[list[Real], float]:
        """Squares of W - V, W and V, and the rounding in half the first."""
        if not self.gram:
            squares = [(v * v).sum() for v in vectors]
            slip = (self.n + 2) * self.eps * float(np.sqrt((spread**2).sum()))
            return squares, float(np.sqrt(squares[0])) * slip + slip**2 / 2
        K = self._rows(slice(None))
        # a Gram matrix is positive semidefinite up to rounding
        squares = [max(self.real(0), ((v @ K) * v).sum()) for v in vectors]
        sizes = [float((np.abs(v) @ np.abs(K) * np.abs(v)).sum()) for v in vectors[:2]]
        return squares, 2 * (self.n + 2) * self.eps * sum(sizes)


def _terms(one: Loss, z: Array, q: Array) -> tuple[Array, Array]:
    """Upper bounds on the losses L(z) and on the Fenchel-Young residuals at the dual points q.

    Both from the same point of the conjugate's domain, so that their difference is the dual's term.
    """
    if not one.generator.rational:
        point = one.maximum(z)
        return one.value_bounds(z, point)[1], one.fenchel_young(z, q, point)
    terms = one.fenchel_young(z, q)
    if one.modulus == 0 and not one.domain.cone:
        return one.value_bounds(z)[1], terms
    return (z * q).sum(axis=1) - one.conjugate(q) + terms, terms
