"""The losses of section 2: equations (1), (3) and (5), what they are compared with, and section 2.3."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Vector, add, draw_vector, without
from verification.paper_statements._topk import (
    ONE,
    ZERO,
    Loss,
    costs,
    hinge_alpha,
    hinge_beta,
    kth,
    margins,
    top,
)
from verification.paper_statements.lapin_2015 import stated

# ==========================================================================================
# Around equation (3): the nonconvex loss psi_k, the top-k hinge above it, the inequality chain.
# ==========================================================================================


def draw_scores(rng: Rng) -> Inputs:
    """Scores of m <= 6 classes with many ties, a true class, k < m."""
    m = int(rng.integers(2, 7))
    return {
        "f": draw_vector(rng, m, spread=2),
        "y": int(rng.integers(m)),
        "k": int(rng.integers(1, m)),
    }


def violations(f: Vector, y: int) -> Vector:
    """Vector a + c of R^m: a_j = f_j - f_y, c = 1 - e_y."""
    return [v - f[y] + c for v, c in zip(f, costs(len(f), y), strict=True)]


def psi(z: Vector, k: int) -> Fraction:
    """max{0, z_[k]}."""
    return max(ZERO, kth(z, k))


# ----------------------------------------------------------------------------- psi and the ranking


def _check_psi(
    trial: Trial, *, f: Vector, y: int, k: int, ranked: Callable[[Vector, int], Vector]
) -> None:
    incurred = psi(violations(f, y), k) > 0
    rank = kth(ranked(f, y), k)
    trial.exactly(
        incurred == (rank > f[y] - 1),
        "psi_k > 0 and f_[k] > f_y - 1 are not equivalent",
        psi=psi(violations(f, y), k),
        kth_score=rank,
    )


PSI_PRINTED = stated(
    "Text before (3)",
    draw=draw_scores,
    check=_check_psi,
    says={"ranked": lambda f, y: f},
    right={"ranked": without},
)

PSI_OTHERS = PSI_PRINTED.corrected(wrong={"all classes ranked": {"ranked": lambda f, y: f}})

# -------------------------------------------------------------------------------------- the chain


def _check_chain(trial: Trial, *, f: Vector, y: int, k: int, middle: Loss) -> None:
    z = violations(f, y)
    # Ties count as errors: the strongest reading of the top-k error.
    error = Fraction(int(sum(v >= f[y] for v in without(f, y)) >= k))
    chain = [error, psi(z, k), middle(z, k), hinge_alpha(z, 1)]
    trial.exactly(
        chain == sorted(chain), "the chain err_k, psi_k, phi_k, phi_1 decreases", chain=chain
    )
    # Beyond errors, the losses are ordered at every vector of R^m, a_y = 0 or not.
    losses = [psi(f, k), middle(f, k), hinge_alpha(f, 1)]
    trial.exactly(losses == sorted(losses), "the chain decreases at a + c = f", chain=losses)
    trial.exactly(middle(z, 1) == max(ZERO, max(z)), "phi_1 is not the multiclass hinge loss")


CHAIN = stated(
    "Chain after (3)",
    draw=draw_scores,
    check=_check_chain,
    says={"middle": hinge_alpha},
    wrong={
        "sum in place of the mean": {"middle": lambda z, k: max(ZERO, top(z, k))},
        "mean of the k smallest": {"middle": lambda z, k: max(ZERO, sum(sorted(z)[:k]) / k)},
        "k + 1 scores": {"middle": lambda z, k: max(ZERO, top(z, k + 1) / (k + 1))},
    },
)


def _all_equal(values: Vector, k: int) -> bool:
    return kth(values, 1) == kth(values, k)


def _strict_printed(f: Vector, y: int, k: int) -> bool | None:
    """True where the text promises a strict inequality; it promises nothing elsewhere."""
    return None if _all_equal(f, k) else True


def _strict_right(f: Vector, y: int, k: int) -> bool | None:
    z = violations(f, y)
    return max(z) > 0 and not _all_equal(z, k)


def _check_strict(
    trial: Trial, *, f: Vector, y: int, k: int, strict: Callable[[Vector, int, int], bool | None]
) -> None:
    z = violations(f, y)
    small, large = hinge_alpha(z, k), hinge_alpha(z, 1)
    expected = strict(f, y, k)
    trial.exactly(
        expected is None or expected == (small < large),
        "phi_k < phi_1 does not hold where it should, or holds where it should not",
        z=z,
        phi_k=small,
        phi_1=large,
    )


STRICT_PRINTED = stated(
    "Strictness after (3)",
    draw=draw_scores,
    check=_check_strict,
    says={"strict": _strict_printed},
    right={"strict": _strict_right},
)

STRICT_RIGHT = STRICT_PRINTED.corrected(
    wrong={
        "scores compared": {"strict": lambda f, y, k: not _all_equal(f, k)},
        "zero losses forgotten": {"strict": lambda f, y, k: not _all_equal(violations(f, y), k)},
    }
)


# ==========================================================================================
# Equation (1): the multiclass hinge loss, and the maximum with 0 that (2) adds to it.
# ==========================================================================================


def printed(f: Vector, y: int) -> Vector:
    """What (1) takes the maximum of: [j != y] + f_j - f_y, the true class included."""
    return add([v - f[y] for v in f], costs(len(f), y))


def _check_equation_1(
    trial: Trial, *, f: Vector, y: int, k: int, terms: Callable[[Vector, int], Vector]
) -> None:
    loss = max(terms(f, y))
    trial.exactly(loss == max(ZERO, loss), "the maximum with 0 changes it", loss=loss)
    others = hinge_alpha(margins(f, y), 1)
    trial.exactly(loss == others, "it is not the hinge of the others", loss=loss, others=others)
    right = all(f[y] >= v + 1 for j, v in enumerate(f) if j != y)
    trial.exactly((loss == 0) == right, "it is 0 at other margins", loss=loss)


EQUATION_1 = stated(
    "Equation (1)",
    draw=draw_scores,
    check=_check_equation_1,
    says={"terms": printed},
    wrong={
        "without the true class": {"terms": margins},
        "the true class costs 1 too": {"terms": lambda f, y: [v - f[y] + ONE for v in f]},
        "no costs": {"terms": lambda f, y: [v - f[y] for v in f]},
    },
)


# ==========================================================================================
# After equation (5): the ranking-based (beta) hinge between the top-k hinge and phi_1.
# ==========================================================================================


def _equal(z: Vector, k: int) -> bool:
    return max(z) <= 0 or kth(z, k) >= 0


def _check_equation_5(
    trial: Trial, *, f: Vector, y: int, k: int, beta: Loss, equal: Callable[[Vector, int], bool]
) -> None:
    z = violations(f, y)
    chain = [psi(z, k), hinge_alpha(z, k), beta(z, k), hinge_alpha(z, 1)]
    trial.exactly(
        chain == sorted(chain), "the chain psi_k, alpha, beta, phi_1 decreases", chain=chain
    )
    trial.exactly(beta(z, 1) == hinge_alpha(z, 1), "at k = 1 alpha and beta differ")
    trial.exactly(
        (chain[1] == chain[2]) == equal(z, k),
        "alpha = beta and the stated condition are not equivalent",
        z=z,
        alpha=chain[1],
        beta=chain[2],
    )


CHAIN_5 = stated(
    "Chain after (5)",
    draw=draw_scores,
    check=_check_equation_5,
    says={"beta": hinge_beta, "equal": _equal},
    wrong={
        "beta without the mean": {"beta": lambda z, k: k * hinge_beta(z, k)},
        "beta from the smallest entries": {
            "beta": lambda z, k: sum(sorted(max(ZERO, v) for v in z)[:k], ZERO) / k
        },
        "equal only if nothing is violated": {"equal": lambda z, k: max(z) <= 0},
        "equal only if all k are violated": {"equal": lambda z, k: kth(z, k) > 0},
    },
)


# ==========================================================================================
# Section 2.3: the multiclass problem as a binary one, and recall@k as top-k accuracy.
# ==========================================================================================

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
