"""Entropies and logarithms against formulas in 50 digits."""

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import certificates
from verification.selftest.certificates import exact
from verification.selftest.certificates.exact import Vector, bounded, close, require
from verification.selftest.certificates.losses import nearer
from verification.selftest.certificates.sets import ONE, inside, rows_of

DIGITS = 50
#: Loss, dual set, k and whether its caps are shares of the sum.
ENTROPIES = (
    ("softmax", "topk_simplex_alpha", 1),
    ("topk_entropy_alpha", "topk_simplex_alpha", 2),
    ("topk_entropy_beta", "topk_simplex_beta", 2),
    ("ova_logistic", "box", 1),
)
ROUNDS = 4


def decimal(v: Any) -> Decimal:
    """A number to all digits of the context."""
    value = Fraction(v)
    return Decimal(value.numerator) / Decimal(value.denominator)


def xlogx(x: Decimal) -> Decimal:
    """X log x, 0 at 0."""
    return x * x.ln() if x > 0 else Decimal(0)


def softplus(v: Decimal) -> Decimal:
    """log(1 + e^v)."""
    return (1 + v.exp()).ln()


def value(object_name: str, z: list[Decimal], k: int) -> Decimal:
    """The loss at margins z."""
    if object_name == "ova_logistic":
        return sum((softplus(v) for v in z), Decimal(0))
    order = sorted(z, reverse=True)
    one = Decimal(object_name == "topk_entropy_beta")
    tails = [sum((v.exp() for v in order[u:]), one) / (k - u) for u in range(k)]
    cap = min(tails).ln()
    extra = sum((max(v - cap, Decimal(0)) for v in z), Decimal(0)) / k
    inner = sum((min(v, cap).exp() for v in z), Decimal(0)).ln()
    return softplus(inner) + extra if one else softplus(inner + extra)


def conjugate(object_name: str, x: list[Decimal]) -> Decimal:
    """The entropy of x and its complement, in z."""
    rest = [1 - v for v in x] if object_name == "ova_logistic" else [1 - sum(x)]
    return sum((xlogx(v) for v in (*x, *rest)), Decimal(0))


def push(object_name: str, x: Vector, y: int) -> Vector:
    """The gradient in the scores for the gradient x in z."""
    if object_name == "ova_logistic":
        return np.where(np.arange(x.size) == y, -x, x)
    return np.insert(x, y, -x.sum())


def entropies(seed: int) -> None:
    """Values, conjugates, and Fenchel-Young gaps of points of the dual set as gradients."""
    rng = np.random.default_rng([seed, 6])
    with localcontext() as context:
        context.prec = DIGITS
        for object_name, dual, k in ENTROPIES * ROUNDS:
            d, own = 3, {"k": k} if "topk" in object_name else {}
            ova = object_name == "ova_logistic"
            scores = exact.eighths(rng, d if ova else d + 1, 40)
            y = int(rng.integers(len(scores)))
            weight = Fraction(int(rng.integers(1, 8)), 4)
            z = push(object_name, scores, y) if ova else np.delete(scores, y) - scores[y]
            loss = value(object_name, [decimal(v) for v in z], k)
            scale = float(loss)
            given = {"sample_weight": float(weight), **own}
            for off in (0.0, 0.125):
                number = float(loss * decimal(weight)) + off
                found = certificates.loss_value(
                    object_name, number, exact.floats(scores), y, **given
                )
                error = abs(Fraction(number) - Fraction(loss) * weight)
                bounded(found.gap, error, scale, f"value of {object_name}: gap", 1e-16)
                close(found.gap, error, scale, f"value of {object_name}: gap")
            x = inside(rng, rows_of(dual, d, ONE, k))
            entropy = conjugate(object_name, [decimal(v) for v in x])
            for off in (0.0, 0.125):
                number = float(entropy) + off
                found = certificates.conjugate(object_name, number, exact.floats(x), **own)
                error = abs(Fraction(number) - Fraction(entropy))
                close(found.gap, error, 1.0, f"conjugate of {object_name}: gap")
            g = exact.floats(weight * push(object_name, x, y))
            found = certificates.gradient(object_name, g, exact.floats(scores), y, **given)
            gap = weight * (Fraction(loss) + Fraction(entropy) - z @ x)
            close(found.gap, gap, scale, f"gradient of {object_name}: gap")
            if object_name in ("softmax", "ova_logistic"):
                e = [decimal(v).exp() for v in z]
                right = [v / (1 + v) for v in e] if ova else [v / (1 + sum(e)) for v in e]
                best = weight * push(object_name, exact.vector(exact.array(right)), y)
                nearer(found, exact.vector(g) - best, f"gradient of {object_name}:")
                sharp = certificates.gradient(
                    object_name, exact.floats(best), exact.floats(scores), y, **given
                )
                require(
                    sharp.gap <= 1e-14 and sharp.distance <= 1e-7,
                    f"gradient of {object_name}:",
                    sharp,
                )


