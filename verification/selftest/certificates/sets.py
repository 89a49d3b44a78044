"""The sets and their projections against polytopes written down here, in rational numbers."""

from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import catalogue, certificates
from verification.selftest.certificates import exact
from verification.selftest.certificates.exact import Row, Rows, Vector, bounded, close, require

Params = dict[str, Any]
ONE, ZERO = Fraction(1), Fraction(0)
#: Sets with numbers of entries, k and sides for which all faces are looked through.
KINDS: tuple[tuple[str, int, Params], ...] = (
    ("box", 3, {}),
    ("simplex", 3, {}),
    ("topk_simplex_alpha", 3, {"k": 1}),
    ("topk_simplex_alpha", 3, {"k": 2}),
    ("topk_simplex_alpha", 4, {"k": 3}),
    ("topk_simplex_beta", 3, {"k": 2}),
    ("topk_cone", 3, {"k": 2}),
    ("bipartite_simplex", 4, {"y": (1, 0, 0, 1)}),
)
ROUNDS = 3


def unit(d: int, i: int, size: Fraction = ONE) -> tuple[Fraction, ...]:
    """Size times the i-th unit vector."""
    return tuple(size * (i == j) for j in range(d))


def rows_of(object_name: str, d: int, r: Fraction, k: int = 1, y: Any = None) -> Rows:
    """The set as inequalities; of a set that is not known here, as it declares itself."""
    below: list[Row] = [(unit(d, i, -ONE), ZERO, False) for i in range(d)]
    ones = (ONE,) * d
    cap = [unit(d, i) for i in range(d)]
    share: list[Row] = [(tuple(v - ONE / k for v in row), ZERO, False) for row in cap]
    if object_name == "box":
        return (*below, *((row, r, False) for row in cap))
    if object_name == "simplex":
        return (*below, (ones, r, True))
    if object_name == "topk_simplex_alpha":
        return (*below, *share, (ones, r, False))
    if object_name == "topk_simplex_beta":
        return (*below, *((row, r / k, False) for row in cap), (ones, r, False))
    if object_name == "topk_cone":
        return (*below, *share)
    if object_name == "bipartite_simplex":
        up = tuple(Fraction(int(v)) for v in y)
        down = tuple(1 - v for v in up)
        return (
            *below,
            (tuple(1 - 2 * v for v in up), ZERO, True),
            (up, r, False),
            (down, r, False),
        )
    given = {"k": k, "r": r, "y": y}
    names = catalogue.load(object_name).SPEC.names
    own = catalogue.load(object_name).halfspaces(
        d, **{n: v for n, v in given.items() if n in names}
    )
    return tuple((tuple(g), h, equality) for g, h, equality in own)


def inside(rng: np.random.Generator, rows: Rows) -> Vector:
    """A point of a polytope: a mixture of its vertices with weights that are powers of 1/2."""
    corners = exact.array(exact.vertices(rows))
    x = corners[rng.integers(len(corners))]
    for _ in range(2):
        x = (x + corners[rng.integers(len(corners))]) / 2
    return x


def formulas(seed: int) -> None:
    """Support, residual, violation and repair of every set, without rounding."""
    rng = np.random.default_rng([seed, 1])
    for object_name, d, own in KINDS:
        module = catalogue.load(object_name)
        cone = object_name == "topk_cone"
        for _ in range(ROUNDS):
            r = Fraction(int(rng.integers(1, 5)), 2)
            params = own | ({} if cone else {"r": r})
            if "y" in own:
                params["y"] = np.array(own["y"])
            rows = rows_of(object_name, d, r, **own)
            cut = (*rows, ((ONE,) * d, r, False)) if cone else rows
            x, w, off = inside(rng, cut), exact.eighths(rng, d), exact.eighths(rng, d)
            best, bound = exact.support(cut, w), params | ({"r": r} if cone else {})
            found = module.support(w, **bound)
            require(found == best, f"support of {object_name} is {found}, and {best} is right")
            found = module.residual(x, w, **bound)
            lacks = best - w @ x
            require(found == lacks, f"residual of {object_name} is {found}, and {lacks} is right")
            found = module.violation(off, **params)
            right = exact.violation(rows, off)
            require(found == right, f"violation of {object_name} is {found}, and {right} is right")
            kept = module.repair(x, **params)
            require((kept == x).all(), f"repair of {object_name} moves {x} to {kept}")
            repaired = exact.vector(module.repair(off, **params))
            require(
                exact.violation(rows, repaired) == 0,
                f"repair of {object_name} leaves it: {repaired}",
            )


def projections(seed: int) -> None:
    """Certificates of projections: gap, distance, violation and scale against the exact solution."""
    rng = np.random.default_rng([seed, 2])
    for object_name, d, own in KINDS:
        biased = catalogue.has_rho(catalogue.load(object_name))
        for turn in range(ROUNDS):
            r = Fraction(int(rng.integers(1, 5)), 2)
            rho = Fraction(turn, 2) if biased else ZERO
            a, rows = exact.eighths(rng, d), rows_of(object_name, d, r, **own)
            H = exact.form(d, ONE, rho)
            best, least = exact.minimum(H, a, rows)
            cut = (
                (*rows, ((ONE,) * d, Fraction(100), False)) if object_name == "topk_cone" else rows
            )
            points = [exact.floats(best), exact.floats(exact.eighths(rng, d))]
            points += [exact.floats(best) + rng.integers(-1, 2, d) / s for s in (2.0**10, 2.0**24)]
            points += [exact.floats(inside(rng, cut)), np.zeros(d)]
            params = own | ({"rho": float(rho)} if biased else {})
            params |= {} if object_name == "topk_cone" else {"r": float(r)}
            top = abs(a).max()
            size = np.inf if object_name == "topk_cone" else float(exact.support(rows, (ONE,) * d))
            if exact.violation(rows, (ZERO,) * d) == 0:
                size = min(size, float(top / (rho + ONE / d)))
            for number, point in enumerate(points):
                found = certificates.projection(object_name, point, exact.floats(a), **params)
                x = exact.vector(point)
                what = f"projection on {object_name}:"
                off = exact.violation(rows, x)
                close(found.violation, off, 1.0, f"{what} violation")
                apart = (x - best) @ (x - best)
                bounded(Fraction(found.distance) ** 2, apart, 0, f"{what} distance squared")
                half: Any = a @ a / 2
                value = exact.quadratic(H, a, x)
                if off == 0:
                    close(found.value, value + half, float(half), f"{what} value")
                    w = a - x - rho * x.sum()
                    if object_name != "topk_cone":
                        own_gap = exact.support(rows, w) - w @ x
                        require(
                            found.gap <= own_gap + 1e-14, f"{what} gap {found.gap!r} of {own_gap}"
                        )
                bounded(found.value, least + half, float(half), f"{what} value", 1e-15)
                reached = Fraction(found.value) - half - least
                bounded(found.gap, reached, 1.0 + float(half), f"{what} gap", 1e-15)
                close(found.scale, Fraction(float(top)) * Fraction(size), 1.0, f"{what} scale")
                if number == 0:
                    require(found.gap <= 1e-14 and found.distance <= 1e-7, what, "not sharp", found)
