"""One pass over the rows of anybody's linear model: sums over blocks, and what is certain of P and D by them."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fast.data.constant import with_ones

from .free_intercept import balanced, curvature, prior_sums
from .multiclass_bounds import bounds_of_weights, sums_of_masses, sums_of_weights
from .one_vs_rest_bounds import bounds_of_sums, sums
from .passes import Block
from .rounding import row_norms
from .rows import dense


class Form(NamedTuple):
    """What a pass does with a block."""

    signed: bool  # one score per row of W, each by itself; else all classes of an example together
    squared: bool  # a hinge smoothed so widely that its square is meant
    constant: float | None  # the last feature, which the rows lack
    free: bool  # its weights are not regularised


def evaluated(block: Block, W: np.ndarray, C: float, form: Form, dual_variables: Any) -> list[Any]:
    """Sums over a block for `bounds_of_weights` or `bounds_of_sums`; hits, curvature in the intercepts, priors."""
    X, y, w, loss, _, part = block
    X = X if form.constant is None else with_ones(X, form.constant)
    m, r = len(W), C * w
    own = (y == 1)[:, None] if m == 1 else y[:, None] == np.arange(m)
    norms, given = row_norms(X), None if dual_variables is None else dual_variables[part]
    if form.squared:
        # C max{0, z}^2 is 2 C gamma times the hinge smoothed by gamma, if no z is larger
        longest = 1.01 + 1.01 * float(norms.max()) * float(np.sqrt((W * W).sum(axis=1).max()))
        gamma = 2.0 ** np.ceil(np.log2(longest)) if np.isfinite(longest) else 1.0
        loss, r = replace(loss, gamma=float(gamma)), 2.0 * gamma * r
    scores: list[np.ndarray] = []
    with np.errstate(all="ignore"):
        if form.signed:
            A = None if given is None else dense(given) * np.where(own, 1.0, -1.0)
            found = [*sums(X, W, A, own, r, loss, y, scores.append), np.zeros(2)]
        elif given is None:
            found = [*sums_of_weights(block._replace(X=X), W, C, None, scores.append)]
        else:
            found = [*sums_of_masses(X, W, given, y, r, loss, scores.append)]
        f, H = np.concatenate(scores), None
        right = (
            np.where(own, f, -f)[:, 0] > 0.0
            if m == 1
            else f[own] > np.where(own, -np.inf, f).max(axis=1)
        )
        if form.free and given is None and (form.signed or loss.complements):
            H = curvature(f, own, r, loss, form.signed)
        found += [float(w @ right), H]
        return [*found, *prior_sums(X, C * w, norms, own)] if form.free else found


def objectives(
    W: np.ndarray, n: int, sums: list[Any], form: Form, loss: Any
) -> tuple[float, float, Any]:
    """(P, D) at W from the sums over n examples, P at most and D at least; what the blocks of each class sum to.

    D is that of the best multiple of the dual point, also where the point is too far for D > 0.
    """
    losses, totals, V, spread, squares, _, _, *prior = sums
    n, rho = n + 16, None  # additions, with those that come after
    if form.free:
        rho, W = V[:, -1], W[:, :-1]
        smoothed = 0.5 if form.squared else loss.gamma
        totals, V, spread = balanced(totals, V, spread, prior, n, loss, form.signed, smoothed)
    size = float(np.vdot(V, V))
    t = min(max(float(totals[0]) / size, 0.0), 1.0) if size > 0.0 else 1.0
    totals, V, spread = t * totals, t * V, t * spread
    if form.signed:
        return *bounds_of_sums(W, n, (losses, totals, V, spread), n), rho
    return *bounds_of_weights(W, n, loss, [losses, totals, V, spread, squares]), rho
