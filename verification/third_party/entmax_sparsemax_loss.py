"""``entmax.sparsemax_loss``, the Fenchel-Young loss of the simplex."""

from typing import Any

from verification.adapters import adapt

PROBLEM = "sparsemax.value"
PACKAGES = ("entmax", "torch")
FOUND = """Right, single and double precision, ties and large scores included."""


def loss(scores: Any, y: Any) -> Any:
    """The loss of each row."""
    from entmax import sparsemax_loss

    return sparsemax_loss(scores, y)


candidate = adapt(loss, PROBLEM, torch=True, rows=True)
