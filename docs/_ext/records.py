"""What takes minutes to measure is measured once: ``python docs/_ext/records.py NAME`` does it anew.

NAME is a module beside this one with a function ``measure``; what that returns is kept as
docs/records/NAME.json. What a function ``lines`` yields is kept as docs/records/NAME.jsonl instead. The
page that shows it measures a small part again, and compares.
"""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

RECORDS = Path(__file__).resolve().parents[1] / "records"


def recorded(name: str) -> dict[str, Any]:
    """A record, with the commit that it was made at."""
    return dict(json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8")))


def rows(name: str) -> list[dict[str, Any]]:
    """The lines of a record, each with the commit that it was made at; as many as were measured."""
    text = (RECORDS / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def written(value: Any, indent: str = "") -> str:
    """JSON with a line per row of numbers."""
    if isinstance(value, dict):
        inner = ",\n".join(
            f"{indent} {json.dumps(k)}: {written(v, indent + ' ')}" for k, v in value.items()
        )
        return f"{{\n{inner}\n{indent}}}"
    return json.dumps(value, ensure_ascii=False)


def main(name: str) -> None:
    """Measure and write."""
    commit = subprocess.check_output(["git", "rev-parse", "--short=10", "HEAD"], text=True).strip()
    module = importlib.import_module(name)
    if hasattr(module, "lines"):
        with (RECORDS / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for row in module.lines():
                file.write(json.dumps({"commit": commit, **row}, ensure_ascii=False) + "\n")
                file.flush()
        return
    record = {"commit": commit, **module.measure()}
    (RECORDS / f"{name}.json").write_text(written(record) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
