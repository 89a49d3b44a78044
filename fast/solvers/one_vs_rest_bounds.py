"""What a one-vs-all or multilabel model may claim: bounds on P at W and on D at A that no rounding undercuts.

All losses but the multilabel entropy grow with every margin z, so that the loss at margins that are as much
larger as scores may be wrong is a bound from above; the entropy changes by at most twice the error. Dual
points are moved into the domain first, where D is evaluated, and what rounding leaves of a violation is
priced by the slope of D.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import expit

from fast._elementary import exp, log
from fast._numba import kernel
from fast._simd import choose, larger, plus, smaller
from fast.kernels.signed import BIPARTITE, BOX, ENTROPY, LOGISTIC
from fast.solvers.passes import added
from fast.solvers.rounding import confirmed, down, precisions, row_norms, up
from fast.solvers.rows import dense, is_sparse

AT_ONCE, SHORT = (1 << 16, 1 << 18)  # rows of an array, and of CSR, times classes
LEAST = 4096  # rows of an array
FEW = 5000  # multiplications that cost no more in extended precision
TINIEST = 2.0**-1022  # of which a logarithm is taken
STEEP = 750  # of x log x at the smallest float64


def claims(
    X: Any, W: np.ndarray, A: np.ndarray, own: np.ndarray, r: np.ndarray, loss: Any,
    y: np.ndarray, claimed: tuple[float, float], tol: float,
) -> tuple[float, float]:  # fmt: skip
    """(P, D), bounds on the objectives.

    Parameters
    ----------
    X : (n, d) array or CSR
    W : (m, d) array
    A : (n, m) array
    own : (n, m) bool
    r : (n,) array
    loss : fast.families.signed.Signed
    y : as the loss takes labels
    claimed : (float, float)
        P and D in float64: arithmetic in which they are confirmed suffices.
    tol : float
    """

    def bounds(real: Any) -> tuple[float, float]:
        return _bounds(X, W, A, own, r, loss, y, real)

    return confirmed(precisions(X.shape[0] * X.shape[1] * len(W), small=FEW), bounds, claimed, tol)


def logistic_claims(
    X: Any, W: np.ndarray, own: np.ndarray, r: np.ndarray, loss: Any, y: np.ndarray, B: Any = None,
    norms: Any = None,
) -> tuple[float, float, np.ndarray]:  # fmt: skip
    """(P, D, A), the same of the logistic loss in float64 at A = B' (m, n), by default at the A that W makes."""
    A = np.empty(own.shape) if B is None else np.ascontiguousarray(B.T, np.float64)
    with np.errstate(all="ignore"):
        P, D = _bounds(X, W, A, own, r, loss, y, np.float64, B is None, norms)
    return P, D, A


