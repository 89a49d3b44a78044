"""What takes minutes to measure is measured once: ``python docs/_ext/records.py NAME`` does it anew.

NAME is a key of `MEASURES`, or a module beside this one with a function ``measure``; what that returns is
kept as docs/records/NAME.json. What a function ``lines`` yields is kept as docs/records/NAME.jsonl instead, line by
line; one with an argument ``known`` gets those that are there and goes on: delete the file to measure all anew.
The page that shows it measures a small part again, and compares.
"""

import importlib
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from verification.report.lines import Lines

RECORDS = Path(__file__).resolve().parents[1] / "records"


def recorded(name: str) -> dict[str, Any]:
    """A record, with the commit that it was made at."""
    return dict(json.loads((RECORDS / f"{name}.json").read_text(encoding="utf-8")))


def rows(name: str) -> list[dict[str, Any]]:
    """The lines of a record, each with the commit that it was made at; as many as were measured."""
    return list(Lines(RECORDS / f"{name}.jsonl"))


def written(value: object, indent: str = "") -> str:
    """JSON with a line per row of numbers."""
    if isinstance(value, dict):
        inner = ",\n".join(
            f"{indent} {json.dumps(k)}: {written(v, indent + ' ')}" for k, v in value.items()
        )
        return f"{{\n{inner}\n{indent}}}"
    return json.dumps(value, ensure_ascii=False)


def letter_table_7() -> dict[str, Any]:
    """Lapin et al. 2016, longer version, on Letter: accuracies and gaps of the final models, the C chosen."""
    from verification.benchmarks.letter import load_parts, longer
    from verification.benchmarks.protocol import column_accuracies, compile_trainers, run_row
    from verification.benchmarks.timing import one_thread

    grid = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
    parts, found = load_parts(), {}
    with one_thread():
        compile_trainers(parts, longer())
        for row in longer():
            result = run_row(parts, row, grid)
            ours = [round(value, 2) for value in column_accuracies(result.final)]
            chosen = [fit.C for fit in result.chosen]
            found[row.name] = {"ours": ours, "C": chosen, "gap": result.worst_gap}
    return {"grid": list(grid), "rows": found}


def torch_losses(**options: Any) -> dict[str, Any]:
    """Losses on tensors against cross-entropy; without a GPU that is asked for there is no record."""
    from verification.benchmarks.torch_losses import recorded

    return recorded(**options)


def torch_heads() -> dict[str, Any]:
    """Certified linear heads on a GPU and on a processor: seconds, passes and gap of each fit."""
    from verification.benchmarks.torch_heads import fits

    return {"command": "python docs/_ext/records.py torch_heads_gpu", "heads": list(fits("cuda"))}


def torch_kit() -> dict[str, Any]:
    """The losses on tensors, judged in every form by a quarter of the kit: counts by problem and form."""
    from verification.selftest import torch_losses as kit

    return kit.record("quick", every=4)


def torch_finetune() -> dict[str, Any]:
    """A network fine-tuned with each loss, five seeds: accuracies by loss, rate and seed."""
    from verification.benchmarks.torch_finetune import measured

    return measured(5)


#: What is measured by what ships, by the record's name.
MEASURES: dict[str, Callable[[], dict[str, Any]]] = {
    "letter_table_7": letter_table_7,
    "torch_bench": partial(torch_losses, repeats=60),
    "torch_bench_two": partial(torch_losses, threads=2, repeats=300),
    "torch_bench_gpu": partial(torch_losses, device="cuda", compiled=True),
    "torch_heads_gpu": torch_heads,
    "torch_kit": torch_kit,
    "torch_finetune": torch_finetune,
}


def main(name: str) -> None:
    """Measure and write."""
    commit = subprocess.check_output(["git", "rev-parse", "--short=10", "HEAD"], text=True).strip()
    module = None if name in MEASURES else importlib.import_module(name)
    if module is not None and hasattr(module, "lines"):
        path, known = RECORDS / f"{name}.jsonl", []
        if "known" in inspect.signature(module.lines).parameters and path.exists():
            known = list(Lines(path))
        file = Lines.new(path, *known)
        for row in module.lines(**({"known": known} if known else {})):
            file.add({"commit": commit, **row})
        return
    measure = MEASURES[name] if module is None else module.measure
    record = {"commit": commit, **measure()}
    (RECORDS / f"{name}.json").write_text(written(record) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
