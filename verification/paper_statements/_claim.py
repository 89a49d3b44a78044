"""What a claim of the ledger is, and what a run makes of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from verification.errors import InvalidArgumentError
from verification.paper_statements._trial import Inputs, Rng

Status = Literal["verified", "refuted", "repaired", "open"]
#: Who says it: the paper in so many words or signs, the paper without a sentence for it, we, or a later paper.
Voice = Literal["asserted", "implied", "ours", "later"]
VOICES: tuple[Voice, ...] = get_args(Voice)
#: Why a quote stands that was read from one copy of a paper: layout is lost in extracted text, signs in OCR.
WITNESSES = {
    "words": "no sign that is misread would make it true",
    "printings": "both printings of the paper have it",
    "repeated": "the paper says it a second time",
    "characters": "extraction keeps characters, and sets the other sign in the same line",
}
#: Why no code of ours computes what a row states.
APART = {
    "numbers": "arithmetic on printed numbers",
    "general": "about any function or matrix of its kind",
    "cost": "about the number of steps of an algorithm",
    "rounding": "about the rounding of one quotient",
    "trained": "trains with fast itself",
}


def _nothing(rng: Rng) -> Inputs:
    return {}


def _alone(number: str) -> Inputs:
    return {"number": number}


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, as something that can be tried and can fail.

    Attributes
    ----------
    number, section
        Where it stands, e.g. "Proposition 3" in section "3.1".
    statement
        What it says, in our words, on one line.
    method
        How it is checked, on one line.
    check
        ``check(trial, **instance, **says)`` reports to the `Trial` whether the statement holds.
    expected
        The status known so far; a run that comes to another one is a failure of the ledger.
    draw
        ``draw(rng)`` makes one random instance: the keyword arguments of `check`. Without it and
        without witnesses the statement is about printed numbers: one instance, no arguments.
    says
        The mathematical content of the statement (formulas, sets, constants). The verifier knows
        the statement only through these, so that another statement can be put in their place.
    wrong
        Deliberately wrong contents, by name; the verifier must refute each of them.
    right
        For a refuted statement: contents with which the same verifier finds nothing wrong, not even
        in the counterexamples.
    witnesses
        Fixed instances tried first: the counterexamples of a refuted statement.
    instances
        Number of random instances of an ordinary run.
    note
        What a reader should know beside the status.
    voice
        "asserted": a sentence, formula or table of the paper says it. "implied": none does, but what
        is printed asks for it or suggests it. "ours": our own question. "later": a paper that came after
        these says it; its record names which, by section. It must be given, save for a repaired
        statement, which is ours by what the word means.
    quote
        Words of the paper that are refuted, where they are the paper's.
    witness
        Of a quote: one of `WITNESSES`. A sign of which there is none is no erratum of the paper.
    apart
        One of `APART` where nothing of the product can be evaluated on the instances; by default that
        of printed numbers for a row without instances, and else nothing: see `_product`.
    erratum
        Key of `verification.selftest.errata.ERRATA` that it refutes, or repairs.
    paper, text
        The folder of the paper, and what its record has under a number: see `_record`.

    Raises
    ------
    InvalidArgumentError
        Without a voice, for a repaired statement that is not ours, and for a refuted one of the
        paper's without its words or without what they stand by.
    """

    number: str
    section: str
    statement: str
    method: str
    check: Callable[..., None]
    expected: Status = "verified"
    draw: Callable[[Rng], Inputs] | None = _nothing
    says: Mapping[str, Any] = field(default_factory=dict)
    wrong: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    right: Mapping[str, Any] = field(default_factory=dict)
    witnesses: tuple[Inputs, ...] = ()
    instances: int = 0
    note: str = ""
    voice: Voice | None = None
    quote: str = ""
    witness: str = ""
    apart: str = ""
    erratum: str = ""
    paper: str = ""
    text: Callable[[str], Mapping[str, Any]] = field(default=_alone, repr=False)

    def __post_init__(self) -> None:
        if self.voice is None and self.expected == "repaired":
            object.__setattr__(self, "voice", "ours")
        problem = self._misattributed()
        if problem:
            raise InvalidArgumentError(f"claim {self.number!r}: {problem}")
        if self.draw is not _nothing:
            return
        object.__setattr__(self, "apart", self.apart or "numbers")
        if not self.witnesses and self.expected != "refuted":
            object.__setattr__(self, "instances", 1)
            return
        object.__setattr__(self, "witnesses", self.witnesses or ({},))
        object.__setattr__(self, "draw", None)

    def _misattributed(self) -> str:
        if self.voice not in VOICES:
            return f"voice={self.voice!r}: expected one of {', '.join(VOICES)}; read the paper"
        if self.expected == "repaired" and self.voice != "ours":
            return f"voice={self.voice!r}: a repaired statement is ours"
        if bool(self.quote) != (self.expected == "refuted" and self.voice != "ours"):
            return (
                f"quote={self.quote!r}: expected the paper's words if they are refuted, else none"
            )
        if bool(self.quote) != (self.witness in WITNESSES) or (self.witness and not self.quote):
            return f"witness={self.witness!r}: expected one of {', '.join(WITNESSES)} for a quote"
        if self.apart and self.apart not in APART:
            return f"apart={self.apart!r}: expected one of {', '.join(APART)}, or nothing"
        return ""

    def variant(self, name: str) -> Claim:
        """The claim with one of its deliberately wrong contents."""
        return replace(self, says={**self.says, **self.wrong[name]})

    def righted(self) -> Claim:
        """The refuted claim with contents that are true."""
        return replace(self, says={**self.says, **self.right})

    def also(self, number: str, **changes: Any) -> Claim:
        """Another statement of the paper that is tried in the same way, by check and draw.

        Of what is said it keeps all that is not said otherwise. Its text is that of its own row.
        """
        given = {**self.text(number), **changes}
        given["says"] = {**self.says, **given.get("says", {})}
        kept = {"check": self.check, "draw": self.draw or _nothing, "text": self.text}
        return Claim(**{**kept, **given})

    def corrected(self, number: str = "", **changes: Any) -> Claim:
        """The true statement in the place of a refuted one, tried in the same way; ours."""
        return self.righted().also(number or f"{self.number}, corrected", **changes)


