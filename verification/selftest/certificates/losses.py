"""Losses whose conjugate is rational, against the polytopes of `sets`: values, gradients, proxes, updates."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import certificates
from verification.selftest.certificates import exact
from verification.selftest.certificates.exact import Rows, Vector, bounded, close, require
from verification.selftest.certificates.sets import ONE, ZERO, inside, rows_of

#: Loss, its dual set with k, whether it is smoothed, and how scores become margins.
LOSSES = (
    ("multiclass_hinge", "topk_simplex_alpha", 1, False, "multiclass"),
    ("topk_hinge_alpha", "topk_simplex_alpha", 2, False, "multiclass"),
    ("topk_hinge_beta", "topk_simplex_beta", 2, False, "multiclass"),
    ("smooth_topk_hinge_alpha", "topk_simplex_alpha", 2, True, "multiclass"),
    ("smooth_topk_hinge_beta", "topk_simplex_beta", 2, True, "multiclass"),
    ("ova_hinge", "box", 1, False, "ova"),
    ("ova_smooth_hinge", "box", 1, True, "ova"),
    ("multilabel_hinge", "bipartite_simplex", 1, False, "multilabel"),
    ("multilabel_smooth_hinge", "bipartite_simplex", 1, True, "multilabel"),
)
#: Instances per loss; the solutions are kept, for the next wrong certificate.
ROUNDS = 2
INDICATOR = np.array([0, 1, 1, 0])


@dataclass(frozen=True)
class Example:
    """A loss with a ground truth, its dual set, its margins z and everything that it was drawn with."""

    object_name: str
    rows: Rows
    params: dict[str, Any]
    gamma: Fraction
    family: str
    y: Any
    scores: Vector
    costs: Vector
    weight: Fraction

    @property
    def d(self) -> int:
        """Entries of z."""
        return len(self.rows[0][0])

    @property
    def given(self) -> dict[str, Any]:
        """Keyword arguments of the certificates."""
        return {
            "costs": exact.floats(self.costs),
            "sample_weight": float(self.weight),
            **self.params,
        }

    @property
    def own(self) -> dict[str, Any]:
        """Keyword arguments over the entries of z: their costs, and y for the multilabel losses."""
        labels = {"y": self.y} if self.family == "multilabel" else {}
        return {"costs": exact.floats(self.own_costs), **labels, **self.params}

    @property
    def own_costs(self) -> Vector:
        """Costs over the entries of z."""
        return np.delete(self.costs, self.y) if self.family == "multiclass" else self.costs

    def signs(self) -> Vector:
        """Minus at the ground truth."""
        truth = np.arange(self.d) == self.y if self.family == "ova" else self.y
        return 1 - 2 * truth.astype(object)

    def margins(self, f: Vector) -> Vector:
        """f_j - f_y + c_j over the others, or signed scores with their costs."""
        if self.family == "multiclass":
            return np.delete(f, self.y) - f[self.y] + self.own_costs
        return self.signs() * f + self.costs

    def push(self, x: Vector) -> Vector:
        """The gradient in the scores for the gradient x in z."""
        if self.family == "multiclass":
            return np.insert(x, self.y, -x.sum())
        return self.signs() * x

    def conjugate(self, x: Vector) -> Fraction:
        """Gamma/2 ||x||^2."""
        return Fraction(self.gamma / 2 * (x @ x))

    def value(self, z: Vector) -> Fraction:
        """Max <z,x> - gamma/2 ||x||^2 over the dual set."""
        if self.gamma == 0:
            return exact.support(self.rows, z)
        return -exact.minimum(exact.form(self.d, self.gamma), z, self.rows)[1]


def examples(seed: int, salt: int) -> Iterator[tuple[Example, np.random.Generator]]:
    """Every loss a few times; two of the three scores tie now and then."""
    rng = np.random.default_rng([seed, 3, salt])
    for object_name, dual, k, smooth, family in LOSSES:
        for _ in range(ROUNDS):
            d = 4 if family == "multilabel" else 3
            m = d + 1 if family == "multiclass" else d
            y: Any = INDICATOR if family == "multilabel" else int(rng.integers(m))
            rows = rows_of(dual, d, ONE, k, y)
            gamma = Fraction(int(rng.integers(1, 5)), 2) if smooth else ZERO
            params: dict[str, Any] = {"k": k} if "topk" in object_name else {}
            params |= {"gamma": float(gamma)} if smooth else {}
            costs = abs(exact.eighths(rng, m))
            if family == "multiclass":
                costs[y] = ZERO
            weight = Fraction(int(rng.integers(1, 8)), 4)
            scores = exact.eighths(rng, m)
            yield Example(object_name, rows, params, gamma, family, y, scores, costs, weight), rng


def nearer(found: Any, step: Vector, what: str) -> None:
    """The distance claimed is that of this step at least."""
    bounded(Fraction(found.distance) ** 2, step @ step, 0, f"{what} distance squared")


def values(seed: int) -> None:
    """A number is as far from the loss as is said; the right one is right."""
    for e, rng in examples(seed, 1):
        z = e.margins(e.scores)
        right = e.weight * e.value(z)
        for off in (ZERO, exact.eighths(rng, 1)[0]):
            number = float(right + off)
            found = certificates.loss_value(
                e.object_name, number, exact.floats(e.scores), e.y, **e.given
            )
            what = f"value of {e.object_name}:"
            close(found.gap, abs(Fraction(number) - right), float(abs(right)), f"{what} gap", 1e-15)
            close(found.scale, e.weight * abs(z).max(), 1.0, f"{what} scale")


def conjugates(seed: int) -> None:
    """Numbers inside of the domain, infinities outside, and nothing the other way round."""
    for e, rng in examples(seed, 2):
        x, off = inside(rng, e.rows), exact.eighths(rng, e.d)
        right = e.conjugate(x) - e.own_costs @ x
        what = f"conjugate of {e.object_name}:"
        for number in (float(right), float(right) + 0.125, np.inf):
            found = certificates.conjugate(e.object_name, number, exact.floats(x), **e.own)
            if number == np.inf:
                require(found.gap == np.inf, what, "inf inside of the domain has gap", found.gap)
            else:
                close(found.gap, abs(Fraction(number) - right), 1.0, f"{what} gap")
        found = certificates.conjugate(e.object_name, np.inf, exact.floats(off), **e.own)
        close(found.violation, exact.violation(e.rows, off), 1.0, f"{what} violation")
        if exact.violation(e.rows, off) > 0:
            require(found.gap == 0, what, "inf outside of the domain has gap", found.gap)


def gradients(seed: int) -> None:
    """The gap of a point of the dual set is its Fenchel-Young gap; the gradient is as near as said."""
    for e, rng in examples(seed, 3):
        z, what = e.margins(e.scores), f"gradient of {e.object_name}:"
        value = e.value(z)
        best = exact.minimum(exact.form(e.d, e.gamma), z, e.rows)[0] if e.gamma else None
        off = exact.eighths(rng, e.d)
        known = [] if best is None else [exact.vector(exact.floats(best))]
        for x in (inside(rng, e.rows), off, *known):
            g = exact.floats(e.weight * e.push(x))
            found = certificates.gradient(e.object_name, g, exact.floats(e.scores), e.y, **e.given)
            missed = e.weight * exact.violation(e.rows, x)
            close(found.violation, missed, 1.0, f"{what} violation", 1e-14)
            close(found.scale, e.weight * abs(z).max(), 1.0, f"{what} scale")
            if missed == 0:
                gap = e.weight * (value + e.conjugate(x) - z @ x)
                close(found.gap, gap, float(abs(z).max()), f"{what} gap")
            if best is None:
                require(np.isnan(found.distance), what, "a hinge has no one gradient")
                continue
            nearer(found, exact.vector(g) - e.weight * e.push(best), what)
        if e.family == "multiclass":
            g = exact.floats(e.push(e.weight * inside(rng, e.rows)))
            g[e.y] += 1
            other = certificates.gradient(e.object_name, g, exact.floats(e.scores), e.y, **e.given)
            close(other.violation, ONE, 1.0, f"{what} violation")
        if best is not None:
            require(found.gap <= 1e-14 and found.distance <= 1e-7, what, "not sharp", found)


def points(best: Vector, rng: np.random.Generator) -> Iterator[np.ndarray[Any, Any]]:
    """The solution, points beside it, and one elsewhere."""
    yield exact.floats(best)
    for size in (2.0**8, 2.0**22):
        yield exact.floats(best) + rng.integers(-2, 3, len(best)) / size
    yield exact.floats(exact.eighths(rng, len(best)))


def proxes(seed: int) -> None:
    """The objective exceeds its minimum by no more than the gap; the minimiser is as near as said."""
    for e, rng in examples(seed, 4):
        v, t = exact.eighths(rng, e.d), Fraction(int(rng.integers(1, 8)), 2)
        b = v + e.own_costs
        x, least = exact.minimum(exact.form(e.d, t + e.gamma), b, e.rows)
        best = v - t * x
        what = f"prox of {e.object_name}:"
        for number, u in enumerate(points(best, rng)):
            found = certificates.prox(e.object_name, u, exact.floats(v), t=float(t), **e.own)
            at = exact.vector(u)
            objective = e.value(at + e.own_costs) + (at - v) @ (at - v) / (2 * t)
            close(found.value, objective, float(abs(objective)), f"{what} value")
            bounded(found.gap, objective + least, 1 + float(abs(objective)), f"{what} gap", 1e-15)
            nearer(found, at - best, what)
            close(found.scale, abs(b).max(), 1.0, f"{what} scale")
            if number == 0:
                require(found.gap <= 1e-13 and found.distance <= 1e-6, what, "not sharp", found)


def updates(seed: int) -> None:
    """As for a prox: the dual's decrease, the violation, and the distance of the block."""
    for e, rng in examples(seed, 5):
        gram, C = (Fraction(int(v), 4) for v in rng.integers(1, 9, 2))
        mass = C * e.weight
        beta, b = gram * mass, e.margins(e.scores)
        H = exact.form(e.d, beta + e.gamma, beta if e.family == "multiclass" else ZERO)
        best, least = exact.minimum(H, b, e.rows)
        what = f"update of {e.object_name}:"
        for number, x in enumerate((*points(best, rng), exact.floats(inside(rng, e.rows)))):
            a = exact.floats(-mass * e.push(exact.vector(x)))
            found = certificates.sdca_update(
                e.object_name, a, exact.floats(e.scores), e.y, float(gram), C=float(C), **e.given
            )
            at = exact.vector(x)
            missed = exact.violation(e.rows, at)
            close(found.violation, mass * missed, 1.0, f"{what} violation")
            if missed == 0:
                value = exact.quadratic(H, b, at)
                close(found.value, mass * value, 1.0, f"{what} value")
                lacks = mass * (value - least)
                bounded(found.gap, lacks, 1 + float(abs(value)), f"{what} gap", 1e-15)
            bounded(found.value, mass * least, 1 + float(abs(least)), f"{what} value", 1e-15)
            nearer(found, exact.vector(a) + mass * e.push(best), what)
            close(found.scale, mass * abs(b).max(), 1.0, f"{what} scale")
            if number == 0:
                require(found.gap <= 1e-13 and found.distance <= 1e-6, what, "not sharp", found)
