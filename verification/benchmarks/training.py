"""Training speed at equal certified accuracy: a loss of ours against scikit-learn, and a second one beside it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from verification.benchmarks import peers
from verification.benchmarks.methods import MAX_ITER
from verification.benchmarks.timing import median_ratio, paired
from verification.certificates import trained

CS = (0.1, 1.0)
SMALL, LARGE = ("digits", "letter"), ("mixture-100", "mixture-400")
DATASETS = (*SMALL, *LARGE)


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels 0..m-1 of a benchmark data set.

    digits: scikit-learn's, divided by 16; letter: training part, scaled to [-1, 1];
    mixture-100: n=5000, m=100, d=256; mixture-400: n=4000, m=400, d=512.
    """
    if name == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        return X / 16.0, y
    if name == "letter":
        from verification.benchmarks.letter import load_parts

        return load_parts().train
    from fast.datasets import make_gaussian_mixture

    sizes = {"mixture-100": (5000, 100, 256), "mixture-400": (4000, 400, 512)}
    n, m, d = sizes[name]
    return make_gaussian_mixture(n, m, d, random_state=0)


@dataclass(frozen=True)
class Loss:
    """One of our losses: its estimator in `fast`, the certified gap asked for, what it may cost.

    ``factors`` by data set: how many times faster than the peer it must be, or how many times the
    seconds of the first loss it may take.
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


@dataclass(frozen=True)
class Suite:
    """The first loss is held against the peer, the second one against the first."""

    first: Loss
    second: Loss
    peer: peers.Trainer


def _factors(small: float, large: float) -> dict[str, float]:
    return dict.fromkeys(SMALL, small) | dict.fromkeys(LARGE, large)


#: The multiclass hinge; the smooth top-5 hinge with gamma = 1.
HINGES = Suite(
    Loss("hinge", "TopKSVC", {"k": 1, "gamma": 0.0}, 1e-5, _factors(1.5, 4.0)),
    Loss("smooth", "TopKSVC", {"k": 5, "gamma": 1.0}, 1e-6, _factors(2.0, 1.0)),
    peers.CRAMMER_SINGER,
)
#: Multinomial logistic regression; the top-5 entropy (alpha).
_ENTROPY = "TopKLogisticRegression"
ENTROPIES = Suite(
    Loss("softmax", _ENTROPY, {"k": 1}, 1e-6, _factors(2.0, 2.0) | {"digits": 1.0}),
    Loss("topk", _ENTROPY, {"k": 5}, 1e-5, _factors(3.0, 3.0)),
    peers.LOGISTIC,
)


@dataclass(frozen=True)
class Case:
    """One data set at one C: median seconds, ratios, and what the certificates say."""

    suite: Suite = field(repr=False)
    dataset: str
    C: float
    first: float
    first_gap: float
    peer: float
    peer_suboptimality: float
    peer_ratio: float
    second: float
    second_gap: float
    second_ratio: float

    @property
    def first_reached(self) -> bool:
        """Fast enough, certified, and the peer was held to the same accuracy (or never got there)."""
        loss = self.suite.first
        return self.first_gap <= loss.gap and self.peer_ratio >= loss.factors[self.dataset]

    @property
    def second_reached(self) -> bool:
        """Within the allowed multiple of the first loss's time, and certified."""
        loss = self.suite.second
        return self.second_gap <= loss.gap and self.second_ratio <= loss.factors[self.dataset]

    @property
    def reached(self) -> bool:
        """True iff both are."""
        return self.first_reached and self.second_reached

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, under the names of the losses."""
        found = {name: value for name, value in vars(self).items() if name != "suite"}
        found |= {"first_reached": self.first_reached, "second_reached": self.second_reached}
        return {self._named(name): value for name, value in found.items()}

    def _named(self, name: str) -> str:
        for place in ("first", "second"):
            name = name.replace(place, getattr(self.suite, place).name)
        return name


def measure(
    suite: Suite,
    dataset: str,
    C: float,
    repeats: int,
    say: Callable[[str], None] = lambda text: None,
) -> Case:
    """All ratios of one case: medians over pairs taken in turns.

    Gaps and the lower bound are recomputed from weights and dual, outside the clock.
    """
    X, y = load(dataset)
    first, second = suite.first, suite.second
    say(f"{dataset}, C = {C:g}: lower bound")
    lower = trained(first.fit(X, y, C, first.gap / 100), X, y).dual
    say(f"{dataset}, C = {C:g}: looking for the peer's tolerance")
    peer = peers.match(X, y, C, lower, first.gap, suite.peer)
    tol = peer.tol if peer.reached else 1e-8
    say(f"{dataset}, C = {C:g}: timing")
    fitted: dict[str, Any] = {"second": second.fit(X, y, C)}  # compiles

    def run_first() -> None:
        fitted["first"] = first.fit(X, y, C)

    theirs, ours = paired(lambda: suite.peer.fit(X, y, C, tol), run_first, repeats)
    seconds, firsts = paired(lambda: second.fit(X, y, C), run_first, repeats)
    return Case(
        suite,
        dataset,
        C,
        first=median(ours),
        first_gap=trained(fitted["first"], X, y).relative_gap,
        peer=median(theirs),
        peer_suboptimality=peer.suboptimality,
        peer_ratio=median_ratio(theirs, ours),
        second=median(seconds),
        second_gap=trained(fitted["second"], X, y).relative_gap,
        second_ratio=median_ratio(seconds, firsts),
    )
