"""Algorithm 1, the greedy: with the rank P+1 it is exact, as printed it is not."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from verification.paper_statements import Claim, Trial
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


PRINTED = Claim(
    number="Algorithm 1 as printed",
    section="2",
    statement="opt_j = argmax of delta_j over {1, ..., P} gives a most violated ranking",
    method="the objective of the ranking found against all interleavings, rational",
    expected="refuted",
    draw=draw_lists,
    check=_check,
    says={"choices": (printed,)},
    right={"choices": (largest,)},
    witnesses=({"s": vector(10), "t": vector(0)},),
    instances=80,
    note="Every negative would stand above some positive, so that R* itself is never found. "
    "Section 3.2 has opt_j in [1, P+1].",
    voice="asserted",
    quote="opt_j = argmax over i ∈ {1, ..., |P|} of δ_j(i)",
    witness="repeated",
)

RIGHT = PRINTED.corrected(
    number="Algorithm 1 over {1..P+1}",
    statement="opt_j = argmax over {1, ..., P+1}, delta_j(P+1) = 0, whichever argmax is taken, "
    "gives ranks in order and a most violated ranking",
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
    instances=200,
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


EXACT = Claim(
    number="Algorithm 1, exactness",
    section="2",
    statement="max over all strict rankings of Delta + <w,Psi(R)> - <w,Psi(R*)> = "
    "sum_j max over {1..P+1} of delta_j",
    method="all n! rankings of up to five samples in any order, by their matrices",
    expected="repaired",
    draw=draw_samples,
    check=_check_all,
    says={"choice": largest},
    wrong={"over {1..P}": {"choice": printed}, "always P+1": {"choice": len}},
    instances=60,
    note="It includes that positives, and negatives, may be kept in the order of their scores.",
)
