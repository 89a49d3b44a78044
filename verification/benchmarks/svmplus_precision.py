"""Error of the deformed kernel Q, computed exactly with fractions, beside formula (5) as printed."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

N, S = 12, 4
#: C/lam, as powers of ten.
POWERS = tuple(range(-16, 11, 2))
LIMIT = 1e-12


@dataclass(frozen=True)
class Error:
    """Largest error of Q over its largest entry, at one C/lam.

    Attributes
    ----------
    features, kernel : ours, of features Z and of an RBF kernel matrix.
    printed : (5) as printed, of the features.
    """

    power: int
    features: float
    kernel: float
    printed: float

    @property
    def reached(self) -> bool:
        """Both of ours within the limit."""
        return max(self.features, self.kernel) <= LIMIT


def exact(Kz: np.ndarray, ratio: float) -> np.ndarray:
    """(I + ratio Kt)^-1 Kt by elimination with fractions, rounded once at the end."""
    n = len(Kz)
    Kt = np.array([[Fraction(float(k)) + 1 for k in row] for row in Kz])
    rows = np.hstack([np.eye(n, dtype=int) + Fraction(ratio) * Kt, Kt])
    for i in range(n):  # positive definite: no pivot is 0
        rows[i] /= rows[i, i]
        others = np.arange(n) != i
        rows[others] -= np.outer(rows[others, i], rows[i])
    return rows[:, n:].astype(float)


def printed(Kz: np.ndarray, ratio: float) -> np.ndarray:
    """(5) for C = ratio, lam = 1: Kt - Kt (I/ratio + Kt)^-1 Kt."""
    Kt = Kz + 1.0
    return np.asarray(Kt - Kt @ np.linalg.inv(np.eye(len(Kt)) / ratio + Kt) @ Kt)


def measure(powers: tuple[int, ...] = POWERS, seed: int = 0) -> list[Error]:
    """A row per power of ten."""
    from sklearn.metrics.pairwise import rbf_kernel

    from fast.svm_plus.deformed_kernel import deformed_kernel

    def error(Q: np.ndarray, right: np.ndarray) -> float:
        return float(np.abs(Q - right).max() / np.abs(right).max())

    rng = np.random.default_rng(seed)
    Z = np.round(64 * rng.standard_normal((N, S))) / 64  # ZZ' is free of rounding errors
    linear, curved = Z @ Z.T, rbf_kernel(Z)
    found = []
    for power in powers:
        ratio = 10.0**power
        right = exact(linear, ratio)
        features = error(deformed_kernel(ratio, 1.0, Z=Z), right)
        kernel = error(deformed_kernel(ratio, 1.0, Kz=curved), exact(curved, ratio))
        found.append(Error(power, features, kernel, error(printed(linear, ratio), right)))
    return found
