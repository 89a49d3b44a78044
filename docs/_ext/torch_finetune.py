"""The record docs/records/torch_finetune.json: a network fine-tuned with each loss, five seeds."""

from typing import Any


def measure() -> dict[str, Any]:
    """Accuracies by loss, rate and seed."""
    from verification.benchmarks.torch_finetune import measured

    return measured(5)
