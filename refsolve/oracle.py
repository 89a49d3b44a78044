"""Solves a declared problem with CVXPY and certifies the answer from formulas.

One parametrised DPP problem is kept per (problem, shape, structure, solver): CVXPY caches the
compilation for one solver only, and compiling costs several times a solve. Instances are rescaled
to numbers near 1 before they are solved. Clarabel answers first; OSQP (polished), ECOS and SCS are
asked when the certificate of that answer is not good enough. What a solver says of itself is ignored.

OSQP has no exponential cone and is passed over for the entropies; ECOS is poor on quadratic objectives
and asked of its own accord for other problems only, where it is installed. The entropies cannot be rescaled, a score
having a unit there; they certify for scores up to 1e4, in updates for omega C K_ii from 0 to 1e10,
and in proxes for steps up to 1e6. Beyond that some answers are honestly uncertain. x is right to
about sqrt(gap): the digits of a tiny 1 - s are in the certificate, not in the solver's answer.
"""

from __future__ import annotations

import io
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from refsolve import catalogue, derive
from refsolve._lazy import cp
from refsolve.canonicalize import TOLERANCE as TOLERANCE
from refsolve.canonicalize import Answer as Answer
from refsolve.canonicalize import ParametrizedProblem as ParametrizedProblem
from refsolve.canonicalize import Template as Template
from refsolve.certificate_files.projections import Question
from refsolve.errors import InvalidParameterError, OracleUncertainError, Status
from refsolve.proofs.certificate import Certificate
from refsolve.spec import Symbol