@dataclass(frozen=True)
class ClaimResult:
    """What a run made of one claim; `to_dict` is ready for JSON.

    `worst` is the largest floating-point certificate, None if every comparison was rational.
    `instances` counts those that the statement is about; `violations` of them contradicted it. `ok`
    says that the status is the expected one and, if refuted, that the counterexample holds in
    rational arithmetic; and that the ``product``, what of `refsolve` and `fast` was evaluated on the
    row's own instances, has the same numbers.
    """

    paper: str
    title: str
    number: str
    section: str
    statement: str
    status: Status
    expected: Status
    ok: bool
    failure: str
    instances: int
    violations: int
    undecided: int
    worst: float | None
    counterexample: dict[str, Any] | None
    method: str
    note: str
    voice: Voice
    quote: str
    witness: str
    source: str
    read_from: str
    apart: str
    product: tuple[str, ...]
    seed: int
    seconds: float

    @property
    def place(self) -> str:
        """Where it stands: the later paper that it is about, or the section of the paper."""
        return self.source or f"§{self.section}"

    @property
    def command(self) -> str:
        """The line for a shell that tries this claim again."""
        return f'refsolve claims --paper {self.paper} --only "{self.number}"'

    @property
    def given(self) -> str:
        """The counterexample without what it contradicts: "name = value", fractions as words."""
        facts = (self.counterexample or {}).items()
        shown = (f"{name} = {v}" for name, v in facts if name not in ("exact", "why"))
        return ", ".join(shown).replace("'", "")

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dictionaries; rational numbers become "p/q"."""
        return {**plain(self), "command": self.command}


def plain(value: Any) -> Any:
    """Make a value fit for JSON; fractions are written out, infinities as strings."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (set, frozenset)):
        return sorted((plain(v) for v in value), key=str)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return repr(value)
