"""The proofs of models called directly, without the repairs of whoever calls them, against rational optima.

Objectives are written down here from the definitions; optima come from the faces of the dual's polytope, or,
for one weight w, from all points where two cuts of a maximum of lines meet.
"""

from __future__ import annotations

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
from verification.selftest.certificates.exact import Row, Vector, bounded, close, dot, require
from verification.selftest.certificates.models import (
    ROUNDS,
    Half,
    grams,
    labels,
    plain,
    proved,
    pull,
    square,
    table,
)
from verification.selftest.certificates.rankings import Orders, Ranking
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


def seen_through(columns: Sequence[Vector], g: Vector) -> Vector:
    """The row g of x = sum u_i column_i as a row of u."""
    return tuple(dot(g, column) for column in columns)


# ---- two views


def views(seed: int) -> None:
    """SVM-2K: multipliers of a looser box are not believed, nor those that do not balance."""
    rng = np.random.default_rng([seed, 16])
    y = (ONE, -ONE)
    # what of (alpha_A, alpha_B, beta) the two biases leave free: alpha_2 of the views, and beta
    columns = [tuple(map(Fraction, c)) for c in
               ((1, 1, 0, 0, 0, 0), (0, 0, 1, 1, 0, 0), (1, 0, -1, 0, 1, 0), (1, 0, -1, 0, 0, 1))]  # fmt: skip
    for turn in range(ROUNDS):
        X, Z = table(rng, 2, 2), table(rng, 2, 2)
        CA, CB, D = (Fraction(int(v), 16) for v in rng.integers(1, 5, 3))
        D, eps = D / 8, Fraction(turn, 4)
        pulls = [((c[0] - c[4], -c[1] - c[5]), (c[2] + c[4], -c[3] + c[5])) for c in columns]
        ends = [(*pull(g, X), *pull(h, Z)) for g, h in pulls]
        H = tuple(tuple(dot(a, b) for b in ends) for a in ends)

        def best(
            CA: Fraction, CB: Fraction, D: Fraction, H: Any = H, eps: Fraction = eps
        ) -> tuple[Vector, Fraction]:
            found: list[tuple[Vector, Fraction]] = []
            for s in product((ONE, -ONE), repeat=2) if eps else ((ZERO, ZERO),):
                c = (ONE,) * 4 + (-eps * s[0], -eps * s[1])
                ends = [sorted((ZERO, D * t)) if t else (-D, D) for t in s]
                rows = between(
                    [ZERO] * 4 + [e[0] for e in ends], [CA, CA, CB, CB, *(e[1] for e in ends)]
                )
                free = tuple((seen_through(columns, g), h, e) for g, h, e in rows)
                u, least = exact.minimum(H, seen_through(columns, c), free)
                found.append((tuple(dot(u, row) for row in zip(*columns, strict=True)), -least))
            return max(found, key=itemgetter(1))

        x, top = best(CA, CB, D)
        bounds = np.repeat(exact.floats((CA, CB, D))[:, None], 2, axis=1)
        problem = two_views.Problem(
            Space(plain(X)), Space(plain(Z)), exact.floats(y), bounds, float(eps)
        )
        wild = tuple(abs(v) for v in exact.eighths(rng, 6))
        wider = () if eps else ((4, 1, 1), (1, 4, 1), (1, 1, 4))
        loose = [best(CA * s, CB * t, D * r)[0] for s, t, r in wider]
        for given in (x, *loose, wild):
            g, h = (given[0] - given[4], -given[1] - given[5]), (given[2] + given[4], -given[3] + given[5])  # fmt: skip
            w, v = (tuple(Fraction(float(a)) for a in pull(*each)) for each in ((g, X), (h, Z)))
            b, rho = exact.eighths(rng, 2, 8)
            f, e = [dot(w, row) + b for row in X], [dot(v, row) + rho for row in Z]
            P = (square(w) + square(v)) / 2
            for i, s in enumerate(y):
                P += CA * max(ZERO, 1 - s * f[i]) + CB * max(ZERO, 1 - s * e[i])
                P += D * max(ZERO, abs(f[i] - e[i]) - eps)
            point = svm_plus.Point(exact.floats(w), float(b), exact.floats(v), float(rho))
            found = problem.prove(point, exact.floats(given).reshape(3, 2))
            held(found, top, "two views:", P, top if given is x else None)


