"""Cases of the models that are sums of losses of margins, or of scores."""

# ruff: noqa: E731
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from verification.declarations import losses
from verification.declarations.case import Array, Case, D, N, balanced, data

MARGINS = "m_i = 1 - y_i (<w,x_i> + b)"


def svm(rng: np.random.Generator) -> Iterator[Case]:
    """Both losses, with weights."""
    X, y, sw = data(rng)
    C, w, b = 0.8, np.array([0.4, -0.7]), 0.3
    for loss in ("hinge", "squared_hinge"):
        squared = loss != "hinge"
        alpha = balanced(rng, y, np.full(N, np.inf) if squared else C * sw)
        given = {"X": X, "y": y, "C": C, "loss": loss, "sample_weight": sw}
        names: Any = lambda c, alpha=alpha: {
            "w": w,
            "b": b,
            "x_i": X,
            "X'": X.T,
            "y": y,
            "w_i": sw,
            "C": C,
            "alpha": alpha,
            "K": X @ X.T,
            "yy'": np.outer(y, y),
            "less": float((alpha**2 / (2 * C * sw)).sum()),
            "own": X.T @ (alpha * y),
            "plain dual": c.dual_value + float((alpha**2 / (2 * C * sw)).sum()),
            "half": c.gap - float(((w - X.T @ (alpha * y)) ** 2).sum()) / 2,
        }
        patterns = {
            "primal": (
                "primal",
                r"or with squares (.*)$" if squared else r"P\(w,b\) = (.*?), m_i = 1",
            ),
            ("plain dual" if squared else "dual"): ("dual", r"D\(alpha\) = (.*?), 0 <="),
            "own": ("maps", r"w = (.*?);"),
            **(
                {"less": ("dual", r"less (.*)$"), "half": ("gap", r"or with squares (.*)$")}
                if squared
                else {"gap": ("gap", r"^(.*?) = P - D")}
            ),
        }
        point = {"w": w, "b": b, "alpha": alpha}
        blocks: Any = lambda c, a=alpha: ({"w": w, "b": b}, {"alpha": a})
        yield Case(
            given,
            point,
            names,
            patterns,
            MARGINS,
            blocks=blocks,
        )


def binary_svm(rng: np.random.Generator) -> Iterator[Case]:
    """With a free bias."""
    X, y, _ = data(rng)
    C, w, b = 3.0, np.array([0.4, -0.7]), 0.3
    alpha = balanced(rng, y, np.full(N, C / N))
    names: Any = lambda c: {
        "w": w,
        "b": b,
        "x_i": X,
        "y": y,
        "C": C,
        "n": N,
        "alpha": alpha,
        "own": X.T @ (alpha * y),
    }
    patterns = {
        "primal": ("primal", r"P\(w\) = (.*)$"),
        "dual": ("dual", r"D\(alpha\) = (.*?), 0 <="),
        "own": ("maps", r"w = (.*?), alpha_i"),
        "gap": ("gap", r"^(.*?) = P\(w\)"),
    }
    given = {"X": X, "y": y, "C": C, "bias": "free"}
    point = {"w": w, "b": b, "alpha": alpha}
    yield Case(
        given,
        point,
        names,
        patterns,
        MARGINS,
        blocks=lambda c: ({"w": w, "b": b}, {"alpha": alpha}),
    )


def top_push(rng: np.random.Generator) -> Iterator[Case]:
    """Negatives of one highest score."""
    X, y, _ = data(rng)
    C, w, up = 0.6, np.array([0.4, -0.7]), y > 0
    a = rng.uniform(0.1, 0.4, size=N)
    a[~up] *= a[up].sum() / a[~up].sum()
    t = float((X[~up] @ w).max())
    v = X[up].T @ a[up] - X[~up].T @ a[~up]

    def names(c: Any) -> dict[str, Any]:
        return {
            "w": w,
            "C": C,
            "x_i": X[up],
            "x_j": X[~up],
            "alpha": a[up],
            "beta": a[~up],
            "own": v,
        }

    patterns = {
        "primal": ("primal", r"P\(w\) = (.*?), t ="),
        "dual": ("dual", r"D\(alpha,beta\) = (.*?), v ="),
        "own": ("dual", r"v = (.*?), alpha, beta"),
        "gap": ("gap", r"^(.*?) = P - D"),
    }
    more = "t = max_j <x_j,w>, z_i = 1 + t - <x_i,w>, v = sum_i alpha_i x_i - sum_j beta_j x_j"
    blocks: Any = lambda c: ({"w": w, "t": t}, {"alpha": a[up], "beta": a[~up]})
    yield Case(
        {"X": X, "y": y, "C": C}, {"w": w, "multipliers": a}, names, patterns, more, blocks=blocks
    )


