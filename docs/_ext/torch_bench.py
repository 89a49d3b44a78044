"""The record docs/records/torch_bench.json: losses on tensors against cross-entropy, on a processor."""

import json
import tempfile
from pathlib import Path
from typing import Any


def measure(*words: str) -> dict[str, Any]:
    """Timings of the command of that name."""
    from verification.benchmarks import torch_losses

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.json"
        torch_losses.main(
            [*(words or ("--threads", "1", "--repeats", "60")), "--record", str(path)]
        )
        found = dict(json.loads(path.read_text(encoding="utf-8")))
    del found["commit"]  # records.py says it
    found["command"] = found["command"].partition(" --record")[0]
    return found
