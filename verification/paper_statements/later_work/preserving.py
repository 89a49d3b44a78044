"""When the guesses that scores allow are the most probable classes."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Vector, draw_vector
from verification.paper_statements._topk import kth
from verification.paper_statements.later_work import stated
from verification.paper_statements.risk import draw_probabilities, optimal


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 6))
    p = draw_probabilities(rng, m, least=0, largest=3)
    f = draw_vector(rng, m, spread=1, denominator=1)
    if rng.random() < 0.7:  # near the order of p, else hardly any scores are right
        f = [v + Fraction(int(2 * w > max(p))) for v, w in zip(f, p, strict=True)]
    return {"p": p, "f": f, "k": int(rng.integers(1, m))}


def keeps(p: Vector, f: Vector, k: int) -> bool:
    """Whether f puts above its own (k+1)-st what p does, and below its own k-th what p does."""
    above = all(v > kth(f, k + 1) for v, w in zip(f, p, strict=True) if w > kth(p, k + 1))
    return above and all(v < kth(f, k) for v, w in zip(f, p, strict=True) if w < kth(p, k))


def _only(above: bool) -> Callable[[Vector, Vector, int], bool]:
    def half(p: Vector, f: Vector, k: int) -> bool:
        pairs = list(zip(f, p, strict=True))
        if above:
            return all(v > kth(f, k + 1) for v, w in pairs if w > kth(p, k + 1))
        return all(v < kth(f, k) for v, w in pairs if w < kth(p, k))

    return half


def _check(
    trial: Trial, *, p: Vector, f: Vector, k: int, right: Callable[[Vector, Vector, int], bool]
) -> None:
    trial.exactly(right(p, f, k) == optimal(f, p, k), "the condition says otherwise")


KEEPS = stated(
    "Scores that keep the top k",
    draw=_draw,
    check=_check,
    says={"right": keeps},
    wrong={
        "above only": {"right": _only(True)},
        "below only": {"right": _only(False)},
        "the k-th for both": {
            "right": lambda p, f, k: keeps(p, f, k)
            and all(v > kth(f, k + 1) for v, w in zip(f, p, strict=True) if w >= kth(p, k))
        },
    },
)
