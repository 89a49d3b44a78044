"""Training speed at equal certified accuracy: a loss of ours against scikit-learn, and a second one beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from verification.benchmarks import peers
from verification.benchmarks.methods import MAX_ITER
from verification.benchmarks.records import Record, Section, contest
from verification.certificates import trained

CS = (0.1, 1.0)
SMALL, LARGE = ("digits", "letter"), ("mixture-100", "mixture-400")
DATASETS = (*SMALL, *LARGE)
#: Rows, classes, features.
MIXTURES = {"mixture-100": (5000, 100, 256), "mixture-400": (4000, 400, 512)}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels 0..m-1: scikit-learn's digits divided by 16, Letter's training part, a mixture."""
    if name == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        return X / 16.0, y
    if name == "letter":
        from verification.benchmarks.letter import load_parts

        return load_parts().train
    from fast.datasets import make_gaussian_mixture

    return make_gaussian_mixture(*MIXTURES[name], random_state=0)


@dataclass(frozen=True)
class Loss:
    """One of our losses: its estimator in `fast`, the certified gap asked for, and how fast it must be.

    ``factors`` by data set: how many times the seconds of the rival must be those of this loss.
    """

    name: str
    estimator: str
    options: Mapping[str, Any]
    gap: float
    factors: Mapping[str, float]

    def fit(self, X: np.ndarray, y: np.ndarray, C: float, tol: float | None = None) -> Any:
        """The estimator, fitted."""
        import fast

        make = getattr(fast, self.estimator)
        limits = {"tol": tol or self.gap, "max_iter": MAX_ITER, "random_state": 0}
        return make(C=C, **self.options, **limits).fit(X, y)


class Suite(NamedTuple):
    """The first loss is held against the peer, the second one against the first."""

    first: Loss
    second: Loss
    rival: str
    peer: peers.Trainer


def _factors(small: float, large: float) -> dict[str, float]:
    return dict.fromkeys(SMALL, small) | dict.fromkeys(LARGE, large)


_ENTROPY = "TopKLogisticRegression"
SUITES = {
    "topk": Suite(
        Loss("multiclass hinge", "TopKSVC", {"k": 1, "gamma": 0.0}, 1e-5, _factors(1.5, 4.0)),
        Loss("smooth top-5 hinge", "TopKSVC", {"k": 5, "gamma": 1.0}, 1e-6, _factors(0.5, 1.0)),
        "LinearSVC",
        peers.CRAMMER_SINGER,
    ),
    "entropy": Suite(
        Loss("softmax", _ENTROPY, {"k": 1}, 1e-6, _factors(2.0, 2.0) | {"digits": 1.0}),
        Loss("top-5 entropy", _ENTROPY, {"k": 5}, 1e-5, _factors(1 / 3, 1 / 3)),
        "lbfgs",
        peers.LOGISTIC,
    ),
}
SECTION = Section(
    "Training to a certified relative gap",
    "Ratio: seconds of the rival over ours, median of pairs of runs in turns. LinearSVC and lbfgs (scikit-learn's "
    "LogisticRegression) without bias, at the loosest tolerance that attains the same true suboptimality; where "
    "none does, their time is a lower bound. Gaps are recomputed from weights and dual, outside the clock.",
)


def measure(suite: str, dataset: str, C: float, repeats: int) -> list[Record]:
    """Both losses of a suite on one data set at one C."""
    first, second, rival, trainer = SUITES[suite]
    X, y = load(dataset)
    lower = trained(first.fit(X, y, C, first.gap / 100), X, y).dual
    peer = peers.match(X, y, C, lower, first.gap, trainer)
    theirs = partial(trainer.fit, X, y, C, peer.tol if peer.reached else 1e-8)
    ours = partial(first.fit, X, y, C)
    second.fit(X, y, C)  # compiles
    rivals = (
        (first, rival, theirs, lambda model: peer.suboptimality),
        (second, first.name, ours, None),
    )
    return [
        contest(
            {"dataset": dataset, "C": C, "loss": loss.name, "against": who},
            partial(loss.fit, X, y, C),
            run,
            repeats,
            lambda model: trained(model, X, y).relative_gap,
            peer_gap,
            least={"ratio": loss.factors[dataset]},
            most={"gap": loss.gap},
        )
        for loss, who, run, peer_gap in rivals
    ]
