"""What a loss is: its parameters, its five operations on rows, and what trainers ask of it.

A loss is a frozen dataclass in a file of its own, whose fields are its parameters; the file's name is the
loss's. The operations go through compiled loops over rows (`fast.kernels.rows`).
"""

import functools
import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from string import Template
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._docs import Entry
from fast._rows import Rows, read_only
from fast._validation import (
    check_classes,
    check_flag,
    check_k,
    divisor,
    finite_array,
    number,
    per_row,
)
from fast.errors import InvalidParameterError
from fast.families import docstrings
from fast.kernels.rows import CONJUGATE, GRADIENT, PROX, SCRATCH, UPDATE, VALUE, RowKernels

Array = NDArray[Any]
OPERATIONS = ("value", "gradient", "conjugate", "prox", "sdca_update")
AT_SCORES = (VALUE, GRADIENT, UPDATE)  # operations whose rows go over all classes


@dataclass(frozen=True)
class Loss:
    """A multiclass loss of z_j = f_j - f_y + c_j over the m - 1 classes j other than y.

    Subclasses are frozen dataclasses with the parameters as fields: integers >= 1 and numbers > 0.
    """

    kernels: ClassVar[RowKernels]  # its loops over rows
    cost: ClassVar[float] = 1.0  # c_j where none is given
    bounded: ClassVar[bool] = False  # k is at most the number of other classes
    complements: ClassVar[bool] = False  # 1 - <1,x> is read and returned
    smooth: ClassVar[bool] = False  # the loss has a gradient everywhere
    per_class: ClassVar[bool] = False  # a sum of one term for each class
    indicated: ClassVar[bool] = False  # the ground truth is an indicator of the right labels
    operations: ClassVar[tuple[str, ...]] = OPERATIONS
    says: ClassVar[Mapping[str, str]] = {}  # what each operation computes, for its docstring
    coordinates: ClassVar[str] = "u (u_j = f_j - f_y, j != y)"
    where: ClassVar[str] = ""

    # ---- what is computed

    def value(
        self, scores: ArrayLike, y: ArrayLike, costs: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Any:  # fmt: skip
        """Losses of rows of scores."""
        rows = self._rows("scores", scores, VALUE)
        return self._run(rows, VALUE, y, costs, sample_weight)

    def gradient(
        self, scores: ArrayLike, y: ArrayLike, costs: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None, return_complement: bool = False,
    ) -> Any:  # fmt: skip
        """(Sub)gradients with respect to the scores."""
        rows = self._rows("scores", scores, GRADIENT)
        numbers = np.empty((rows.n, 2))
        found = self._run(rows, GRADIENT, y, costs, sample_weight, numbers)
        return self._paired(found, rows, numbers, return_complement)

    def conjugate(
        self, x: ArrayLike, y: ArrayLike | None = None, costs: ArrayLike | None = None,
        complement: ArrayLike | None = None,
    ) -> Any:  # fmt: skip
        """Conjugates, +inf outside the domain (up to rounding)."""
        rows = self._rows("x", x, CONJUGATE)
        numbers = np.full((rows.n, 2), -1.0)
        if complement is not None:
            numbers[:, 1] = per_row("complement", complement, rows.n)
        slack = 2 * (rows.m + 2) * float(np.finfo(rows.given.dtype).eps)
        return self._run(rows, CONJUGATE, y, costs, None, numbers, slack)

    def prox(
        self, v: ArrayLike, t: ArrayLike = 1.0, costs: ArrayLike | None = None,
        y: ArrayLike | None = None, return_complement: bool = False,
    ) -> Any:  # fmt: skip
        """Proximal points."""
        rows = self._rows("v", v, PROX)
        numbers = np.empty((rows.n, 2))
        numbers[:, 0] = per_row("t", t, rows.n, positive=True)
        found = self._run(rows, PROX, y, costs, None, numbers)
        return self._paired(found, rows, numbers, return_complement)

    def sdca_update(
        self, q: ArrayLike, y: ArrayLike, k_ii: ArrayLike, C: Any = 1.0,
        costs: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
        return_complement: bool = False,
    ) -> Any:  # fmt: skip
        """New dual blocks."""
        rows = self._rows("q", q, UPDATE)
        numbers = np.empty((rows.n, 2))
        numbers[:, 0] = per_row("k_ii", k_ii, rows.n)
        found = self._run(rows, UPDATE, y, costs, sample_weight, numbers, self.weight(C))
        return self._paired(found, rows, numbers, return_complement)

    # ---- what its docstrings say

    @classmethod
    def text(cls, operation: str, own: str | None = None) -> str:
        """What an operation computes, as the nearest class says; $name is an attribute."""
        said = (vars(owner).get("says", {}).get(operation) for owner in cls.__mro__)
        found = own or next(filter(None, said), "")
        if operation != "value" and not (own and own.startswith("\n\n")):
            found = f"{docstrings.TITLES[operation]}\n\n{found.strip()}"
        names = {n: v for n in dir(cls) if isinstance(v := getattr(cls, n, None), str)}
        names["Gradients"] = "Gradients" if cls.smooth else "Subgradients"
        return Template(found).safe_substitute(names)

    @classmethod
    def describe(cls, operation: str) -> tuple[dict[str, Entry], Entry]:
        """Texts of an operation's parameters and of its result."""
        kind, costs = docstrings.COSTS[operation in ("value", "gradient", "sdca_update")]
        k = ("int, default 1", docstrings.K[cls.bounded])
        about = {**docstrings.PARAMETERS, "k": k, "costs": (kind, costs.format(f"{cls.cost:g}"))}
        return about, docstrings.RETURNS[operation]

    # ---- the way to the kernels

    def parameters(self, others: int, *, given: bool = True) -> tuple[Any, ...]:
        """The kernels' p, checked; ``others`` is the number of other classes, ``given``: costs are."""
        return tuple(
            self._checked(field.name, getattr(self, field.name), others) for field in fields(self)
        )

    def _checked(self, name: str, value: Any, others: int) -> int | float:
        if isinstance(type(self).__dataclass_fields__[name].default, float):
            hint = ", or use the hinge itself" if name == "gamma" else ""
            return divisor(name, value, hint)
        if self.bounded:
            why = f" (the number of other classes, {others})"
            return check_k(value, others, why, name=name)
        return check_k(value, name=name)

    def weight(self, C: Any) -> float:
        """C of a dual update, > 0."""
        return number("C", C, positive=True)

    def _rows(self, name: str, value: ArrayLike, operation: int) -> Rows:
        rows = Rows(name, value)
        if rows.m < 2 and operation in AT_SCORES:
            shape = f"shape {rows.given.shape}"
            raise InvalidParameterError(
                name, shape, "at least 2 classes", "pass the scores of all classes"
            )
        return rows

    def labels(self, rows: Rows, y: ArrayLike | None, operation: int) -> Array:
        """The kernels' y, one per row."""
        if operation not in AT_SCORES:
            return np.zeros(rows.n, dtype=np.int64)
        return check_classes(y if y is not None else [], rows.n, rows.m)

    def width(self, rows: Rows, operation: int) -> tuple[int, int, str]:
        """Other classes, costs per row, and what a cost is for."""
        if operation in AT_SCORES:
            return rows.m - 1, rows.m, "class"
        return rows.m, rows.m, "other class"

    def costs(
        self, value: ArrayLike | None, rows: Rows, width: int, one_per: str, labels: Array
    ) -> NDArray[np.float64]:
        """Costs as 1 or n rows; with labels the own cost is 0."""
        costs = costs_of(value, rows, width, one_per, self.cost)
        if one_per == "class" and value is not None and (np.ndim(value) == 2 or rows.single):
            own = costs[np.arange(rows.n), labels]
            if own.any():
                i = int(np.flatnonzero(own)[0])
                raise InvalidParameterError(
                    "costs",
                    f"{own[i]} for the own class {labels[i]} of row {i}",
                    "0 there",
                    "set costs[i, y[i]] = 0",
                )
        return costs

    def _run(
        self,
        rows: Rows,
        operation: int,
        y: ArrayLike | None,
        costs: ArrayLike | None,
        weights: ArrayLike | None,
        numbers: Array | None = None,
        scalar: float = 0.0,
    ) -> Any:
        """Call the loop on chunks of rows; what an operation does not use is a dummy."""
        others, width, one_per = self.width(rows, operation)
        p = self.parameters(others, given=costs is not None)
        labels = self.labels(rows, y, operation)
        n = rows.n
        weight = np.ones(n) if weights is None else per_row("sample_weight", weights, n)
        cost = self.costs(costs, rows, width, one_per, labels)
        both = np.empty((n, 2)) if numbers is None else numbers
        loop = self.kernels.loops[operation]

        def drive(given: Array, part: slice, out: Array) -> int:
            own = cost[part] if len(cost) == n else cost
            space = np.empty((SCRATCH, rows.m))
            return loop(p, scalar, given, labels[part], own, weight[part], both[part], out, space)

        return rows.through(drive, scalars=operation in (VALUE, CONJUGATE))

    @staticmethod
    def _paired(found: Any, rows: Rows, numbers: Array, return_complement: Any) -> Any:
        if not check_flag("return_complement", return_complement):
            return found
        return found, (float(numbers[0, 1]) if rows.single else numbers[:, 1].copy())

    @classmethod
    def warm_up(cls) -> None:
        """Compile the loops, on two rows."""
        loss, rows = cls(), np.zeros((2, 2))
        y = np.eye(2) if cls.indicated else [0, 1]
        arguments = {"value": (y,), "gradient": (y,), "sdca_update": (y, [1.0, 1.0])}
        for operation in cls.operations:
            given = {} if operation in arguments or not cls.indicated else {"y": y}
            getattr(loss, operation)(rows, *arguments.get(operation, ()), **given)

    # ---- what trainers ask

    @property
    def capabilities(self) -> frozenset[str]:
        """What solvers may need of it.

        "updates" of dual blocks, "gradients" of a smooth loss, products with Hessians ("curvature"),
        the `structure` of a top-k hinge ("lists"), or that of two classes it is log(1 + e^{f_j - f_y})
        ("logistic"), or the conjugate S_k - 1 on the simplex ("faces").
        """
        found = {"updates"} if "sdca_update" in self.operations else set()
        return frozenset(found | ({"gradients"} if self.smooth else set()))

    @property
    def formula(self) -> str:
        """What its family's kernels compute, in the words of certificate files; empty: they have none for it."""
        return ""

    def values(self, f: Array, y: Array) -> Array:
        """Loss of each row of scores."""
        return np.asarray(self.value(f, y))

    def at_zero(self, m: int) -> float:
        """Loss of an example at W = 0."""
        return float(self.value(np.zeros((1, m)), np.zeros(1, np.int64))[0])

    def conjugates(self, dual_variables: Any, r: Array) -> Array:
        """r_i times the conjugate of each example's x_i/r_i, from the dual variables r_i x_ij (n, m)."""
        safe = np.where(r > 0.0, r, 1.0)
        x = (
            dual_variables.toarray() if hasattr(dual_variables, "toarray") else dual_variables
        ) / safe[:, None]
        return np.where(r > 0.0, r * self.conjugate(x), 0.0)  # x_y = 0: one more class at rest


def costs_of(
    value: ArrayLike | None, rows: Rows, width: int, one_per: str, default: float
) -> NDArray[np.float64]:
    """Costs as 1 or n rows of ``width`` numbers."""
    if value is None:
        return read_only(np.full((1, width), default))
    costs = finite_array("costs", value)
    if costs.shape not in ((width,), (rows.n, width)) or (rows.single and costs.ndim > 1):
        raise InvalidParameterError(
            "costs",
            f"shape {costs.shape}",
            f"shape ({width},)" + ("" if rows.single else f" or ({rows.n}, {width})"),
            f"one cost per {one_per}",
        )
    return read_only(np.atleast_2d(costs))


def _names() -> list[str]:
    """Files of `fast.losses`."""
    where = importlib.util.find_spec("fast.losses")
    places = (where and where.submodule_search_locations) or []
    return sorted(p.stem for place in places for p in Path(place).glob("[!_]*.py"))


def _class_in(object_name: str) -> type[Loss]:
    """The one loss that a file or an object of `fast.losses` defines."""
    if object_name.endswith(".py"):
        spec = importlib.util.spec_from_file_location(Path(object_name).stem, object_name)
        if spec is None or spec.loader is None or not Path(object_name).is_file():
            raise InvalidParameterError("loss", repr(object_name), "a file", "check the path")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    else:
        if (
            not object_name.isidentifier()
            or importlib.util.find_spec(f"fast.losses.{object_name}") is None
        ):
            raise InvalidParameterError(
                "loss",
                repr(object_name),
                "a name of fast.losses, or a file",
                f"take one of {', '.join(_names())}",
            )
        module = importlib.import_module(f"fast.losses.{object_name}")
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Loss)
        and value.__module__ == module.__name__
    ]
    if len(found) != 1:
        raise InvalidParameterError(
            "loss",
            f"{object_name!r}, which defines {len(found)} losses",
            "one",
            "put one in each file",
        )
    return found[0]


_class_named = functools.cache(_class_in)  # looking for the module takes longer than a small fit's step


def named(object_name: str, **parameters: Any) -> Loss:
    """The loss of an object of `fast.losses`, or of a file elsewhere.

    Parameters
    ----------
    object_name : str
        For example "softmax", or a path that ends in ".py".
    **parameters
        Its fields, for example ``k=3``.

    Raises
    ------
    fast.errors.InvalidParameterError
        If there is no such loss, or it has no such parameter.
    """
    read = _class_in if object_name.endswith(".py") else _class_named
    found = read(object_name)
    known = [field.name for field in fields(found)]
    for name in parameters:
        if name not in known:
            allowed = ", ".join(known) or "none"
            raise InvalidParameterError(
                name, f"not a parameter of {object_name}", f"one of: {allowed}", "leave it out"
            )
    return found(**parameters)
