"""Models as problems: what each one's arguments, unknowns and instances are, and what certifies it.

One file per model of `refsolve.models`, found by discovery; files with an underscore are helpers:
`_shrink` makes data sets small. `verification.verdicts.judging` turns certificates into verdicts.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

Params = dict[str, Any]
Side = Mapping[str, Any] | None
Generator = Callable[[np.random.Generator, int], Iterator[Params]]


class Certificate(Protocol):
    """What a model's ``certify`` returns; see `verification.certificates.ModelCertificate`."""

    @property
    def primal(self) -> float:
        """Upper bound on the primal objective of the candidate."""

    @property
    def dual(self) -> float:
        """Lower bound on the optimum."""

    @property
    def gap(self) -> float:
        """Upper bound on the suboptimality of the primal side, a sum of nonnegative terms."""

    @property
    def error(self) -> float:
        """Part of ``gap`` that only covers the rounding of its computation."""

    @property
    def relative_gap(self) -> float:
        """``gap / max(|primal|, |dual|)``."""

    @property
    def terms(self) -> Mapping[str, float]:
        """The nonnegative terms whose sum is ``gap``."""


class Violation(NamedTuple):
    """By how much a constraint is violated: absolute amount, its natural size, and the rounding in it."""

    amount: float
    size: float
    rounding: float


class Model(Protocol):
    """What a module in this folder provides.

    Optional: ``train`` (the implementation in `fast`, with ARGUMENTS as far as it can, returning the
    parts by name), ``settle(params, rng)`` (draws what other arguments, now fixed, need),
    ``violations(params, primal, dual)`` (constraint -> `Violation`), ``rounding(params, primal,
    dual)`` (what rounding to doubles may cost), ``MODULUS`` (strong convexity of the primal in its
    first part, for the distance), ``complete(params, primal)`` and ``complete_dual(params, dual)``
    (parts that follow from the others), ``defect(params, given)`` (what else is wrong with the parts
    as such; empty if nothing), ``EXTRAS`` (parts that may be given besides), ``judge(instance, given)``
    (the verdict on a model that is not convex).
    """

    __name__: str
    __doc__: str | None
    ARGUMENTS: tuple[str, ...]
    DEFAULTS: dict[str, Any]
    PARTS: dict[str, tuple[str, ...]]
    FAMILIES: dict[str, Generator]

    def shapes(self, params: Params) -> dict[str, tuple[int | None, ...]]:
        """Shape of every unknown; None for a length that the candidate chooses."""

    def valid(self, params: Params) -> bool:
        """Whether these are arguments of the model."""

    def simpler(self, params: Params) -> Iterator[Params]:
        """Smaller and simpler arguments, largest steps first; they need not be valid."""

    def certify(self, params: Params, primal: Side, dual: Side) -> Certificate:
        """Bounds and gap; NoDualPointError where a side that is None does not follow."""

    def upper(self, params: Params, primal: Mapping[str, Any]) -> float:
        """Upper bound on the primal objective."""

    def lower(self, params: Params, dual: Mapping[str, Any]) -> float:
        """Lower bound on the optimum from a dual point, repaired to feasibility."""

    def witness(self, params: Params) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """A near-optimal pair, which its certificate proves."""


@functools.cache
def stems() -> tuple[str, ...]:
    """Names of the models that can be verified."""
    return tuple(sorted(i.name for i in pkgutil.iter_modules(__path__) if i.name[0] != "_"))


def load(stem: str) -> Model:
    """Module of a model."""
    return cast("Model", importlib.import_module(f"{__name__}.{stem}"))