# ---- binary SVM


def biases(seed: int) -> None:
    """Both losses of the SVM with a penalised bias and without one."""
    rng = np.random.default_rng([seed, 17])
    for squared, bias in product((False, True), ("penalised", "none")):
        n = 3
        X, y = table(rng, n, n), labels(rng, n)
        cost = [Fraction(int(v), 8) for v in rng.integers(1, 9, n)]
        H = grams(X, y)
        for i, j in product(range(n), repeat=2):
            H[i][j] += (bias == "penalised") * y[i] * y[j] + (squared and i == j) / cost[i]
        form, ones, zeros = tuple(map(tuple, H)), (ONE,) * n, [ZERO] * n
        best, least = exact.minimum(
            form, ones, between(zeros, [1000 * ONE] * n if squared else cost)
        )
        free, _ = exact.minimum(form, ones, ())
        problem = svm_plus.Problem(
            Space(plain(X)), exact.floats(y), exact.floats(cost), squared=squared, bias=bias
        )
        for alpha in (best, free, exact.eighths(rng, n)):
            u = tuple(
                Fraction(float(a)) for a in pull([a * s for a, s in zip(alpha, y, strict=True)], X)
            )
            own = Fraction(float(dot(alpha, y)))
            for w, b in ((u, own), (u, own + Half), (exact.eighths(rng, n), ONE)):
                b = b if bias == "penalised" else ZERO
                short = [max(ZERO, 1 - s * (dot(w, x) + b)) for s, x in zip(y, X, strict=True)]
                P = (square(w) + b * b) / 2
                P += dot(cost, [v * v / 2 if squared else v for v in short])
                point = svm_plus.Point(exact.floats(w), float(b))
                found = problem.prove(point, exact.floats(alpha), np.zeros(n))
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
        X, C = [exact.eighths(rng, d) for _ in range(6)], Fraction(int(rng.integers(1, 9)), 4)
        orders, up = Orders(np.array(positives)), np.array(positives) > 0
        rows = list(
            product(*((2 * i,) if p else (2 * i, 2 * i + 1) for i, p in enumerate(positives)))
        )
        cuts = [(o, r) for o in orders.all for r in rows]
        lines = [
            tuple(dot(o.coefficients, [X[i][k] for i in r]) for k in range(d)) for o, r in cuts
        ]
        queries = ranking_model.Queries(3, (ranking_model.Query(np.arange(3), up),))
        space = Space(plain(X))
        for total in (Half, ONE, 3 * ONE):
            chosen = rng.integers(len(cuts), size=3)
            share = [C * total / 2, C * total / 4, C * total / 4]
            g = [
                sum((t * lines[i][k] for t, i in zip(share, chosen, strict=True)), ZERO)
                for k in range(d)
            ]
            D = (
                sum((t * cuts[i][0].delta for t, i in zip(share, chosen, strict=True)), ZERO)
                - square(g) / 2
            )
            dual = ranking_model.Dual(
                space, queries, float(C), np.array([cuts[i][0].inversions for i in chosen]),
                exact.floats(share), rows=np.array([cuts[i][1] for i in chosen]),
            )  # fmt: skip
            for w in (tuple(-v for v in g), exact.eighths(rng, d)):
                w = exact.vector(exact.floats(w))
                P = square(w) / 2 + C * max(
                    c[0].delta + dot(r, w) for c, r in zip(cuts, lines, strict=True)
                )
                scores = [dot(x, w) for x in X]
                seen = [
                    2 * i + int(not p and scores[2 * i + 1] > scores[2 * i])
                    for i, p in enumerate(positives)
                ]
                found = dual.prove(exact.floats(w), seen=np.array(seen))
                least = D if d > 1 else lowest(
                    [(c[0].delta, r[0]) for c, r in zip(cuts, lines, strict=True)], C, lambda _: ZERO, ())  # fmt: skip
                if d == 1 or total <= 1:
                    held(found, least, "latent step:", P, D if total <= 1 else None)


