"""Linear heads trained on tensors, where these lie, up to a certified duality gap.

P(W) = 1/2||W||^2 + C sum_i w_i L(y_i, W x_i) is minimised by quasi-Newton steps with a homotopy in C, as
`fast.solvers.quasi_newton` does on the processor: a pass goes over blocks of rows with two matrix products and
one gradient in the scores, a step's first matrix is I + C' (curvature in the scores) X'wX in its eigenbasis,
and pairs are kept as differences of W and of the risk's gradient, so that they hold for every C'. For smooth L
the dual point A = C w grad L is feasible and P - D(A) = ||grad P||^2/2: a pass is its own certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from fast._validation import number
from fast.errors import InvalidParameterError, InvalidTypeError
from fast.families import named
from fast.losses.truncated_topk_entropy import TruncatedTopKEntropy
from fast.torch import losses

SCORES = {"cpu": 1 << 19, "other": 1 << 25}  # in a block
MEMORY = 10  # pairs
START, RAISE, READY = 4.0, 4.0, 0.3  # C' ||X'wX|| / m at first, its growth, the gap that allows it
NOISE = 1e-6  # relative, of P in float32
PATIENCE = 4  # passes without half the gap, before pairs are forgotten
WIDEST = 4096  # features up to which X'wX is decomposed


@dataclass(frozen=True)
class Head:
    """A trained linear head: scores are ``X @ weight.T``.

    ``gap`` = (primal - dual)/primal, of the weights in float64; ``converged``: gap <= tol. ``history``: the
    relative gap after each pass, at the C' of that pass, in the dtype of the rows.
    """

    weight: Tensor
    primal: float
    dual: float
    gap: float
    converged: bool
    n_iter: int
    history: tuple[float, ...] = field(repr=False, default=())

    def module(self) -> torch.nn.Linear:
        """The head as a layer without a bias, in the default dtype."""
        m, d = self.weight.shape
        layer = torch.nn.Linear(d, m, bias=False, device=self.weight.device)
        with torch.no_grad():
            layer.weight.copy_(self.weight)
        return layer


class _Passes:
    """Sums over the rows, block by block, on their device."""

    def __init__(self, X: Tensor, y: Tensor, w: Tensor | None, m: int, loss: Any) -> None:
        self.X, self.y, self.w, self.m, self.loss = X, y, w, m, loss
        kind = "cpu" if X.device.type == "cpu" else "other"
        self.size = max(1, SCORES[kind] // m)

    def blocks(self, dtype: torch.dtype) -> Any:
        """Rows, labels and weights in turn."""
        for i in range(0, len(self.X), self.size):
            some = slice(i, i + self.size)
            X = self.X[some].to(dtype)
            yield X, self.y[some], X.new_ones(len(X)) if self.w is None else self.w[some].to(dtype)

    def at(self, W: Tensor, dtype: torch.dtype) -> tuple[float, Tensor]:
        """Risk, and its gradient (m, d); blocks are added in float64."""
        V = W.to(dtype)
        risk = W.new_zeros((), dtype=torch.float64)
        slopes = torch.zeros_like(W, dtype=torch.float64)
        for X, y, w in self.blocks(dtype):
            scores = (X @ V.T).requires_grad_(True)
            with torch.enable_grad():
                losses = self.loss(scores, y)
            (A,) = torch.autograd.grad(losses, scores, w)
            risk += w.double() @ losses.detach().double()
            slopes += A.T @ X
        return float(risk), slopes

    def gram(self) -> Tensor:
        """X'wX (d, d)."""
        d = self.X.shape[1]
        total = torch.zeros(d, d, dtype=torch.float64, device=self.X.device)
        for X, _, w in self.blocks(self.X.dtype):
            total += X.T @ (X * w[:, None])
        return total


class _First:
    """I + C' c X'wX and its inverse: in the eigenbasis, or by the diagonal where there are too many features."""

    def __init__(self, passes: _Passes) -> None:
        G = passes.gram()
        if not bool(torch.isfinite(G).all()):
            fix = "rescale X, or X.double()"
            raise InvalidParameterError("X", "squares beyond its dtype", "finite X'X", fix)
        self.Q: Tensor | None = None
        if len(G) <= WIDEST:
            sizes, self.Q = torch.linalg.eigh(G)
            self.sizes = sizes.clamp(min=0.0)
        else:
            self.sizes = G.diagonal().clone()
        self.largest = max(float(self.sizes.amax()), 1e-300)
        self.c = (1.0 - 1.0 / passes.m) / passes.m

    def see(self, step: Tensor, change: Tensor) -> None:
        """The curvature in the scores along a step."""
        moved = step if self.Q is None else step @ self.Q
        size = float((moved * moved * self.sizes).sum())
        bend = float((step * change).sum())
        if bend > 0.0 < size:
            self.c = bend / size

    def solve(self, Z: Tensor, C: float) -> Tensor:
        """(I + C c X'wX)^-1 applied to the rows of Z."""
        shrunk = 1.0 + C * self.c * self.sizes
        return Z / shrunk if self.Q is None else ((Z @ self.Q) / shrunk) @ self.Q.T


