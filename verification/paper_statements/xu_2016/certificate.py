"""A certificate for (4) that does not change when alpha is scaled."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._svm import Plus, Vector, draw_balanced, draw_plus, of_plus
from verification.paper_statements.xu_2016 import stated


def _draw_gap(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    alpha = draw_balanced(rng, given["y"])
    if rng.random() < 0.3:
        alpha = Fraction(int(rng.integers(1, 5)), 2) * Plus(**given).solved.alpha
    return {**given, "alpha": alpha}


@of_plus
def _check_gap(
    trial: Trial,
    p: Plus,
    *,
    alpha: Vector,
    gap: Callable[[Fraction, Fraction, Fraction], Fraction],
    middle: bool,
) -> None:
    g = p.h @ alpha
    total, q = alpha.sum(), alpha @ g
    least = {s: min(g[p.y == s]) for s in (1, -1)}
    m = (least[1] + least[-1]) / 2 if middle else min(least.values())
    if m <= 0:
        trial.nothing_claimed()
        return
    w = p.w(alpha) / m
    b = (least[-1] - least[1]) / (2 * m)
    vt = p.vt(alpha) / m
    xi = p.zt @ vt
    trial.exactly(p.feasible(w, b, xi), "the primal point is infeasible", xi=xi)
    primal = p.value(w, vt, xi)
    t = total / q
    dual = t * total - t * t * q / 2
    trial.exactly(
        gap(total, m, q) == 1 - dual / primal,
        "the relative gap is another",
        primal=primal,
        dual=dual,
        said=gap(total, m, q),
    )
    trial.exactly(gap(total, m, q) >= 0, "a negative gap", gap=gap(total, m, q))
    if dual == p.solved.value:
        trial.exactly(gap(total, m, q) == 0, "a gap at the solution", gap=gap(total, m, q))


GAP = stated(
    "Algorithm 1, certificate",
    draw=_draw_gap,
    check=_check_gap,
    says={"gap": lambda s, m, q: 1 - (s * m / q) ** 2, "middle": True},
    wrong={
        "1 - S m/q": {"gap": lambda s, m, q: 1 - s * m / q},
        "m = least g of all": {"middle": False},
    },
)
