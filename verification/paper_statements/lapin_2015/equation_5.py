"""After equation (5): the ranking-based (beta) hinge between the top-k hinge and phi_1."""

from collections.abc import Callable

from verification.paper_statements import Trial
from verification.paper_statements._rational import Vector
from verification.paper_statements._topk import ZERO, Loss, hinge_alpha, hinge_beta, kth
from verification.paper_statements.lapin_2015 import stated
from verification.paper_statements.lapin_2015.equation_3 import draw_scores, psi, violations


def _equal(z: Vector, k: int) -> bool:
    return max(z) <= 0 or kth(z, k) >= 0


def _check(
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
    check=_check,
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
