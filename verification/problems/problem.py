"""Which problems can be verified, and what each one's arguments are.

Stems come from `refsolve` by discovery; whether a stem has k, r or gamma is read off
its declaration, so a new stem needs no edit here. A model's arguments and the names of its unknowns
stand in `verification.models`.
"""

from __future__ import annotations

import difflib
import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from refsolve import catalogue
from refsolve.generators import Generator
from refsolve.proofs.loss import generator_of
from verification import models
from verification.errors import UnknownProblemError

# (kind of stem, operation) -> arguments in calling order; those a stem does not take are dropped
OPERATIONS: dict[tuple[str, str], tuple[str, ...]] = {
    ("sets", "projection"): ("a", "y", "k", "r", "rho"),
    ("losses", "value"): ("scores", "y", "k", "gamma", "costs", "sample_weight"),
    ("losses", "gradient"): ("scores", "y", "k", "gamma", "costs", "sample_weight"),
    ("losses", "conjugate"): ("x", "y", "k", "gamma", "costs"),
    ("losses", "prox"): ("v", "y", "k", "t", "gamma", "costs"),
    ("losses", "sdca_update"): ("q", "y", "k_ii", "C", "k", "gamma", "costs", "sample_weight"),
    ("losses", "loss_augmented_inference"): ("scores", "y"),
    ("functions", "value"): ("t",),
}

# What a missing argument means; a candidate may leave out any of these.
DEFAULTS: dict[str, Any] = {
    "k": 1,
    "r": 1.0,
    "rho": 0.0,
    "t": 1.0,
    "gamma": 1.0,
    "C": 1.0,
    "costs": None,
    "sample_weight": None,
}

# Arguments that only some stems declare.
DECLARED = ("k", "r", "gamma")
# Operations over coordinates in which the ground truth has no place, unless y is a row of labels.
WITHOUT_TRUTH = ("conjugate", "prox")

KINDS = ("sets", "losses", "functions", "models")
#: Seconds that a call of a trainer of `fast` may take for compiling: every loss has kernels of its own, so
#: it is not the first call only.
COMPILING = 120.0
FUNCTION_NAMES = {"projection": "project", "primal": "train", "dual": "train"}


@dataclass(frozen=True)
class Problem:
    """A stem and an operation, e.g. ``simplex.projection``, with its argument names in order.

    ``fixed``: values that arguments have in every instance; see `verification.kit.fixing`.
    """

    name: str
    stem: str
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
    def model(self) -> models.Model | None:
        """What `verification.models` knows of a model; None for other kinds."""
        return models.load(self.stem) if self.kind == "models" else None

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the unknowns of a model, those of the other side last; else empty."""
        if self.model is None:
            return ()
        sides = {side: tuple(names) for side, names in self.model.PARTS.items()}
        own = sides.pop(self.operation)
        others = tuple(n for names in sides.values() for n in names)
        return (*own, *others, *getattr(self.model, "EXTRAS", ()))

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
        if self.model is not None:
            return {**self.model.DEFAULTS, **self.fixed}
        return {a: DEFAULTS[a] for a in self.arguments[1:] if a in DEFAULTS} | dict(self.fixed)

    @property
    def required(self) -> tuple[str, ...]:
        """Arguments without a default."""
        return tuple(a for a in self.arguments if a not in self.defaults)

    def declaration(self) -> ModuleType:
        """The module of `refsolve` that says what the stem is."""
        return catalogue.load(self.stem)

    def largest_k(self, d: int) -> int | None:
        """Upper end of k for d entries: None if unbounded, 0 if the stem has no k."""
        for symbol in self.declaration().SPEC.symbols:
            if symbol.name == "k":
                return d if symbol.high == "d" else None
        return 0


def lookup(name: str | Problem) -> Problem:
    """Find ``"<stem>.<operation>"``; UnknownProblemError says what there is."""
    return name if isinstance(name, Problem) else _found(name)


@functools.cache
def _found(name: str) -> Problem:
    stem, _, operation = str(name).rpartition(".")
    kind = next((k for k in KINDS if stem in catalogue.stems(k)), "")
    if kind == "models" and stem in models.stems() and operation in models.load(stem).PARTS:
        return Problem(name, stem, operation, kind, tuple(models.load(stem).ARGUMENTS))
    if (kind, operation) not in OPERATIONS or operation not in catalogue.operations(stem):
        raise UnknownProblemError(f"problem={name!r} is not known; {_instead(str(name))}")
    return Problem(name, stem, operation, kind, _arguments(kind, stem, operation))


def _instead(name: str) -> str:
    """What there is, for who asked for something else."""
    known = names()
    if own := [n for n in known if n.rpartition(".")[0] in (name, name.rpartition(".")[0])]:
        return f"expected one of {', '.join(own)}"
    near = difflib.get_close_matches(name, known, 3) or ["simplex.projection"]
    return f"expected STEM.OPERATION, such as {' or '.join(near)}; `refsolve list` has them all"


def _arguments(kind: str, stem: str, operation: str) -> tuple[str, ...]:
    """Arguments that a stem's operation takes."""
    module = catalogue.load(stem)
    if kind == "sets":
        return tuple(catalogue.arguments(module))
    dropped = {a for a in DECLARED if a not in module.SPEC.names}
    if operation in WITHOUT_TRUTH and getattr(module, "family", "multiclass") != "multilabel":
        dropped.add("y")
    if getattr(module, "family", "multiclass") == "ranking":
        dropped |= {"costs", "sample_weight"}
    return tuple(a for a in OPERATIONS[kind, operation] if a not in dropped)


def names(*kinds: str) -> tuple[str, ...]:
    """All problems of stems that solvers are written for, sorted by kind and stem.

    Sets and losses that exist only to be refuted are left out. ``kinds``: those of these kinds only
    ("sets", "losses", "functions", "models").
    """
    found = [
        f"{stem}.{operation}"
        for kind in KINDS[:-1]
        if not kinds or kind in kinds
        for stem in catalogue.stems(kind)
        if not catalogue.load(stem).SPEC.oracle_only
        for operation in catalogue.operations(stem)
        if (kind, operation) in OPERATIONS
    ]
    if not kinds or "models" in kinds:
        found += [f"{stem}.{side}" for stem in models.stems() for side in models.load(stem).PARTS]
    return tuple(found)


def fast_candidate(name: str) -> Callable[..., Any] | None:
    """The production implementation of a problem, or None if `fast` has none."""
    problem = lookup(name)
    if problem.model is not None:
        train = getattr(problem.model, "train", None)
        if train is not None:
            train.allowance = COMPILING
        return train
    try:
        module = importlib.import_module(f"fast.{problem.kind}.{problem.stem}")
    except ModuleNotFoundError as error:
        if error.name == f"fast.{problem.kind}.{problem.stem}":
            return None
        raise
    return getattr(module, problem.function, None)