def steps(seed: int) -> None:
    """A step of the ramp, with or without easy examples that keep margins of 1."""
    rng = np.random.default_rng([seed, 19])
    for easy in (False, True) * (2 * ROUNDS):
        y, n = np.array([1, 0, 1, 0, 0]), 5 if easy else 4
        y, X = y[:n] if not easy else np.array([1, 0, 1, 0]), exact.eighths(rng, 4)
        orders, C = Orders(y), Fraction(int(rng.integers(1, 9)), 4)
        fixed = orders.all[0 if easy else int(rng.integers(len(orders.all)))]
        signs = [0, 0, 1, -1] if easy else [0] * 4
        if easy:
            X = (*X[:2], abs(X[2]) + 1, -abs(X[3]))
            fixed = next(o for o in orders.all if o.delta == 0)

        def line(o: Ranking, X: Vector = X, fixed: Ranking = fixed) -> tuple[Fraction, Fraction]:
            return o.delta, dot(o.coefficients, X) - dot(fixed.coefficients, X)

        # the best b leaves both easy examples a margin of w (x_p - x_n)/2
        apart = (X[2] - X[3]) / 2
        cuts = list(dict.fromkeys(line(o) for o in orders.all))
        least = lowest(cuts, C, lambda w, a=apart, e=easy: a * w - 1 if e else ZERO, (1 / apart,) if easy else ())  # type: ignore[misc]  # fmt: skip
        queries = ranking_model.Queries(4, (ranking_model.Query(np.arange(4), y > 0),))
        for total in (Half, ONE, 3 * ONE):
            chosen = [orders.all[int(i)] for i in rng.integers(len(orders.all), size=3)]
            share = [C * total / 2, C * total / 4, C * total / 4]
            mu = [ZERO, ZERO, total / 2, total / 2] if easy else [ZERO] * 4
            v = -sum((t * dot(o.coefficients, X) for t, o in zip(share, chosen, strict=True)), ZERO)
            v += C * dot(fixed.coefficients, X) + sum(
                m * s * x for m, s, x in zip(mu, signs, X, strict=True)
            )
            D = (
                sum((t * o.delta for t, o in zip(share, chosen, strict=True)), ZERO)
                + sum(mu)
                - v * v / 2
            )
            dual = ranking_model.Dual(
                Space(plain([(x,) for x in X])), queries, float(C),
                np.array([o.inversions for o in chosen]), exact.floats(share),
                reference=np.array(fixed.inversions),
                easy=ranking_model.Easy(np.array(signs, np.longdouble)),
                mu=exact.floats(mu) + (np.array([0.5, 0, 0, 0.25]) if easy and total > 1 else 0),
            )  # fmt: skip
            for w in (
                v,
                exact.eighths(rng, 1)[0],
                *((4 / apart, Half / apart) if easy else (ONE,)),
            ):
                w = Fraction(float(w))
                found = dual.prove(exact.floats([w]), 0.25 if easy else None)
                at, off = (
                    Fraction(*each.as_integer_ratio())
                    for each in (found.w[0], np.longdouble(found.b))
                )
                if np.isfinite(found.primal) and easy:
                    margins = min(at * X[2] + off, -at * X[3] - off)
                    require(margins >= 1 - Fraction(1, 10**15), "easy examples keep", margins)
                P = (
                    at * at / 2 + C * max(o + r * at for o, r in cuts)
                    if np.isfinite(found.primal)
                    else None
                )
                held(found, least, "step:", P, D if P is not None and total <= 1 else None)


# ---- risks


