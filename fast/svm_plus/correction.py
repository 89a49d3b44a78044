"""The correcting space of SVM+ with kernels: all that does not depend on y, shared by the classes.

Equal rows of Z (one description per class, say) count once: with u different rows Z = P Zu, and
Q' = P Qu P' where Qu has the summed costs of each row.
"""

from typing import Any

import numpy as np

from fast.errors import InvalidParameterError
from fast.solvers.rows import is_sparse
from fast.svm_plus.deformed_kernel import (
    SPREAD,
    Inverse,
    from_features,
    from_kernel,
    with_own_slacks,
)

WORTH = 500  # examples from which on a rough Q spares time
SINGLE = 6e-8  # unit roundoff of float32
ROUGHEST = 0.1  # error up to which steps with a rough Q are worth their while
BELONGS = 1e-6  # relative residual of a matrix Q that was given


class Correction:
    """Kz or Z, the costs C omega and lam.

    Parameters
    ----------
    matrix : (n, n) or (n, s) array or CSR, optional
        Kz or Z; None if only Q is known.
    linear : bool
        Whether it is Z.
    cost : (n,) array
    lam : float
    delta : (n,) array or float
        How cheap own slacks are.
    short : bool
        Kz may have a factor with few columns.
    """

    signed = False

    def __init__(
        self,
        matrix: Any,
        linear: bool,
        cost: np.ndarray,
        lam: float,
        delta: Any,
        short: bool = True,
    ) -> None:
        self.short = short
        self.known = matrix is not None
        self.cost, self.lam, self.delta = cost, lam, delta
        self.soft = bool(np.any(delta > 0.0))
        self.theta = lam / (lam + delta * cost)
        self.reduced = cost * self.theta
        self.Z: Any = None
        self.Kz: Any = None if linear else matrix
        self.group: np.ndarray | None = None
        self.summed = self.reduced
        if linear:
            self.Z, self.group = different_rows(matrix)
            if self.group is not None:
                self.summed = np.bincount(self.group, self.reduced).astype(np.float64)
            if self.Z.shape[1] >= self.Z.shape[0]:
                wide = self.Z.astype(np.float64)
                self.Kz = wide @ wide.T
                self.Kz = self.Kz.toarray() if is_sparse(self.Kz) else self.Kz
        self._small: np.ndarray | None = None  # Qu
        self._inverse: Inverse | None = None
        self._deformed: np.ndarray | None = None
        self._centred: np.ndarray | None = None

    def gathered(self, x: np.ndarray) -> np.ndarray:
        """P'x."""
        return x if self.group is None else np.bincount(self.group, x, self.Z.shape[0])

    def spread(self, x: np.ndarray) -> np.ndarray:
        """P x."""
        return x if self.group is None else x[self.group]

    @property
    def Q(self) -> np.ndarray:
        """The deformed kernel (n, n), own slacks included."""
        if self._deformed is None:
            Q = self.small
            if self.group is not None:
                Q = Q[np.ix_(self.group, self.group)]
            elif self.soft:
                Q = Q.copy()
            self._deformed = with_own_slacks(Q, self.cost, self.lam, self.delta)
        return self._deformed

    def take(self, Q: np.ndarray) -> None:
        """Take a deformed kernel that is known already, if it belongs to this Z or Kz."""
        self._deformed = Q
        if not self.known:
            return
        gamma = np.random.default_rng(0).standard_normal(len(Q))
        g = Q @ gamma
        own = self.delta * gamma
        wanted = self.product(gamma) + gamma.sum() + own
        paid = self.cost * g
        left = self.lam * g + self.product(paid) + paid.sum() + self.delta * paid - wanted
        size = self.lam * np.abs(g).max() + np.abs(wanted).max()
        if not float(np.abs(left).max()) <= BELONGS * float(size):
            raise InvalidParameterError(
                "Q",
                "a matrix that does not solve (lam I + C Kt Omega) Q = Kt",
                "the deformed kernel of these C, lam, weights and Z or Kz",
                "compute it by deformed_kernel with the same arguments",
            )

    @property
    def small(self) -> np.ndarray:
        """Qu, without own slacks."""
        if self._small is None:
            if self._inverse is not None:
                self._small = self._inverse.matrix()
            elif self.Z is not None:
                self._small = from_features(self.Z, self.summed, self.lam, self.Kz)
            else:
                self._small = from_kernel(self.Kz, self.summed, self.lam, self.short)
        return self._small

    def rough(self) -> tuple[np.ndarray, float] | None:
        """Q in float32 with its relative error, where that is small and spares time."""
        if self.Kz is None or self.Z is not None or self.short or len(self.Kz) < WORTH:
            return None
        if self._deformed is not None or self._small is not None:
            return None
        least, most = float(self.summed.min()), float(self.summed.max())
        top = float(self.Kz.diagonal().max()) + 1.0
        error = SINGLE * (1.0 + most * top * len(self.Kz) / self.lam)
        if least * top < self.lam or most > SPREAD * least or error > ROUGHEST:
            return None
        inverse = Inverse(self.Kz, self.summed, self.lam)
        if inverse.failed:
            return None
        self._inverse = inverse
        return with_own_slacks(inverse.rough(), self.cost, self.lam, self.delta), error

    def deformed_product(self, gamma: np.ndarray) -> np.ndarray:
        """Q gamma (n,)."""
        if self._small is None and self._deformed is not None:
            return np.asarray(self._deformed @ gamma)
        reduced = self.theta * gamma
        if self._small is None and self._inverse is not None:
            out = self.theta * self._inverse.product(reduced)
        else:
            out = self.theta * self.spread(self.small @ self.gathered(reduced))
        if self.soft:
            out += self.delta / (self.lam + self.delta * self.cost) * gamma
        return np.asarray(out)

    @property
    def centred(self) -> np.ndarray:
        """(Kz + diag(delta))/lam, Kz centred by the mean of the costs."""
        if self._centred is None:
            share = self.gathered(self.cost) / self.cost.sum()
            if self.Kz is None:
                Z = self.Z
                Z = np.asarray(Z.toarray() if is_sparse(Z) else Z, dtype=np.float64)
                Z = Z - share @ Z
                R = Z @ Z.T
            else:
                mean = self.Kz @ share
                R = self.Kz - mean - (mean - share @ mean)[:, None]
            R = R if self.group is None else R[np.ix_(self.group, self.group)]
            R[np.diag_indices_from(R)] += self.delta
            self._centred = R / self.lam
        return self._centred

    def centred_square(self, rest: np.ndarray) -> float:
        """The form rest'R rest, R = ``centred``; from Z, where it is known: no cancellation."""
        if self.Z is None:
            return max(float(rest @ (self.centred @ rest)), 0.0)
        v = self._centred_back(self.gathered(rest))
        return float(v @ v + (self.delta * rest) @ rest) / self.lam

    def _centred_back(self, few: np.ndarray) -> np.ndarray:
        share = self.gathered(self.cost) / self.cost.sum()
        return np.asarray((few - few.sum() * share) @ self.Z, dtype=np.float64)

    def centred_function(self, c: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Kz c less its mean, that mean, and ||v||^2, for coefficients whose sum is 0."""
        share = self.gathered(self.cost) / self.cost.sum()
        if self.Z is None:
            g = self.Kz @ c
            mean = float(share @ g)
            return g - mean, mean, max(float(c @ (g - mean)), 0.0)
        v = self._centred_back(self.gathered(c))
        g = np.asarray(self.Z @ v, dtype=np.float64)
        mean = float(share @ g)
        return self.spread(g - mean), mean, float(v @ v)

    def product(self, c: np.ndarray) -> np.ndarray:
        """Kz c (n,)."""
        few = self.gathered(c)
        if self.Kz is not None:
            return self.spread(self.Kz @ few)
        return self.spread(np.asarray(self.Z @ (few @ self.Z), dtype=np.float64))

    def back(self, coefficients: list[np.ndarray]) -> np.ndarray:
        """Z'c (m, s) for m vectors c at once."""
        few = np.stack([self.gathered(c) for c in coefficients])
        return np.asarray(few @ self.Z, dtype=np.float64)


class SignedCorrection(Correction):
    """The same with features y_i (z_i, 1): Kz, the 1 and Q times yy'; all else is shared.

    Parameters
    ----------
    space : Correction
    y : (n,) array of -1, 1
    """

    signed = True

    def __init__(self, space: Correction, y: np.ndarray) -> None:
        self.__dict__.update(vars(space))
        self.space, self.y = space, y
        self._signed: np.ndarray | None = None  # Q
        self._centred = None

    def both_sides(self, M: np.ndarray) -> np.ndarray:
        """M times yy', a copy."""
        sign = self.y.astype(M.dtype)
        M = M * sign
        M *= sign[:, None]
        return M

    @property
    def Q(self) -> np.ndarray:
        """The deformed kernel (n, n), own slacks included."""
        if self._signed is None:
            self._signed = self.both_sides(self.space.Q)
        return self._signed

    def rough(self) -> tuple[np.ndarray, float] | None:
        """Q in float32 with its relative error, where that is small and spares time."""
        found = self.space.rough()
        return None if found is None else (self.both_sides(found[0]), found[1])

    def deformed_product(self, gamma: np.ndarray) -> np.ndarray:
        """Q gamma (n,)."""
        return self.y * self.space.deformed_product(self.y * gamma)

    @property
    def centred(self) -> np.ndarray:
        """(Kz + diag(delta))/lam, Kz centred by the mean of the costs."""
        if self._centred is None:
            self._centred = self.both_sides(self.space.centred)
        return self._centred

    def centred_square(self, rest: np.ndarray) -> float:
        """The form rest'R rest, R = ``centred``; from Z, where it is known: no cancellation."""
        return self.space.centred_square(self.y * rest)

    def centred_function(self, c: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Kz c less its mean (without y), that mean, and ||v||^2, for y'c = 0."""
        return self.space.centred_function(self.y * c)

    def product(self, c: np.ndarray) -> np.ndarray:
        """Kz c (n,)."""
        return self.y * self.space.product(self.y * c)


def different_rows(Z: Any) -> tuple[Any, np.ndarray | None]:
    """The different rows of Z (float64) and which one each row is; None if most differ."""
    if is_sparse(Z):
        return Z.astype(np.float64), None
    Z = np.ascontiguousarray(Z, dtype=np.float64)
    seen: dict[bytes, int] = {}
    group = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in Z + 0.0])
    if 2 * len(seen) > len(Z):
        return Z, None
    _, first = np.unique(group, return_index=True)
    return Z[first], group
