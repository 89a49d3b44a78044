"""The record docs/records/torch_bench_two.json: losses on tensors against cross-entropy, on two threads."""

from typing import Any

import torch_bench


def measure() -> dict[str, Any]:
    """Timings, cross-entropy on as many threads."""
    return torch_bench.measure("--threads", "2", "--repeats", "300")
