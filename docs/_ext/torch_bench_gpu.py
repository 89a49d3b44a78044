"""The record docs/records/torch_bench_gpu.json: losses on tensors against cross-entropy, on a GPU."""

from typing import Any

import torch_bench


def measure() -> dict[str, Any]:
    """Timings; where there is no GPU the command says so, and there is no record."""
    return torch_bench.measure("--device", "cuda", "--compiled")