def svm_2k(rng: np.random.Generator) -> Iterator[Case]:
    """Two views."""
    X, y, sw = data(rng)
    Z = rng.normal(size=(N, 1)).round(2)
    given = {
        "X": X,
        "y": y,
        "Z": Z,
        "CA": 0.8,
        "CB": 1.1,
        "D": 0.5,
        "eps": 0.1,
        "sample_weight": sw,
    }
    w, b, v, rho = np.array([0.4, -0.7]), 0.3, np.array([0.6]), -0.2
    beta = rng.uniform(-0.3, 0.3, size=N)
    beta -= beta.mean()
    raw = np.array([balanced(rng, y, 0.8 * sw), balanced(rng, y, 1.1 * sw), beta])
    fA, fB = X @ w + b, Z @ v + rho

    def names(c: Any) -> dict[str, Any]:
        A, B, beta = c.alpha
        return {
            "w_A": w,
            "w_B": v,
            "f_A": fA,
            "f_B": fB,
            "y": y,
            "w_i": sw,
            "CA": 0.8,
            "CB": 1.1,
            "D": 0.5,
            "eps": 0.1,
            "beta": beta,
            "m_Ai": 1 - y * fA,
            "m_Bi": 1 - y * fB,
            "alpha_Ai": A,
            "alpha_Bi": B,
            "g_A": A * y - beta,
            "g_B": B * y + beta,
            "f_A()": lambda _: fA,
            "f_B()": lambda _: fB,
            "x_i": X,
            "z_i": Z,
            "K": X @ X.T,
            "Kz": Z @ Z.T,
        }

    patterns = {
        "primal": ("primal", r"P = (.*?), m_Vi"),
        "dual": ("dual", r"^(.*?), g_A ="),
    }
    point = {"alpha": raw, "w": w, "b": b, "v": v, "rho": rho}
    blocks: Any = lambda c: (
        {"w": w, "b": b, "v": v, "rho": rho},
        dict(zip(("alpha_A", "alpha_B", "beta"), c.alpha, strict=True)),
    )
    yield Case(given, point, names, patterns, blocks=blocks)


def svm_plus(squared: bool) -> Callable[[np.random.Generator], Iterator[Case]]:
    """With either loss."""

    def cases(rng: np.random.Generator) -> Iterator[Case]:
        X, y, sw = data(rng)
        Z = rng.normal(size=(N, 2)).round(2)
        C, lam = 0.8, 1.7
        given = {"X": X, "y": y, "Z": Z, "C": C, "lam": lam, "sample_weight": sw}
        alpha = balanced(rng, y, C * sw)
        beta = rng.uniform(0.1, 0.5, size=N)
        if not squared:  # sum of alpha + beta - C w is 0
            beta *= (C * sw.sum() - alpha.sum()) / beta.sum()
        K, Kz, yy = X @ X.T, Z @ Z.T, np.outer(y, y)

        def names(c: Any) -> dict[str, Any]:
            m = c.model
            Zt = np.column_stack([Z, np.ones(N)])
            Q = Zt @ np.linalg.solve(lam * np.eye(3) + C * Zt.T @ np.diag(sw) @ Zt, Zt.T)
            vt = Zt.T @ (c.alpha - C * sw * (Q @ c.alpha)) / lam
            return {
                "w": m.w,
                "b": m.b,
                "v": m.v,
                "rho": m.rho,
                "xi": m.xi,
                "w_i": sw,
                "C": C,
                "lam": lam,
                "y": y,
                "x_i": X,
                "z_i": Z,
                "alpha": c.alpha,
                "beta": c.beta,
                "K": K,
                "Kz": Kz,
                "yy'": yy,
                "X'": X.T,
                "Z'": Z.T,
                "f_i": X @ m.w + m.b,
                "Q": Q,
                "vt": np.append(m.v, m.rho),
                "vt()": lambda _: vt,
                "kernel": Q,
            }

        patterns = {
            "primal": ("primal", r"P = (.*?), xi_i"),
            "dual": ("dual", r"D\(alpha(?:,beta)?\) = (.*?)(?:, alpha >= 0|, e_i)"),
            "gap": ("gap", r"^(.*?) = P - D"),
        }
        w, v = np.array([0.4, -0.7]), np.array([0.3, -0.1])
        point = {"w": w, "b": 0.3, "v": v, "rho": 2.0, "alpha": alpha} | (
            {} if squared else {"beta": beta}
        )
        more = "e_i = alpha_i + beta_i - C w_i"
        blocks: Any = lambda c: (c.model._asdict(), {})
        yield Case(given, point, names, patterns, more, blocks=blocks)

    return cases


def multiclass_erm(rng: np.random.Generator) -> Iterator[Case]:
    """Losses of three families."""
    X, _, sw = data(rng)
    y = np.arange(N) % 3
    lam, W = 0.4, rng.normal(size=(3, D)).round(2)
    for loss, params in (
        ("topk_hinge_beta", {"k": 2}),
        ("softmax", {}),
        ("ova_smooth_hinge", {"gamma": 0.5}),
    ):
        given = {"loss": loss, "X": X, "y": y, "lam": lam, "sample_weight": sw, **params}
        each = [losses.Loss(loss, params, 3 if loss.startswith("ova") else 2) for _ in y]
        C = 1 / (lam * N)
        xs = [np.full(one.d, 0.2) for one in each]
        A = np.array(
            [C * s * one.block(x, c) for one, x, c, s in zip(each, xs, y, sw, strict=True)]
        )

        def L(y: Array, S: Array, each: Any = each) -> Array:
            return np.array([loss_at(one, S[:, i], int(y[i])) for i, one in enumerate(each)])

        def names(c: Any, L: Any = L) -> dict[str, Any]:
            return {
                "n": N,
                "w_i": sw,
                "W": W,
                "lambda": lam,
                "L()": L,
                "y": y,
                "x_i": X.T,
            }

        patterns = {"primal": ("primal", r"P\(W\) = (.*)$")}
        yield Case(given, {"W": W, "A": A}, names, patterns)


def loss_at(loss: Any, scores: Array, y: int) -> float:
    """The declared loss of scores, at its default costs."""
    z = loss.margins(scores.astype(float), y, loss.check_costs(None, y))
    return losses.declared(loss, np.asarray(z, dtype=float))