#: Solvers in the order in which they are asked, with settings tighter than their defaults.
SOLVERS: dict[str, dict[str, Any]] = {
    "CLARABEL": {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13},
    "OSQP": {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iter": 20_000, "polishing": True},
    "ECOS": {"abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12, "max_iters": 200},
    "SCS": {"eps_abs": 1e-11, "eps_rel": 1e-11, "max_iters": 20_000},
}
_TOL = Symbol("tol", "relative duality gap", low=0, low_open=True)
#: Compiled problems kept; the oldest go first.
CACHE_SIZE = 256


@dataclass(frozen=True)
class OracleResult:
    """Answer of the oracle.

    Attributes
    ----------
    x : ndarray or float
        The solution, feasible up to rounding (for ``value`` and ``conjugate`` the number itself).
    value : float
        Objective at ``x``.
    dual : ndarray or None
        The dual point behind the certificate.
    certificate : Certificate
        Computed from formulas alone.
    solver : str
        Solver whose answer this is, or "formula" if none was needed.
    status : Status
        ``certified`` or ``uncertain``, by the certificate.
    problem, params : str and dict
        What was asked.
    named : dict
        Of a model, its unknowns by their symbols; each is an attribute too, such as ``.w``, ``.b``, ``.alpha``.
    """

    x: Any
    value: float
    dual: Any
    certificate: Certificate
    solver: str
    status: Status
    problem: str = field(default="", repr=False, compare=False)
    params: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    named: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __getattr__(self, name: str) -> Any:
        named = self.__dict__.get("named", {})
        if name in named:
            return named[name]
        known = f"; by name it has {', '.join(named)}" if named else ""
        raise AttributeError(f"an answer of the oracle has no attribute {name!r}{known}")

    def save(self, path: str | PathLike[str]) -> None:
        """Write a projection as a certificate that others can check: `docs/certificate_files.md`.

        Raises
        ------
        InvalidParameterError
            It is another operation, or of several points, or of a set that the format does not know.
        """
        object_name, operation = catalogue.split(self.problem)
        if operation != "projection":
            fix = "save projections, or certify a CVXPY problem"
            raise InvalidParameterError("problem", self.problem, "a projection", fix)
        Question.of(object_name, self.params).save(path, self.x)

    @property
    def remedy(self) -> str:
        """What to do about the status."""
        return self.status.remedy

    def raise_if_uncertain(self) -> OracleResult:
        """Return itself, or raise `OracleUncertainError`."""
        if self.status is not Status.CERTIFIED:
            gap = self.certificate.gap
            raise OracleUncertainError("oracle", f"the answer of {self.solver} has gap {gap:.3g}")
        return self


_cache: OrderedDict[Hashable, Template] = OrderedDict()


def forget() -> None:
    """Drop the programs that are kept: a declaration has changed."""
    _cache.clear()


_lock = threading.RLock()  # a template holds the values of the instance being solved


def solve(
    problem: str, *, solver: str | None = None, tol: float = TOLERANCE, **params: Any
) -> OracleResult:
    """Solve one instance of a declared problem.

    Parameters
    ----------
    problem : str
        ``"<object>.<operation>"``; `refsolve.problems` lists them.
    solver : {"CLARABEL", "OSQP", "ECOS", "SCS"}, optional
        Ask this solver only. By default the first whose answer certifies; else the best answer.
        ECOS is asked by default only where the problem is no quadratic program.
    tol : float, default 1e-8
        An answer is certified when its gap is at most this fraction of the instance's natural size.
    **params
        Arguments of the operation, as in the function of the same name in ``fast``.

    Returns
    -------
    OracleResult

    Raises
    ------
    UnknownProblemError
        No such problem.
    InvalidParameterError
        An argument is outside its declared range, or the solver is not installed.
    OracleUncertainError
        No solver returned any point.

    Examples
    --------
    >>> solve("simplex.projection", a=[0.6, 0.6, -1.0]).x.round(6).tolist()
    [0.5, 0.5, 0.0]
    """
    tol = _TOL.check(tol)
    return replace(_solved(problem, solver, tol, params), problem=problem, params=params)


def _solved(problem: str, solver: str | None, tol: float, params: dict[str, Any]) -> OracleResult:
    object_name, operation = catalogue.split(problem)
    wanted = None if solver is None else str(solver).upper()
    if wanted is not None and wanted not in SOLVERS:
        raise InvalidParameterError("solver", solver, f"one of {', '.join(SOLVERS)}", "choose one")
    if wanted is not None and wanted not in cp.installed_solvers():
        fix = f"pip install {wanted.lower()}, or leave the choice to refsolve"
        raise InvalidParameterError("solver", solver, "a solver that is installed", fix)
    canonicalized = derive.canonicalize(object_name, operation, params)
    if isinstance(
        canonicalized, Answer
    ):  # a formula, nothing to optimise, but judged like the solvers
        return _result(canonicalized, "formula", canonicalized.certificate.scale, tol)
    best: tuple[float, str, Answer] | None = None
    names = tuple(SOLVERS) if wanted is None else (wanted,)
    for form in (
        (canonicalized,) if canonicalized.other is None else (canonicalized, canonicalized.other)
    ):
        for name in names:
            answer = ask(problem, form, name, wanted is None)
            if answer is None:
                continue
            unit = canonicalized.unit or answer.certificate.scale
            gap = answer.certificate.gap / unit if unit else answer.certificate.gap
            if best is None or gap < best[0]:
                best = gap, name, answer
            if gap <= tol:
                return _result(answer, name, unit, tol)
    if best is None:
        raise OracleUncertainError(problem, "no solver returned a point")
    _, name, answer = best
    return _result(answer, name, canonicalized.unit or answer.certificate.scale, tol)


def _result(answer: Answer, name: str, unit: float, tol: float = TOLERANCE) -> OracleResult:
    """The answer with its status: certified if its gap is small beside the natural size.

    A conjugate of +inf has gap 0 and scale inf: that x is outside the domain is all it says.
    """
    proof = answer.certificate
    certified = np.isfinite(proof.gap) and proof.gap <= tol * unit
    status = Status.CERTIFIED if certified else Status.UNCERTAIN
    named = {**getattr(proof, "named", {}), **answer.named}
    return OracleResult(answer.x, answer.value, answer.dual, proof, name, status, named=named)


def ask(
    problem: str, canonicalized: ParametrizedProblem, name: str, unasked: bool = False
) -> Answer | None:
    """Answer of one solver, whatever it says of it; None if it gives no finite point.

    Or if it is ECOS, ``unasked``, on a quadratic program.
    """
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "solution may be inaccurate": the certificate decides
        template = _template((problem, canonicalized.key, name), canonicalized.build)
        if unasked and name == "ECOS" and template.problem.is_qp():
            return None
        for key, value in canonicalized.values.items():
            template.parameters[key].value = value
        # OSQP reports on its polishing even when asked to be silent
        quiet = redirect_stdout(io.StringIO()) if name == "OSQP" else nullcontext()
        try:
            with quiet:
                template.problem.solve(solver=name, enforce_dpp=True, **SOLVERS[name])
        except (cp.SolverError, ValueError):  # ValueError: a solver returned NaN
            return None
        found = {key: variable.value for key, variable in template.variables.items()}
    if any(v is None or not np.isfinite(v).all() for v in found.values()):
        return None
    answer = canonicalized.finish({key: np.array(v) for key, v in found.items()})
    return answer if np.isfinite(answer.certificate.gap) else None


def _template(key: Hashable, build: Callable[[], Template]) -> Template:
    if key in _cache:
        _cache.move_to_end(key)
    else:
        _cache[key] = build()
        while len(_cache) > CACHE_SIZE:
            _cache.popitem(last=False)
    return _cache[key]
