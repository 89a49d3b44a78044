"""Generated faulty ports: how many of them the checks kill, as recorded."""

from typing import Any

from markup import Html, table

from verification.selftest.ports import measured

#: Ports of a record, and their seed: none that the checks were tuned on.
COUNTS = {"quick": 110, "thorough": 32}
SEED = 2311


def measure() -> dict[str, Any]:
    """Both profiles; minutes."""
    return {
        profile: measured(count, SEED, profile, right=profile == "quick")
        for profile, count in COUNTS.items()
    }


def shown(record: dict[str, Any]) -> Html:
    """A row per kind of fault, then the sums of both halves."""
    rows = [
        (
            kind.replace("_", " "),
            "held out" if row["held_out"] else "own",
            row["ports"],
            row["killed"],
        )
        for kind, row in record["kinds"].items()
    ]
    sums = [("all", half, *record[half.replace(" ", "_")].values()) for half in ("own", "held out")]
    return table(("fault", "", "ports", "killed"), rows + sums)
