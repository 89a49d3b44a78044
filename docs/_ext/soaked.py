"""The records of the soak as HTML tables."""

import json
from pathlib import Path
from typing import Any

from markup import Html, table

RECORDS = Path(__file__).resolve().parents[1]


def recorded(name: str = "soak") -> dict[str, Any]:
    """What ``refsolve soak --summary`` wrote: "soak", or "soak_models"."""
    return dict(json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8")))


def overall(record: dict[str, Any]) -> Html:
    """Instances, verdicts, the worst ratio, seeds and commits."""
    counts = record["counts"]
    judged = {name: counts.get(name, 0) for name in ("pass", "fail", "crash", "timeout")}
    others = {name: many for name, many in counts.items() if name not in judged}
    rows = [
        ("instances", f"{record['instances']:,}"),
        *((name, f"{many:,}") for name, many in (judged | others).items()),
        ("worst gap or distance, in units of its tolerance", f"{record['worst_ratio']:.3g}"),
        ("seconds, over all processes", f"{record['seconds']:,.0f}"),
        ("first seeds of the chunks", ", ".join(map(str, record["seeds"]))),
        ("commits", ", ".join(f"<code>{commit[:12]}</code>" for commit in record["commits"])),
    ]
    return table((), rows)


def per_problem(record: dict[str, Any]) -> Html:
    """A row per solver and problem."""
    rows = []
    for row in record["rows"]:
        counts = row["counts"]
        bad = sum(counts.get(name, 0) for name in ("fail", "crash", "timeout"))
        cells = (
            f"<code>{row['problem']}</code>",
            row["solver"],
            f"{row['instances']:,}",
            f"{counts.get('pass', 0):,}",
            bad,
            counts.get("inconclusive", 0),
            f"{counts.get('skipped', 0):,}",
            f"{row['worst_ratio']:.2g}",
            f"{row['seconds']:,.0f}",
        )
        rows.append(cells)
    head = ("problem", "solver", "instances", "pass", "alarms", "inconclusive", "skipped")
    return table((*head, "worst ratio", "seconds"), rows)
