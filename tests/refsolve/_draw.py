"""Random arguments shared by the tests of refsolve."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import refsolve
from refsolve import catalogue
from refsolve.errors import Status
from refsolve.proofs import families
from refsolve.proofs.loss import Loss, generator_of

SETS = catalogue.object_names("sets")
#: The losses of one example's scores: not those over the rankings of a query.
LOSSES = [s for s in catalogue.object_names("losses") if not families.is_ranking(catalogue.load(s))]
#: The losses with a dual: all but the truncated ones.
CONVEX = [
    object_name for object_name in LOSSES if "sdca_update" in catalogue.operations(object_name)
]
ENTROPIES = [s for s in LOSSES if not generator_of(catalogue.load(s)).rational]
MULTICLASS = [s for s in CONVEX if families.of(catalogue.load(s)).name == "multiclass"]


def set_params(object_name: str, k: int, r: Any, d: int) -> dict[str, Any]:
    """k, r, the two groups of entries where the set has them, and what else it declares, to suit them."""
    module = catalogue.load(object_name)
    values: dict[str, Any] = {}
    rng, exactly = np.random.default_rng([d, k]), isinstance(r, Fraction)
    for symbol in module.SPEC.symbols:
        if symbol.name in ("k", "r"):
            values[symbol.name] = k if symbol.name == "k" else r
        else:
            drawn = symbol.draw(rng, d, 1.0, values)
            values[symbol.name] = Fraction(drawn) if exactly and isinstance(drawn, float) else drawn
    if "y" in catalogue.arguments(module):
        values["y"] = (np.arange(d) * (k + 2) // 2 % 2).astype(int)
    return values


def biased(object_name: str, rho: Any) -> dict[str, Any]:
    """The weight rho for the sets that have one."""
    return {"rho": rho} if catalogue.has_rho(catalogue.load(object_name)) else {}


def loss_params(object_name: str, rng: np.random.Generator, d: int) -> dict[str, Any]:
    """Random k <= d and gamma where the loss has them, and what else it declares."""
    values = {"k": int(rng.integers(1, d + 1)), "gamma": float(10 ** rng.uniform(-1, 1))}
    found: dict[str, Any] = {}
    for symbol in catalogue.load(object_name).SPEC.symbols:
        own = symbol.name in values
        found[symbol.name] = values[symbol.name] if own else symbol.draw(rng, d, 1.0, found)
    return found


@dataclass(frozen=True)
class Example:
    """One random example of a loss: the ground truth in its family's form, costs, a weight."""

    object_name: str
    m: int
    y: Any
    costs: np.ndarray
    weight: float
    params: dict[str, Any]

    @property
    def loss(self) -> Loss:
        """The formulas."""
        return Loss(self.object_name, self.params, self.family.size(self.m), self.y)

    @property
    def family(self) -> Any:
        """Its family."""
        return families.of(catalogue.load(self.object_name))

    @property
    def own_costs(self) -> np.ndarray:
        """The costs over the coordinates of x."""
        return self.loss.check_costs(self.costs, self.y)

    @property
    def labels(self) -> dict[str, Any]:
        """What the operations over the coordinates of x take of the ground truth."""
        return {"y": self.y} if self.family.name == "multilabel" else {}

    @property
    def given(self) -> dict[str, Any]:
        """Arguments of value and gradient but the scores."""
        return {"y": self.y, "costs": self.costs, "sample_weight": self.weight, **self.params}

    def margins(self, scores: np.ndarray) -> np.ndarray:
        """Z in longdouble."""
        return self.loss.margins(scores, self.y, self.own_costs).astype(np.longdouble)


def example(
    object_name: str, rng: np.random.Generator, m: int | None = None, scale: float = 1.0
) -> Example:
    """A random example with m classes."""
    m = int(rng.integers(2, 7)) if m is None else m
    family = families.of(catalogue.load(object_name))
    costs = rng.uniform(0, 2, size=m) * scale
    y: Any = int(rng.integers(m))
    if family.name == "multilabel":
        y = np.where(np.arange(m) == y, 1, rng.integers(0, 2, size=m))
    if family.name == "multiclass":
        costs[y] = 0
    weight = float(rng.uniform(0.2, 3))
    return Example(object_name, m, y, costs, weight, loss_params(object_name, rng, family.size(m)))


def rational_point(rng: np.random.Generator, d: int) -> list[Fraction]:
    """Small fractions with many ties."""
    return [Fraction(int(rng.integers(-4, 7)), int(rng.integers(1, 4))) for _ in range(d)]


def certified(problem: str, **given: Any) -> Any:
    """The oracle's answer, which has to be certified."""
    found = refsolve.solve(problem, **given)
    assert found.status is Status.CERTIFIED
    assert found.certificate.gap >= 0
    return found
