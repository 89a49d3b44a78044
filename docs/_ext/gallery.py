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


def overview(strangers: dict[str, Stranger]) -> Html:
    """One row each."""
    rows = []
    for name, each in strangers.items():
        failed = _record(each)["failures"]
        where = ", ".join(f"{check.replace('_', ' ')} ({n})" for check, n in failed.items())
        state = "fails" if failed else "passes"
        whose = f"<a href='#stranger-{name}'>{_prose(each.what)}</a><br>"
        said = f"{state}{': ' if where else ''}{where}<br><small>{_text(_tally(each))}</small>"
        rows.append((f"{whose}<small><code>{each.problem}</code></small>", said))
    return table(("whose code", "what the checks say"), rows)


def entry(stranger: Stranger) -> str:
    """What it is, what was found, and the code that shows it, run now where it is installed."""
    fixed = ", ".join(f"{k}={v!r}" for k, v in stranger.fixed.items())
    given = f", <code>fixed={{{_text(fixed)}}}</code>" if fixed else ""
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
    return Html("".join(map(entry, strangers.values())))
