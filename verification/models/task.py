"""What a model is as a problem: one object of a class per file of this folder."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from refsolve import catalogue
from refsolve.proofs.model import ModelCertificate
from refsolve.spec import REQUIRED, Symbol
from verification.errors import NoDualPointError

Params = dict[str, Any]
Side = Mapping[str, Any] | None
Generator = Callable[[np.random.Generator, int], Iterator[Params]]
#: What a trainer is asked for besides.
TOL = Symbol("tol", "relative duality gap to reach", low=0, low_open=True, default=1e-6)


class Violation(NamedTuple):
    """By how much a constraint is violated: absolute amount, its natural size, and the rounding in it."""

    amount: float
    size: float
    rounding: float


class ModelTask:
    """A model to verify: its arguments and unknowns, its instances, and what certifies it.

    Attributes
    ----------
    parts : dict
        Side ("primal", "dual") -> names of its unknowns.
    families : dict
        Name -> stream of arguments.
    extras : tuple of str
        Parts that may be given besides.
    modulus : float, optional
        Strong convexity of the primal in its first part, for the distance.
    no_dual : str
        Why a primal side alone has no certificate, where it has none.
    sharp : float
        Tolerance of the witness.
    train : callable
        All parts by `fast`, if it has the model; takes the arguments by name.
    """

    parts: ClassVar[dict[str, tuple[str, ...]]]
    families: ClassVar[dict[str, Generator]]
    extras: ClassVar[tuple[str, ...]] = ()
    modulus: ClassVar[float | None] = None
    no_dual: ClassVar[str] = ""
    sharp: ClassVar[float] = 1e-9
    train: ClassVar[Callable[..., dict[str, Any]]]

    @functools.cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """The model's arguments as it declares them, and the tolerance, in calling order."""
        object_name = type(self).__module__.rpartition(".")[2]
        return (*catalogue.load(object_name).SPEC.arguments, TOL)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(s.name for s in self.symbols)

    @property
    def defaults(self) -> dict[str, Any]:
        """Values of those that may be left out."""
        return {s.name: s.default for s in self.symbols if s.default is not REQUIRED}

    # ---- what every model has

    def shapes(self, params: Params) -> Mapping[str, tuple[int | None, ...]]:
        """Shape of every unknown; None for a length that the candidate chooses."""
        raise NotImplementedError

    def valid(self, params: Params) -> bool:
        """Whether these are arguments of the model."""
        raise NotImplementedError

    def simpler(self, params: Params) -> Iterator[Params]:
        """Smaller and simpler arguments, largest steps first; they need not be valid."""
        raise NotImplementedError

    def certify(self, params: Params, primal: Side, dual: Side) -> ModelCertificate:
        """Bounds and gap; NoDualPointError where a side that is None does not follow."""
        raise NotImplementedError

    def upper(self, params: Params, primal: Mapping[str, Any]) -> float:
        """Upper bound on the primal objective."""
        return self.certify(params, primal, self.nothing(params)).primal

    def lower(self, params: Params, dual: Mapping[str, Any]) -> float:
        """Lower bound on the optimum from a dual point, repaired to feasibility."""
        return self.certify(params, None, dual).dual

    def rounding(self, params: Params, primal: Side, dual: Side) -> float:
        """What rounding to doubles may cost: the error of the same sums in doubles."""
        given = self.nothing(params) if dual is None else dual
        return self.certify(params, primal, given).doubt

    def nothing(self, params: Params) -> dict[str, np.ndarray]:
        """The dual point 0; none at all where the candidate chooses how many there are."""
        shapes = self.shapes(params)
        return {name: np.zeros([n or 0 for n in shapes[name]]) for name in self.parts["dual"]}

    def required(self, dual: Side) -> Mapping[str, Any]:
        """A dual side that has to be there."""
        if dual is None:
            raise NoDualPointError(self.no_dual)
        return dual

    def given(self, params: Params) -> Params:
        """The arguments of the model itself, without the tolerance."""
        return {name: params[name] for name in self.arguments if name != TOL.name}

    def witness(self, params: Params) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """A near-optimal pair, which its certificate proves; by `fast`."""
        found = self.train(**self.given(params), tol=self.sharp)
        dual = {name: found.pop(name) for name in self.parts.get("dual", ())}
        return found, dual

    # ---- what some models add

    def finalize(self, params: Params, rng: np.random.Generator) -> Params:
        """Arguments with what others of them, now fixed, need."""
        return params

    def violations(self, params: Params, primal: Side, dual: Side) -> dict[str, Violation]:
        """By how much each constraint is violated."""
        return {}

    def complete(self, params: Params, primal: dict[str, Any]) -> dict[str, Any]:
        """The primal side with the parts that follow from the others."""
        return primal

    def complete_dual(self, params: Params, dual: dict[str, Any]) -> dict[str, Any]:
        """The dual side with the parts that follow from the others."""
        return dual

    def defect(self, params: Params, given: Mapping[str, np.ndarray]) -> str:
        """What else is wrong with the parts as such; empty if nothing."""
        return ""

    def mistakes(self, params: Params) -> Iterator[tuple[str, Params]]:
        """Problems that are solved in the place of this one, in words and arguments."""
        return iter(())

    def judge(self, instance: Any, given: Mapping[str, np.ndarray]) -> Any:
        """The Judgement of a model that is not convex; None: by its certificates."""
        return None
