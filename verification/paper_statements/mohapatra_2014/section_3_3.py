"""Section 3.3: what a 0-1 loss of 0 says of the AP, and which easy samples are kept."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import Labels, draw_samples, slack
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements.mohapatra_2014 import stated
from verification.paper_statements.mohapatra_2014.equation_3 import lists, worst_loss


def signed(labels: Labels, scores: Vector) -> Vector:
    """y_i f(x_i)."""
    return [v if label else -v for label, v in zip(labels, scores, strict=True)]


def _draw_separable(rng: Rng) -> Inputs:
    """Scores of which many are of the right sign, some of them 0."""
    given = draw_samples(rng, most=9)
    scores = [
        abs(v) * (1 if label else -1) if rng.random() < 0.9 else v
        for label, v in zip(given["labels"], given["scores"], strict=True)
    ]
    return {"labels": given["labels"], "scores": scores}


#: (labels, scores) -> whether the condition, or the conclusion, holds
Test = Callable[[tuple[int, ...], Vector], bool]


def all_right(labels: Labels, scores: Vector) -> bool:
    """0-1 loss of 0: y f > 0 for all samples."""
    return min(signed(labels, scores)) > 0


def with_margin(labels: Labels, scores: Vector) -> bool:
    """Hinge loss of 0: y f >= 1 for all samples."""
    return min(signed(labels, scores)) >= 1


def ranked_right(labels: Labels, scores: Vector) -> bool:
    """AP loss of 0, ties in their worst order."""
    return worst_loss(*lists(labels, scores)) == 0


def no_slack(labels: Labels, scores: Vector) -> bool:
    """The loss of problem (3) is 0."""
    return slack(*lists(labels, scores)) == 0


def _check_zero(trial: Trial, *, labels: Labels, scores: Vector, given: Test, then: Test) -> None:
    trial.exactly(
        then(labels, scores) or not given(labels, scores),
        "the one loss is 0, the other is not",
        slack=slack(*lists(labels, scores)),
    )


ZERO_ONE = stated(
    "Section 3.3, 0-1 loss 0",
    draw=_draw_separable,
    check=_check_zero,
    says={"given": all_right, "then": ranked_right},
    wrong={
        "y f >= 0 counts as right": {
            "given": lambda labels, scores: min(signed(labels, scores)) >= 0
        },
        "the other way round": {"given": ranked_right, "then": all_right},
        "one error": {
            "given": lambda labels, scores: sum(v <= 0 for v in signed(labels, scores)) <= 1
        },
    },
)


def _draw_margins(rng: Rng) -> Inputs:
    """One positive and many negatives, all with y f >= 1."""
    labels = (1, *([0] * int(rng.integers(1, 13))))
    margins = [1 + Fraction(int(v), 4) for v in rng.integers(0, 3, len(labels))]
    return {"labels": labels, "scores": signed(labels, margins)}


SURROGATES = stated(
    "Section 3.3, hinge loss 0",
    draw=_draw_margins,
    check=_check_zero,
    says={"given": with_margin, "then": no_slack},
    right={"then": ranked_right},
    witnesses=({"labels": (1, *([0] * 9)), "scores": vector(1, *([-1] * 9))},),
)

# ----------------------------------------------------------------------- which easy samples stay


#: (labels, scores) -> by which the easy samples are ordered, largest first
Order = Callable[[tuple[int, ...], Vector], Vector]


def by_score(labels: Labels, scores: Vector) -> Vector:
    """Scores themselves."""
    return scores


def _draw_easy(rng: Rng) -> Inputs:
    given = draw_samples(rng, most=9)
    margins = [1 + Fraction(int(v), 4) for v in rng.integers(0, 9, len(given["labels"]))]
    return {
        "labels": given["labels"],
        "scores": signed(given["labels"], margins),
        "fraction": Fraction(int(rng.integers(1, 5)), 4),
    }


def _check_kept(
    trial: Trial, *, labels: Labels, scores: Vector, fraction: Fraction, order: Order
) -> None:
    key = order(labels, scores)
    count = int(fraction * len(labels))
    ranked = sorted(range(len(labels)), key=lambda i: -key[i])
    kept, left = ranked[:count], ranked[count:]
    margins = signed(labels, scores)
    trial.exactly(
        not kept or not left or min(margins[i] for i in kept) >= max(margins[i] for i in left),
        "a sample is dropped whose margin is larger than that of one kept",
        kept=sorted(kept),
        margins=margins,
    )


EASY_PRINTED = stated(
    "Section 3.3, top k% of the easy samples",
    draw=_draw_easy,
    check=_check_kept,
    says={"order": by_score},
    right={"order": signed},
    witnesses=(
        {"labels": (1, 0), "scores": vector(1, -5), "fraction": Fraction(1, 2)},
        {"labels": (1, 1, 0, 0), "scores": vector(2, 1, -5, -9), "fraction": Fraction(1, 2)},
    ),
)
