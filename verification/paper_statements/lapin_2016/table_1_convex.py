"""Table 1, its last column and first footnote: which losses are convex."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import smooth_hinge_alpha
from verification.paper_statements._entropies import entropy_alpha, ratios
from verification.paper_statements._logs import MARGIN, log
from verification.paper_statements._rational import Vector, add, draw_vector, scale
from verification.paper_statements._topk import ZERO, hinge_alpha, hinge_beta, kth, margins
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.lapin_2016.bounds import dropped
from verification.paper_statements.lapin_2016.one_vs_all import logistic, signed, smooth_hinge
from verification.paper_statements.risk import smooth_hinge_beta

#: (scores, y, k, gamma) -> loss
Hinge = Callable[[Vector, int, int, Fraction], Fraction]
#: (exponentials of the scores, y, k) -> loss, a sum of logarithms or 60 digits
LogLoss = Callable[[Vector, int, int], Any]


def truncated(w: Vector, y: int, k: int) -> Any:
    """Equation (15)."""
    return log(1 + sum(dropped(ratios(w, y), k), ZERO))


HINGES: dict[str, Hinge] = {
    "OVA hinge": lambda f, y, k, gamma: sum((max(ZERO, v) for v in signed(f, y)), ZERO),
    "smooth OVA hinge": lambda f, y, k, gamma: sum(
        (smooth_hinge(v, gamma) for v in signed(f, y)), ZERO
    ),
    "multiclass hinge": lambda f, y, k, gamma: hinge_alpha(margins(f, y), 1),
    "alpha": lambda f, y, k, gamma: hinge_alpha(margins(f, y), k),
    "beta": lambda f, y, k, gamma: hinge_beta(margins(f, y), k),
    "smooth alpha": lambda f, y, k, gamma: smooth_hinge_alpha(margins(f, y), k, gamma),
    "smooth beta": lambda f, y, k, gamma: smooth_hinge_beta(margins(f, y), k, gamma),
}
LOGS: dict[str, LogLoss] = {
    "OVA logistic": lambda w, y, k: log(logistic(w, y)),
    "softmax": lambda w, y, k: log(1 + sum(ratios(w, y), ZERO)),
    "top-k entropy": lambda w, y, k: entropy_alpha(ratios(w, y), k),
}


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(3, 6))
    return {
        "f": draw_vector(rng, m, spread=2),
        "g": draw_vector(rng, m, spread=2),
        "roots": [[Fraction(int(v)) for v in rng.integers(1, 9, size=m)] for _ in range(2)],
        "y": int(rng.integers(m)),
        "k": int(rng.integers(2, m)),
        "gamma": Fraction(int(rng.integers(1, 9)), 4),
    }


def _most(middle: Any, ends: Any) -> bool:
    """Whether twice the value in the middle is at most the sum of the ends."""
    return bool(2 * middle <= ends + (MARGIN if isinstance(middle, Decimal) else 0))


def _between(loss: LogLoss, roots: list[Vector], y: int, k: int) -> bool:
    """The same for a loss at the scores 2 log a and 2 log b; half way is log a + log b."""
    a, b = roots
    middle = loss([v * w for v, w in zip(a, b, strict=True)], y, k)
    ends = [loss([v * v for v in root], y, k) for root in roots]
    return _most(middle, ends[0] + ends[1])


def bent(m: int, y: int, k: int, high: Fraction = Fraction(64)) -> list[Vector]:
    """Two points with k - 1 of the same k others far above the true class, not the same ones."""
    others = [j for j in range(m) if j != y][:k]
    low = 1 / high
    return [
        [Fraction(1) if j == y else high if j in others and j != out else low for j in range(m)]
        for out in (others[0], others[-1])
    ]


def _check(
    trial: Trial,
    *,
    f: Vector,
    g: Vector,
    roots: list[Vector],
    y: int,
    k: int,
    gamma: Fraction,
    hinges: Mapping[str, Hinge],
    logs: Mapping[str, LogLoss],
    bending: LogLoss,
) -> None:
    middle = scale(Fraction(1, 2), add(f, g))
    for name, hinge in hinges.items():
        value, ends = hinge(middle, y, k, gamma), hinge(f, y, k, gamma) + hinge(g, y, k, gamma)
        trial.exactly(_most(value, ends), f"the {name} loss is not convex between f and g")
    for name, loss in logs.items():
        trial.exactly(_between(loss, roots, y, k), f"the {name} loss is not convex", loss=name)
    same = truncated(roots[0], y, 1) == LOGS["softmax"](roots[0], y, 1)
    trial.exactly(same, "for k = 1 the truncated loss is not softmax")
    points = bent(len(f), y, k)
    trial.exactly(not _between(bending, points, y, k), "convex between these points", points=points)


CONVEX = stated(
    "Table 1, convexity",
    draw=_draw,
    check=_check,
    says={"hinges": HINGES, "logs": LOGS, "bending": truncated},
    wrong={
        "psi_k too": {"hinges": {"psi": lambda f, y, k, gamma: max(ZERO, kth(margins(f, y), k))}},
        "the truncated loss too": {"logs": {"truncated": truncated}},
        "softmax is not": {"bending": LOGS["softmax"]},
        "the top-k entropy is not": {"bending": LOGS["top-k entropy"]},
    },
)
