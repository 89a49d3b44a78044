"""The record of the mutants of `fast` as HTML tables."""

import html
import json
from pathlib import Path
from typing import Any

from markup import Html, table

DOCS = Path(__file__).resolve().parents[1]
_DEAD = ("killed", "timeout")


def recorded(name: str = "mutation.json") -> dict[str, Any]:
    """What ``python -m tests.mutation --output docs/mutation.json`` wrote."""
    return dict(json.loads((DOCS / name).read_text(encoding="utf-8")))


def counts(record: dict[str, Any], room: str | None = None) -> dict[str, int]:
    """Mutants of one room or all: how many there are, were run, died, and died since."""
    rooms = [c for name, c in record["rooms"].items() if room in (None, name)]
    left = [s for s in record["survivors"] if room in (None, s["room"])]
    return {
        "all": sum(c["all"] for c in rooms),
        "run": sum(many for c in rooms for name, many in c.items() if name != "all"),
        "dead": sum(c.get(name, 0) for c in rooms for name in _DEAD),
        "since": sum(bool(s["killed_since"]) for s in left),
        "equivalent": sum(bool(s["verdict"]) and not s["killed_since"] for s in left),
        "open": sum(not (s["verdict"] or s["killed_since"]) for s in left),
    }


def by_room(record: dict[str, Any]) -> Html:
    """A row per room of `fast`, and their sum."""
    head = ("room", "mutants", "run", "killed", "killed since", "equivalent", "open")
    rows = []
    for room in (*record["rooms"], None):
        n = counts(record, room)
        share = (n["dead"] + n["since"]) / max(n["run"] - n["equivalent"], 1)
        rows.append((f"<code>{room}</code>" if room else "all", *n.values(), f"{share:.1%}"))
    return table((*head, "killed, in all"), rows)


def survivors(record: dict[str, Any]) -> Html:
    """File, line, change, and what was found out."""
    rows = []
    for s in record["survivors"]:
        place, change = s["mutant"].split(" ", 1)
        said = s["verdict"] or "open"
        if s["killed_since"]:
            said = f"killed since by <code>{html.escape(s['killed_since'].split('::')[-1])}</code>"
        rows.append((f"<code>{place}</code>", f"<code>{html.escape(change)}</code>", said))
    return table(("place", "change", "verdict"), rows)
