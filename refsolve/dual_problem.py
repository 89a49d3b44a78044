"""The dual of a problem as a CVXPY problem: read off its expressions, or off its cones.

With a multiplier for every constraint and a vector u for every term h that is not linear,
min c(x) + sum_j h_j(E_j x + f_j) has the dual max sum_j <f_j,u_j> - h_j*(u_j) over c + sum_j E_j'u_j = 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.promote import promote

from refsolve import notation
from refsolve.cones.from_cvxpy import compiled
from refsolve.cones.semidefinite import Semidefinite
from refsolve.errors import InvalidParameterError
from refsolve.parameters import constant

Named = dict[str, Any]
#: Names of constraints that the papers give to their multipliers.
SYMBOL = re.compile(r"[A-Za-z]+([_^][A-Za-z0-9+-]+)?$")


class UnreadableError(Exception):
    """A term whose conjugate is not known here."""


class Lagrangian:
    """Sums of <u, e(x)>: what they are linear in, by variable, and what is left."""

    def __init__(self, several: bool) -> None:
        self.several = several
        self.pulls: dict[Any, list[Any]] = {}
        self.rest: list[Any] = []
        self.rules: list[Any] = []
        self.count = 0
        self.taken: dict[Any, Any] = {}

    def term(self, shape: tuple[int, ...]) -> Any:
        """The unknown of a term that is not linear."""
        self.count += 1
        return cp.Variable(shape, name=f"u_{self.count}" if self.several else "u")

    def add(self, e: Any, by: Any, known: int, flip: int = 1) -> None:
        """Add flip <by, e>; ``known`` is the sign of ``by``, 0 if it can be either."""
        kind = type(e).__name__
        if e.is_constant():
            self._constant(e, by, flip)
        elif kind == "Variable":
            if any(e.attributes[name] for name in e.attributes if name != "sparsity"):
                raise UnreadableError
            self.pulls.setdefault(e, []).append(-by if flip < 0 else by)
        elif kind == "NegExpression":
            self.add(e.args[0], by, known, -flip)
        elif kind in _LINEAR:
            for part, pull, own in self._linear(kind, e, by, known):
                self.add(part, pull, own, flip)
        elif known * flip > 0:
            by = by if flip > 0 else -by
            if kind in _HOMOGENEOUS and float(getattr(e, "p", 2)) == 2:
                self._homogeneous(kind, e, by)
            elif not by.variables():
                self._square(kind, e, by)
            else:
                raise UnreadableError
        else:
            raise UnreadableError

    def _constant(self, e: Any, by: Any, flip: int) -> None:
        while type(e).__name__ in ("NegExpression", "Promote"):
            flip = -flip if type(e).__name__ == "NegExpression" else flip
            e = e.args[0]
        if not e.parameters() and not np.any(e.value):
            return
        if _is_one(by):
            found = e * by.size if e.ndim < by.ndim else cp.sum(e) if e.ndim else e
        elif not e.parameters() and e.ndim and np.ptp(e.value) == 0:
            found = float(np.ravel(e.value)[0]) * cp.sum(by)
        elif e.ndim < by.ndim or not e.ndim:
            found = e * cp.sum(by) if by.ndim else e * by
        else:
            found = e @ by if e.ndim == 1 else cp.sum(cp.multiply(e, by))
        self.rest.append(-found if flip < 0 else found)

    def _homogeneous(self, kind: str, e: Any, by: Any) -> None:
        """A support function h, times a multiplier: u in ``by`` times its set."""
        args = [a for a in e.args if not (a.is_constant() and not np.any(a.value))]
        if getattr(e, "axis", None) is not None:
            raise UnreadableError
        parts = [self.term(a.shape if kind != "maximum" else e.shape) for a in args]
        self.rules += _HOMOGENEOUS[kind](e, parts, by, len(args) < len(e.args))
        for a, u in zip(args, parts, strict=True):
            self.add(a if a.shape == u.shape else _promoted(a, u.shape), u, 0)

    def _square(self, kind: str, e: Any, by: Any) -> None:
        """By ||e||^2/c, whose conjugate is c ||u||^2/(4 by); by <e,Pe>, of which it is by <v,Pv> at u = 2 by P v."""
        if by.parameters() and (by.value is None or by.ndim or not np.any(by.value)):
            raise UnreadableError  # another value of the parameter has another form
        if not np.any(by.value):
            return
        if kind == "QuadForm" and e.args[1].is_constant():
            v, P = self.term(e.args[0].shape), e.args[1]
            self.rest.append(-(by * cp.quad_form(v, P)))
            self.add(e.args[0], 2 * by * (P @ v), 0)
            return
        if kind == "quad_over_lin" and e.args[1].is_constant():
            below = e.args[1]
        elif kind in ("power", "Power", "PowerApprox") and float(getattr(e.p, "value", e.p)) == 2:
            below = cp.Constant(1.0)
        else:
            raise UnreadableError
        u = self.term(e.args[0].shape)
        if by.parameters() or below.parameters():
            if by.ndim and np.ptp(by.value):
                raise UnreadableError
            self.rest.append(
                -cp.quad_over_lin(u, _times(4.0, by if by.ndim == 0 else by[0], below))
            )
        else:
            weight = np.asarray(below.value / (4 * by.value))
            even = weight.ndim == 0 or np.ptp(weight) == 0
            square = cp.sum_squares(u) if u.ndim else cp.square(u)
            self.rest.append(
                -(square / float(1 / np.ravel(weight)[0]))
                if even
                else -cp.sum(cp.multiply(weight, cp.square(u)))
            )
        self.add(e.args[0], u, 0)

    def _linear(self, kind: str, e: Any, by: Any, known: int) -> Iterable[tuple[Any, Any, int]]:
        """<by, e> as a sum over the arguments of a linear operation."""
        if kind == "AddExpression":
            return [
                (part if part.shape == e.shape else _promoted(part, e.shape), by, known)
                for part in e.args
            ]
        if kind in ("multiply", "MulExpression", "DivExpression"):
            return [_scaled(kind, e, by, known)]
        x = e.args[0]
        if kind == "Sum" and e.axis is None:
            return [(x, promote(by, x.shape) if x.ndim else by, known)]
        if kind == "Promote":
            return [(x, _sum(by), known)]
        if kind == "transpose" and by.ndim == 2:
            return [(x, by.T, known)]
        if kind == "reshape":
            return [(x, cp.reshape(by, x.shape, order=e.order), known)]
        if kind == "Hstack" and e.ndim == 1:
            found, start = [], 0
            for part in e.args:
                stop = start + part.size
                found.append((part, by[start:stop] if part.ndim else by[start], known))
                start = stop
            return found
        if kind in ("index", "special_index"):
            places = np.arange(x.size).reshape(x.shape, order="F")[_key(e)]
            if np.array_equal(np.ravel(places, order="F"), np.arange(x.size)):
                return [
                    (x, by if by.shape == x.shape else cp.reshape(by, x.shape, order="F"), known)
                ]
            rows = self._rows(x.size, np.ravel(places, order="F"))
            flat = cp.reshape(by, (by.size,), order="F") if by.ndim != 1 else by
            pulled = rows.T @ flat
            return [(x, pulled if x.ndim == 1 else cp.reshape(pulled, x.shape, order="F"), 0)]
        raise UnreadableError

    def _rows(self, size: int, places: Any) -> Any:
        """The rows of the identity that an index takes."""
        key = (size, tuple(places.tolist()))
        if key not in self.taken:
            self.taken[key] = constant(
                f"E_{len(self.taken) + 1}", sp.eye_array(size, format="csr")[places]
            )
        return self.taken[key]


def _key(e: Any) -> Any:
    shown = e.get_data()
    if type(e).__name__ == "special_index":
        return shown[0]
    return next(key for key in reversed(shown) if key is not None)


def _promoted(e: Any, shape: tuple[int, ...]) -> Any:
    """A number as an array; other broadcasts are left to the cones."""
    if e.ndim:
        raise UnreadableError
    return promote(e, shape)


def _is_one(e: Any) -> bool:
    return e.is_constant() and not e.parameters() and bool(np.all(e.value == 1))


def _sum(by: Any) -> Any:
    return by.args[0] * by.size if type(by).__name__ == "Promote" else cp.sum(by)


def _times(number: float, by: Any, below: Any) -> Any:
    """The number times by/below, with one number in front."""
    if (
        type(by).__name__ == "DivExpression"
        and not by.args[1].parameters()
        and by.args[1].ndim == 0
    ):
        by, number = by.args[0], number / float(by.args[1].value)
    if not below.parameters():
        return number / float(below.value) * by
    return number * by / below


def _scaled(kind: str, e: Any, by: Any, known: int) -> tuple[Any, Any, int]:
    """Of a product or quotient with a constant: the other factor, and what pulls at it."""
    left, right = e.args
    if kind == "DivExpression":
        if not right.is_constant():
            raise UnreadableError
        return left, by / right, known if right.is_nonneg() else 0
    if not (left.is_constant() or right.is_constant()):
        raise UnreadableError
    c, x = (left, right) if left.is_constant() else (right, left)
    signed = known * (int(c.is_nonneg()) - int(c.is_nonpos()))
    if kind == "multiply":
        x = x if x.shape == e.shape else _promoted(x, e.shape)
        return x, c if _is_one(by) else cp.multiply(c, by) if c.ndim and by.ndim else c * by, signed
    if c.ndim == 0 or x.ndim == 0:
        pulled = c if _is_one(by) else c * by if c.ndim == 0 else cp.sum(cp.multiply(c, by))
        return x, pulled, signed if c.ndim == 0 else 0
    if c.ndim == 1 and x.ndim == 1:
        return x, c if _is_one(by) else c * by, signed
    if c is left:
        return x, cp.outer(c, by) if c.ndim == 1 else c.T @ by, 0
    if c.ndim == 1:
        return x, cp.outer(by, c), 0
    return x, by @ c.T if x.ndim == 2 else c @ by, 0


_LINEAR = frozenset(
    ("AddExpression", "reshape", "Sum", "Promote", "transpose", "index", "special_index", "Hstack",
     "DivExpression", "multiply", "MulExpression")
)  # fmt: skip
#: Support functions: the conditions on u, for by h.
_HOMOGENEOUS: dict[str, Callable[[Any, list[Any], Any, bool], list[Any]]] = {
    "norm1": lambda e, u, by, _: [cp.abs(u[0]) <= by],
    "abs": lambda e, u, by, _: [cp.abs(u[0]) <= by],
    "Pnorm": lambda e, u, by, _: [cp.pnorm(u[0], 2) <= by],
    "PnormApprox": lambda e, u, by, _: [cp.pnorm(u[0], 2) <= by],
    "norm_inf": lambda e, u, by, _: [cp.norm1(u[0]) <= by],
    "max": lambda e, u, by, _: [u[0] >= 0, cp.sum(u[0]) == by],
    "maximum": lambda e, u, by, free: [
        *(v >= 0 for v in u), (sum(u) <= by) if free else (sum(u) == by),
    ],
    "sum_largest": lambda e, u, by, _: [
        u[0] >= 0, u[0] <= by, cp.sum(u[0]) == float(getattr(e.k, "value", e.k)) * by,
    ],
}  # fmt: skip


def lagrange_dual(problem: cp.Problem, named: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Objective and constraints of the dual, by name; `UnreadableError` for other terms."""
    sense = 1 if isinstance(problem.objective, cp.Minimize) else -1
    found, signs = _lagrangian(problem, named, sense, True)
    if found.count == 1:
        found, signs = _lagrangian(problem, named, sense, False)
    rules = notation.by_text([*signs, *found.rules])
    for x in problem.variables():
        if x in found.pulls:
            count = sum(known.partition(" (no. ")[0] == x.name() for known in rules)
            name = f"{x.name()} (no. {count + 1})" if count else x.name()
            rules[name] = _total(found.pulls[x]) == 0
    rest = _total(found.rest) if found.rest else cp.Constant(0.0)
    return (cp.Maximize(rest) if sense > 0 else cp.Minimize(-rest)), rules


