"""Regularised multiclass risk: primal P(W), dual D(A), and the gap between them, for any loss.

P(W) = (1/n) sum_i w_i L(y_i, W x_i) + lambda/2 ||W||^2, with P/lambda = 1/2||W||^2 + C sum w_i L_i
and C = 1/(lambda n). D(A) = -(1/n) sum_i w_i L*(y_i, -a_i/(w_i C)) - lambda/2 tr(A'K A), where the
rows a_i of A (n, m) are blocks (in the multiclass family they sum to 0), K = XX', and W = A'X is
(m, d), a row for each class: the papers' W and A are the transposes of these. Only the loss's
declaration enters; y holds classes, or 0/1 rows for a multilabel loss.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import notation
from refsolve._lazy import cp
from refsolve.arguments import scaled_by, take
from refsolve.canonicalize import Answer, ParametrizedProblem, Template
from refsolve.errors import InvalidParameterError
from refsolve.models._data import BOX, LAM, Data, check_data
from refsolve.models._symbols import (
    BETA,
    CLASSES,
    COSTS,
    COUNT,
    GAMMA,
    GRAM,
    GUESSES,
    LOSS,
    OR_GRAM,
    WEIGHTS,
)
from refsolve.models._written import Written, weighted
from refsolve.optimality import Term
from refsolve.parameters import constant, parameter
from refsolve.proofs.certificate import Array
from refsolve.proofs.domain import plain
from refsolve.proofs.model import ModelCertificate
from refsolve.spec import Spec, check_matrix

SPEC = Spec(
    title="Regularised multiclass empirical risk",
    kind="models",
    formulas={
        "primal": "P(W) = (1/n) sum_i w_i L(y_i, W x_i) + lambda/2 ||W||^2",
        "dual": (
            "D(A) = -(1/n) sum_i w_i L*(y_i, -a_i/(w_i C)) - lambda/2 tr(A'K A),\n"
            "-inf outside the domain of the conjugate;  <1,a_i> = 0 in the multiclass family"
        ),
        "maps": (
            "W = A'X;  multiclass: a_i = -w_i C x_i over the others, <1,x_i> w_i C at y_i;\n"
            "one-vs-all and multilabel hinges: -w_i C x_i, + at y_i or on the positives;\n"
            "multilabel cross-entropy: -w_i C (p_i - t_i)"
        ),
        "gap": (
            "(1/n) sum_i w_i (L + L* - <u_i,x_i>) + lambda/2 ||W - A'X||^2 = P(W) - D(A),\n"
            "every term >= 0; ||W - W*||^2 <= 2 gap/lambda"
        ),
    },
    symbols=(LAM, BOX),
    arguments=(
        OR_GRAM,
        CLASSES,
        BOX,
        replace(LOSS, default="multiclass_hinge"),
        GUESSES,
        GAMMA,
        BETA,
        WEIGHTS,
        COSTS,
        GRAM,
    ),
    options=(replace(LAM, default=None), COUNT),
    scaling="P and D carry 1/n; divided by lambda they are 1/2||W||^2 + C sum w_i L_i and its dual",
    source="Lapin et al. 2015, Theorem 1; 2016, section 3, equation (16)",
    notes=(
        "Theorem 1 prints +inf outside the domain; a dual that is maximised is -inf there (E2)",
        "a Gram matrix K replaces X: W is then given by B (n, m) as W = B'X",
        "an example of weight 0 is valid and has a_i = 0",
        "every convex loss; the truncated one has no dual and is trained by convex steps",
    ),
)


@dataclass(frozen=True)
class ErmCertificate(ModelCertificate):
    """A `ModelCertificate`; violations are in units of A.

    Attributes
    ----------
    residuals : ndarray of shape (n,)
        w_i/n times the Fenchel-Young gap of each example.
    drift : float
        lambda/2 ||W - A'X||^2.
    """


def weights(X: ArrayLike, A: ArrayLike) -> Array:
    """W = A'X, (m, d), from X (n, d) and A (n, m)."""
    X = check_matrix("X", X, (None, None))
    return check_matrix("A", A, (X.shape[0], None)).T @ X


def primal(
    loss: str,
    y: ArrayLike,
    *,
    W: ArrayLike | None = None,
    B: ArrayLike | None = None,
    **given: Any,
) -> float:
    """P(W), with ``X`` and W (m, d), or with ``K`` and B (n, m); see `certificate`."""
    data = check_data(loss, y, given)
    return float(data.problem.prove(data.model(W, B)).times(data.lam).primal)


def dual(loss: str, y: ArrayLike, *, A: ArrayLike, **given: Any) -> float:
    """D(A), and -inf outside its domain (up to rounding); see `certificate`."""
    data = check_data(loss, y, given)
    x, violation = data.dual_point(A)
    if violation > 64 * data.m * np.finfo(float).eps * data.C * data.weight.max(initial=1):
        return -np.inf
    blocks = data.blocks(x)
    return float(data.problem.prove(data.model(None, blocks), blocks).times(data.lam).dual)


