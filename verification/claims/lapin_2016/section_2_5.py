"""Section 2.5: which weights make a ranking loss convex."""

from collections.abc import Callable
from fractions import Fraction

from verification.claims import Claim, Inputs, Rng, Trial
from verification.claims._rational import Vector, add, dot, draw_vector, scale


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 6))
    weights = sorted((Fraction(int(v)) for v in rng.integers(0, 4, size=m)), reverse=True)
    return {
        "weights": weights,
        "f": draw_vector(rng, m, spread=2),
        "g": draw_vector(rng, m, spread=2),
        "y": int(rng.integers(m)),
    }


def _check(
    trial: Trial,
    *,
    weights: Vector,
    f: Vector,
    g: Vector,
    y: int,
    order: Callable[[Vector], Vector],
) -> None:
    alpha = order(weights)

    def phi(point: Vector) -> Fraction:
        return dot(alpha, sorted(point, reverse=True)) / len(point) - point[y]

    middle = scale(Fraction(1, 2), add(f, g))
    trial.exactly(
        2 * phi(middle) <= phi(f) + phi(g),
        "not convex between f and g",
        alpha=alpha,
    )


CONVEX = Claim(
    number="Section 2.5, ranking losses",
    section="2.5",
    statement="(1/m) sum_j alpha_j f_(j-th largest) - f_y is convex if alpha is non-increasing",
    method="rational midpoints of random scores",
    draw=_draw,
    check=_check,
    says={"order": list},
    wrong={
        "non-decreasing": {"order": lambda alpha: alpha[::-1]},
        "the largest dropped": {"order": lambda alpha: [Fraction(0), *alpha[1:]]},
    },
    instances=400,
    note="The second wrong variant is the idea of the truncated loss, which is not convex.",
)