def entropic_steps(seed: int) -> None:
    """Proxes and updates of softmax, from solutions that were there first."""
    rng = np.random.default_rng([seed, 7])
    with localcontext() as context:
        context.prec = DIGITS
        for _ in range(ROUNDS):
            shares = exact.vector(rng.integers(1, 5, 3) / 16)
            rest = 1 - shares.sum()
            logits = [decimal(v / rest).ln() for v in shares]
            t = Fraction(int(rng.integers(1, 8)), 2)
            v = np.array([float(decimal(t * x) + w) for x, w in zip(shares, logits, strict=True)])
            best = exact.vector(v) - t * shares
            least = None
            for size in (0.0, 2.0**-20, 2.0**-6, 1.0):
                u = exact.floats(best) + size * rng.integers(-2, 3, 3)
                lost = float(rest) / (1 + size)
                found = certificates.prox("softmax", u, v, t=float(t), complement=lost)
                step = exact.vector(u) - exact.vector(v)
                objective = Fraction(value("softmax", [decimal(a) for a in u], 1))
                objective += step @ step / (2 * t)
                least = objective if least is None else least
                bounded(found.gap, objective - least, 1.0, "prox of softmax: gap", 1e-13)
                away = np.linalg.norm(u - exact.floats(best))
                bounded(found.distance, away, 1.0, "prox of softmax: distance", 1e-13)
                bounded(found.complement, size, 1.0, "prox of softmax: complement", 1e-12)
                if size == 0:
                    sharp = found.gap <= 1e-13 and found.distance <= 1e-6
                    require(
                        sharp and found.complement <= 1e-10, "prox of softmax: not sharp", found
                    )
            gram, C = (Fraction(int(n), 4) for n in rng.integers(1, 9, 2))
            beta = gram * C
            pulls = [decimal(beta * (x + 1 - rest)) for x in shares]
            q = np.array([0.0, *(float(p + w) for p, w in zip(pulls, logits, strict=True))])
            for size in (0.0, 2.0**-6, 0.5):
                x = shares * Fraction(1 - size)
                block = exact.floats(-C * push("softmax", x, 0))
                found = certificates.sdca_update("softmax", block, q, 0, float(gram), C=float(C))
                away = float(size * C) * np.linalg.norm([float(1 - rest), *exact.floats(shares)])
                bounded(found.distance, away, 1.0, "update of softmax: distance", 1e-13)
                F = _decrease(x, shares, q, beta, C)
                bounded(found.gap, F, 1.0, "update of softmax: gap", 1e-13)
                if size == 0:
                    require(
                        found.gap <= 1e-13 and found.distance <= 1e-6, "update of softmax:", found
                    )


def _decrease(x: Any, best: Any, q: Any, beta: Fraction, C: Fraction) -> Fraction:
    """How much the objective of an update exceeds that of the best point."""

    def objective(at: Any) -> Fraction:
        form = beta / 2 * (at @ at + at.sum() ** 2) - exact.vector(q[1:]) @ at
        return form + Fraction(conjugate("softmax", [decimal(v) for v in at]))

    return C * (objective(x) - objective(best))


def roots(seed: int) -> None:
    """W(e^t): a number is as far from it as is said."""
    rng = np.random.default_rng([seed, 8])
    with localcontext() as context:
        context.prec = DIGITS
        for t in (*(float(v) for v in rng.uniform(-20, 60, 8)), 0.0, -700.0, 1e6):
            at = decimal(t)
            w = at.exp() if t < 1 else at - at.ln()
            for _ in range(100):
                w -= (w + w.ln() - at) * w / (1 + w)
                w = max(w, Decimal("1e-400"))
            for off in (0.0, 1e-12, -1e-3, 0.5):
                number = float(w) * (1 + off)
                found = certificates.function_value("lambert_w_exp", number, t)
                error = abs(Fraction(number) - Fraction(w))
                least, unit = float(error) * (1 - 1e-9), float(w)
                require(found.gap >= least, "W(e^t): gap", found.gap, float(error))
                if off == 0:
                    require(found.gap <= 1e-15 * unit, "W(e^t): not sharp", found.gap, unit)
