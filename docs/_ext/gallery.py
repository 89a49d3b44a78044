"""The gallery of third-party solvers as HTML: an overview, and an entry for each with what was found."""

import html
import re
from typing import Any

import numpy as np
from markup import Html, table

from verification.third_party import ThirdPartySolver, recorded, reproduce


def _text(value: object) -> str:
    return html.escape(str(value))


def _prose(text: str) -> str:
    """Escaped, with ``code`` and `name of another third-party solver` marked up."""
    marked = re.sub(r"``(.+?)``", r"<code>\1</code>", _text(text))
    return re.sub(r"`(\w+)`", r"<a href='#third-party-\1'>\1</a>", marked)


def _plain(value: object) -> str:
    """Every digit that tells two floats apart."""
    return repr(np.asarray(value, dtype=float).tolist())


def _code(text: object) -> str:
    return f"<div class='highlight'><pre>{_text(text)}</pre></div>"


def _record(solver: ThirdPartySolver) -> dict[str, Any]:
    return dict(recorded()[solver.name]["quick"])


def _versions(solver: ThirdPartySolver) -> str:
    return ", ".join(f"{name} {number}" for name, number in _record(solver)["versions"].items())


def _tally(solver: ThirdPartySolver) -> str:
    counts = _record(solver)["counts"]
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items())


def _order(solver: ThirdPartySolver) -> tuple[bool, bool, str]:
    """What is wrong within what is promised comes first, what passes last."""
    return not solver.defect, not solver.fails, solver.name


def _package(solver: ThirdPartySolver) -> str:
    return solver.packages[0]


def defects(solvers: dict[str, ThirdPartySolver]) -> Html:
    """What is wrong within what its authors promise, a sentence each."""
    wrong = sorted((s for s in solvers.values() if s.defect), key=lambda s: (_package(s), s.name))
    rows = [
        (f"{_text(_package(s))}", f"{_prose(s.defect)} <a href='#third-party-{s.name}'>Code</a>")
        for s in wrong
    ]
    return table(("package", "what it does"), rows)


def overview(solvers: dict[str, ThirdPartySolver]) -> Html:
    """One row each, by package; those that fail first."""
    rows: list[tuple[str, ...]] = []
    groups: dict[str, list[ThirdPartySolver]] = {}
    for each in sorted(solvers.values(), key=_order):
        groups.setdefault(_package(each), []).append(each)
    for package, members in sorted(groups.items(), key=lambda item: item[0].lower()):
        number = _record(members[0])["versions"][package]
        for place, each in enumerate(members):
            failed = _record(each)["failures"]
            counts = _record(each)["counts"]
            judged = sum(n for verdict, n in counts.items() if verdict != "skipped")
            bad = sum(failed.values())
            state = f"<b>{bad}</b> of {judged} fail" if bad else f"{judged} pass"
            whose = f"{_text(package)}<br><small>{_text(number)}</small>" if not place else ""
            what = _prose(each.what.partition(": ")[0].rstrip("."))
            link = f"<a href='#third-party-{each.name}'>{each.name}</a><br><small>{what}</small>"
            rows.append((whose, link, f"<code>{each.problem}</code><br>{state}"))
    return table(
        ("package", "third-party solver", "problem, and what the checks say"), rows, "third-party"
    )


def entry(solver: ThirdPartySolver) -> str:
    """What it is, what was found, and the code that shows it, run now where it is installed."""
    told = {
        "fixed": solver.fixed,
        "accuracy": solver.accuracy,
        "refuses": solver.refuses,
    }
    given = "".join(f", <code>{k}={_text(repr(v))}</code>" for k, v in told.items() if v)
    parts = [
        f"<section id='third-party-{solver.name}'><h3>{solver.name}</h3>",
        f"<p>{_prose(solver.what)}</p>",
        f"<p><small><code>{solver.problem}</code>{given}; {_text(_versions(solver))}: ",
        f"{_text(_tally(solver))}.</small></p><p>{_prose(solver.found)}</p>",
    ]
    if solver.reproduce:
        parts.append(_code(solver.reproduce))
        if solver.missing:
            parts.append(f"<p><small>Not run here: {_text(solver.missing)}.</small></p>")
        else:
            returned, right = reproduce(solver)
            parts.append(_code(f"returned {_plain(returned)}\nright    {_plain(right)}"))
        found = _code(_record(solver)["counterexample"])
        parts.append(
            f"<details><summary>Smallest counterexample, as the kit prints it</summary>{found}</details>"
        )
    return "".join([*parts, "</section>"])


def entries(solvers: dict[str, ThirdPartySolver]) -> Html:
    """All of them."""
    return Html("".join(map(entry, sorted(solvers.values(), key=_order))))