def _direction(
    gradient: Tensor, pairs: list[tuple[Tensor, Tensor]], C: float, first: _First
) -> Tensor:
    """Two-loop recursion over pairs (s, u), whose y = s + C u."""
    z = gradient.clone()
    kept = []
    for s, u in reversed(pairs):
        y = s + C * u
        along = (s * y).sum()
        a = (s * z).sum() / along
        z -= a * y
        kept.append((s, y, along, a))
    if kept:
        _, y, along, _ = kept[0]
        solved = first.solve(y, C)
        z = first.solve(z, C) * (along / (y * solved).sum())
    else:
        z = first.solve(z, C)
    for s, y, along, a in reversed(kept):
        z += (a - (y * z).sum() / along) * s
    return z


def fit_head(
    X: Tensor,
    y: Tensor,
    *,
    loss: str = "softmax",
    C: float = 1.0,
    k: int = 1,
    gamma: float = 1.0,
    sample_weight: Tensor | None = None,
    classes: int | None = None,
    tol: float = 1e-3,
    max_iter: int = 500,
) -> Head:
    """Train W of min 1/2||W||^2 + C sum_i w_i L(y_i, W x_i) on the device of X, to a certified gap.

    Parameters
    ----------
    X : Tensor, shape (n, d)
        float32 or float64 rows; one copy of a block at a time is made, never one of n times m numbers.
    y : Tensor of int, shape (n,)
        Classes 0..m-1.
    loss : str
        A smooth convex loss of one label: softmax, topk_entropy_alpha, topk_entropy_beta,
        smooth_topk_hinge_alpha, smooth_topk_hinge_beta, sparsemax, ova_logistic, ova_smooth_hinge.
    C : float
        Of the sum of losses: 1/(lambda n) for lambda/2 ||W||^2 + mean.
    k, gamma
        Parameters of the loss, if it has them.
    sample_weight : Tensor, shape (n,), optional
        w >= 0.
    classes : int, optional
        m; by default 1 + the largest label.
    tol : float
        Relative gap (P - D)/P.
    max_iter : int
        Passes.

    Returns
    -------
    Head
        Best weights in float64, with P, D and gap of a float64 pass.

    Raises
    ------
    fast.errors.InvalidParameterError, fast.errors.InvalidTypeError

    Notes
    -----
    There is no intercept: append a constant feature, which is then regularised. On rows of unit length entropies
    take 5 to 30 passes; smooth hinges whose n C is large ten times as many, and `fast.TopKSVC` has better methods
    for them. The certificate is computed in float64 from the rows as they are given; its own rounding, some 1e-16
    of the sums of absolute values, is not bounded. `fast.audit` bounds it, on the processor.
    """
    C, tol = number("C", C, positive=True), number("tol", tol, positive=True)
    m, weights = _checked(X, y, sample_weight, classes)
    with torch.inference_mode(False), torch.no_grad():  # rows may be what a network inferred
        y = y.long().clone() if y.is_inference() else y.long()
        passes = _Passes(X, y, weights, m, _loss(loss, k, gamma, m))
        return _trained(passes, C, tol, int(number("max_iter", max_iter, positive=True)))


def _checked(X: Any, y: Any, weights: Any, classes: int | None) -> tuple[int, Tensor | None]:
    """The number of classes, and weights; bad rows are refused."""
    for name, value in (("X", X), ("y", y)):
        if not isinstance(value, torch.Tensor):
            raise InvalidTypeError(
                name, type(value).__name__, "a tensor", f"torch.as_tensor({name})"
            )
    if X.layout is not torch.strided:
        raise InvalidParameterError("X", f"{X.layout}", "dense rows", "X.to_dense()")
    if X.dtype not in (torch.float32, torch.float64) or X.ndim != 2 or not X.shape[0]:
        told = f"{X.dtype} of shape {tuple(X.shape)}"
        raise InvalidParameterError(
            "X", told, "rows (n, d), n >= 1, of float32 or float64", "X.float()"
        )
    if y.shape != X.shape[:1] or y.is_floating_point() or y.device != X.device:
        told = f"{y.dtype} of shape {tuple(y.shape)} on {y.device}"
        raise InvalidParameterError("y", told, f"{len(X)} integers on {X.device}", "y.long()")
    m = int(y.max()) + 1 if classes is None else int(number("classes", classes, positive=True))
    if int(y.min()) < 0 or int(y.max()) >= m or m < 2:
        told = f"{int(y.min())} to {int(y.max())}"
        raise InvalidParameterError("y", told, f"classes 0 to {m - 1}, two at least", "recode y")
    if not bool(torch.isfinite(X).all()):
        raise InvalidParameterError("X", "not finite", "finite numbers", "drop these rows")
    if weights is None:
        return m, None
    good = isinstance(weights, torch.Tensor) and weights.shape == y.shape
    if not good or not bool(((weights >= 0) & torch.isfinite(weights)).all()):
        told = f"{getattr(weights, 'shape', weights)}"
        raise InvalidParameterError(
            "sample_weight", told, f"{len(X)} numbers >= 0", "one for each row"
        )
    return m, weights.to(X.device)


