"""Figure 1: the interleaving ranks of the negatives over the iterations of training, on drawn data."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import delta, first
from verification.paper_statements.mohapatra_2014 import stated

#: Positives and negatives of the data that are drawn, and C.
POSITIVES, NEGATIVES, C = 15, 235, 100.0
#: Training ends where the most violated ranking costs no more than this beyond those that were met.
VIOLATED = 1e-3


class Iteration(NamedTuple):
    """The weights of an iteration, and opt_j (N,) of the negatives by falling score, as `fast` finds them."""

    w: np.ndarray
    ranks: np.ndarray


def data(seed: int, width: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Normal features in eighths, ``width`` a sample, two larger by ``shift`` for the positives, and labels."""
    rng = np.random.default_rng(seed)
    labels = np.array([1] * POSITIVES + [0] * NEGATIVES)
    features = np.round(8 * rng.standard_normal((labels.size, width))) / 8
    features[:POSITIVES, :2] += shift
    return features, labels


@lru_cache(maxsize=4)
def training(seed: int, width: int, shift: float) -> tuple[Iteration, ...]:
    """Cutting planes for (3) from w = 0: the most violated ranking, then the best w for all that were met."""
    from fast.losses.average_precision import loss_augmented_inference

    features, labels = data(seed, width, shift)
    w, xi = np.zeros(width), 0.0
    found: list[Iteration] = []
    cuts: list[tuple[float, np.ndarray]] = []
    while True:
        scores = features @ w
        worst = loss_augmented_inference(scores, labels)
        negatives = np.flatnonzero(labels == 0)
        below = worst.coefficients[negatives] * (POSITIVES * NEGATIVES / 2)
        order = np.argsort(-scores[negatives], kind="stable")
        found.append(Iteration(w, POSITIVES + 1 - np.rint(below[order]).astype(int)))
        if worst.value - xi <= VIOLATED:
            return tuple(found)
        cuts.append((worst.delta, worst.coefficients @ features))
        w, xi = _best(np.array([loss for loss, _ in cuts]), np.array([g for _, g in cuts]))


def _best(losses: np.ndarray, changes: np.ndarray) -> tuple[np.ndarray, float]:
    """Minimiser of 1/2 ||w||^2 + C xi subject to xi >= 0 and xi >= losses + changes w, and its xi."""
    import cvxpy as cp

    w, xi = cp.Variable(changes.shape[1]), cp.Variable(nonneg=True)
    objective = cp.Minimize(cp.sum_squares(w) / 2 + C * xi)
    cp.Problem(objective, [losses + changes @ w <= xi]).solve(solver="CLARABEL")
    return np.array(w.value), max(0.0, float((losses + changes @ w.value).max()))


# ---------------------------------------------------------------------------- the claim of section 3.2

#: (s, t) -> number of negatives
Count = Callable[[list[Fraction], list[Fraction]], int]


def below_all(s: list[Fraction], t: list[Fraction]) -> int:
    """Negatives with opt_j = P + 1, to the last bit: none of the others follows one of them."""
    return len(t) + 1 - first(lambda j: max(delta(j, s, t)) == 0, 1, len(t) + 1)


def above_all(s: list[Fraction], t: list[Fraction]) -> int:
    """Negatives for which 1 is the first of the ranks with the largest delta_j."""
    return sum(max(values := delta(j, s, t)) == values[0] for j in range(1, len(t) + 1))


def sorted_scores(
    seed: int, width: int, shift: float, w: np.ndarray
) -> tuple[list[Fraction], list[Fraction]]:
    """Scores of the positives and of the negatives in descending order, of the doubles w exactly."""
    features, labels = data(seed, width, shift)
    unit = max(Fraction(v).denominator for v in w)
    whole = np.array([int(Fraction(v) * unit) for v in w], dtype=object)
    scores = np.rint(8 * features).astype(int).astype(object) @ whole
    s, t = (
        sorted((Fraction(v, 8 * unit) for v in scores[labels == y]), reverse=True) for y in (1, 0)
    )
    return s, t


def _draw(rng: Rng) -> Inputs:
    shift = float(rng.choice([1.5, 2.0]))
    return {"seed": int(rng.integers(1 << 30)), "width": 30, "shift": shift}


def _check(
    trial: Trial,
    *,
    seed: int,
    width: int,
    shift: float,
    among: Callable[[float], bool],
    count: Count,
    share: Fraction,
    part: Fraction,
) -> None:
    if not among(shift):
        trial.nothing_claimed()
        return
    path = training(seed, width, shift)
    counts = [count(*sorted_scores(seed, width, shift, step.w)) for step in path]
    trial.exactly(counts[0] == 0, "there are such negatives at w = 0", at_0=counts[0])
    later = counts[int(part * len(counts)) :]
    trial.exactly(
        min(later) >= share * NEGATIVES,
        "fewer negatives have an interleaving rank of P + 1",
        iterations=len(counts),
        at_least=share * NEGATIVES,
        fewest=min(later),
        last=counts[-1],
    )


FIGURE_1 = stated(
    "Figure 1",
    draw=_draw,
    check=_check,
    says={
        "among": lambda shift: True,
        "count": below_all,
        "share": Fraction(1, 2),
        "part": Fraction(1, 4),
    },
    wrong={
        "from the first cutting plane on": {"part": Fraction(1, 50)},
        "all negatives": {"share": Fraction(1)},
        "rank 1 for P + 1": {"count": above_all},
    },
)

ANY_DATA = FIGURE_1.also(
    "Figure 1, on any data",
    draw=_draw,
    right={"among": lambda shift: shift > 0},
    witnesses=({"seed": 1, "width": 5, "shift": 0.0},),
)
