"""From a declaration to its problems: projection, prox, update, conjugate check.

`canonicalize` turns the arguments of an operation into an instance that the oracle can solve. Nothing here
knows an object by name.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from refsolve import _pieces_program, _ranking_program, catalogue, certificates
from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.arguments import check_example, check_point, given, scaled_by, set_arguments, take
from refsolve.canonicalize import Answer, ParametrizedProblem, Template
from refsolve.operations import WEIGHT
from refsolve.parameters import parameter
from refsolve.proofs import families
from refsolve.proofs.domain import plain
from refsolve.proofs.loss import Loss
from refsolve.spec import check_vector

TINY = float(np.finfo(float).tiny)
#: Steps of a prox below this one move z by less than the solvers see.
SHORT = 1e-6
#: Entries of a conjugate's point up to which it is also solved as a supremum, and how near that comes.
FEW, AGREES = 64, 1e-5


def canonicalize(
    object_name: str, operation: str, params: Mapping[str, Any]
) -> ParametrizedProblem | Answer:
    """The instance of ``object.operation`` with these arguments; an `Answer` if a formula suffices."""
    module = catalogue.load(object_name)
    if hasattr(module, "pieces"):
        return _pieces_program.canonicalize(object_name, operation, dict(params), canonicalize)
    if families.is_ranking(module):
        return _ranking_program.canonicalize(module, operation, dict(params))
    if catalogue.kind(object_name) == "models":
        return getattr(module, f"canonicalize_{operation}")(given(module, params))
    return _OPERATIONS[catalogue.kind(object_name), operation](object_name, module, dict(params))


def _structure(values: Mapping[str, Any]) -> dict[str, int]:
    """The integer parameters, on which the compiled problem depends."""
    return {name: value for name, value in values.items() if isinstance(value, int)}


def _projection(
    object_name: str, module: ModuleType, params: dict[str, Any]
) -> ParametrizedProblem:
    """Min 1/2||x - a||^2 + rho/2 <1,x>^2, as eta/2 (||x||^2 + rho s^2) - <a,x>/max|a|."""
    a = check_vector("a", take(params, "a"))
    rho, checked = set_arguments(module, take(params, "rho", 0.0), params, a.size)
    radius = certificates.projection_size(object_name, a, rho=rho, **checked)
    size = float(abs(a).max())
    radius = radius or size or 1.0
    # of a set that may be far from 0 the objective is as large as its points, however small a is
    size = max(size, (1.0 if hasattr(module, "part") else 1e-12) * radius)
    unit = size * radius or TINY
    symbols = {s.name: s for s in module.SPEC.symbols}
    if any(isinstance(v, float) and symbols[n].unit != "x" for n, v in checked.items()):
        radius = 1.0  # a number whose units nobody says: the set cannot be rescaled
    scaled = {"a": a / size, "eta": radius / size, "eta_rho": rho * radius / size}
    given = getattr(module, "normalised", dict)(**checked)
    for name, value in given.items():
        if isinstance(value, float) and symbols[name].unit == "x":
            # beyond a million times the solution's size a bound (a number of one sign) is inactive
            top = np.inf if symbols[name].low is None else 1e6 * radius
            scaled[name] = min(value, top) / radius
        elif isinstance(value, float):
            scaled[name] = value
    vectors = {n: v for n, v in given.items() if n in symbols and isinstance(v, np.ndarray)}
    for name, value in vectors.items():
        near = np.clip(value / radius, -1e6, 1e6) if symbols[name].unit == "x" else value
        scaled[name] = np.where(np.isinf(value), value, near)
    bounds = [name for name in scaled if name in checked]
    structure = _structure(checked)
    labels = {"y": checked["y"]} if "y" in checked else {}

    def build() -> Template:
        x = cp.Variable(a.size)
        parameters = {"a": cp.Parameter(a.size)}
        # which entries of a vector are infinite is structure; the scales are nonnegative
        low = {n: symbols[n].low if n in symbols else 0 for n in scaled}
        parameters |= {n: parameter(n, v, low[n]) for n, v in scaled.items() if n != "a"}
        objective = parameters["eta"] / 2 * cp.sum_squares(x)
        objective += parameters["eta_rho"] / 2 * cp.square(cp.sum(x)) - parameters["a"] @ x
        constraints = module.constraints(
            x, **labels, **structure, **{n: parameters[n] for n in bounds}
        )
        return Template(cp.Problem(cp.Minimize(objective), constraints), parameters, {"x": x})

    def finish(found: Mapping[str, Any]) -> Answer:
        x = np.asarray(module.repair(found["x"] * radius, **checked), dtype=float)
        certificate = certificates.projection(object_name, x, a, rho=rho, **checked)
        return Answer(x, certificate.value, a - x - rho * x.sum(), certificate)

    arrays = (*labels.values(), *(np.isinf(v) for v in vectors.values()))
    key = (a.size, *sorted(structure.items()), *(tuple(v.tolist()) for v in arrays))
    return ParametrizedProblem(key, build, scaled, finish, unit)


def _key(loss: Loss, params: Mapping[str, Any]) -> tuple[Any, ...]:
    labels = tuple(tuple(v.tolist()) for v in loss.arguments)
    return (loss.d, *labels, *plain(params))


def _minimiser(
    loss: Loss, params: Mapping[str, Any], coupled: bool | None
) -> Callable[[], Template]:
    """Program of argmin curvature/2 (||x||^2 + [coupled] s^2) - <b,x> + conjugate(x); None: without it."""

    def build() -> Template:
        x, data = cp.Variable(loss.d), cp.Parameter(loss.d)
        parameters = {n: cp.Parameter(np.shape(v), nonneg=True) for n, v in _reals(params).items()}
        # the integers stay as structure
        conjugate, domain = loss.module.conjugate(x, *loss.arguments, **{**params, **parameters})
        linear = -(data @ x) + conjugate
        objective = linear
        if coupled is not None:
            parameters["curvature"] = cp.Parameter(nonneg=True)
            square = cp.sum_squares(x) + (cp.square(cp.sum(x)) if coupled else 0)
            objective = parameters["curvature"] / 2 * square + linear
        problem = cp.Problem(cp.Minimize(objective), domain)
        return Template(problem, {"b": data, **parameters}, {"x": x})

    return build


def _reals(params: Mapping[str, Any]) -> dict[str, Any]:
    """The real parameters, which programs take as numbers."""
    return {n: v for n, v in params.items() if isinstance(v, float | np.ndarray)}


def _repaired(loss: Loss, x: Array) -> Array:
    """A dual point as found, moved into the domain, in float64."""
    return np.asarray(loss.repair(x), dtype=float)


def _weighted_margins(
    object_name: str, params: dict[str, Any]
) -> tuple[Loss, Array, Any, float, dict]:
    """Arguments shared by value and gradient: loss, z, y, weight, and those for certificates."""
    scores, y, costs = take(params, "scores"), take(params, "y"), params.pop("costs", None)
    weight = WEIGHT.check(take(params, "sample_weight", 1.0))
    scores, y, loss = check_example(object_name, "scores", scores, y, params)
    z = loss.margins(scores, y, loss.check_costs(costs, y))
    given = {"scores": scores, "y": y, "costs": costs, "sample_weight": weight, **params}
    return loss, z, y, weight, given


def _value(object_name: str, module: ModuleType, params: dict[str, Any]) -> ParametrizedProblem:
    """The value as min value(z) subject to z = its data; the multiplier is the gradient."""
    loss, z, _, weight, given = _weighted_margins(object_name, params)
    scale, scaled = scaled_by(loss, float(abs(z).max()))

    def build() -> Template:
        variable, data = cp.Variable(z.size), cp.Parameter(z.size)
        fixed = variable - data == 0  # its multiplier is minus the gradient
        value = module.value(variable, *loss.arguments, **scaled)
        problem = cp.Problem(cp.Minimize(value), [fixed])
        found = {"value": problem.objective, "minus_x": fixed.dual_variables[0]}
        return Template(problem, {"z": data}, found)

    def finish(found: Mapping[str, Any]) -> Answer:
        value = weight * scale * float(found["value"])
        x = _repaired(loss, -found["minus_x"])
        certificate = certificates.loss_value(object_name, value, x=x, **given)
        return Answer(value, value, x, certificate)

    unit = weight * float(loss.size(z)) or 1.0
    return ParametrizedProblem(_key(loss, scaled), build, {"z": z / scale}, finish, unit)


def _gradient(object_name: str, module: ModuleType, params: dict[str, Any]) -> ParametrizedProblem:
    """A subgradient in the scores: x = argmax <z,x> - conjugate(x), set into the block."""
    loss, z, y, weight, given = _weighted_margins(object_name, params)
    scale, scaled = scaled_by(loss, float(abs(z).max()))

    def finish(found: Mapping[str, Any]) -> Answer:
        g = -weight * loss.block(_repaired(loss, found["x"]), y)
        certificate = certificates.gradient(object_name, g, **given)
        return Answer(g, certificate.value, z, certificate)

    values = {"b": z / scale, **_reals(scaled)}
    unit = weight * float(loss.size(z)) or 1.0
    key = _key(loss, _structure(scaled))
    return ParametrizedProblem(key, _minimiser(loss, scaled, None), values, finish, unit)


def _conjugate(object_name: str, module: ModuleType, params: dict[str, Any]) -> Answer:
    """The declared expression at x, less <c,x>; +inf outside the declared domain (up to rounding)."""
    x = check_vector("x", take(params, "x"))
    given = {name: params.pop(name, None) for name in ("y", "costs", "complement")}
    loss = check_point(object_name, x.size, given["y"], params)
    c = loss.check_own_costs(given["costs"])
    value = np.inf
    domain = module.conjugate(cp.Constant(x), *loss.arguments, **loss.params)[1]
    missed = max(float(np.max(rule.violation(), initial=0)) for rule in domain)
    if missed <= x.size * certificates.DOMAIN_SLACK:
        inside = x if loss.generator.rational else _repaired(loss, x)
        declared = module.conjugate(cp.Constant(inside), *loss.arguments, **loss.params)[0]
        value = float(declared.value) - float(c @ x)
    certificate = certificates.conjugate(object_name, value, x, **given, **params)
    if np.isfinite(value) and _moderate(x, loss.params):
        found = supremum(loss, x)[0] - float(c @ x)
        off = abs(found - value)
        if off > AGREES * (
            1 + abs(value) + float(abs(c @ x))
        ):  # one of the two declarations is wrong
            certificate = replace(certificate, gap=max(certificate.gap, off))
    return Answer(value, value, None, certificate)


def _moderate(x: Array, params: Mapping[str, Any]) -> bool:
    """Whether a general solver sees the conjugate at x to some digits."""
    numbers = [float(v) for v in params.values() if isinstance(v, float)]
    return x.size <= FEW and abs(x).max() <= 4 and all(0.1 <= v <= 4 for v in numbers)


def supremum(loss: Loss, x: Array, bound: float = 100.0) -> tuple[float, Array]:
    """Sup <x,z> - value(z) over |z_j| <= bound, solved from the declared value alone, and its z."""
    z = cp.Variable(x.size)
    objective = x @ z - loss.module.value(z, *loss.arguments, **loss.params)
    problem = cp.Problem(cp.Maximize(objective), [cp.abs(z) <= bound])
    problem.solve(solver="CLARABEL")
    if z.value is None:
        return math.nan, np.full(x.size, math.nan)
    return float(problem.value), np.clip(np.array(z.value), -bound, bound)


def _prox(object_name: str, module: ModuleType, params: dict[str, Any]) -> ParametrizedProblem:
    """The minimiser of phi(u + c) + ||u - v||^2/(2t), from the value alone, in z = u + c."""
    v = check_vector("v", take(params, "v"))
    t = certificates.STEP.check(take(params, "t", 1.0))
    y, costs = params.pop("y", None), params.pop("costs", None)
    loss = check_point(object_name, v.size, y, params)
    c = loss.check_own_costs(costs)
    size = float(loss.size(v + c))
    scale, scaled = scaled_by(loss, size)
    step = t / scale

    def build() -> Template:
        z, move = cp.Variable(v.size), cp.Variable(v.size)
        centre = cp.Parameter(v.size)
        loss_weight, move_weight = cp.Parameter(nonneg=True), cp.Parameter(nonneg=True)
        objective = loss_weight * module.value(z, *loss.arguments, **scaled)
        objective += move_weight / 2 * cp.sum_squares(move)
        tie = move - z + centre == 0  # its multiplier is the weighted gradient
        problem = cp.Problem(cp.Minimize(objective), [tie])
        parameters = {"centre": centre, "loss": loss_weight, "move": move_weight}
        return Template(problem, parameters, {"move": move, "x": tie.dual_variables[0]})

    def finish(found: Mapping[str, Any]) -> Answer:
        x = _repaired(loss, found["x"] / weights["loss"])
        answers = []
        # the minimiser as found, and from the multiplier: better where t is tiny
        for u in (v + scale * found["move"], v - t * x):
            certificate = certificates.prox(object_name, u, v, t=t, y=y, costs=costs, **params)
            answers.append(Answer(u, certificate.value, (v - u) / t, certificate))
        return min(answers, key=lambda answer: answer.certificate.gap)

    if step < SHORT:  # the loss at z = centre, all but exactly
        weights = {"loss": 1.0, "move": 1 / SHORT}
    else:
        weights = {"loss": min(step, 1.0), "move": min(1 / step, 1.0)}
    values = {"centre": (v + c) / scale, **weights}
    other = None
    if not loss.generator.rational:
        other = _dual_prox(object_name, loss, v, t, c, {"y": y, "costs": costs, **params})
    return ParametrizedProblem(_key(loss, scaled), build, values, finish, size or 1.0, other)


def _dual_prox(
    object_name: str, loss: Loss, v: Array, t: float, c: Array, given: dict[str, Any]
) -> ParametrizedProblem:
    """The prox of an entropy from its dual, u = v - t x: better for long steps, x being small."""

    def finish(found: Mapping[str, Any]) -> Answer:
        x = _repaired(loss, found["x"])
        u = v - t * x
        certificate = certificates.prox(object_name, u, v, t=t, **given)
        return Answer(u, certificate.value, x, certificate)

    unit = float(loss.size(v + c))
    key = ("dual", *_key(loss, _structure(loss.params)))
    values = {"b": v + c, "curvature": t, **_reals(loss.params)}
    return ParametrizedProblem(key, _minimiser(loss, loss.params, False), values, finish, unit)


def _sdca_update(
    object_name: str, module: ModuleType, params: dict[str, Any]
) -> ParametrizedProblem | Answer:
    """The block: x = argmin beta/2 ||block(x)||^2 - <b,x> + conjugate(x), times w C."""
    q, y = take(params, "q"), take(params, "y")
    k_ii, box = take(params, "k_ii"), take(params, "C", 1.0)
    costs, weight = params.pop("costs", None), take(params, "sample_weight", 1.0)
    q, y, loss = check_example(object_name, "q", q, y, params)
    gram, mass, b = (
        np.asarray(v, dtype=float)
        for v in certificates.update_data(loss, q, y, k_ii, box, costs, weight)
    )
    given = {"q": q, "y": y, "k_ii": k_ii, "C": box, "costs": costs, "sample_weight": weight}

    def answer(a: Array) -> Answer:
        certificate = certificates.sdca_update(object_name, a, **given, **params)
        return Answer(a, certificate.value, None, certificate)

    if mass == 0:
        return answer(np.zeros(q.size))
    beta = float(gram * mass)
    # the objective may be divided by anything, the conjugate being homogeneous in gamma
    size = max(float(abs(b).max()), beta, loss.modulus)
    scale, scaled = scaled_by(loss, size)

    def finish(found: Mapping[str, Any]) -> Answer:
        return answer(loss.block(_repaired(loss, found["x"]) * float(mass), y))

    values = {"b": b / scale, "curvature": beta / scale, **_reals(scaled)}
    unit = float(mass) * float(loss.size(b)) or 1.0
    build = _minimiser(loss, scaled, loss.family.coupled)
    return ParametrizedProblem(_key(loss, _structure(scaled)), build, values, finish, unit)


def _function_value(
    object_name: str, module: ModuleType, params: dict[str, Any]
) -> ParametrizedProblem:
    """W(e^t) as the minimiser of its declared objective, in v = w/scale near 1."""
    t = module.SPEC.check(params)["t"]
    scale = t - math.log(t) if t > 1 else math.exp(t)

    def build() -> Template:
        v = cp.Variable()
        parameters = {"square": cp.Parameter(nonneg=True), "entropy": cp.Parameter(nonneg=True)}
        parameters["linear"] = cp.Parameter()
        problem = cp.Problem(cp.Minimize(module.objective(v, **parameters)))
        return Template(problem, parameters, {"v": v})

    def finish(found: Mapping[str, Any]) -> Answer:
        w = module.refine(float(found["v"]), t)
        return Answer(w, w, None, certificates.function_value(object_name, w, t))

    linear = t - math.log(scale) if t > 1 else 0.0
    size = 1 + scale  # of the order of the curvature at the root
    # less entropy stops the solvers, and v = 1 to the last digit from there on
    entropy = max(1 / size, 1e-12)
    values = {"square": scale / size, "entropy": entropy, "linear": linear / size}
    return ParametrizedProblem((), build, values, finish, max(scale, TINY))


def conjugate_from_value(
    object_name: str, x: Any, *, y: Any = None, bound: float = 100.0, **params: Any
) -> tuple[float, Array]:
    """Largest <x,z> - value(z) found in |z_j| <= bound, from the declared value alone.

    Parameters
    ----------
    object_name : str
        A loss.
    x : (d,) array
        Any point, in the conjugate's domain or not.
    bound : float
        Outside the domain the supremum is +inf, and grows with ``bound``.
    y : (m,) array, optional
        Ground truth of a multilabel loss.
    **params
        Parameters of the loss.

    Returns
    -------
    lower : float
        <x,z> - value(z) by formula at the z found: a lower bound on the conjugate in z.
    z : (d,) array
        Where it is attained.
    """
    x = check_vector("x", x)
    loss = check_point(object_name, x.size, y, params)
    found = supremum(loss, x, bound)[1]
    return float(x @ found - loss.value_bounds(found.astype(np.longdouble))[1]), found


_OPERATIONS: dict[
    tuple[str, str], Callable[[str, ModuleType, dict[str, Any]], ParametrizedProblem | Answer]
] = {
    ("sets", "projection"): _projection,
    ("losses", "value"): _value,
    ("losses", "gradient"): _gradient,
    ("losses", "conjugate"): _conjugate,
    ("losses", "prox"): _prox,
    ("losses", "sdca_update"): _sdca_update,
    ("functions", "value"): _function_value,
}
