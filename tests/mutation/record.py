"""The record of a run: counts by room, and the survivors with what was found out about each."""

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from tests.mutation.operators import ROOT, Mutant

KILLED, TIMEOUT, SURVIVED, UNREACHED = "killed", "timeout", "survived", "unreached"


def written(
    outcomes: list[dict[str, Any]], every: dict[str, int], output: Path, **about: Any
) -> int:
    """Write what a run found, or what became of its survivors if ``output`` holds the whole run.

    Verdicts that stand in ``output`` stay with their mutants; what once killed one that survives now does not.
    Returns 1 if a survivor has no verdict.
    """
    old = json.loads(output.read_text()) if output.exists() else {}
    known = {s["identity"]: s for s in old.get("survivors", ())}
    found = {}
    for outcome in outcomes:
        mutant = Mutant(**outcome["mutant"])
        before = known.get(mutant.identity, {})
        dead = outcome["status"] in (KILLED, TIMEOUT)
        if dead and not (about["again"] and before):
            continue
        found[mutant.identity] = {
            "mutant": mutant.name, "identity": mutant.identity, "room": mutant.room, "status": outcome["status"],
            "tests": outcome["tried"],
            "killed_since": outcome["test"] or outcome["status"] if dead else "",
            "verdict": before.get("verdict", ""),
        }  # fmt: skip
    if about["again"]:
        survivors = list((known | found).values())
        record = old | {"commit_of_repeat": _commit()}
    else:
        rooms: dict[str, Counter[str]] = {room: Counter(all=many) for room, many in every.items()}
        for outcome in outcomes:
            rooms[Mutant(**outcome["mutant"]).room][outcome["status"]] += 1
        record = {
            "commit": _commit(), "command": about["command"], "seconds": about["seconds"],
            "rooms": {room: dict(counts) for room, counts in rooms.items()},
        }  # fmt: skip
        survivors = [known.get(identity, {}) | new for identity, new in found.items()]
    rows = ",\n".join(json.dumps(s, ensure_ascii=False) for s in survivors)
    whole = json.dumps(record | {"survivors": []}, indent=1)
    output.write_text(whole.replace('"survivors": []', f'"survivors": [\n{rows}\n]') + "\n")
    return int(any(not (s["killed_since"] or s["verdict"]) for s in survivors))


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
