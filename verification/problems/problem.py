"""Which problems can be verified, and what each one's arguments are.

Objects come from `refsolve` by discovery; what each argument is, its symbol says, so a new object or
parameter needs no edit here. The names of a model's unknowns stand in `verification.models`.
"""

import difflib
import functools
import importlib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from refsolve import catalogue, operations
from refsolve.generators import Generator
from refsolve.operations import OPERATIONS
from refsolve.proofs.loss import generator_of
from refsolve.spec import REQUIRED, Symbol
from verification import models
from verification.errors import UnknownProblemError
from verification.models import twins

KINDS = ("sets", "losses", "functions", "models")
#: Seconds that a call of a trainer of `fast` may take for compiling: every loss has kernels of its own, so
#: it is not the first call only.
COMPILING = 120.0
FUNCTION_NAMES = {"projection": "project", "primal": "train", "dual": "train"}


@dataclass(frozen=True)
class Problem:
    """An object and an operation, e.g. ``simplex.projection``, with its argument names in order.

    ``fixed``: values that arguments have in every instance; see `verification.kit.fixing`.
    """

    name: str
    object_name: str
    operation: str
    kind: str
    arguments: tuple[str, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        """The name."""
        return self.name

    @property
    def data(self) -> str:
        """Name of the main array: a, scores, x, v, q or t."""
        return self.arguments[0]

    @property
    def function(self) -> str:
        """Name of the function that solves it in `fast`."""
        return FUNCTION_NAMES.get(self.operation, self.operation)

    @property
    def model(self) -> models.ModelTask | None:
        """What `verification.models` knows of a model; None for other kinds."""
        return models.load(self.object_name) if self.kind == "models" else None

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the unknowns of a model, those of the other side last; else empty."""
        if self.model is None:
            return ()
        sides = {side: tuple(names) for side, names in self.model.parts.items()}
        del sides[self.operation]
        return (*self.unknowns, *itertools.chain(*sides.values()), *self.model.extras)

    @property
    def unknowns(self) -> tuple[str, ...]:
        """Names of the unknowns of a model on the side that is asked for; else empty."""
        return () if self.model is None else tuple(self.model.parts[self.operation])

    @property
    def family(self) -> str:
        """Family of a loss: multiclass, ova, multilabel or ranking; empty for other kinds."""
        if self.kind != "losses":
            return ""
        return str(getattr(self.declaration(), "family", "multiclass"))

    @property
    def labels(self) -> bool:
        """Whether y is a 0/1 row of labels, one per entry of the main array."""
        return "y" in self.arguments and self.family in ("multilabel", "ranking", "")

    @property
    def ranking(self) -> bool:
        """Whether the loss is one of a ranking of all entries, with both kinds among them."""
        return self.family == "ranking"

    @property
    def others(self) -> bool:
        """Whether the main array has an entry for the ground truth that x has not."""
        return "y" in self.arguments and self.family == "multiclass"

    @property
    def convex(self) -> bool:
        """False for a loss that is a minimum over pieces, and has no dual."""
        return not hasattr(self.declaration(), "pieces")

    @property
    def generator(self) -> Generator:
        """Generator of a loss's conjugate; 0 for other kinds."""
        return generator_of(self.declaration())

    @property
    def unique(self) -> bool:
        """Whether there is one right answer: a number, or the point of a strictly convex problem."""
        if self.kind == "models":
            return False
        smooth = self.generator.smooth
        several = ("gradient", "loss_augmented_inference")
        return self.convex and (self.operation not in several or smooth)

    @property
    def point(self) -> bool:
        """Whether the answer is a point, not a number or a model."""
        vector = self.kind in ("sets", "losses")
        return vector and self.operation not in ("value", "conjugate")

    @property
    def defaults(self) -> dict[str, Any]:
        """Values of the arguments that may be left out; of a fixed one, the only value there is."""
        declared = {s.name: s.fallback for s in self.symbols if s.fallback is not REQUIRED}
        return declared | dict(self.fixed)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is declared, which another process looks up itself."""
        return {name: value for name, value in vars(self).items() if name != "symbols"}

    @functools.cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """The arguments with all that is declared of them, in order."""
        if self.model is not None:
            return self.model.symbols
        return operations.signature(self.object_name, self.operation)

    def named(self, **facts: str) -> tuple[str, ...]:
        """Names of the arguments with these facts: ``named(rows="always")``."""
        return tuple(
            s.name for s in self.symbols if all(getattr(s, n) == v for n, v in facts.items())
        )

    @property
    def own(self) -> tuple[str, ...]:
        """Names of the object's own parameters."""
        return tuple(self.declaration().SPEC.names)

    @property
    def counts(self) -> tuple[str, ...]:
        """Names of the integers on which the structure depends, k among them."""
        return self.named(kind="integer", shape="scalar")

    @property
    def required(self) -> tuple[str, ...]:
        """Arguments without a default."""
        return tuple(a for a in self.arguments if a not in self.defaults)

    def declaration(self) -> ModuleType:
        """The module of `refsolve` that says what the object is."""
        return catalogue.load(self.object_name)


def lookup(name: str | Problem) -> Problem:
    """Find ``"<object>.<operation>"``; UnknownProblemError says what there is."""
    return name if isinstance(name, Problem) else _found(name)


@functools.cache
def _found(name: str) -> Problem:
    object_name, _, operation = str(name).rpartition(".")
    kind = next((k for k in KINDS if object_name in catalogue.object_names(k)), "")
    if (
        kind == "models"
        and object_name in models.object_names()
        and operation in models.load(object_name).parts
    ):
        return Problem(
            name, object_name, operation, kind, tuple(models.load(object_name).arguments)
        )
    if (kind, operation) not in OPERATIONS or operation not in catalogue.operations(object_name):
        raise UnknownProblemError(f"problem={name!r} is not known; {_instead(str(name))}")
    arguments = tuple(s.name for s in operations.signature(object_name, operation))
    return Problem(name, object_name, operation, kind, arguments)


def _instead(name: str) -> str:
    """What there is, for who asked for something else."""
    known = names()
    if own := [n for n in known if n.rpartition(".")[0] in (name, name.rpartition(".")[0])]:
        return f"expected one of {', '.join(own)}"
    near = difflib.get_close_matches(name, known, 3) or ["simplex.projection"]
    return f"expected NAME.OPERATION, such as {' or '.join(near)}; `refsolve list` has them all"


def names(*kinds: str) -> tuple[str, ...]:
    """All problems of objects that solvers are written for, sorted by kind and object.

    Sets and losses that exist only to be refuted are left out. ``kinds``: those of these kinds only
    ("sets", "losses", "functions", "models").
    """
    found = [
        f"{object_name}.{operation}"
        for kind in KINDS[:-1]
        if not kinds or kind in kinds
        for object_name in catalogue.object_names(kind)
        if not catalogue.load(object_name).SPEC.oracle_only
        for operation in catalogue.operations(object_name)
        if (kind, operation) in OPERATIONS
    ]
    if not kinds or "models" in kinds:
        found += [
            f"{object_name}.{side}"
            for object_name in models.object_names()
            for side in models.load(object_name).parts
        ]
    return tuple(found)


def fast_candidate(name: str) -> Callable[..., Any] | None:
    """The production implementation of a problem, or None if `fast` has none."""
    problem = lookup(name)
    if problem.model is not None:
        train = getattr(problem.model, "train", None)
        if train is not None:
            train.__func__.allowance = COMPILING
        return train
    if not twins.exists(problem.kind, problem.object_name):
        return None
    module = importlib.import_module(f"fast.{problem.kind}.{problem.object_name}")
    return getattr(module, problem.function, None)
