"""The ledger's machinery: how a claim is tried, and what comes out; claims are discovered.

A paper is a folder beside this file, with its record in ``statements.toml``; every module-level `Claim` of a file in
it is a row. Nothing is registered.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from verification.errors import InvalidArgumentError, VerificationFailedError
from verification.paper_statements._claim import Claim, ClaimResult, Status, plain
from verification.paper_statements._product import MOST, compared
from verification.paper_statements._record import Paper
from verification.paper_statements._record import paper as record
from verification.paper_statements._trial import Inputs, Trial


def try_claim(
    claim: Claim,
    *,
    paper: str = "",
    title: str = "",
    seed: int = 0,
    instances: int | None = None,
    stop_early: bool = False,
) -> ClaimResult:
    """Try one claim on its witnesses and on random instances.

    Parameters
    ----------
    claim
        What to try.
    paper, title
        Copied into the result.
    seed
        Seed of the random instances; each claim has its own stream.
    instances
        Number of random instances instead of the claim's own.
    stop_early
        Stop at the first random instance that contradicts the statement.
    """
    started = time.perf_counter()
    rng = np.random.default_rng([seed, zlib.crc32(f"{paper}:{claim.number}".encode())])
    budget = claim.instances if instances is None else instances
    trial = Trial()
    product: dict[str, str] = {}
    for i, (inputs, is_witness) in enumerate(_inputs(claim, rng, budget, trial)):
        if i < MOST and not claim.apart and not stop_early:
            product |= _evaluated(inputs)
        trial.begin(inputs)
        try:
            claim.check(trial, **inputs, **claim.says)
        except Exception as error:
            error.add_note(f"while checking {paper} {claim.number} on {plain(inputs)}")
            raise
        trial.end(is_witness)
        if stop_early and trial.violations and not is_witness:
            break
    status = _status(claim, trial)
    failure = _failure(claim, trial, status) or next(filter(None, product.values()), "")
    return ClaimResult(
        paper=paper,
        title=title,
        status=status,
        ok=not failure,
        failure=failure,
        instances=trial.instances,
        violations=trial.violations,
        undecided=trial.undecided,
        worst=None if trial.rational_only else trial.worst,
        counterexample=plain(trial.counterexample),
        source=record(claim.paper).sources.get(claim.section, "") if claim.paper else "",
        read_from=record(claim.paper).read if claim.quote and claim.paper else "",
        product=tuple(product),
        seed=seed,
        seconds=time.perf_counter() - started,
        **{name: getattr(claim, name) for name in KEPT},
    )


def _evaluated(inputs: Inputs) -> dict[str, str]:
    """What of the product is evaluated on an instance, and what it says that the row does not."""
    found: dict[str, str] = {}
    for each in compared(inputs):
        said = f"{each.what} is {each.got} where the row has {each.wanted}" if each.differs else ""
        found[each.what] = found.get(each.what, "") or said
    return found


#: What a result keeps of the claim itself.
KEPT = (
    "number", "section", "statement", "expected", "method", "note", "voice", "quote", "witness", "apart",
)  # fmt: skip
#: Draws beyond the budget as long as the statement was about none of the instances.
REDRAWS = 100


def _inputs(
    claim: Claim, rng: np.random.Generator, budget: int, trial: Trial
) -> Iterator[tuple[Inputs, bool]]:
    for witness in claim.witnesses:
        yield dict(witness), True
    drawn = 0
    while claim.draw is not None and (
        drawn < budget or (not trial.instances and drawn < budget + REDRAWS)
    ):
        drawn += 1
        yield claim.draw(rng), False


def _status(claim: Claim, trial: Trial) -> Status:
    if trial.violations:
        return "refuted"
    if trial.undecided or not trial.instances:
        return "open"
    # A statement of ours that takes the place of a printed one is never plainly "verified".
    return "repaired" if claim.expected == "repaired" else "verified"


def _failure(claim: Claim, trial: Trial, status: Status) -> str:
    if claim.expected == "refuted" and claim.witnesses and not trial.witnesses_refute:
        return "the counterexample on record does not contradict the statement"
    if status != claim.expected:
        return f"came out {status}, expected {claim.expected}"
    if status == "refuted" and not (trial.counterexample or {}).get("exact"):
        return "refuted in floating point only; a counterexample in rational arithmetic is missing"
    return ""


# ---------------------------------------------------------------------------------- discovery


def papers() -> dict[str, Paper]:
    """Papers of the ledger: the folders beside this file, by name."""
    package = importlib.import_module("verification.paper_statements")
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__) if info.ispkg)
    return {name: record(name) for name in names}


def claims(paper: str | None = None, only: str = "") -> list[tuple[str, Claim]]:
    """All claims as (paper, claim), in the order of the papers' sections.

    `only` keeps those whose number contains it; "Lemma 1" is no part of "Lemma 12".

    Raises
    ------
    InvalidArgumentError
        If there is no such paper.
    """
    known = papers()
    if paper is not None and paper not in known:
        raise InvalidArgumentError(
            f"paper={paper!r} is not in the ledger; choose one of {', '.join(known)}"
        )
    found: list[tuple[str, Claim]] = []
    for name in known:
        if paper in (None, name):
            found += [(name, claim) for claim in _claims_of(name)]
    wanted = re.compile(re.escape(only) + (r"(?!\d)" if only else ""))
    return [(name, claim) for name, claim in found if wanted.search(claim.number)]


def _claims_of(paper: str) -> list[Claim]:
    rows: list[Claim] = []
    package = importlib.import_module(f"verification.paper_statements.{paper}")
    for info in pkgutil.iter_modules(package.__path__):
        if not info.name.startswith("_"):
            module = importlib.import_module(f"{package.__name__}.{info.name}")
            rows += [value for value in vars(module).values() if isinstance(value, Claim)]
    # Stable sort: rows of one file keep their order, printed statement before its repair.
    return sorted(rows, key=lambda row: [int(part) for part in row.section.split(".")])


def run_claims(
    paper: str | None = None,
    seed: int = 0,
    instances: int | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    only: str = "",
) -> list[ClaimResult]:
    """Try every claim of the ledger, or those of one paper.

    Parameters
    ----------
    paper
        Folder name such as "lapin_2015"; None for all.
    seed
        Seed of the random instances (>= 0).
    instances
        Random instances per claim instead of each claim's own number (>= 1).
    progress
        Called as ``progress(done, total, label)`` before each claim and once at the end.
    only
        Part of a claim's number, e.g. "Table 1" (not "Table 12"); the others are left out.

    Returns
    -------
    list of ClaimResult
        One per claim. A result with ``ok`` False did not come out as expected; see
        `raise_if_failed`.

    Raises
    ------
    InvalidArgumentError
        For an unknown paper, a number that no claim has, a negative seed or less than one instance.
    """
    if seed < 0:
        raise InvalidArgumentError(f"seed={seed!r}: expected an integer >= 0, e.g. 0")
    if instances is not None and instances < 1:
        raise InvalidArgumentError(f"instances={instances!r}: expected None or an integer >= 1")
    todo = claims(paper, only)
    if not todo:
        raise InvalidArgumentError(
            f"only={only!r}: no claim's number contains it, see `refsolve claims`"
        )
    titles = {name: known.title for name, known in papers().items()}
    results: list[ClaimResult] = []
    for done, (name, claim) in enumerate(todo):
        if progress is not None:
            progress(done, len(todo), f"{name} {claim.number}")
        results.append(
            try_claim(claim, paper=name, title=titles[name], seed=seed, instances=instances)
        )
    if progress is not None:
        progress(len(todo), len(todo), "")
    return results


def raise_if_failed(results: Iterable[ClaimResult]) -> None:
    """Raise unless every claim came out as expected.

    Raises
    ------
    VerificationFailedError
        Naming each claim that did not, or saying that there was none to try.
    """
    results = list(results)
    if not results:
        raise VerificationFailedError("no claim was tried: nothing is verified")
    bad = [f"{r.paper} {r.number}: {r.failure}; {r.counterexample}" for r in results if not r.ok]
    if bad:
        raise VerificationFailedError("\n".join(bad))
