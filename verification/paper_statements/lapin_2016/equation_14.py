"""Equation (14): why the softmax loss says little of the top-k error, and the truncated one more."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._entropies import ratios
from verification.paper_statements._rational import Vector
from verification.paper_statements._topk import ONE, ZERO, Loss
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.lapin_2016.bounds import dropped
from verification.paper_statements.lapin_2016.lemma_1 import error_with_ties


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(3, 7))
    y = int(rng.integers(m))
    w = [Fraction(1, int(rng.integers(2, 6))) for _ in range(m)]
    w[y] = ONE
    w[int(rng.choice([j for j in range(m) if j != y]))] = Fraction(int(rng.choice([8, 64, 4096])))
    return {"w": w, "y": y, "k": 2}


def printed(w: Vector, y: int) -> Fraction:
    """Exp of (14) at the scores log w: 1 + the sum over the others."""
    return 1 + sum(ratios(w, y), ZERO)


def _check(
    trial: Trial, *, w: Vector, y: int, k: int, loss: Loss, kept: Callable[[Vector, int], Vector]
) -> None:
    full = loss(w, y)
    trial.exactly(full == sum(w, ZERO) / w[y], "(14) is not (5)", exp=full)
    trial.exactly(not error_with_ties(w, y, k), "it errs")
    trial.exactly(full > max(w) / w[y], "the loss is below the largest margin", exp=full)
    short = 1 + sum(kept(ratios(w, y), k), ZERO)
    trial.exactly(short <= len(w) - 1, "the truncated loss is large too", exp=short)


EQUATION_14 = stated(
    "Equation (14)",
    draw=_draw,
    check=_check,
    says={"loss": printed, "kept": dropped},
    wrong={
        "without the 1": {"loss": lambda w, y: sum(ratios(w, y), ZERO)},
        "nothing dropped": {"kept": lambda w, k: w},
        "the smallest dropped": {"kept": lambda w, k: sorted(w)[k - 1 :]},
    },
)