def _lagrangian(
    problem: cp.Problem, named: Mapping[str, Any], sense: int, several: bool
) -> tuple[Lagrangian, list[Any]]:
    """The Lagrangian, and the signs of its multipliers."""
    found, signs = Lagrangian(several), []
    objective = problem.objective.args[0]
    found.add(objective, cp.Constant(np.ones(objective.shape)), 1, sense)
    for name, rule in _named_multipliers(problem, named):
        equal = type(rule).__name__ in ("Equality", "Zero")
        if not equal and type(rule).__name__ != "Inequality":
            raise UnreadableError
        by = cp.Variable(rule.shape, name=name)
        low, high = rule.args if len(rule.args) == 2 else (rule.args[0], cp.Constant(0.0))
        for side, sign in ((low, 1), (high, -1)):
            whole = side if side.shape == by.shape else _promoted(side, by.shape)
            found.add(whole, by, int(not equal), sign)
        if not equal:
            signs.append(by >= 0)
    return found, signs


def _named_multipliers(problem: cp.Problem, named: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The papers' names, or lambda for inequalities and nu for equations, numbered where there are several."""
    taken = {leaf.name() for leaf in (*problem.variables(), *problem.parameters())}
    kinds = [
        name if SYMBOL.match(name) and name not in taken
        else "nu" if type(rule).__name__ in ("Equality", "Zero") else "lambda"
        for name, rule in named.items()
    ]  # fmt: skip
    found = []
    for i, (kind, rule) in enumerate(zip(kinds, named.values(), strict=True)):
        several = kinds.count(kind) > 1 or kind in taken
        found.append((f"{kind}_{kinds[: i + 1].count(kind)}" if several else kind, rule))
    return found


def _total(terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def conic_dual(problem: cp.Problem) -> tuple[Any, dict[str, Any]]:
    """Max -1/2<x,P x> - <b,z> over P x + A'z + c = 0, z in the dual cone, of the problem that solvers see."""
    whole = compiled(problem)
    cones = whole.program
    sense = 1 if isinstance(problem.objective, cp.Minimize) else -1
    n, m = len(cones.q), len(cones.b)
    z = cp.Variable(m, name="z")
    pull = constant("A", cones.A).T @ z + constant("c", cones.q)
    value = -(constant("b", cones.b) @ z) + float(whole.offset)
    if cones.P.count_nonzero():
        x, curved = cp.Variable(n, name="x"), constant("P", cones.P)
        pull = curved @ x + pull
        value = -cp.quad_form(x, cp.psd_wrap(curved)) / 2 + value
    rules: Named = {"x": pull == 0}
    start = cones.zero
    if cones.nonneg:
        rules["z >= 0"] = z[start : start + cones.nonneg] >= 0
        start += cones.nonneg
    for i, size in enumerate(cones.soc):
        rules[f"cone_{i}"] = cp.norm(z[start + 1 : start + size]) <= z[start]
        start += size
    for i in range(cones.exp):
        u, v, w = z[start], z[start + 1], z[start + 2]
        rules[f"exponential_{i}"] = cp.ExpCone(u - v, -u, w)
        start += 3
    for block, where in cones.more:
        if not isinstance(block, Semidefinite):
            raise InvalidParameterError(
                "problem", "a power cone", "linear, second-order, exponential and semidefinite cones",
                "write the power by second-order cones (cvxpy.power(..., approx=True))",
            )  # fmt: skip
        rules[f"semidefinite_{where.start}"] = _matrix(block, z[where]) >> 0
    objective = cp.Maximize(value) if sense > 0 else cp.Minimize(-value)
    return objective, rules


def _matrix(block: Semidefinite, z: Any) -> Any:
    """The symmetric matrix of a multiplier: <S, Z> is the product of the entries, off the diagonal twice."""
    basis = np.stack([block.matrix(row, dual=True).ravel() for row in np.eye(block.size)], axis=1)
    order = round(basis.shape[0] ** 0.5)
    return cp.reshape(cp.Constant(basis) @ z, (order, order), order="C")
