"""AP-SVMs of single letters against the rest, on the Letter data, each with its certificate recomputed."""

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np

from refsolve.proofs import ranking_truth
from verification.benchmarks.protocol import Parts
from verification.certificates import judge_claims, trained
from verification.report.document import Table, number, table, verdict_cell

LETTERS = "AEHO"
C = 1000.0
#: Certified relative duality gap asked for.
TOL = 1e-5


@dataclass(frozen=True)
class Ranker:
    """One letter's model.

    Attributes
    ----------
    positives, negatives : training examples.
    gap : certified relative duality gap, computed anew.
    objection : what is wrong with the claims of the model; empty if nothing is.
    oracle_calls, seconds : of training.
    bound : the loss of the training scores; 1 - AP of no order of tied examples exceeds it.
    train, test : average precision, ties counted against the scores.
    """

    letter: str
    positives: int
    negatives: int
    gap: float
    objection: str
    oracle_calls: int
    seconds: float
    bound: float
    train: float
    test: float

    @property
    def ok(self) -> bool:
        """Certified to the tolerance, true claims, and a loss that bounds 1 - AP."""
        return self.gap <= TOL and not self.objection and 1.0 - self.train <= self.bound + 1e-12

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return {**asdict(self), "ok": self.ok}


def average_precision(scores: np.ndarray, positives: np.ndarray) -> float:
    """AP of the worst order of tied scores, from its definition by counts."""
    below = np.sort(scores[~positives])
    above = len(below) - np.searchsorted(below, scores[positives], side="left")
    inversions = np.zeros(len(scores), dtype=np.int64)
    inversions[positives] = above
    return 1.0 - float(ranking_truth.loss(positives, inversions))


def measure(parts: Parts, letter: str) -> Ranker:
    """Train one letter against the rest and judge the model."""
    from fast import APSVM

    label = ord(letter) - ord("A")
    (X, y), (X_test, y_test) = parts.train, parts.test
    positives = y == label
    start = perf_counter()
    model = APSVM(C=C, tol=TOL).fit(X, positives)
    seconds = perf_counter() - start
    found = trained(model, X, positives)
    w = model.coef_[0]
    return Ranker(
        letter,
        int(positives.sum()),
        int((~positives).sum()),
        found.relative_gap,
        judge_claims(model, X, positives).message,
        int(model.n_oracle_calls_),
        seconds,
        (found.primal - float(w @ w) / 2) / C,
        average_precision(X @ w, positives),
        average_precision(X_test @ w, y_test == label),
    )


def run(parts: Parts) -> list[Ranker]:
    """All letters of `LETTERS`."""
    return [measure(parts, letter) for letter in LETTERS]


def rankers_table(rankers: list[Ranker]) -> Table:
    """One row per letter."""
    rows = [
        (
            r.letter,
            str(r.positives),
            str(r.negatives),
            number(r.gap),
            str(r.oracle_calls),
            number(r.seconds),
            number(r.bound, 3),
            f"{r.train:.4f}",
            f"{r.test:.4f}",
            verdict_cell(r.ok),
        )
        for r in rankers
    ]
    figures = ("P", "N", "certified gap", "oracle calls", "seconds", "loss", "AP train", "AP test")
    note = f"C = {C:g}, no bias, relative gap at most {TOL:g}; the loss bounds 1 - AP of the training part."
    return table("AP-SVM: a letter against the rest", ("letter", *figures, ""), rows, figures, note)
