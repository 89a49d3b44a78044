"""Algorithm 1: dual coordinate ascent over whole columns, and the gap that the printed loss keeps."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from refsolve import exact
from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._erm import Problem, column, dual, primal, weights
from verification.paper_statements._gap import check_bounds
from verification.paper_statements._rational import Vector, scale, vector
from verification.paper_statements._topk import ONE, ZERO, hinge_alpha
from verification.paper_statements._update import smooth_conjugate
from verification.paper_statements.lapin_2015 import stated
from verification.paper_statements.lapin_2015.proposition_3 import all_classes, other_classes

Update = Callable[[Vector, int, Fraction], Vector]

#: Relative duality gap at which the loop ends, and the epochs it may take for that.
EPSILON = Fraction(1, 10_000)
EPOCHS = 300


def update(b: Vector, k: int, radius: Fraction) -> Vector:
    """New block x: the biased projection of Proposition 4, to the last bit."""
    return list(exact.project("topk_simplex_alpha", b, k=k, r=radius, rho=1).x)


def _draw(rng: Rng) -> Inputs:
    n, m = int(rng.integers(4, 9)), int(rng.integers(3, 6))
    examples = [
        [Fraction(int(v), 2) for v in rng.integers(-4, 5, size=2)] + [ONE] for _ in range(n)
    ]
    return {
        "problem": Problem(
            examples=np.array(examples),
            labels=tuple(int(v) for v in rng.integers(m, size=n)),
            m=m,
            k=int(rng.integers(1, m)),
            lam=Fraction(int(rng.integers(2, 9)), 8),
        ),
        "seed": int(rng.integers(1 << 30)),
    }


def _dual_value(problem: Problem, w: np.ndarray, blocks: np.ndarray) -> float:
    """D(A) in floating point, for blocks in the domain: lam sum s_i - lam/2 ||W||^2."""
    return float(problem.lam) * (blocks.sum() - (w * w).sum() / 2)


def _certified_gap(problem: Problem, blocks: np.ndarray) -> tuple[Fraction, Fraction]:
    """(P(W), D(A)) in rational arithmetic at W = XA', each block first moved into the domain."""
    columns = []
    for row, y in zip(blocks, problem.labels, strict=True):
        moved = exact.project("topk_simplex_alpha", row, k=problem.k, r=problem.radius).x
        columns.append(column(list(moved), y))
    found = np.array(columns)
    value = dual(problem, found, smooth_conjugate(ZERO))
    if value is None:
        raise ArithmeticError("a projected block lies outside of the domain")
    return primal(problem, weights(problem, found), hinge_alpha), value


def _check(trial: Trial, *, problem: Problem, seed: int, update: Update) -> None:
    rng = np.random.default_rng(seed)
    x = np.array(problem.examples, dtype=float)
    radius, k = problem.radius, problem.k
    w = np.zeros((problem.m, x.shape[1]))
    blocks = np.zeros((problem.n, problem.m - 1))
    columns = np.zeros((problem.n, problem.m))
    before, drop = 0.0, 0.0
    for epoch in range(EPOCHS):
        for i in rng.permutation(problem.n):
            y, k_ii = problem.labels[i], float(x[i] @ x[i])
            q = w @ x[i] - k_ii * columns[i]
            b = [Fraction(v) for v in (np.delete(q, y) + 1 - q[y]) / k_ii]
            blocks[i] = [float(v) for v in update(b, k, radius)]
            new = np.insert(-blocks[i], y, blocks[i].sum())
            w += np.outer(new - columns[i], x[i])
            columns[i] = new
            after = _dual_value(problem, w, blocks)
            drop, before = max(drop, before - after), after
        if epoch % 10 == 9:
            p, d = _certified_gap(problem, blocks)
            if p - d <= EPSILON * p:
                break
    p, d = _certified_gap(problem, blocks)
    # An update is exact up to rounding: D moves by a few units in the last place of P(0) = 1.
    trial.within(drop, 1e-13, "an update lowers the dual objective")
    trial.within(
        float((p - d) / p),
        float(EPSILON),
        "the relative duality gap stays above epsilon",
        epochs=epoch,
    )


ALGORITHM_1 = stated(
    "Algorithm 1",
    draw=_draw,
    check=_check,
    says={"update": update},
    wrong={
        "half of each block": {
            "update": lambda b, k, radius: scale(Fraction(1, 2), update(b, k, radius))
        },
        "projection without the bias": {
            "update": lambda b, k, radius: list(
                exact.project("topk_simplex_alpha", b, k=k, r=radius).x
            )
        },
        "radius 1": {"update": lambda b, k, radius: update(b, k, ONE)},
    },
)


# ------------------------------------------------------------------ the gap that the printed loss has


#: Two equal examples of different classes: W can only push the third class down.
TWINS = Problem(np.array([vector(1), vector(1)]), (0, 1), 3, 2, Fraction(1, 10))
WITNESS = {
    "problem": TWINS,
    "gamma": ZERO,
    "multipliers": [vector("13/30", "1/2", "1/15"), vector("1/2", "13/30", "1/15")],
    "w": np.array([vector("2/3"), vector("2/3"), vector("-4/3")]),
    "columns": np.array([column(vector("2/3", "2/3"), y) for y in (0, 1)]),
}

PRINTED_LOSS_GAP = stated(
    "Algorithm 1, loss (3) as printed",
    check=check_bounds,
    says={"pieces": all_classes},
    right={"pieces": other_classes},
    witnesses=(WITNESS,),
)