def certificate(
    loss: str,
    y: ArrayLike,
    *,
    W: ArrayLike | None = None,
    B: ArrayLike | None = None,
    A: ArrayLike | None = None,
    **given: Any,
) -> ErmCertificate:
    """Primal-dual gap of W (or B) and A, whoever computed them.

    Parameters
    ----------
    loss : str
        Object of the loss.
    y : (n,) array of int
        Class indices; for a multilabel loss a 0/1 matrix (n, m), dense or scipy sparse.
    W : (m, d) array, optional
        Weights, with ``X``; by default A'X.
    B : (n, m) array, optional
        Expansion W = B'X, with ``X`` or ``K``; by default A.
    A : (n, m) array, optional
        Dual variables in units of C; by default subgradients of the losses at W.
    **given
        ``X`` (n, d), dense or scipy sparse, or ``K`` (n, n); ``lam`` or ``C``; ``costs``, (m,) or
        (n, m); ``sample_weight`` (n,); ``n_classes``; the parameters of the loss.

    Raises
    ------
    InvalidParameterError
        Naming the argument; `InvalidGramError` for a Gram matrix that is none.
    """
    data = check_data(loss, y, given)
    if W is None and B is None and A is None:
        raise InvalidParameterError("A", None, "W, B or A", "pass the model to be certified")
    x, violation = (None, 0.0) if A is None else data.dual_point(A)
    blocks = None if x is None else data.blocks(x)
    if W is None and B is None:
        assert blocks is not None
        B = blocks
    proof = data.problem.prove(data.model(W, B), blocks).times(data.lam)
    found = ErmCertificate.of(proof, violation)
    return replace(found, distance=float(np.sqrt(2 * found.gap / data.lam)))


# ---- CVXPY ----------------------------------------------------------------------------------
# With H = sqrt(C) G, GG' = K (G = X, or a factor of the Gram matrix) and V = W/sqrt(C),
# P/(lambda C) = 1/2||V||^2 + sum w_i L(HV); t >= 1 bounds the rows of H, s the costs.


def _scales(data: Data) -> tuple[Array, float, float, float, dict[str, Any]]:
    """H/t, t, s, the largest weight, and the loss's parameters in units of s."""
    H = np.sqrt(data.C) * data.factor()
    t = max(1.0, float(np.sqrt((H * H).sum(axis=1).max())))
    s, params = scaled_by(data.loss, max(abs(data.costs).max(), 2.0**-40))
    return H / t, t, s, float(data.weight.max()) or 1.0, params


def _key(data: Data, params: Mapping[str, Any], rank: int) -> tuple[Any, ...]:
    return (
        data.loss.object_name,
        data.m,
        rank,
        data.y.tobytes(),
        data.y.shape,
        *plain(params),
    )


def _unit(data: Data) -> float:
    """P(0), the natural size of the objective."""
    start = data.loss.value_bounds(data.costs)[1]
    return float(data.weight @ start / data.n) or 1.0


