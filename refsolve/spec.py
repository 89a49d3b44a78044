"""What a declaration says of itself: symbols, ranges, scaling, formulas as text, source.

An object's file holds one `Spec`. Argument checking, ``refsolve show NAME`` and the documentation
read it; nothing else about an object is written down twice.
"""

import math
import numbers
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from refsolve.checking import LARGEST as LARGEST
from refsolve.checking import SMALLEST as SMALLEST
from refsolve.checking import check_matrix as check_matrix
from refsolve.checking import check_vector as check_vector
from refsolve.checking import refuse_masked as refuse_masked
from refsolve.errors import MISSING, InvalidParameterError

#: Marks a symbol that has no default.
REQUIRED: Any = type("_Required", (), {"__repr__": lambda self: "required"})()

#: Draws a value: (random numbers, entries d, size of the main vector, arguments drawn before).
Draw = Callable[[np.random.Generator, int, float, Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Symbol:
    """One argument and every fact about it.

    Parameters
    ----------
    name, meaning : str
        Symbol as used in the signature, and what it is.
    kind : {"real", "integer"}
        Integers also accept integral numpy scalars; booleans never.
    low, high : float, str or None
        Range; ``high="d"`` is the number of entries of the vector.
    low_open : bool
        Whether ``low`` itself is excluded.
    normal : bool
        Whether subnormal numbers are refused: a divisor.
    default : object
        `REQUIRED` if there is none.
    unit : {"", "x", "z"}
        Units of the points of a set or of the margins of a loss; empty for plain numbers.
    shape : {"scalar", "vector", "truth", "data", "name"}
        A number; an entry for each of the main vector (one number given for a vector of a set's own is
        meant for all of them); a class, or a row of labels; of all examples of a model; a word or a truth
        value.
    rows : {"no", "may", "always"}
        Whether a batch gives one per row.
    draws : callable, optional
        How to draw one for an instance; by default from its kind, unit and range.
    infinite : bool
        Whether entries of a vector may be -inf or inf.
    largest : float
        Largest magnitude of a number.
    """

    name: str
    meaning: str
    kind: str = "real"
    low: float | None = None
    high: float | str | None = None
    low_open: bool = False
    default: Any = REQUIRED
    normal: bool = False
    unit: str = ""
    shape: str = "scalar"
    rows: str = "no"
    draws: Draw | None = field(default=None, compare=False, repr=False)
    infinite: bool = False
    largest: float = LARGEST

    def range_text(self) -> str:
        """The range as text, e.g. ``integer, 1 <= k <= d``."""
        text = f"{self.kind}, "
        if self.shape == "vector":
            text = f"{self.kind}{' or infinite' * self.infinite} for each entry, "
        if self.low is not None:
            text += f"{self.low:g} {'<' if self.low_open else '<='} "
        text += self.name
        if self.high is not None:
            text += f" <= {self.high}"
        return text

    @property
    def fallback(self) -> Any:
        """The default, or the least integer: what a solver may take for granted."""
        if self.default is REQUIRED and self.kind == "integer" and self.shape == "scalar":
            return int(self.low or 0)
        return self.default

    def admits(self, value: Any, d: int) -> bool:
        """Whether a number is in the range, whatever its size."""
        if value is None:
            return self.default is None
        high = d if self.high == "d" else self.high
        low = self.low is None or value > self.low or (value == self.low and not self.low_open)
        return bool(low and (high is None or value <= high))

    def draw(self, rng: np.random.Generator, d: int, size: float, given: Mapping[str, Any]) -> Any:
        """A value for an instance with d entries of this size; often at an end of its range.

        Parameters
        ----------
        rng : numpy.random.Generator
            Random numbers.
        d : int
            Number of entries.
        size : float
            Largest entry of the main vector.
        given : mapping
            Arguments drawn before this one.
        """
        if self.draws is not None:
            return self.draws(rng, d, size, given)
        if self.shape == "vector":
            entry = replace(self, shape="scalar")
            return np.array([entry.draw(rng, d, size, given) for _ in range(d)], dtype=float)
        if self.kind == "integer":
            low = int(self.low or 0)
            high = int(self.high) if isinstance(self.high, int | float) else d
            ends = [low, high, max(low, high - 1), int(rng.integers(low, max(low, high) + 1))]
            return int(rng.choice(ends))
        if self.unit == "x":
            return self._moved(rng.choice([1.0, 1.0, size * rng.uniform(0.05, 2.0), 8 * d * size]))
        if self.unit == "z":
            return self._moved(rng.choice([1.0, 0.5, 10.0 ** rng.uniform(-2, 1)]))
        middle = self.default if isinstance(self.default, float) else 1.0
        return self._moved(rng.choice([middle, middle, 10.0 ** rng.uniform(-2, 2)]))

    def _moved(self, value: float) -> float:
        """The number, or the nearest one in the range."""
        value = float(value)
        if self.low is not None:
            value = max(value, float(np.nextafter(self.low, 1)) if self.low_open else self.low)
        return min(value, float(self.high)) if isinstance(self.high, int | float) else value

    def check(self, value: Any, d: int | None = None) -> Any:
        """Return ``value`` as int or float, or as d floats, or raise `InvalidParameterError`."""
        if self.shape == "vector":
            return self._check_entries(value, d)
        wanted: Any = numbers.Integral if self.kind == "integer" else numbers.Real
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if isinstance(value, bool | np.bool_) or not isinstance(value, wanted):
            raise self._refuse(value, "pass one plain number", d)
        if self.kind == "real" and (value != value or abs(value) == math.inf):
            raise self._refuse(value, "pass a finite number", d)
        if self.kind == "real" and abs(value) > self.largest:
            raise self._refuse(value, f"rescale to magnitudes up to {self.largest:g}", d)
        if self.low is not None and (value < self.low or (self.low_open and value == self.low)):
            raise self._refuse(value, f"raise {self.name}", d)
        if self.normal and abs(value) < SMALLEST:
            raise self._refuse(value, f"rescale: numbers below {SMALLEST:g} lose digits", d)
        high = d if self.high == "d" else self.high
        if high is not None and value > high:
            raise self._refuse(value, f"lower {self.name}, or use more classes", d)
        return int(value) if self.kind == "integer" else float(value)

    def _check_entries(self, value: Any, d: int | None) -> np.ndarray:
        if isinstance(value, float | int | np.floating) and not isinstance(value, bool):
            value = np.full(d or 1, float(value))
        refuse_masked(self.name, value)
        given, ends = value, np.zeros(0, dtype=bool)
        with suppress(TypeError, ValueError):  # of what `check_vector` refuses
            ends = np.isinf(np.asarray(value)) & self.infinite
            given = np.where(ends, 0, value) if ends.any() else value
        found = check_vector(self.name, given, size=d, largest=self.largest)
        found = found if given is value else np.where(ends, value, found)
        if bad := [v for v in found.tolist() if not self.admits(v, found.size)]:
            raise self._refuse(bad[0], f"change that entry of {self.name}", d)
        return found

    def _refuse(self, value: object, fix: str, d: int | None) -> InvalidParameterError:
        size = f" with d = {d}" if self.high == "d" and d is not None else ""
        return InvalidParameterError(self.name, value, self.range_text() + size, fix)


@dataclass(frozen=True)
class Spec:
    """The declaration of one object in words.

    Parameters
    ----------
    title : str
        One line.
    kind : {"sets", "losses", "models"}
        Folder of the object.
    formulas : mapping of str to str
        Operation or object -> formula, plain text for a terminal.
    symbols : tuple of Symbol
        Parameters in signature order.
    arguments : tuple of Symbol
        Of a model, all in calling order.
    options : tuple of Symbol
        Of a model, what `refsolve.solve` and `refsolve.problem` take besides.
    scaling : str
        Units: where 1/n, C, lambda, r and factors 1/2 stand.
    source : str
        Paper and statement.
    notes : tuple of str
        Edge cases, errata.
    homogeneous : bool
        Losses: value(s z; s gamma) = s value(z; gamma) for s > 0, so that an instance can be
        rescaled before it is solved.
    oracle_only : bool
        True for an object that exists to be judged and has no fast twin.
    erratum : str
        Identifier of the erratum that the object documents, or empty.
    reason : str
        Why an object without a fast twin has none, where it is no erratum.
    """

    title: str
    kind: str
    formulas: Mapping[str, str]
    symbols: tuple[Symbol, ...]
    scaling: str
    source: str
    notes: tuple[str, ...] = ()
    homogeneous: bool = False
    oracle_only: bool = False
    erratum: str = ""
    reason: str = ""
    arguments: tuple[Symbol, ...] = ()
    options: tuple[Symbol, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(s.name for s in self.symbols)

    def check(self, params: Mapping[str, Any], d: int | None = None) -> dict[str, Any]:
        """Validated parameters with defaults filled in; unknown names are refused.

        Parameters
        ----------
        params : mapping
            Given values by name.
        d : int, optional
            Number of entries, for the ranges that depend on it.
        """
        for name, value in params.items():
            if name not in self.names:
                expected = ", ".join(self.names) or "no parameters"
                raise InvalidParameterError(name, value, f"one of: {expected}", f"drop {name}")
        checked = {}
        for symbol in self.symbols:
            value = params.get(symbol.name, symbol.default)
            if value is REQUIRED:
                raise InvalidParameterError(
                    symbol.name, MISSING, symbol.range_text(), f"pass {symbol.name}=..."
                )
            checked[symbol.name] = symbol.check(value, d)
        return checked
