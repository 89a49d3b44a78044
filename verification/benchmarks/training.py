"""Training speed at equal certified accuracy: a loss of ours against scikit-learn, and a second one beside it."""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from verification.benchmarks import peers
from verification.benchmarks.records import Record, Section, Side, contest
from verification.benchmarks.standing import LOSSES, fitted, prepared
from verification.certificates import trained

CS = (0.1, 1.0)
SMALL, LARGE = ("digits", "letter"), ("mixture-100", "mixture-400")
#: By the names of options, those of `standing.DATA`.
DATASETS = {"digits": "digits", "letter": "letter", "mixture-100": "mixture, m = 100",
            "mixture-400": "mixture, m = 400"}  # fmt: skip


class Goal(NamedTuple):
    """A loss of `standing.LOSSES`, the certified gap asked for, and how fast it must be.

    ``factors`` by data set: how many times the seconds of the rival must be those of this loss.
    """

    loss: str
    gap: float
    factors: Mapping[str, float]


class Suite(NamedTuple):
    """The first loss is held against one of its peers, the second one against the first."""

    first: Goal
    second: Goal
    rival: str


def _factors(small: float, large: float) -> dict[str, float]:
    return dict.fromkeys(SMALL, small) | dict.fromkeys(LARGE, large)


SUITES = {
    "topk": Suite(
        Goal("hinge", 1e-5, _factors(1.5, 4.0)),
        Goal("smooth top-5 hinge", 1e-6, _factors(0.5, 1.0)),
        "liblinear",
    ),
    "entropy": Suite(
        Goal("softmax", 1e-6, _factors(2.0, 2.0) | {"digits": 1.0}),
        Goal("top-5 entropy", 1e-5, _factors(1 / 3, 1 / 3)),
        "sklearn lbfgs",
    ),
}
SECTION = Section(
    "Training to a certified relative gap",
    "Ratio: seconds of the rival over ours, median of pairs of runs in turns. liblinear and lbfgs (scikit-learn's "
    "LinearSVC and LogisticRegression) without bias, at the loosest tolerance that attains the same suboptimality; "
    "where none does, their time is a lower bound. Gaps are recomputed from weights and dual, outside the clock.",
)


def measure(suite: str, dataset: str, C: float, repeats: int) -> list[Record]:
    """Both losses of a suite on one data set at one C."""
    first, second, rival = SUITES[suite]
    X, y, _ = prepared(DATASETS[dataset])
    lower = trained(fitted(first.loss, X, y, C, first.gap / 100), X, y).dual
    peer, theirs = peers.matched(LOSSES[first.loss].peers[rival], X, y, C, lower, first.gap)
    ours = [partial(fitted, goal.loss, X, y, C, goal.gap) for goal in (first, second)]
    ours[1]()  # compiles
    rivals = (
        (first, ours[0], rival, Side(theirs, lambda model: peer.suboptimality)),
        (second, ours[1], first.loss, Side(ours[0])),
    )
    return [
        contest(
            {"dataset": dataset, "C": C, "loss": goal.loss, "against": who},
            Side(run, lambda model: trained(model, X, y).relative_gap),
            side,
            repeats,
            least={"ratio": goal.factors[dataset]},
            most={"gap": goal.gap},
        )
        for goal, run, who, side in rivals
    ]