def canonicalize_primal(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``multiclass_erm.primal``: x is W (m, d), or B (n, m) for a Gram matrix."""
    loss, y = take(given, "loss"), take(given, "y")
    data = check_data(loss, y, given)
    H, t, s, top, params = _scales(data)
    n, m, d = data.n, data.m, data.loss.d

    def build() -> Template:
        V, F, Z = cp.Variable((H.shape[1], m)), cp.Variable((n, m)), cp.Variable((n, d))
        rows, costs = cp.Parameter(H.shape), cp.Parameter((n, d))
        weight, eta = cp.Parameter(n, nonneg=True), cp.Parameter(nonneg=True)
        apart = [F[i] @ data.matrix(i) for i in range(n)]
        tie = Z - cp.vstack(apart) - costs == 0  # its multiplier is -w_i x_i
        risk = cp.sum(
            [weight[i] * data.loss.module.value(Z[i], *data.row(i), **params) for i in range(n)]
        )
        problem = cp.Problem(cp.Minimize(eta / 2 * cp.sum_squares(V) + risk), [rows @ V == F, tie])
        parameters = {"H": rows, "costs": costs, "weight": weight, "eta": eta}
        return Template(problem, parameters, {"V": V, "minus_x": tie.dual_variables[0]})

    def finish(found: Mapping[str, Any]) -> Answer:
        W = np.sqrt(data.C) * s / t * found["V"].T
        raw = -top * found["minus_x"] / np.where(data.weight > 0, data.weight, 1)[:, None]
        A = np.asarray(data.blocks(data.loss.repair(raw)), dtype=float)
        model = {"W": W} if data.K is None else {"B": data.expansion(W)}
        proof = certificate(loss, y, A=A, **model, **given)
        named = {**model, "A": A}
        return Answer(next(iter(model.values())), proof.value, A, proof, named)

    values = {"H": H, "costs": data.costs / s, "weight": data.weight / top, "eta": s / t**2 / top}
    return ParametrizedProblem(_key(data, params, H.shape[1]), build, values, finish, _unit(data))


def canonicalize_dual(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``multiclass_erm.dual``: x is A (n, m)."""
    loss, y = take(given, "loss"), take(given, "y")
    data = check_data(loss, y, given)
    H, t, s, top, params = _scales(data)
    n, d = data.n, data.loss.d
    size = max(t * t / s * top, 1.0)

    def build() -> Template:
        x = cp.Variable((n, d))
        rows, costs = cp.Parameter(H.T.shape), cp.Parameter((n, d))
        weight = cp.Parameter(n, nonneg=True)
        blocks = cp.vstack([x[i] @ -data.matrix(i).T for i in range(n)])
        objective = cp.sum_squares(rows @ blocks) / 2 - cp.sum(cp.multiply(costs, x))
        domains = []
        for i in range(n):
            conjugate, domain = data.loss.module.conjugate(x[i], *data.row(i), **params)
            objective += weight[i] * conjugate
            domains += domain
        parameters = {"H": rows, "costs": costs, "weight": weight}
        return Template(cp.Problem(cp.Minimize(objective), domains), parameters, {"x": x})

    def finish(found: Mapping[str, Any]) -> Answer:
        A = np.asarray(data.blocks(data.loss.repair(found["x"])), dtype=float)
        proof = certificate(loss, y, A=A, **given)
        W = None if data.K is not None else (data.X.T @ A).T
        return Answer(A, proof.dual_value, W, proof, {"A": A} if W is None else {"W": W, "A": A})

    # 1/2||H'wA||^2 - <wc,x> + w conjugate, divided by s, the largest weight and ``size``
    weight = data.weight / top
    values = {
        "H": (H * weight[:, None]).T * (t * np.sqrt(top / s / size)),
        "costs": weight[:, None] * data.costs / s / size,
        "weight": weight / size,
    }
    return ParametrizedProblem(_key(data, params, H.shape[1]), build, values, finish, _unit(data))


# ---- as it is written -----------------------------------------------------------------------


def problem_primal(arguments: dict[str, Any]) -> Written:
    """(1/n) sum_i w_i L(z_i) + lambda/2 ||W||^2 with z_i = M_i f_i + c_i, f_i = W x_i."""
    data, lam = _written_data(arguments)
    n, m = data.n, data.m
    W, Z = (
        cp.Variable((m, data.factor().shape[1]), name="W"),
        cp.Variable((n, data.loss.d), name="Z"),
    )
    F = constant("X", data.factor()) @ W.T
    value = data.loss.module.value
    losses = [value(Z[i], *data.row(i), **data.loss.params) for i in range(n)]
    objective = weighted(data.weight, cp.hstack(losses)) / n + lam / 2 * cp.sum_squares(W)
    rules = {
        f"x_{i}": Z[i]
        == constant(f"M_{i}", data.matrix(i).T) @ F[i] + constant(f"c_{i}", data.costs[i])
        for i in range(n)
    }
    terms = [
        Term(data.single(i), Z[i], f"x_{i}", float(data.weight[i]) / n, losses[i]) for i in range(n)
    ]
    return cp.Minimize(objective), rules, terms


def problem_dual(arguments: dict[str, Any]) -> Written:
    """(1/n) sum_i w_i (<c_i,x_i> - L*(x_i)) - lambda/2 ||X'A||^2 with a_i = -w_i C M_i'x_i."""
    data, lam = _written_data(arguments)
    n, m = data.n, data.m
    x, A = cp.Variable((n, data.loss.d), name="x"), cp.Variable((n, m), name="A")
    mass = np.asarray(data.weight, dtype=float) * data.C
    gained: list[Any] = []
    rules: dict[str, Any] = {}
    for i in range(n):
        conjugate, domain = data.loss.module.conjugate(x[i], *data.row(i), **data.loss.params)
        gained.append(constant(f"c_{i}", data.costs[i]) @ x[i] - conjugate)
        rules |= notation.by_text(domain)
        rules[f"f_{i}"] = A[i] == constant(f"M_{i}", -mass[i] * data.matrix(i)) @ x[i]
    objective = weighted(data.weight, cp.hstack(gained)) / n
    return cp.Maximize(
        objective - lam / 2 * cp.sum_squares(constant("X", data.factor()).T @ A)
    ), rules


def _written_data(arguments: dict[str, Any]) -> tuple[Data, Any]:
    """The data, and lambda as a parameter."""
    rest = dict(arguments)
    data = check_data(take(rest, "loss"), take(rest, "y"), rest)
    return data, parameter("lambda", data.lam, 0)
