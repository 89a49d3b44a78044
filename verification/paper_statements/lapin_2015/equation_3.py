"""Around equation (3): the nonconvex loss psi_k, the top-k hinge above it, the inequality chain."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Vector, draw_vector, vector, without
from verification.paper_statements._topk import ZERO, Loss, costs, hinge_alpha, kth, top
from verification.paper_statements.lapin_2015 import stated


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
    witnesses=({"f": vector(0, 5), "y": 1, "k": 1},),
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
    witnesses=(
        {"f": vector("-1/2", "-1/2", 0), "y": 2, "k": 2},
        {"f": vector(-3, -4, 0), "y": 2, "k": 2},
    ),
)

STRICT_RIGHT = STRICT_PRINTED.corrected(
    wrong={
        "scores compared": {"strict": lambda f, y, k: not _all_equal(f, k)},
        "zero losses forgotten": {"strict": lambda f, y, k: not _all_equal(violations(f, y), k)},
    }
)
