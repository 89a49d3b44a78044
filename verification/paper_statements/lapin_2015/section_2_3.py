"""Section 2.3: the multiclass problem as a binary one, and recall@k as top-k accuracy."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements.lapin_2015 import stated

Array = np.ndarray


def embedded(x: Array, m: int, y: int) -> Array:
    """Phi_y(x): x at the y-th of m places, zeros elsewhere."""
    phi = np.zeros((m, len(x)), dtype=int)
    phi[y] = x
    return phi.ravel()


def _draw(rng: Rng) -> Inputs:
    n, d, m = (int(v) for v in rng.integers((1, 1, 2), (5, 4, 5)))
    return {
        "X": rng.integers(-9, 10, size=(n, d)),
        "W": rng.integers(-9, 10, size=(m, d)),
        "y": [int(v) for v in rng.integers(m, size=n)],
        "k": int(rng.integers(1, m)),
    }


def _mapped(X: Array, W: Array, phi: Callable[[Array, int, int], Array]) -> Array:
    """Scores <w, Phi_y(x_i)> of all mn mapped examples, (n, m)."""
    return np.array([[W.ravel() @ phi(x, len(W), y) for y in range(len(W))] for x in X])


def _check_map(
    trial: Trial,
    *,
    X: Array,
    W: Array,
    y: list[int],
    k: int,
    phi: Callable[[Array, int, int], Array],
) -> None:
    rows = np.array([phi(x, len(W), label) for x in X for label in range(len(W))])
    trial.exactly(rows.shape == (len(X) * len(W), W.size), "not mn examples with md features")
    filled = bool(np.count_nonzero(rows) <= len(W) * np.count_nonzero(X))
    trial.exactly(filled, "a mapped example has entries in other places")
    same = np.array_equal(_mapped(X, W, phi), X @ W.T)
    trial.exactly(same, "<w, Phi_y(x_i)> is not <w_y, x_i>", scores=X @ W.T)


MAP = stated(
    "Section 2.3, the map Phi_y",
    draw=_draw,
    check=_check_map,
    says={"phi": embedded},
    wrong={
        "one place further": {"phi": lambda x, m, y: embedded(x, m, (y + 1) % m)},
        "in every place": {"phi": lambda x, m, y: np.tile(x, m)},
    },
)


def overall(scores: Array, k: int) -> Array:
    """The kn mapped examples of largest score, whichever x_i they come from."""
    return scores >= np.sort(scores, axis=None)[-k * len(scores)]


def of_each(scores: Array, k: int) -> Array:
    """The k largest of the m mapped examples of each x_i."""
    return scores >= np.sort(scores, axis=1)[:, -k, None]


def _check_recall(
    trial: Trial,
    *,
    X: Array,
    W: Array,
    y: list[int],
    k: int,
    predicted: Callable[[Array, int], Array],
) -> None:
    scores = _mapped(X, W, embedded)
    if len(np.unique(scores)) < scores.size:  # ties would need a rule
        trial.nothing_claimed()
        return
    chosen = predicted(scores, k)[np.arange(len(y)), y]  # the positives that are predicted
    ranks = [int(np.sum(row > row[label])) for row, label in zip(scores, y, strict=True)]
    accuracy = Fraction(sum(rank < k for rank in ranks), len(y))
    recall = Fraction(int(chosen.sum()), len(y))
    trial.exactly(recall == accuracy, "not equal", scores=scores, recall=recall, accuracy=accuracy)


RECALL = stated(
    "Section 2.3, recall@k without constraints",
    draw=_draw,
    check=_check_recall,
    says={"predicted": overall},
    right={"predicted": of_each},
    witnesses=({"X": np.array([[3], [1]]), "W": np.array([[1], [2], [4]]), "y": [0, 2], "k": 1},),
)

RECALL_RIGHT = RECALL.corrected(
    "Section 2.3, recall@k, constraint named",
    wrong={
        "the kn largest of all": {"predicted": overall},
        "k + 1 of each": {
            "predicted": lambda scores, k: of_each(scores, min(k + 1, scores.shape[1]))
        },
    },
)
