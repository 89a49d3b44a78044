"""The training problem: theorem 1, the update of proposition 4, and algorithm 1."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from refsolve import exact
from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import VARIANTS
from verification.paper_statements._erm import (
    Problem,
    block,
    column,
    draw_block,
    draw_problem,
    dual,
    norm2,
    primal,
    weights,
)
from verification.paper_statements._gap import (
    check_bounds,
    check_meeting,
    draw_training,
    of_differences,
)
from verification.paper_statements._rational import Array, Vector, dot, draw_vector, scale, vector
from verification.paper_statements._topk import (
    ONE,
    ZERO,
    alpha_halfspaces,
    conjugate,
    costs,
    hinge_alpha,
    hinge_beta,
    linear_on,
    margins,
)
from verification.paper_statements._update import (
    check_identity,
    check_numerically,
    differences,
    draw_update,
    smooth_conjugate,
    with_block,
)
from verification.paper_statements.lapin_2015 import stated
from verification.paper_statements.lapin_2015.conjugates import all_classes, other_classes

# ==========================================================================================
# Theorem 1: the regularised primal problem and its Fenchel dual.
# ==========================================================================================


def conjugate_in_u(v: Array, k: int, variant: str) -> Fraction | None:
    """Conjugate of u -> loss(u + 1) over the other classes, by a linear program."""
    slopes = VARIANTS[variant].pieces(len(v), k)
    return conjugate(slopes, [sum(slope, Fraction(0)) for slope in slopes], list(v))


def dual_printed(
    problem: Problem,
    columns: Array,
    variant: str,
    *,
    half: Fraction = Fraction(1, 2),
    averaged: bool = True,
) -> Fraction | None:
    """D(A) inside its domain, with tr(A K A') from the Gram matrix; None outside."""
    total, n = Fraction(0), problem.n
    for a, y in zip(columns, problem.labels, strict=True):
        value = conjugate_in_u(problem.lam * n * block(a, y), problem.k, variant)
        if value is None:
            return None
        total += value
    trace = (problem.examples @ problem.examples.T * (columns @ columns.T)).sum()
    return -(total / n if averaged else total) - half * problem.lam * trace


def _draw_theorem_1(rng: Rng) -> Inputs:
    problem, variant = draw_problem(rng), str(rng.choice(list(VARIANTS)))
    points = VARIANTS[variant].pieces(problem.m - 1, problem.k)
    dimension = problem.examples.shape[1]
    w = [draw_vector(rng, dimension, spread=2) for _ in range(problem.m)]
    columns = [column(draw_block(rng, points, problem.radius), y) for y in problem.labels]
    return {"problem": problem, "variant": variant, "w": np.array(w), "columns": np.array(columns)}


def _check_theorem_1(
    trial: Trial,
    *,
    problem: Problem,
    variant: str,
    w: Array,
    columns: Array,
    dual: Callable[[Problem, Array, str], Fraction | None],
    recover: Callable[[Problem, Array], Array],
) -> None:
    """P(W) - D(A) = (1/n) sum of Fenchel-Young residuals + lam/2 ||W - X A'||^2, term by term."""
    recovered, loss = recover(problem, columns), VARIANTS[variant].hinge
    residuals = []
    for x, y, a in zip(problem.examples, problem.labels, columns, strict=True):
        z = margins(w @ x, y)
        v = problem.lam * problem.n * block(a, y)
        conjugated = conjugate_in_u(v, problem.k, variant)
        if conjugated is None:
            trial.exactly(False, "a column of the domain has an infinite conjugate")
            return
        residuals.append(loss(z, problem.k) + conjugated - v @ (np.array(z) - 1))
    trial.exactly(min(residuals) >= 0, "a Fenchel-Young residual is negative")
    value = dual(problem, columns, variant)
    gap = None if value is None else primal(problem, w, loss) - value
    trial.exactly(
        gap == sum(residuals) / problem.n + problem.lam / 2 * norm2(w - recovered),
        "P(W) - D(A) is not the sum of the Fenchel-Young residuals and lam/2 ||W - XA'||^2",
        gap=gap,
    )
    for i, x in enumerate(problem.examples):
        same = np.array_equal(recovered @ x, problem.examples @ x @ columns)
        trial.exactly(same, "W'x_i is not A K_i", example=i)


THEOREM_1 = stated(
    "Theorem 1",
    draw=_draw_theorem_1,
    check=_check_theorem_1,
    says={"dual": dual_printed, "recover": weights},
    wrong={
        "lam in place of lam/2": {"dual": partial(dual_printed, half=Fraction(1))},
        "sum in place of the mean": {"dual": partial(dual_printed, averaged=False)},
        "W = -XA'": {"recover": lambda p, a: -weights(p, a)},
    },
)


# ---------------------------------------------------------------------------- outside of the domain


def _draw_outside(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 5))
    y = int(rng.integers(m))
    a = draw_vector(rng, m, spread=2)
    if sum(a) == 0:
        a[y] += 1
    return {"a": a, "y": y, "k": int(rng.integers(1, m))}


