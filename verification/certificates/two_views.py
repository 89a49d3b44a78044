"""Certificates of an SVM-2K as users hand it over: checked arguments of `refsolve.proofs.two_views`."""

import numpy as np
from numpy.typing import ArrayLike

from refsolve.proofs import two_views
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.multipliers import Offset
from refsolve.proofs.space import EPS
from refsolve.proofs.svm_plus import Point
from verification.certificates.model import check_weight
from verification.certificates.plus_model import Rows, vector, views

Array = np.ndarray


class Problem(two_views.Problem):
    """The data of an SVM-2K; rows of weight zero leave.

    Parameters
    ----------
    y : (n,) array of -1 and 1
    CA, CB, D : float
        Weights of the sums of both hinges and of the disagreement.
    eps : float
        Disagreement that is free.
    X, Z : (n, d), (n, s) arrays, or Gram matrices ``K``, ``Kz`` (n, n)
    sample_weight : (n,) array, optional
    blur : float
        Relative error of computed kernel matrices, in units of eps.
    """

    def __init__(
        self,
        y: ArrayLike,
        *,
        CA: float,
        CB: float,
        D: float,
        eps: float = 0.0,
        X: Rows = None,
        K: Array | None = None,
        Z: Rows = None,
        Kz: Array | None = None,
        sample_weight: ArrayLike | None = None,
        blur: float = 0.0,
    ) -> None:
        labels = np.asarray(y, float)
        weight = check_weight(sample_weight, len(labels))
        kept = np.flatnonzero(weight > 0)
        x, z = views([("X", X, "K", K), ("Z", Z, "Kz", Kz)], kept, len(labels), blur)
        bounds = np.outer(np.array([CA, CB, D], dtype=x.real), weight[kept])
        super().__init__(x, z, labels[kept], bounds, eps)

    def part(self, alpha: ArrayLike) -> Array:
        """The examples' multipliers (3, n)."""
        return np.asarray(alpha)[:, self.x.kept].astype(self.real)

    def certificate(
        self, w: ArrayLike, b: Offset, v: ArrayLike, rho: Offset, alpha: ArrayLike
    ) -> ModelCertificate:
        """Gap of a model of both views and of multipliers (3, n), which are repaired."""
        point = Point(vector(self.x, "w", w), self.real(b), vector(self.z, "v", v), self.real(rho))
        proof = self.prove(point, self.part(alpha))
        prices = self.bounds[:2] + self.bounds[2]  # what an error of a score may cost
        mass = self.real(0)
        views = ((self.x, point.w, point.b), (self.z, vector(self.z, "v", v), point.rho))
        for price, (space, function, offset) in zip(prices, views, strict=True):
            reach = space.reach(function) + np.abs(offset)
            mass += (price * (1 + abs(space.values(function) + offset) + reach)).sum()
        width = self.n + self.x.width + self.z.width + 8
        doubt = float(4 * EPS * width * mass + 2 * proof.error)
        return ModelCertificate.of(proof, doubt=doubt)

    def model_of(self, alpha: Array) -> Point:
        """The model of repaired multipliers, with offsets that are good for each view alone."""
        offsets, pulls = [], self.pulls(alpha)
        for space, w, bound in zip((self.x, self.z), pulls, self.bounds[:2], strict=True):
            ends = self.y - space.values(w)
            losses = [(bound * np.maximum(0, self.y * (ends - end))).sum() for end in ends]
            offsets.append(ends[int(np.argmin(losses))])
        return Point(pulls[0], offsets[0], pulls[1], offsets[1])
