"""The record docs/records/torch_heads_gpu.json: certified linear heads on a GPU and on a processor."""

from typing import Any


def measure() -> dict[str, Any]:
    """Seconds, passes and gap of each fit."""
    from verification.benchmarks import torch_heads

    command = "python -m verification.benchmarks.torch_heads --device cuda"
    return {"command": command, "heads": list(torch_heads.fits("cuda"))}