def _bounds(
    X: Any, W: np.ndarray, A: np.ndarray, own: np.ndarray, r: np.ndarray, loss: Any, y: Any, real: Any,
    at_scores: bool = False, norms: Any = None,
) -> tuple[float, float]:  # fmt: skip
    """Upper bound on P and lower bound on D in one arithmetic; ``at_scores``: at the A that W makes, written there."""
    n, W = X.shape[0], W.astype(real)
    size = max(LEAST, (SHORT if is_sparse(X) else AT_ONCE) // len(W))

    def blocks() -> Iterator[list[Any]]:
        for first in range(0, n, size):
            p = slice(first, first + size)
            given, out = (None, A[p]) if at_scores else (A[p], None)
            block, lengths = X if size >= n else X[p], None if norms is None else norms[p]
            yield sums(block, W, given, own[p], r[p], loss, y[p], out=out, norms=lengths)

    return bounds_of_sums(W, n, added(blocks()), size)


def sums(
    X: Any, W: np.ndarray, A: Any, own: np.ndarray, r: np.ndarray, loss: Any, y: Any, seen: Any = None,
    out: Any = None, norms: Any = None, products: Any = None,
) -> list[Any]:  # fmt: skip
    """What `bounds_of_sums` needs of a block of examples, in the arithmetic of W.

    Over the examples: losses; what A gains, the sizes of that, what had to be moved times norms, and what that
    costs; A'X; rounding in it. Without A the slopes of a smooth loss at W are taken, one-vs-all.
    ``seen(f)`` is called with the scores; A that the logistic loss has at W goes to ``out``. ``norms`` are
    `row_norms`, and ``products`` XW' and A'X, if they are known: these of a hinge, and A in its domain.
    """
    real: Any = W.dtype.type
    norms = row_norms(X) if norms is None else norms
    eps = real(np.finfo(real).eps)
    terms = int(np.diff(X.indptr).max(initial=0)) if is_sparse(X) else X.shape[1]
    lengths = np.sqrt((W * W).sum(axis=1)).max()
    rows, mass = X if products else X.astype(real, copy=False), r.astype(real)[:, None]
    f = products[0] if products else np.asarray(rows @ W.T, dtype=real)
    if seen is not None:
        seen(f)
    slip = (terms + 8) * eps * norms[:, None] * lengths
    slip = slip + 4 * eps * (1 + np.abs(f).max(axis=1))[:, None]
    if real is np.float64 and loss.variant == LOGISTIC and np.isfinite(f.sum()):
        a = np.empty(f.shape) if out is None or not out.flags.c_contiguous else out
        given = (np.repeat(side, f.shape[1]) if f.shape[1] > 1 else side.ravel() for side in (slip, mass))
        x = a if A is None else np.ascontiguousarray(A, real)
        parts = logistic_sums(f.ravel(), own.ravel(), *given, x.ravel(), A is None, a.ravel())
        risk = parts[0] * (1 + (own.shape[1] + 16) * eps)
        totals = np.array([parts[1], parts[2], 0.0, 0.0])
        return [risk, totals, dense(rows.T @ a).T, norms @ np.abs(a)]
    risk = (mass[:, 0] * _losses(f, slip, own, loss, y, real)).sum()
    signs = real(2) * own - 1 if loss.variant != ENTROPY else real(-1)
    given = mass * slopes(-signs * f, loss) if A is None else A * signs
    x, gains, delta = _dual(given, own, mass, loss)
    a = x * signs
    steep = STEEP if loss.variant >= LOGISTIC else 1 + loss.gamma
    off = (delta * norms).sum(), steep * delta.sum()
    totals = np.array([gains.sum(), np.abs(gains).sum() + np.abs(x).sum(), *off], dtype=real)
    return [risk, totals, products[1] if products else dense(rows.T @ a).T, norms @ np.abs(a)]


@kernel
def logistic_sums(f, own, slip, r, given, at_scores, a):
    """Of the logistic loss: `sums` over entries, in float64; writes the masses with their signs to ``a``.

    ``given`` are such masses; or those at the scores are taken.
    """
    risk, gains, size = 0.0, 0.0, 0.0
    for i in range(f.shape[0]):
        s = choose(own[i], 1.0, -1.0)
        z = -s * f[i]
        up = z + slip[i]
        e = exp(-abs(up))
        one = 1.0 + e
        risk = plus(risk, r[i] * (larger(up, 0.0) + (log(one) + (e - (one - 1.0)) / one)))
        safe = choose(r[i] > 0.0, r[i], 1.0)
        x = s * given[i]
        if at_scores:
            e = exp(-abs(z))
            x = r[i] * (choose(z > 0.0, 1.0, e) / (1.0 + e))
        x = smaller(larger(x, 0.0), r[i])
        q = x / safe
        rest = 1.0 - q
        low, high = larger(q, TINIEST), larger(rest, TINIEST)
        gain = q * log(low) + rest * (log(high) + ((1.0 - rest) - q) / high)
        gain *= -r[i]
        gains = plus(gains, gain)
        size = plus(size, abs(gain) + x)
        a[i] = s * x
    return risk, gains, size


def slopes(z: Any, loss: Any) -> Any:
    """Of a smooth one-vs-all loss at z, without the cost, in each class."""
    if loss.variant == LOGISTIC:
        return expit(z)
    return np.clip((z + loss.cost) / loss.gamma, 0, 1)


def bounds_of_sums(
    W: np.ndarray, n: int, parts: Any, at_once: int = LEAST
) -> tuple[float, float]:
    """(P, D) at W and A from the `sums` over n examples, in blocks of up to ``at_once``."""
    risk, (gain, size, moved, rough), V, spread = parts
    (m, d), eps = W.shape, np.finfo(W.dtype).eps
    width = (n + d + 2 * m + 16) * eps
    square = (W * W).sum() / 2
    length = np.sqrt((V * V).sum()) * (1 + (d + m + 4) * eps)
    length += (min(n, at_once) + n // at_once + 8) * eps * np.sqrt((spread * spread).sum())
    length += 2 * moved
    return (
        up((square + risk) * (1 + width)),
        down(gain - length * length / 2 * (1 + width) - rough - width * size),
    )


def _losses(f: Any, slip: Any, own: np.ndarray, loss: Any, y: Any, real: Any) -> Any:
    """Upper bounds on the losses at scores that are wrong by up to ``slip``."""
    m, eps = f.shape[1], real(np.finfo(real).eps)
    if loss.variant == ENTROPY:
        t = own / own.sum(axis=1)[:, None]
        shift = f - f.max(axis=1)[:, None]
        values = np.log(np.exp(shift).sum(axis=1)) - (t * shift).sum(axis=1)
        return values + 2 * slip[:, 0] + (m + 16) * eps * (1 + np.abs(shift).max(axis=1))
    z = (1 - real(2) * own) * f + slip
    if loss.variant == LOGISTIC:
        return (np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))).sum(axis=1) * (1 + (m + 16) * eps)
    paid = real(0)
    if loss.variant == BOX:
        z = z + real(loss.cost)
    else:
        z = z + np.where(own, 0, real(loss.cost))
    if loss.gamma > 0:
        # of any x that is not negative: the loss at z - gamma x, and gamma/2 ||x||^2
        gamma = real(loss.gamma)
        if loss.variant == BOX:
            x = np.clip(z / gamma, 0, 1)
        else:
            x = np.abs(loss.gradient(np.ascontiguousarray(f, dtype=np.float64), y)).astype(real)
        z, paid = z - gamma * x, gamma / 2 * (x * x).sum(axis=1)
        z = z + 4 * eps * gamma * x
    if loss.variant == BOX:
        found = np.maximum(z, 0).sum(axis=1)
    else:
        low, high = np.where(own, -np.inf, z).max(axis=1), np.where(own, z, -np.inf).max(axis=1)
        found = np.maximum(low + high, 0)
    return (found + paid) * (1 + (m + 8) * eps)


