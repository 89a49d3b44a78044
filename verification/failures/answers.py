"""Answers as data: what a candidate returned, to the last bit, and what it should have returned."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from verification import certificates
from verification.certificates import ranking
from verification.errors import InvalidArgumentError
from verification.instances.instance import FrozenArray, Instance, decode, encode
from verification.kit import parts
from verification.verdicts import verify_model
from verification.verdicts.verdict import Candidate, Judgement, Verdict

#: Characters kept of an answer that is no array of numbers.
LONGEST = 2000
#: What an answer is made of, unless it is a model's, which has parts with names of their own.
NAMES = ("x", "dual", "complement", "value", "counts")


def to_dict(answer: Candidate | None) -> dict[str, Any] | None:
    """Plain data with every float in hexadecimal; what is no number is kept as its repr."""
    if answer is None:
        return None
    found = {}
    for each in fields(answer):
        value = getattr(answer, each.name)
        if isinstance(value, Mapping):
            if value:
                found[each.name] = {"parts": {name: _encode(v) for name, v in value.items()}}
        elif value is not None:
            found[each.name] = _encode(value)
    return found


def from_dict(data: Mapping[str, Any] | None) -> Candidate | None:
    """Read what `to_dict` wrote; fields of another version are left out."""
    if data is None:
        return None
    known = {each.name for each in fields(Candidate)}
    found: dict[str, Any] = {"x": None}
    for name, value in data.items():
        if name not in known:
            continue
        if (name == "parts") != (isinstance(value, dict) and isinstance(value.get("parts"), dict)):
            raise InvalidArgumentError(
                f"{name}: expected {'parts' * (name == 'parts') or 'an array'}"
            )
        if name == "parts":
            found[name] = {n: _decode(v) for n, v in value["parts"].items()}
        else:
            found[name] = _decode(value)
    return Candidate(**found)


def _encode(value: Any) -> Any:
    try:
        return encode(FrozenArray.of(np.asarray(value)))
    except ValueError:  # also of our own: no real numbers
        return {"repr": repr(value)[:LONGEST]}


def _decode(value: Any) -> Any:
    return str(value["repr"]) if isinstance(value, dict) and "repr" in value else decode(value)


@dataclass(frozen=True)
class Right:
    """A right answer and the opinion of its own certificate."""

    answer: Candidate
    judgement: Judgement


def right(instance: Instance, rows: Sequence[Instance] = ()) -> Right | None:
    """One right answer of an instance, certified like anybody's; None if none is known.

    Of a batch of rows it is that of all of them, with the certificate of its least certain row.
    """
    if rows:
        return _right_batch(rows)
    problem = instance.problem
    if problem.kind == "models":
        return _right_model(instance)
    answer: Candidate | None
    if problem.ranking:
        answer = ranking.expected_answer(instance)
    else:
        x = certificates.expected(instance)
        answer = None if x is None else Candidate(x)
    return None if answer is None else Right(answer, certificates.certify(instance, answer))


def _right_batch(rows: Sequence[Instance]) -> Right | None:
    found = [right(row) for row in rows]
    known = [each for each in found if each is not None]
    if len(known) < len(rows):
        return None

    def doubt(i: int) -> tuple[bool, float]:
        judged = known[i].judgement
        share = (judged.gap or 0.0) / (judged.gap_tolerance or 1.0)
        return not judged.ok, share

    worst = max(range(len(rows)), key=doubt)
    judged = known[worst].judgement
    terms = {f"row {worst}: {name}": term for name, term in judged.terms.items()}
    answer = Candidate(np.stack([np.asarray(each.answer.x) for each in known]))
    return Right(answer, replace(judged, terms=terms))


def asked(
    instance: Instance, rows: Sequence[Instance], answer: Candidate | None
) -> tuple[Instance, Candidate | None, str]:
    """What is answered wrongly: the instance, its answer, and which row it is; "" without a batch."""
    if not rows:
        return instance, answer, ""
    place = _wrong_row(rows, answer)
    which = f"row {place or 0} of a batch of {len(rows)}"
    if place is None:  # all of them
        return rows[0], None, which
    assert answer is not None
    return rows[place], Candidate(answer.x[place]), which


def _wrong_row(rows: Sequence[Instance], answer: Candidate | None) -> int | None:
    """The first row of a batch that is answered wrongly; None if that cannot be said of one."""
    if answer is None or not isinstance(answer.x, np.ndarray) or not answer.x.ndim:
        return None
    if len(answer.x) != len(rows):
        return None
    pairs = zip(rows, answer.x, strict=True)
    judged = (opinion(certificates.judge, row, Candidate(x)) for row, x in pairs)
    return next((i for i, each in enumerate(judged) if not each.ok), None)


def opinion(
    judge: Callable[[Instance, Candidate], Judgement], instance: Instance, answer: Candidate
) -> Judgement:
    """What a certificate says of a stored answer, which may be anything, also of other shapes and types."""
    try:
        return judge(instance, answer)
    except (TypeError, ValueError, AttributeError, IndexError, KeyError) as error:
        said = f"this is no answer that can be certified ({type(error).__name__}: {error})"
        return Judgement(Verdict.CRASH, message=said)


def _right_model(instance: Instance) -> Right | None:
    """The witness of a model, as the answer that a candidate would give."""
    known = verify_model.witness(instance)
    if known is None:
        return None
    problem = instance.problem
    found = {**known.primal, **known.dual}
    answer = parts.unwrap(found, problem.parts, len(problem.unknowns))
    return Right(answer, verify_model.judge(instance, answer))


def equal(first: Candidate | None, second: Candidate | None) -> bool:
    """Whether two answers agree to the last bit."""
    return to_dict(first) == to_dict(second)


def readable(answer: Candidate | None, widest: int = 400) -> str:
    """An answer on one line, cut where it is long."""
    if answer is None:
        return "no answer"
    texts = {name: short(value) for name, value in _given(answer).items()}
    if len(texts) == 1:
        return next(iter(texts.values()))[:widest]
    return ", ".join(f"{name} = {text}" for name, text in texts.items())[:widest]


def short(value: Any) -> str:
    """A number or an array on one line, exact to the bit."""
    array = np.asarray(value)
    return repr(array.tolist()) if array.dtype.kind in "fiub" else repr(value)


def differences(
    first: Candidate | None, second: Candidate | None
) -> list[tuple[str, float, float]]:
    """Entries that differ, (name, first, second), the largest difference first; by shape and name."""
    if first is None or second is None:
        return []
    found: list[tuple[str, float, float]] = []
    for name in {**_named(first), **_named(second)}:
        one, other = _named(first).get(name), _named(second).get(name)
        if one is None or other is None or one.shape != other.shape:
            continue
        for index in np.ndindex(one.shape):
            a, b = float(one[index]), float(other[index])
            if a != b and not (np.isnan(a) and np.isnan(b)):
                place = f"[{', '.join(map(str, index))}]" if index else ""
                found.append((f"{name}{place}", a, b))
    return sorted(found, key=lambda row: -_apart(row[1], row[2]))


def _apart(a: float, b: float) -> float:
    off = abs(a - b)
    return float("inf") if np.isnan(off) else off


def _given(answer: Candidate) -> dict[str, Any]:
    """What an answer holds, by name."""
    values = answer.parts or {name: getattr(answer, name) for name in NAMES}
    return {name: value for name, value in values.items() if value is not None}


def _named(answer: Candidate) -> dict[str, np.ndarray]:
    """Numeric parts of an answer by name."""
    arrays = {name: np.asarray(value) for name, value in _given(answer).items()}
    return {name: a for name, a in arrays.items() if a.dtype.kind in "fiub"}
