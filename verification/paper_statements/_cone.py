"""Biased projections in rational arithmetic, with their optimality checked here, and partitions."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from refsolve import exact
from verification.paper_statements._rational import Matrix, Vector, dot, draw_vector, scale, square
from verification.paper_statements._topk import (
    ONE,
    ZERO,
    Loss,
    alpha_halfspaces,
    beta_halfspaces,
    hinge_alpha,
    hinge_beta,
    inside,
    pieces_alpha,
    pieces_beta,
    top,
)
from verification.paper_statements._trial import Inputs, Rng


def is_projection(x: Vector, a: Vector, k: int, rho: Fraction, r: Fraction | None = None) -> bool:
    """Whether x minimises ||x - a||^2 + rho <1,x>^2 over the top-k cone, or simplex of radius r.

    The gradient g (halved) must not decrease along any direction of the set: <g,x> = min <g,v>
    over its vertices 0 and r 1_S/k, which for the cone means <g,x> = 0 <= <g,1_S> for all S.
    """
    s = sum(x, ZERO)
    feasible = all(0 <= k * v <= s for v in x) and (r is None or s <= r)
    g = [v - w + rho * s for v, w in zip(x, a, strict=True)]
    steepest = -top([-v for v in g], k) if k <= len(a) else ZERO
    attained = sum((v * w for v, w in zip(g, x, strict=True)), ZERO)
    least = ZERO if r is None else min(ZERO, r / k * steepest)
    return feasible and attained == least and (r is not None or steepest >= 0)


def project_cone(a: Vector, k: int, rho: Fraction) -> Vector:
    """The biased projection on the top-k cone, proved optimal."""
    x = list(exact.project("topk_cone", a, k=k, rho=rho).x)
    if not is_projection(x, a, k, rho):
        raise ArithmeticError(f"projection of {a} on the top-{k} cone is not optimal")
    return x


def project_simplex(a: Vector, k: int, rho: Fraction, r: Fraction) -> Vector:
    """The biased projection on the top-k simplex of radius r, proved optimal."""
    x = list(exact.project("topk_simplex_alpha", a, k=k, r=r, rho=rho).x)
    if not is_projection(x, a, k, rho, r):
        raise ArithmeticError(f"projection of {a} on the top-{k} simplex is not optimal")
    return x


def project_simplex_beta(a: Vector, k: int, rho: Fraction, r: Fraction) -> Vector:
    """The biased projection on the beta simplex of radius r, proved optimal.

    <-g,x> must be the largest <-g,v> over its vertices r 1_S/k, |S| <= k.
    """
    x = list(exact.project("topk_simplex_beta", a, k=k, r=r, rho=rho).x)
    s = sum(x, ZERO)
    descent = [w - v - rho * s for v, w in zip(x, a, strict=True)]
    largest = r / k * top([max(ZERO, v) for v in descent], k)
    if not inside(x, beta_halfspaces(len(x), k, r)) or dot(descent, x) != largest:
        raise ArithmeticError(f"projection of {a} on the top-{k} simplex beta is not optimal")
    return x


@dataclass(frozen=True)
class Variant:
    """One of the two top-k hinges over the others, with its dual set and projection."""

    hinge: Loss
    pieces: Callable[[int, int], Matrix]
    halfspaces: Callable[..., tuple[Matrix, Vector]]
    project: Callable[[Vector, int, Fraction, Fraction], Vector]

    def smooth_hinge(self, z: Vector, k: int, gamma: Fraction) -> Fraction:
        """max{<z,b> - gamma/2 ||b||^2 : b in the dual set}; the hinge itself for gamma = 0."""
        if gamma == 0:
            return self.hinge(z, k)
        b = self.project(scale(1 / gamma, z), k, ZERO, ONE)
        return dot(z, b) - gamma / 2 * square(b)


#: By the word that is an instance's argument ``variant``.
VARIANTS = {
    "alpha": Variant(hinge_alpha, pieces_alpha, alpha_halfspaces, project_simplex),
    "beta": Variant(hinge_beta, pieces_beta, beta_halfspaces, project_simplex_beta),
}
smooth_hinge_alpha = VARIANTS["alpha"].smooth_hinge
smooth_hinge_beta = VARIANTS["beta"].smooth_hinge


@dataclass(frozen=True)
class Partition:
    """Index sets of a point of the cone: at the cap s/k, strictly between, at zero."""

    upper: tuple[int, ...]
    middle: tuple[int, ...]
    lower: tuple[int, ...]


def partition(x: Vector, k: int) -> Partition:
    """U = {x_i = s/k}, M = {0 < x_i < s/k}, L = {x_i = 0}; at x = 0, U and L are everything."""
    cap = sum(x, ZERO) / k
    return Partition(
        upper=tuple(i for i, v in enumerate(x) if v == cap),
        middle=tuple(i for i, v in enumerate(x) if 0 < v < cap),
        lower=tuple(i for i, v in enumerate(x) if v == 0),
    )


def draw_target(rng: Rng, positive: bool = False) -> Inputs:
    """Point a of R^d, d <= 6, k <= d and rho (often 0 or 1); `positive` asks for S_k(a) > 0."""
    d = int(rng.integers(1, 7))
    k = int(rng.integers(1, d + 1))
    while True:
        a = draw_vector(rng, d, spread=3)
        a = [v + int(rng.integers(-1, 2)) for v in a]
        if not positive or top(a, k) > 0:
            rho = Fraction(int(rng.choice([0, 0, 1, 1, 3, 20])), int(rng.choice([1, 2])))
            return {"a": a, "k": k, "rho": rho}
