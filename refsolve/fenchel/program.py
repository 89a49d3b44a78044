"""The CVXPY programs of a declared model: itself, and its Fenchel dual."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.fenchel.model import Model, adjoint, image
from refsolve.oracle import Answer, ParametrizedProblem, Template

if TYPE_CHECKING:
    from cvxpy import Constraint, Parameter


@dataclass(frozen=True)
class Program:
    """A program in scaled units.

    Attributes
    ----------
    key, build, values
        As in `refsolve.canonicalize.ParametrizedProblem`.
    units : mapping
        By what the blocks and multipliers that the program finds are multiplied: of the primal all
        blocks, and p where a constraint tells it; of the dual p, and the blocks that are free.
    """

    key: Hashable
    build: Callable[[], Template]
    values: Mapping[str, Array]
    units: Mapping[str, float]

    def __str__(self) -> str:
        shown = str(self.build().problem).replace("0.0 + ", "")
        return re.sub(r"quad_over_lin\((.*?), 1\.0, None, False\)", r"||\1||^2", shown)

    def solve(self, solver: str = "CLARABEL", **settings: float) -> dict[str, Array]:
        """Blocks and multipliers as the solver finds them, in the model's own units."""
        template = self.build()
        for name, value in self.values.items():
            template.parameters[name].value = value
        template.problem.solve(solver=solver, **settings)
        return self._restored({k: v.value for k, v in template.variables.items()})

    def canonicalized(
        self, finish: Callable[[dict[str, Array]], Answer], unit: float = 0.0
    ) -> ParametrizedProblem:
        """For the oracle; finish is given blocks and multipliers in the model's own units."""

        def done(found: Mapping[str, Array]) -> Answer:
            return finish(self._restored(found))

        return ParametrizedProblem(self.key, self.build, self.values, done, unit)

    def _restored(self, found: Mapping[str, Array]) -> dict[str, Array]:
        total: dict[str, Array] = {}
        for name, value in found.items():  # "sign name": the parts of a multiplier
            sign, _, plain = name.rpartition(" ")
            part = float(sign or 1) * self.units[plain] * np.asarray(value)
            total[plain] = total[plain] + part if plain in total else part
        return total


def primal(model: Model, unit: float = 1.0, lengths: Mapping[str, float] | None = None) -> Program:
    """The least value over the blocks, solved divided by ``unit`` and in u_b/lengths_b."""
    lengths = lengths or {}
    scaled = model.scaled(unit, lengths, {})
    norms = {n: np.asarray(np.sqrt(b.weight)) for n, b in scaled.blocks.items() if b.weight > 0}
    values = _numbers(scaled, dual=False) | norms

    def build() -> Template:
        given = _parameters(values)
        u = {name: cp.Variable(b.size, name=name) for name, b in scaled.blocks.items()}
        objective = sum(cp.sum_squares(given[name] * u[name]) for name in norms) / 2
        for name, b in scaled.blocks.items():
            objective += 0 if b.slope is None else given[f"{name}.slope"] @ u[name]
        constraints: list[Constraint] = []
        found = dict(u)
        for name, term in scaled.terms.items():
            z = sum(image(given[f"{name}.{b}"], u[b], cp.multiply) for b in term.maps)
            z = z if term.offset is None else z + given[f"{name}.offset"]
            paid, conditions, parts = term.loss.canonicalize(z, _own(given, name))
            objective, constraints = objective + paid, constraints + conditions
            found |= {f"{sign} {name}": tie.dual_variables[0] for sign, tie in parts}
        return Template(cp.Problem(cp.Minimize(objective), constraints), given, found)

    units = {n: lengths.get(n, 1.0) for n in model.blocks} | dict.fromkeys(model.terms, unit)
    return Program(("primal", scaled.key), build, values, units)


def dual(
    model: Model,
    unit: float = 1.0,
    lengths: Mapping[str, float] | None = None,
    scales: Mapping[str, float] | None = None,
) -> Program:
    """The largest value over p, solved divided by ``unit`` and in p_t/(unit scales_t).

    ``lengths`` are those of the free blocks, which multiply their equations.
    """
    lengths, scales = dict(lengths or {}), scales or {}
    for name, b in model.blocks.items():
        if b.weight > 0:  # then its norm in D has no factor
            lengths[name] = float(np.sqrt(unit / b.weight))
    scaled = model.scaled(unit, lengths, scales)
    values = _numbers(scaled, dual=True)

    def build() -> Template:
        given = _parameters(values)
        losses = {name: term.loss for name, term in scaled.terms.items()}
        p = {
            n: cp.Variable(scaled.size(n), name=n, nonneg=loss.nonneg) for n, loss in losses.items()
        }
        constraints: list[Constraint] = []
        objective, found = cp.Constant(0), dict(p)
        for name, term in scaled.terms.items():
            paid, domain = term.loss.canonicalize_conjugate(p[name], _own(given, name))
            objective, constraints = objective + paid, constraints + domain
            if term.offset is not None:
                objective -= given[f"{name}.offset"] @ p[name]
        for block, b in scaled.blocks.items():
            maps = [name for name, term in scaled.terms.items() if block in term.maps]
            pull = sum(adjoint(given[f"{name}.{block}"], p[name], cp.multiply) for name in maps)
            pull = pull if b.slope is None else pull + given[f"{block}.slope"]
            if b.weight > 0:
                objective += cp.sum_squares(pull) / 2
            else:
                constraints.append(pull == 0)
                found[f"-1 {block}"] = constraints[-1].dual_variables[0]
        return Template(cp.Problem(cp.Minimize(objective), constraints), given, found)

    units = {name: unit * scales.get(name, 1.0) for name in model.terms}
    units |= {name: lengths.get(name, 1.0) for name, b in model.blocks.items() if b.weight == 0}
    return Program(("dual", scaled.key), build, values, units)


def canonicalized(
    operation: str, own: Program, dual: Program, finish: Callable[[dict[str, Array]], Answer]
) -> ParametrizedProblem:
    """The primal or the dual for the oracle, which asks the other one if no answer certifies."""
    first, other = (own, dual) if operation == "primal" else (dual, own)
    return replace(first.canonicalized(finish), other=other.canonicalized(finish))


def _numbers(model: Model, dual: bool) -> dict[str, Array]:
    slopes = {f"{n}.slope": b.slope for n, b in model.blocks.items() if b.slope is not None}
    values: dict[str, Array] = {name: np.asarray(slope, float) for name, slope in slopes.items()}
    for name, term in model.terms.items():
        values |= {f"{name}.{b}": np.asarray(A, float) for b, A in term.maps.items()}
        if term.offset is not None:
            values[f"{name}.offset"] = np.asarray(term.offset, float)
        own = term.loss.numbers(dual).items()
        values |= {f"{name}:{key}": np.asarray(value, float) for key, value in own}
    return values


def _parameters(values: Mapping[str, Array]) -> dict[str, Parameter]:
    """Parameters of these shapes; those of norms and losses are >= 0."""
    return {k: cp.Parameter(v.shape, name=k, nonneg="." not in k) for k, v in values.items()}


def _own(given: Mapping[str, Parameter], term: str) -> dict[str, Parameter]:
    return {k.partition(":")[2]: v for k, v in given.items() if k.startswith(f"{term}:")}