def _loss(object_name: str, k: int, gamma: float, m: int) -> Any:
    """Losses of rows, of a smooth convex loss of one label."""
    if not isinstance(object_name, str):
        raise InvalidParameterError(
            "loss", repr(object_name), "an object of fast.losses", "loss='softmax'"
        )
    numbers = {"k": k, "gamma": float(gamma)}
    own = {name: numbers[name] for name in vars(named(object_name)).keys() & numbers.keys()}
    known: Any = named(object_name, **own | ({"k": k} if k != 1 else {}))
    plain = not getattr(known, "indicated", False) and not isinstance(known, TruncatedTopKEntropy)
    if not plain or not known.smooth:
        fix = "softmax, a smooth or an entropy loss; fast.TopKSVC trains hinges"
        raise InvalidParameterError(
            "loss", repr(object_name), "a smooth convex loss of one label", fix
        )
    row = losses.function(object_name)
    return lambda scores, y: row(scores, y, reduction="none", **own)


def _trained(passes: _Passes, C: float, tol: float, max_iter: int) -> Head:
    """Steps until the gap is certified, or passes are used up."""
    X, full = passes.X, torch.float64
    dtype = X.dtype
    first = _First(passes)
    W = torch.zeros(passes.m, X.shape[1], dtype=full, device=X.device)
    pairs: list[tuple[Tensor, Tensor]] = []
    size = min(C, START * passes.m / first.largest)
    risk, slopes = passes.at(W, dtype)
    history: list[float] = []
    best, patience = float("inf"), PATIENCE
    kept: tuple[float, float, Tensor] = (float("inf"), float("-inf"), W)

    def measured(at: float) -> tuple[float, Tensor, float]:
        gradient = W + at * slopes
        return 0.5 * float((W * W).sum()) + at * risk, gradient, 0.5 * float((gradient**2).sum())

    for iteration in range(1, max_iter + 1):
        primal, gradient, gap = measured(size)
        raised = False
        while size < C and gap <= READY * primal:
            size, raised = min(RAISE * size, C), True
            primal, gradient, gap = measured(size)
        history.append(gap / primal if primal > 0.0 else 0.0)
        if size == C and (gap <= tol * primal or iteration == max_iter):
            if dtype != full:  # what float32 calls good enough, float64 certifies, or goes on
                dtype = full
                risk, slopes = passes.at(W, dtype)
                primal, gradient, gap = measured(C)
            kept = (
                min(kept[0], primal),
                max(kept[1], primal - gap),
                W if primal < kept[0] else kept[2],
            )
            if kept[0] - kept[1] <= tol * kept[0]:
                break
        if raised or gap <= 0.5 * best:
            best, patience = gap, PATIENCE
        else:
            patience -= 1
        if patience == 0:
            pairs.clear()
            best, patience = gap, PATIENCE
        z = _direction(gradient, pairs, size, first)
        slope = float((gradient * z).sum())
        found = _search(passes, W, z, size, primal, slope, dtype)
        if found is None:
            if dtype == full and not pairs:
                break
            dtype = full
            pairs.clear()
            risk, slopes = passes.at(W, dtype)
            continue
        step, (risk, following) = found[0] - W, found[1:]
        change = following - slopes
        W, slopes = found[0], following
        first.see(step, change)
        if float((step * (step + size * change)).sum()) > 0.0:
            pairs.append((step, change))
            del pairs[:-MEMORY]
    primal, dual, W = kept if kept[1] > float("-inf") else _certified(passes, W, C)
    gap = (primal - dual) / primal if primal > 0.0 else 0.0
    return Head(W, primal, dual, gap, gap <= tol, len(history), tuple(history))


def _certified(passes: _Passes, W: Tensor, C: float) -> tuple[float, float, Tensor]:
    """P, D and W, by a float64 pass."""
    risk, slopes = passes.at(W, torch.float64)
    primal = 0.5 * float((W * W).sum()) + C * risk
    return primal, primal - 0.5 * float(((W + C * slopes) ** 2).sum()), W


def _search(
    passes: _Passes, W: Tensor, z: Tensor, C: float, primal: float, slope: float, dtype: Any
) -> tuple[Tensor, float, Tensor] | None:
    """Armijo's rule for P(W - t z); or a slope that falls while P, up to rounding, does not rise."""
    noise = (1e-15 if dtype == torch.float64 else NOISE) * abs(primal)
    t = 1.0
    for _ in range(30):
        V = W - t * z
        risk, slopes = passes.at(V, dtype)
        value = 0.5 * float((V * V).sum()) + C * risk
        left = abs(float(((V + C * slopes) * z).sum()))
        lower = value <= primal - 1e-4 * t * slope
        if lower or (left <= 0.8 * slope and value <= primal + noise):
            return V, risk, slopes
        t *= 0.5
    return None
