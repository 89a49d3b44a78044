"""Proposition 6: the smooth top-k hinge loss, its conjugate, its smoothness."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import project_simplex, smooth_hinge_alpha
from verification.paper_statements._rational import (
    Function,
    Vector,
    add,
    dot,
    draw_vector,
    scale,
    square,
)
from verification.paper_statements._topk import (
    ONE,
    ZERO,
    alpha_halfspaces,
    beta_halfspaces,
    draw_dual,
    draw_pair,
    inside,
)
from verification.paper_statements.lapin_2016 import stated

#: (z, k, gamma) -> projection p
Projection = Callable[[Vector, int, Fraction], Vector]
#: (b, c, k, gamma) -> conjugate, None for +infinity
Conjugate = Callable[[Vector, Vector, int, Fraction], Fraction | None]


def projection(z: Vector, k: int, gamma: Fraction) -> Vector:
    """Projection of z on the top-k simplex of radius gamma."""
    return project_simplex(z, k, ZERO, gamma)


def conjugate(b: Vector, c: Vector, k: int, gamma: Fraction) -> Fraction | None:
    """gamma/2 ||b||^2 - <c,b> on the top-k simplex."""
    if not inside(b, alpha_halfspaces(len(b), k)):
        return None
    return gamma / 2 * square(b) - dot(c, b)


def _on_beta(b: Vector, c: Vector, k: int, gamma: Fraction) -> Fraction | None:
    if not inside(b, beta_halfspaces(len(b), k)):
        return None
    return gamma / 2 * square(b) - dot(c, b)


def _draw(rng: Rng) -> Inputs:
    given = draw_pair(rng)
    k, c, m = given["k"], given["c"], len(given["c"])
    gamma = Fraction(int(rng.integers(1, 9)), 2)

    def point() -> Vector:
        if rng.random() < 0.5:  # a + c in the set of radius gamma: there the loss is quadratic
            return add(scale(gamma, draw_dual(rng, m, k)), scale(-1, c))
        return draw_vector(rng, m, spread=3)

    return {"a": point(), "other": point(), "b": given["b"], "c": c, "k": k, "gamma": gamma}


def _check(
    trial: Trial,
    *,
    a: Vector,
    other: Vector,
    b: Vector,
    c: Vector,
    k: int,
    gamma: Fraction,
    projection: Projection,
    conjugate: Conjugate,
    constant: Function,
) -> None:
    def printed(point: Vector) -> Fraction:
        z = add(point, c)
        p = projection(z, k, gamma)
        return (dot(z, p) - square(p) / 2) / gamma

    def loss(point: Vector) -> Fraction:
        return smooth_hinge_alpha(add(point, c), k, gamma)

    for point in (a, other):
        trial.exactly(
            printed(point) == loss(point),
            "the formula is not the maximum of <a+c,b> - gamma/2 ||b||^2 over the top-k simplex",
            formula=printed(point),
            maximum=loss(point),
        )
    # The conjugate at b, from the loss: attained at a = gamma b - c, or unbounded along a normal.
    value = conjugate(b, c, k, gamma)
    outer = [
        (row, dot(row, b) - rhs)
        for row, rhs in zip(*alpha_halfspaces(len(b), k), strict=True)
        if dot(row, b) > rhs
    ]
    if outer:
        row, excess = outer[0]
        growing = all(
            t * dot(row, b) - loss(scale(t, row)) >= t * excess - 1 for t in (1, 100, 10**6)
        )
        trial.exactly(growing, "<b,a> - L(a) does not grow along a violated constraint")
        trial.exactly(value is None, "the conjugate is infinite, the formula is not", formula=value)
    else:
        best = add(scale(gamma, b), scale(-1, c))
        attained = dot(best, b) - loss(best)
        trial.exactly(
            value == attained and all(dot(v, b) - loss(v) <= attained for v in (a, other)),
            "the conjugate differs from the formula",
            from_definition=attained,
            formula=value,
        )
    step = add(other, scale(-1, a))
    slope = scale(1 / gamma, projection(add(a, c), k, gamma))
    rise = loss(other) - loss(a) - dot(slope, step)
    trial.exactly(
        0 <= rise <= constant(gamma) / 2 * square(step),
        "0 <= L(a') - L(a) - <p/gamma, a'-a> <= (constant/2) ||a'-a||^2 fails",
        rise=rise,
        square=square(step),
    )


PROPOSITION_6 = stated(
    "Proposition 6",
    draw=_draw,
    check=_check,
    says={"projection": projection, "conjugate": conjugate, "constant": lambda gamma: 1 / gamma},
    wrong={
        "projection on radius 1": {"projection": lambda z, k, gamma: projection(z, k, ONE)},
        "projection on the simplex": {"projection": lambda z, k, gamma: projection(z, 1, gamma)},
        "conjugate on the beta set": {"conjugate": _on_beta},
        "gamma in place of gamma/2": {
            "conjugate": lambda b, c, k, gamma: conjugate(b, c, k, 2 * gamma)
        },
        "smoothness 1/(2 gamma)": {"constant": lambda gamma: 1 / (2 * gamma)},
        "smoothness gamma": {"constant": lambda gamma: gamma},
    },
)
