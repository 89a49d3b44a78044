"""From a declaration to its problems: projection, prox, update, conjugate check.

`pose` turns the arguments of an operation into an instance that the oracle can solve. Nothing here
knows a stem by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from refsolve import catalogue, certificates
from refsolve._lazy import cp
from refsolve.errors import InvalidParameterError
from refsolve.oracle import Answer, Posed, Template
from refsolve.spec import check_vector

Array = np.ndarray[Any, Any]


def pose(stem: str, operation: str, params: Mapping[str, Any]) -> Posed | Answer:
    """The instance of ``stem.operation`` with these arguments; an `Answer` if a formula suffices."""
    module = catalogue.load(stem)
    return _OPERATIONS[catalogue.kind(stem), operation](stem, module, dict(params))


def take(params: dict[str, Any], name: str, default: Any = None) -> Any:
    """Remove an argument from ``params``; without a default it is required."""
    if name in params:
        return params.pop(name)
    if default is None:
        raise InvalidParameterError(name, "missing", "a value", f"pass {name}=...")
    return default


def _structure(values: Mapping[str, Any]) -> dict[str, int]:
    """The integer parameters, on which the compiled problem depends."""
    return {name: value for name, value in values.items() if isinstance(value, int)}


def _projection(stem: str, module: ModuleType, params: dict[str, Any]) -> Posed:
    """Min 1/2||x - a||^2 + rho/2 <1,x>^2, as eta/2 (||x||^2 + rho s^2) - <a,x>/max|a|."""
    a = check_vector("a", take(params, "a"))
    rho = certificates.RHO.check(take(params, "rho", 0.0))
    checked = module.SPEC.check(params, a.size)
    size = float(abs(a).max()) or 1.0
    radius = certificates.projection_size(stem, a, rho=rho, **checked) or 1.0
    scaled = {"a": a / size, "eta": radius / size, "eta_rho": rho * radius / size}
    if "r" in checked:
        scaled["r"] = checked["r"] / radius
    structure = _structure(checked)

    def build() -> Template:
        x = cp.Variable(a.size)
        parameters = {"a": cp.Parameter(a.size)}
        parameters |= {n: cp.Parameter(nonneg=True) for n in scaled if n != "a"}
        bounds = {"r": parameters["r"]} if "r" in parameters else {}
        objective = parameters["eta"] / 2 * cp.sum_squares(x)
        objective += parameters["eta_rho"] / 2 * cp.square(cp.sum(x)) - parameters["a"] @ x
        problem = cp.Problem(cp.Minimize(objective), module.constraints(x, **structure, **bounds))
        return Template(problem, parameters, {"x": x})

    def finish(found: Mapping[str, Any]) -> Answer:
        x = np.asarray(module.repair(found["x"] * radius, **checked), dtype=float)
        certificate = certificates.projection(stem, x, a, rho=rho, **checked)
        return Answer(x, certificate.value, a - x - rho * x.sum(), certificate)

    key = (a.size, *sorted(structure.items()))
    return Posed(key, build, scaled, finish, size * radius)


_OPERATIONS: dict[tuple[str, str], Callable[[str, ModuleType, dict[str, Any]], Posed | Answer]] = {
    ("sets", "projection"): _projection,
}
