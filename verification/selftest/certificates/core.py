"""The proofs of models called directly, without the repairs of whoever calls them, against rational optima.

Objectives are written down here from the definitions; optima come from the faces of the dual's polytope, or,
for one weight w, from all points where two cuts of a maximum of lines meet.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from operator import itemgetter
from typing import Any

import numpy as np

from refsolve.proofs import erm, families, ranking_model, svm_plus, two_views
from refsolve.proofs.loss import Loss
from refsolve.proofs.model import Proof
from refsolve.proofs.pointwise_risk import Balance
from refsolve.proofs.space import Space
from verification.selftest.certificates import exact
from verification.selftest.certificates.exact import Row, Vector, bounded, close, floats, require
from verification.selftest.certificates.models import (
    ROUNDS,
    Half,
    grams,
    hinge,
    joint_risk,
    labels,
    over,
    proved,
    table,
)
from verification.selftest.certificates.multiclass import basis, twice
from verification.selftest.certificates.rankings import Orders
from verification.selftest.certificates.sets import ONE, ZERO, inside, unit

#: x >= 0 with the sum 1 at most, the dual set of the multiclass hinge of three classes.
CORNER: tuple[Row, ...] = (
    *((unit(2, i, -ONE), ZERO, False) for i in range(2)),
    ((ONE, ONE), ONE, False),
)


def between(low: Sequence[Fraction], high: Sequence[Fraction]) -> tuple[Row, ...]:
    """The box."""
    n = len(low)
    below: list[Row] = [(unit(n, i, -ONE), -v, False) for i, v in enumerate(low)]
    return (*below, *((unit(n, i), v, False) for i, v in enumerate(high)))


def held(found: Proof, least: Fraction, what: str, P: Any = None, D: Any = None) -> None:
    """As `proved`, and the D that the proof computes is P less its gap."""
    bounds = found.bounds()
    proved(bounds, least, what, P, D)
    if np.isfinite(found.primal):
        scale = float(abs(found.primal) + abs(found.dual))
        close(found.dual, bounds.primal - bounds.gap, scale, f"{what} D itself", 1e-13)


# ---- two views


def views(seed: int) -> None:
    """SVM-2K: multipliers of a looser box are not believed, nor those that do not balance."""
    rng = np.random.default_rng([seed, 16])
    y = exact.vector([1, -1])
    # what of (alpha_A, alpha_B, beta) the two biases leave free: alpha_2 of the views, and beta
    columns = exact.vector([(1, 1, 0, 0, 0, 0), (0, 0, 1, 1, 0, 0),
                            (1, 0, -1, 0, 1, 0), (1, 0, -1, 0, 0, 1)])  # fmt: skip

    def pulls(x: Vector) -> tuple[Vector, Vector]:
        """Coefficients of the examples in either view."""
        one, other, beta = x.reshape(3, 2)
        return one * y - beta, other * y + beta

    for turn in range(ROUNDS):
        X, Z = table(rng, 2, 2), table(rng, 2, 2)
        CA, CB, D = over(rng, 1, 5, 16, 3)
        D, eps = D / 8, Fraction(turn, 4)
        ends = exact.array([(*(g @ X), *(h @ Z)) for g, h in map(pulls, columns)])
        H = ends @ ends.T

        def best(
            CA: Fraction, CB: Fraction, D: Fraction, H: Any = H, eps: Fraction = eps
        ) -> tuple[Vector, Fraction]:
            found: list[tuple[Vector, Fraction]] = []
            for s in product((ONE, -ONE), repeat=2) if eps else ((ZERO, ZERO),):
                c = exact.array((ONE,) * 4 + (-eps * s[0], -eps * s[1]))
                ends = [sorted((ZERO, D * t)) if t else (-D, D) for t in s]
                rows = between(
                    [ZERO] * 4 + [e[0] for e in ends], [CA, CA, CB, CB, *(e[1] for e in ends)]
                )
                free = tuple((columns @ exact.array(g), h, e) for g, h, e in rows)
                u, least = exact.minimum(H, columns @ c, free)
                found.append((u @ columns, -least))
            return max(found, key=itemgetter(1))

        x, top = best(CA, CB, D)
        bounds = np.repeat(floats((CA, CB, D))[:, None], 2, axis=1)
        problem = two_views.Problem(
            Space(floats(X)), Space(floats(Z)), floats(y), bounds, float(eps)
        )
        wild = abs(exact.eighths(rng, 6))
        wider = () if eps else ((4, 1, 1), (1, 4, 1), (1, 1, 4))
        loose = [best(CA * s, CB * t, D * r)[0] for s, t, r in wider]
        for given in (x, *loose, wild):
            g, h = pulls(given)
            w, v = exact.vector(floats(g @ X)), exact.vector(floats(h @ Z))
            b, rho = exact.eighths(rng, 2, 8)
            P = joint_risk((CA, CB, D), eps, y, (w, X @ w + b), (v, Z @ v + rho))
            point = svm_plus.Point(floats(w), float(b), floats(v), float(rho))
            found = problem.prove(point, floats(given).reshape(3, 2))
            held(found, top, "two views:", P, top if given is x else None)


# ---- binary SVM


def biases(seed: int) -> None:
    """Both losses of the SVM with a penalised bias and without one."""
    rng = np.random.default_rng([seed, 17])
    for squared, bias in product((False, True), ("penalised", "none")):
        n = 3
        X, y = table(rng, n, n), labels(rng, n)
        cost = over(rng, 1, 9, 8, n)
        H = grams(X, y) + (bias == "penalised") * np.outer(y, y)
        H = H + np.diag(1 / cost) if squared else H
        ones, zeros = (ONE,) * n, [ZERO] * n
        best, least = exact.minimum(H, ones, between(zeros, [1000 * ONE] * n if squared else cost))
        free, _ = exact.minimum(H, ones, ())
        problem = svm_plus.Problem(
            Space(floats(X)), floats(y), floats(cost), squared=squared, bias=bias
        )
        for alpha in (best, free, exact.eighths(rng, n)):
            u, own = exact.vector(floats((alpha * y) @ X)), Fraction(float(alpha @ y))
            for w, b in ((u, own), (u, own + Half), (exact.eighths(rng, n), ONE)):
                b = b if bias == "penalised" else ZERO
                short = hinge(1 - y * (X @ w + b))
                P = (w @ w + b * b) / 2 + cost @ (short**2 / 2 if squared else short)
                point = svm_plus.Point(floats(w), float(b))
                found = problem.prove(point, floats(alpha), np.zeros(n))
                held(found, -least, f"{bias} bias:", P, -least if alpha is best else None)


# ---- rankings


def lowest(
    cuts: Sequence[tuple[Fraction, Fraction]], C: Fraction,
    margin: Callable[[Fraction], Fraction], ends: Sequence[Fraction],
) -> Fraction:  # fmt: skip
    """Min of w^2/2 + C max_t (o_t + r_t w) over one weight w with margin(w) >= 0; ``ends``: where it may be 0."""
    tried = {ZERO, *ends, *(-C * r for _, r in cuts)}
    tried |= {(p - o) / (r - s) for (o, r), (p, s) in combinations(cuts, 2) if r != s}
    values = [w * w / 2 + C * max(o + r * w for o, r in cuts) for w in tried if margin(w) >= 0]
    return min(values)


def latent(seed: int) -> None:
    """A step of latent AP-SVM: a cut is an order of the bags with a row of each."""
    rng = np.random.default_rng([seed, 18])
    for positives, d in (((1, 0, 0), 1), ((1, 1, 0), 1), ((1, 0, 0), 2)) * ROUNDS:
        X, C = exact.array([exact.eighths(rng, d) for _ in range(6)]), over(rng, 1, 9, 4)
        orders, up = Orders(np.array(positives)), np.array(positives) > 0
        rows = product(*((2 * i,) if p else (2 * i, 2 * i + 1) for i, p in enumerate(positives)))
        cuts = list(product(orders.all, rows))
        offsets = exact.array([o.delta for o, _ in cuts])
        lines = exact.array([o.coefficients @ X[list(r)] for o, r in cuts])
        queries = ranking_model.Queries(3, (ranking_model.Query(np.arange(3), up),))
        space = Space(floats(X))
        for total in (Half, ONE, 3 * ONE):
            chosen = rng.integers(len(cuts), size=3)
            share = C * total * exact.array([Half, Half / 2, Half / 2])
            g = share @ lines[chosen]
            D = share @ offsets[chosen] - g @ g / 2
            dual = ranking_model.Dual(
                space, queries, float(C), np.array([cuts[i][0].inversions for i in chosen]),
                floats(share), rows=np.array([cuts[i][1] for i in chosen]),
            )  # fmt: skip
            for w in (-g, exact.eighths(rng, d)):
                w = exact.vector(floats(w))
                P = w @ w / 2 + C * max(offsets + lines @ w)
                scores = (X @ w).reshape(3, 2)
                seen = 2 * np.arange(3) + (~up & (scores[:, 1] > scores[:, 0]))
                found = dual.prove(floats(w), seen=seen)
                least = D if d > 1 else lowest(
                    list(zip(offsets, lines[:, 0], strict=True)), C, lambda _: ZERO, ())  # fmt: skip
                if d == 1 or total <= 1:
                    held(found, least, "latent step:", P, D if total <= 1 else None)


def steps(seed: int) -> None:
    """A step of the ramp, with or without easy examples that keep margins of 1."""
    rng = np.random.default_rng([seed, 19])
    for easy in (False, True) * (2 * ROUNDS):
        y, X = np.array([1, 0, 1, 0]), exact.eighths(rng, 4)
        orders, C = Orders(y), over(rng, 1, 9, 4)
        fixed = orders.all[0 if easy else int(rng.integers(len(orders.all)))]
        signs = exact.vector([0, 0, 1, -1] if easy else [0] * 4)
        if easy:
            X[2:] = abs(X[2]) + 1, -abs(X[3])
            fixed = next(o for o in orders.all if o.delta == 0)
        reference = fixed.coefficients @ X
        # the best b leaves both easy examples a margin of w (x_p - x_n)/2
        apart = (X[2] - X[3]) / 2
        cuts = list(dict.fromkeys((o.delta, o.coefficients @ X - reference) for o in orders.all))
        least = lowest(cuts, C, lambda w, a=apart, e=easy: a * w - 1 if e else ZERO, (1 / apart,) if easy else ())  # type: ignore[misc]  # fmt: skip
        queries = ranking_model.Queries(4, (ranking_model.Query(np.arange(4), y > 0),))
        for total in (Half, ONE, 3 * ONE):
            share = C * total * exact.array([Half, Half / 2, Half / 2])
            delta, coefficients, inversions = orders.drawn(rng, len(share))
            mu = total / 2 * signs**2
            v = C * reference - share @ coefficients @ X + mu @ (signs * X)
            D = share @ delta + mu.sum() - v * v / 2
            dual = ranking_model.Dual(
                Space(floats(X)[:, None]), queries, float(C), inversions, floats(share),
                reference=np.array(fixed.inversions),
                easy=ranking_model.Easy(floats(signs).astype(np.longdouble)),
                mu=floats(mu) + (np.array([0.5, 0, 0, 0.25]) if easy and total > 1 else 0),
            )  # fmt: skip
            for w in (
                v,
                exact.eighths(rng, 1)[0],
                *((4 / apart, Half / apart) if easy else (ONE,)),
            ):
                found = dual.prove(floats([w]), 0.25 if easy else None)
                at, off = exact.vector(np.array([found.w[0], found.b], np.longdouble))
                finite = np.isfinite(found.primal)
                if finite and easy:
                    margins = min(at * X[2] + off, -at * X[3] - off)
                    require(margins >= 1 - Fraction(1, 10**15), "easy examples keep", margins)
                P = at * at / 2 + C * max(o + r * at for o, r in cuts) if finite else None
                held(found, least, "step:", P, D if finite and total <= 1 else None)


# ---- risks


def believed(seed: int) -> None:
    """Dual points of a multiclass risk outside the domain: the best that there is without the domain."""
    rng = np.random.default_rng([seed, 20])
    n, m, family = 2, 3, families.Multiclass()
    for _ in range(2 * ROUNDS):
        X, y = table(rng, n, n), rng.integers(m, size=n)
        mass = over(rng, 1, 4, 16, n)
        ends = basis(X, y, mass)
        H, c = ends @ ends.T, np.repeat(mass, m - 1)
        best, least = exact.minimum(H, c, twice(CORNER))
        loss = Loss("multiclass_hinge", {}, m - 1)

        def at(rows: slice, loss: Loss = loss) -> tuple[Loss, Any]:
            return loss, np.ones((len(range(n)[rows]), m - 1))

        problem = erm.Problem(at, y, floats(mass), m, floats(X))
        for x in (best, exact.minimum(H, c, ())[0], exact.eighths(rng, 4)):
            W = exact.vector(floats(x @ ends)).reshape(m, n)
            P = (W**2).sum() / 2
            for f, label, size in zip(X @ W.T, y, mass, strict=True):
                P += size * max(ZERO, *(1 + np.delete(f, label) - f[label]))
            A = floats(x.reshape(n, -1) * mass[:, None])
            found = problem.prove(floats(W), family.block(A, y))
            held(found, -least, "risk:", P, -least if x is best else None)


def risks(seed: int) -> None:
    """Pointwise risks: scores of three classes, free or with one kept behind another."""
    rng = np.random.default_rng([seed, 21])
    m, family = 3, families.Multiclass()
    for pair in (None, (0, 2)) * ROUNDS:
        p = np.sort(over(rng, 1, 4, 8, m))[::-1]
        maps = [family.matrix(m, y) for y in range(m)]
        # the force of (x_1, x_2, x_3) on the scores
        forces = -np.repeat(p, 2) * exact.vector(np.hstack(maps))
        rows: list[Row] = []
        for y in range(m):
            pad = [[ZERO] * (2 * y), [ZERO] * (4 - 2 * y + (pair is not None))]
            rows += [((*pad[0], *g, *pad[1]), h, e) for g, h, e in CORNER]
        # sum_y p_y block(x_y) = mu (e_i - e_j): two of the three rows say all
        for k in range(2):
            rows.append(((*forces[k], *([ZERO - (k == 0)] if pair else [])), ZERO, True))
        rows += [(unit(7, 6, -ONE), ZERO, False)] if pair else []
        value = np.append(np.repeat(p, 2), [ZERO] if pair else [])
        least = exact.support(tuple(rows), value)
        loss = Loss("multiclass_hinge", {}, m - 1)
        balance = Balance(loss, floats(p).astype(np.longdouble), np.arange(m), maps, pair)
        for _ in range(3):
            g = exact.eighths(rng, m)
            if pair and g[0] > g[2]:
                g[0], g[2] = g[2], g[0]
            P = sum(p[y] * max(ZERO, *(1 + np.delete(g, y) - g[y])) for y in range(m))
            x = floats([inside(rng, CORNER) for _ in range(m)]).astype(np.longdouble)
            found = balance.prove(floats(g).astype(np.longdouble), x, np.ones((m, 2)))
            D = exact.vector(found.x.ravel())
            held(found, least, "pointwise risk:", P, value[:6] @ D)
            off = forces @ D
            mu = max(ZERO, off[0]) if pair else ZERO
            force = abs(off - mu * exact.vector([1, 0, -1]))
            bounded(1e-16, max(force), 1.0, "force that is not balanced", 1e-17)


CHECKS: tuple[Callable[[int], None], ...] = (biases, latent, steps, believed, risks, views)