def _check_outside(trial: Trial, *, a: Vector, y: int, k: int, outside: int) -> None:
    """One example x = 0, lam = 1: D(A) = -Phi*(-a), and P(0) = 1 whatever A is."""
    m = len(a)
    slopes = other_classes(m, k, y)
    offsets = [dot(slope, costs(m, y)) for slope in slopes]
    conjugated = conjugate(of_differences(slopes, y), offsets, scale(-1, a))
    trial.exactly(conjugated is None, "the conjugate is finite although <1,a> is not 0")
    zero = np.array([vector(0)] * m)
    at_zero = primal(Problem(zero[:1], (y,), m, k, Fraction(1)), zero, hinge_alpha)
    trial.exactly(
        outside < 0,
        "D(A) = -Phi*(-a) = -infinity, and a dual value of +infinity exceeds every P(W)",
        P_at_0=at_zero,
        sign_of_D=outside,
    )


OUTSIDE_PRINTED = stated(
    "Theorem 1, outside of the domain", draw=_draw_outside, check=_check_outside
)

OUTSIDE_RIGHT = OUTSIDE_PRINTED.corrected()


# ==========================================================================================
# Theorem 1, strong duality: least primal and largest dual value meet.
# ==========================================================================================

STRONG_DUALITY = stated(
    "Theorem 1, strong duality",
    draw=draw_training,
    check=check_meeting,
    says={
        "object_name": "topk_hinge_alpha",
        "loss": hinge_alpha,
        "lam_factor": 1,
        "dual_name": "topk_hinge_alpha",
        "gamma": ZERO,
        "conjugate": smooth_conjugate(ZERO),
    },
    wrong={
        "loss (3) as printed": {
            "object_name": "topk_hinge_alpha_printed",
            "loss": lambda z, k: hinge_alpha([*z, ZERO], k),
        },
        "beta loss": {"object_name": "topk_hinge_beta", "loss": hinge_beta},
        "lam ||W||^2 in place of lam/2 ||W||^2": {"lam_factor": 2},
    },
)


# ==========================================================================================
# Proposition 4: maximising the dual over one column is a biased projection.
# ==========================================================================================


def target(q: Array, y: int, k_ii: Fraction, smoothing: Fraction = ZERO) -> Array:
    """B = (q without y + (1 - q_y) 1)/<x_i,x_i>."""
    return differences(q, y) / k_ii


SAYS = {
    "target": target,
    "bias": lambda k_ii, smoothing: ONE,
    "radius": lambda problem: problem.radius,
}
WRONG: Mapping[str, Mapping[str, Any]] = {
    "rho = 0": {"bias": lambda k_ii, smoothing: ZERO},
    "rho = 2": {"bias": lambda k_ii, smoothing: 2 * ONE},
    "radius 1/n": {"radius": lambda problem: Fraction(1, problem.n)},
    "b without q_y": {"target": lambda q, y, k_ii, smoothing: (np.delete(q, y) + 1) / k_ii},
    "b without costs": {"target": lambda q, y, k_ii, smoothing: (np.delete(q, y) - q[y]) / k_ii},
}


def _draw_proposition_4(rng: Rng, variant: str = "alpha") -> Inputs:
    return {**draw_update(rng, variant=variant), "gamma": ZERO}


PROPOSITION_4 = stated(
    "Proposition 4", draw=_draw_proposition_4, check=check_identity, says=SAYS, wrong=WRONG
)

NUMERICALLY = stated(
    "Proposition 4, by CVXPY",
    draw=_draw_proposition_4,
    check=check_numerically,
    says=SAYS,
    wrong=WRONG,
)

UPDATE_BETA = PROPOSITION_4.also(
    "Equation (5), update of Prox-SDCA",
    draw=partial(_draw_proposition_4, variant="beta"),
    says={"over": "beta"},
    wrong={**WRONG, "the alpha set": {"over": "alpha"}},
)

# ------------------------------------------------------------------------------------- zero examples


def fill(c: Vector, k: int, radius: Fraction) -> Vector:
    """Mass radius/k on the k largest costs."""
    order = sorted(range(len(c)), key=lambda j: (-c[j], j))[:k]
    return [radius / k if j in order else ZERO for j in range(len(c))]


