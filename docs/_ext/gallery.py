"""The gallery of strangers as HTML: an overview, and an entry for each with what was found."""

import html
import re
from typing import Any

import numpy as np
from markup import Html, table

from verification.strangers import Stranger, recorded, reproduce


def _text(value: Any) -> str:
    return html.escape(str(value))


def _prose(text: str) -> str:
    """Escaped, with ``code`` and `name of another stranger` marked up."""
    marked = re.sub(r"``(.+?)``", r"<code>\1</code>", _text(text))
    return re.sub(r"`(\w+)`", r"<a href='#stranger-\1'>\1</a>", marked)


def _plain(value: Any) -> str:
    """Every digit that tells two floats apart."""
    return repr(np.asarray(value, dtype=float).tolist())


def _code(text: Any) -> str:
    return f"<div class='highlight'><pre>{_text(text)}</pre></div>"


def _record(stranger: Stranger) -> dict[str, Any]:
    return dict(recorded()[stranger.name]["quick"])


def _versions(stranger: Stranger) -> str:
    return ", ".join(f"{name} {number}" for name, number in _record(stranger)["versions"].items())


def _tally(stranger: Stranger) -> str:
    counts = _record(stranger)["counts"]
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items())


def _order(stranger: Stranger) -> tuple[bool, bool, str]:
    """What is wrong within what is promised comes first, what passes last."""
    return not stranger.defect, not stranger.fails, stranger.name


def _package(stranger: Stranger) -> str:
    return stranger.packages[0]


def defects(strangers: dict[str, Stranger]) -> Html:
    """What is wrong within what its authors promise, a sentence each."""
    wrong = sorted((s for s in strangers.values() if s.defect), key=lambda s: (_package(s), s.name))
    rows = [
        (f"{_text(_package(s))}", f"{_prose(s.defect)} <a href='#stranger-{s.name}'>Code</a>")
        for s in wrong
    ]
    return table(("package", "what it does"), rows)


def overview(strangers: dict[str, Stranger]) -> Html:
    """One row each, by package; those that fail first."""
    rows: list[tuple[str, ...]] = []
    groups: dict[str, list[Stranger]] = {}
    for each in sorted(strangers.values(), key=_order):
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
            link = f"<a href='#stranger-{each.name}'>{each.name}</a><br><small>{what}</small>"
            rows.append((whose, link, f"<code>{each.problem}</code><br>{state}"))
    return table(("package", "stranger", "problem, and what the checks say"), rows, "strangers")


def entry(stranger: Stranger) -> str:
    """What it is, what was found, and the code that shows it, run now where it is installed."""
    told = {"fixed": stranger.fixed, "accuracy": stranger.accuracy, "refuses": stranger.refuses}
    given = "".join(f", <code>{k}={_text(repr(v))}</code>" for k, v in told.items() if v)
    parts = [
        f"<section id='stranger-{stranger.name}'><h3>{stranger.name}</h3>",
        f"<p>{_prose(stranger.what)}</p>",
        f"<p><small><code>{stranger.problem}</code>{given}; {_text(_versions(stranger))}: ",
        f"{_text(_tally(stranger))}.</small></p><p>{_prose(stranger.found)}</p>",
    ]
    if stranger.reproduce:
        parts.append(_code(stranger.reproduce))
        if stranger.missing:
            parts.append(f"<p><small>Not run here: {_text(stranger.missing)}.</small></p>")
        else:
            returned, right = reproduce(stranger)
            parts.append(_code(f"returned {_plain(returned)}\nright    {_plain(right)}"))
        found = _code(_record(stranger)["counterexample"])
        parts.append(
            f"<details><summary>Smallest counterexample, as the kit prints it</summary>{found}</details>"
        )
    return "".join([*parts, "</section>"])


def entries(strangers: dict[str, Stranger]) -> Html:
    """All of them."""
    return Html("".join(map(entry, sorted(strangers.values(), key=_order))))
