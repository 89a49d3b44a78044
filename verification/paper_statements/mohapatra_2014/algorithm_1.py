"""Algorithm 1, the greedy: with the rank P+1 it is exact, as printed it is not."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from verification.paper_statements import Trial
from verification.paper_statements._ranking import (
    ZERO,
    Labels,
    delta,
    draw_lists,
    draw_samples,
    levels_of,
    maximisers,
    pairs_turned,
    slack,
    strict_rankings,
    truth,
)
from verification.paper_statements._ranking import average_precision as precision_of
from verification.paper_statements._ranking import joint_feature as score_of
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements.mohapatra_2014 import stated
from verification.paper_statements.mohapatra_2014.equation_3 import lists

#: delta_j(1..P+1) -> the rank that is chosen
Choice = Callable[[Sequence[Fraction]], int]


def printed(values: Sequence[Fraction]) -> int:
    """Argmax over {1..P}."""
    return maximisers(values[:-1])[-1]


def largest(values: Sequence[Fraction]) -> int:
    """Largest argmax over {1..P+1}: as few inversions as possible."""
    return maximisers(values)[-1]


def smallest(values: Sequence[Fraction]) -> int:
    """Smallest argmax over {1..P+1}: as many inversions as possible."""
    return maximisers(values)[0]


def greedy(s: Vector, t: Vector, choice: Choice) -> list[int]:
    """Interleaving ranks of all negatives."""
    return [choice(delta(j, s, t)) for j in range(1, len(t) + 1)]


def _check(trial: Trial, *, s: Vector, t: Vector, choices: Sequence[Choice]) -> None:
    found = slack(s, t)
    for choice in choices:
        ranks = greedy(s, t, choice)
        value = pairs_turned(ranks, s, t)
        trial.exactly(
            value == found and ranks == sorted(ranks),
            "the ranks found are not those of a most violated ranking",
            ranks=ranks,
            objective=value,
            largest=found,
        )


PRINTED = stated(
    "Algorithm 1 as printed",
    draw=draw_lists,
    check=_check,
    says={"choices": (printed,)},
    right={"choices": (largest,)},
    witnesses=({"s": vector(10), "t": vector(0)},),
)

RIGHT = PRINTED.corrected(
    "Algorithm 1 over {1..P+1}",
    says={"choices": (largest, smallest)},
    wrong={
        "as printed": {"choices": (printed,)},
        "over {2..P+1}": {"choices": (lambda values: 1 + maximisers(values[1:])[-1],)},
        "argmin": {"choices": (lambda values: maximisers([-v for v in values])[-1],)},
        "the first rank with h < 0": {
            "choices": (
                lambda values: next(
                    (i for i in range(1, len(values)) if values[i - 1] < values[i]), len(values)
                ),
            )
        },
    },
)


def _check_all(trial: Trial, *, labels: Labels, scores: Vector, choice: Choice) -> None:
    at_truth = score_of(labels, truth(labels), scores)
    values = [
        (1 - precision_of([labels[i] for i in order]))
        + score_of(labels, levels_of(order), scores)
        - at_truth
        for order in strict_rankings(len(labels))
    ]
    s, t = lists(labels, scores)
    chosen = (choice(delta(j, s, t)) for j in range(1, len(t) + 1))
    value = sum((delta(j, s, t)[i - 1] for j, i in enumerate(chosen, 1)), ZERO)
    trial.exactly(
        value == max(values),
        "sum_j delta_j(opt_j) is not the largest objective",
        value=value,
        largest=max(values),
    )


EXACT = stated(
    "Algorithm 1, exactness",
    draw=draw_samples,
    check=_check_all,
    says={"choice": largest},
    wrong={"over {1..P}": {"choice": printed}, "always P+1": {"choice": len}},
)
