"""The record docs/records/torch_kit.json: the losses on tensors, judged in every form by a quarter of the kit."""

from typing import Any


def measure() -> dict[str, Any]:
    """Counts by problem and form."""
    from verification.selftest import torch_losses

    return torch_losses.record("quick", every=4)