def believed(seed: int) -> None:
    """Dual points of a multiclass risk outside the domain: the best that there is without the domain."""
    rng = np.random.default_rng([seed, 20])
    n, m, family = 2, 3, families.Multiclass()
    for _ in range(2 * ROUNDS):
        X, y = table(rng, n, n), [int(v) for v in rng.integers(m, size=n)]
        mass = [Fraction(int(v), 16) for v in rng.integers(1, 4, n)]
        maps = [unit(m, label) for label in y]
        # <1,x> at the class y, -x at the others
        blocks = [[tuple(maps[i][k] - (k == j) for k in range(m)) for j in range(m) if j != y[i]]
                  for i in range(n)]  # fmt: skip
        ends = [
            tuple(mass[i] * a * x for a in b for x in X[i]) for i in range(n) for b in blocks[i]
        ]
        H = tuple(tuple(dot(a, b) for b in ends) for a in ends)
        c = tuple(mass[i] for i in range(n) for _ in range(2))
        own = CORNER
        rows = [((*g, ZERO, ZERO), h, e) for g, h, e in own] + [
            ((ZERO, ZERO, *g), h, e) for g, h, e in own
        ]
        best, least = exact.minimum(H, c, tuple(rows))
        loss = Loss("multiclass_hinge", {}, m - 1)

        def at(rows: slice, loss: Loss = loss) -> tuple[Loss, Any]:
            return loss, np.ones((len(range(n)[rows]), m - 1))

        problem = erm.Problem(at, np.array(y), exact.floats(mass), m, plain(X))
        for x in (best, exact.minimum(H, c, ())[0], exact.eighths(rng, 4)):
            flat = exact.vector(exact.floats(pull(x, ends)))
            W = [flat[n * j : n * (j + 1)] for j in range(m)]
            P = square(flat) / 2
            for row, label, size in zip(X, y, mass, strict=True):
                f = [dot(row, w) for w in W]
                P += size * max(ZERO, *(1 + f[j] - f[label] for j in range(m) if j != label))
            A = plain([tuple(mass[i] * v for v in x[2 * i : 2 * i + 2]) for i in range(n)])
            found = problem.prove(plain(W), family.block(A, np.array(y)))
            held(found, -least, "risk:", P, -least if x is best else None)


def risks(seed: int) -> None:
    """Pointwise risks: scores of three classes, free or with one kept behind another."""
    rng = np.random.default_rng([seed, 21])
    m, family = 3, families.Multiclass()
    for pair in (None, (0, 2)) * ROUNDS:
        p = sorted((Fraction(int(v), 8) for v in rng.integers(1, 4, m)), reverse=True)
        maps = [family.matrix(m, y) for y in range(m)]
        columns = [[Fraction(float(E[k, j])) for k in range(m)] for E in maps for j in range(2)]
        own = CORNER
        rows: list[Row] = []
        for y in range(m):
            pad = [[ZERO] * (2 * y), [ZERO] * (4 - 2 * y + (pair is not None))]
            rows += [((*pad[0], *g, *pad[1]), h, e) for g, h, e in own]
        # sum_y p_y block(x_y) = mu (e_i - e_j): two of the three rows say all
        for k in range(2):
            force = [-p[i // 2] * column[k] for i, column in enumerate(columns)]
            rows.append(((*force, *([ZERO - (k == 0)] if pair else [])), ZERO, True))
        rows += [(unit(7, 6, -ONE), ZERO, False)] if pair else []
        value = (*(p[i // 2] for i in range(6)), *([ZERO] if pair else []))
        least = exact.support(tuple(rows), value)
        loss = Loss("multiclass_hinge", {}, m - 1)
        balance = Balance(loss, np.array(exact.floats(p), np.longdouble), np.arange(m), maps, pair)
        for _ in range(3):
            g = list(exact.eighths(rng, m))
            if pair and g[0] > g[2]:
                g[0], g[2] = g[2], g[0]
            P = sum(
                p[y] * max(ZERO, *(1 + g[j] - g[y] for j in range(m) if j != y)) for y in range(m)
            )
            x = np.array([exact.floats(inside(rng, own)) for _ in range(m)], np.longdouble)
            found = balance.prove(np.array(exact.floats(g), np.longdouble), x, np.ones((m, 2)))
            D: Any = [Fraction(*v.as_integer_ratio()) for v in found.x.ravel()]
            held(found, least, "pointwise risk:", P, dot(value[:6], D))
            off = [-dot([p[i // 2] * c[k] for i, c in enumerate(columns)], D) for k in range(m)]
            mu = max(ZERO, off[0]) if pair else ZERO
            force = [abs(f - mu * s) for f, s in zip(off, (1, 0, -1), strict=True)]
            bounded(1e-16, max(force), 1.0, "force that is not balanced", 1e-17)


CHECKS: tuple[Callable[[int], None], ...] = (biases, latent, steps, believed, risks, views)
