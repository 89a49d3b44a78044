"""Numbers in messages: a sentence has no room for a thousand of them."""

from typing import Any

import numpy as np

#: An answer of at most so many entries is shown whole.
WHOLE = 8


def brief(answer: Any) -> str:
    """A number or an array as lists; of a long one the first entries and the shape."""
    array = np.asarray(answer)
    if array.size <= WHOLE:
        return str(array.tolist())
    first = ", ".join(repr(v) for v in array.ravel()[: WHOLE // 2].tolist())
    return f"[{first}, ...] of shape {array.shape}"


def not_finite(answer: Any) -> str:
    """The message on nan and inf in an answer: where the first of them is, if there are many."""
    array = np.asarray(answer)
    if array.size <= WHOLE:
        return f"not finite: {array.tolist()}"
    bad = np.argwhere(~np.isfinite(array))
    at = ", ".join(map(str, bad[0].tolist()))
    found = f"{len(bad)} of {array.size} entries"
    return f"not finite: {found}, the first is {array[tuple(bad[0])].item()!r} at [{at}]"