def _draw_zero(rng: Rng) -> Inputs:
    given = draw_update(rng)
    problem, i = given["problem"], given["i"]
    problem.examples[i] = ZERO
    return {
        **{name: given[name] for name in ("columns", "i", "x", "problem")},
        "c": [abs(v) for v in draw_vector(rng, problem.m - 1, spread=2)],
    }


def _check_zero(
    trial: Trial,
    *,
    problem: Problem,
    columns: Array,
    i: int,
    x: Array,
    c: Vector,
    fill: Callable[[Vector, int, Fraction], Vector],
) -> None:
    y = problem.labels[i]

    def conjugate(v: Array, k: int) -> Fraction | None:
        return linear_on(alpha_halfspaces)(list(v), c, k)

    def value(candidate: Array) -> Fraction | None:
        return dual(problem, with_block(columns, i, candidate, y), conjugate)

    best = np.array(fill(c, problem.k, problem.radius))
    at_x, at_zero = value(x), value(0 * x)
    at_best = value(best)
    if at_best is None or at_x is None or at_zero is None:
        trial.exactly(False, "a block outside of the domain", block=best)
        return
    trial.exactly(at_best >= at_x, "another block has a larger dual value", block=best)
    trial.exactly(
        at_best - at_zero == problem.lam * problem.radius * hinge_alpha(c, problem.k),
        "the gain over the empty block is not lam r S_k(c)/k, the maximum of lam <c,x>",
        block=best,
    )


ZERO_EXAMPLE = stated(
    "Proposition 4, x_i = 0",
    draw=_draw_zero,
    check=_check_zero,
    says={"fill": fill},
    wrong={
        "no update": {"fill": lambda c, k, radius: [ZERO] * len(c)},
        "smallest costs": {"fill": lambda c, k, radius: fill([-v for v in c], k, radius)},
        "half of the radius": {"fill": lambda c, k, radius: fill(c, k, radius / 2)},
    },
)


# ==========================================================================================
# Algorithm 1: dual coordinate ascent over whole columns, and the gap that the printed loss keeps.
# ==========================================================================================

Update = Callable[[Vector, int, Fraction], Vector]

#: Relative duality gap at which the loop ends, and the epochs it may take for that.
EPSILON = Fraction(1, 10_000)
EPOCHS = 300


def update(b: Vector, k: int, radius: Fraction, over: str = "alpha", rho: Fraction = ONE) -> Vector:
    """New block x: the biased projection of Proposition 4, to the last bit."""
    return list(exact.project(f"topk_simplex_{over}", b, k=k, r=radius, rho=rho).x)


def _draw_algorithm_1(rng: Rng, variant: str = "alpha") -> Inputs:
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
        "variant": variant,
    }


def _dual_value(problem: Problem, w: np.ndarray, blocks: np.ndarray) -> float:
    """D(A) in floating point, for blocks in the domain: lam sum s_i - lam/2 ||W||^2."""
    return float(problem.lam) * (blocks.sum() - (w * w).sum() / 2)


def _certified_gap(problem: Problem, blocks: np.ndarray, variant: str) -> tuple[Fraction, Fraction]:
    """(P(W), D(A)) in rational arithmetic at W = XA', each block first moved into the domain."""
    columns = []
    for row, y in zip(blocks, problem.labels, strict=True):
        moved = VARIANTS[variant].project(
            [Fraction(v) for v in row], problem.k, ZERO, problem.radius
        )
        columns.append(column(moved, y))
    found = np.array(columns)
    value = dual(problem, found, smooth_conjugate(ZERO, variant))
    if value is None:
        raise ArithmeticError("a projected block lies outside of the domain")
    return primal(problem, weights(problem, found), VARIANTS[variant].hinge), value


def _check_algorithm_1(
    trial: Trial, *, problem: Problem, seed: int, variant: str, update: Update
) -> None:
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
            p, d = _certified_gap(problem, blocks, variant)
            if p - d <= EPSILON * p:
                break
    p, d = _certified_gap(problem, blocks, variant)
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
    draw=_draw_algorithm_1,
    check=_check_algorithm_1,
    says={"update": update},
    wrong={
        "half of each block": {
            "update": lambda b, k, radius: scale(Fraction(1, 2), update(b, k, radius))
        },
        "projection without the bias": {"update": partial(update, rho=ZERO)},
        "radius 1": {"update": lambda b, k, radius: update(b, k, ONE)},
    },
)

ALGORITHM_1_BETA = ALGORITHM_1.also(
    "Algorithm 1 with (5)",
    draw=partial(_draw_algorithm_1, variant="beta"),
    says={"update": partial(update, over="beta")},
    wrong={
        "projection on the alpha set": {"update": update},
        "projection without the bias": {"update": partial(update, over="beta", rho=ZERO)},
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