def _dual(x: Any, own: np.ndarray, mass: Any, loss: Any) -> tuple[Any, Any, Any]:
    """Masses in the domain, what they gain, and how far rounding leaves them outside, row by row."""
    m, eps, real = x.shape[1], np.finfo(x.dtype).eps, x.dtype.type
    safe = np.where(mass > 0, mass, 1)
    delta = np.zeros(len(x), dtype=real)
    if loss.variant == ENTROPY:
        t = own / own.sum(axis=1)[:, None].astype(real)
        p = np.maximum(x / safe + t, 0)
        p /= p.sum(axis=1)[:, None]
        gains = -mass[:, 0] * np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(axis=1)
        return mass * (p - t), gains, 2 * (m + 4) * eps * mass[:, 0]
    x = np.minimum(np.maximum(x, 0), mass)
    if loss.variant == LOGISTIC:
        q = x / safe
        rest = 1 - q
        terms = np.where(q > 0, q * np.log(np.where(q > 0, q, 1)), 0)
        terms = terms + np.where(rest > 0, rest * np.log1p(-np.where(rest > 0, q, 0)), 0)
        return x, -mass[:, 0] * terms.sum(axis=1), delta
    if loss.variant == BIPARTITE:
        sums = np.stack([np.where(own, 0, x).sum(axis=1), np.where(own, x, 0).sum(axis=1)])
        least = np.minimum(sums.min(axis=0), mass[:, 0])
        scale = np.where(sums > 0, least / np.where(sums > 0, sums, 1), 0)
        x = x * np.where(own, scale[1][:, None], scale[0][:, None])
        delta = 2 * (m + 4) * eps * least
        gains = real(loss.cost) * np.where(own, 0, x).sum(axis=1)
    else:
        gains = real(loss.cost) * x.sum(axis=1)
    if loss.gamma > 0:
        gains = gains - real(loss.gamma) / 2 * (x * x).sum(axis=1) / safe[:, 0]
    return x, gains, delta
