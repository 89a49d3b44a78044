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


def change(before: np.ndarray, after: np.ndarray) -> str:
    """Two arrays that differ, "[1.0] to [2.0]"; of long ones the first entry that does."""
    if before.size <= WHOLE or before.shape != after.shape:
        return f"{brief(before)} to {brief(after)}"
    pairs = zip(before.ravel().tolist(), after.ravel().tolist(), strict=True)
    i, (old, new) = next(
        (i, pair) for i, pair in enumerate(pairs) if repr(pair[0]) != repr(pair[1])
    )
    at = ", ".join(str(n) for n in np.unravel_index(i, before.shape))
    return f"{old!r} to {new!r} at [{at}]"


def not_finite(answer: Any) -> str:
    """The message on nan and inf in an answer: where the first of them is, if there are many."""
    array = np.asarray(answer)
    if array.size <= WHOLE:
        return f"not finite: {array.tolist()}"
    bad = np.argwhere(~np.isfinite(array))
    at = ", ".join(map(str, bad[0].tolist()))
    found = f"{len(bad)} of {array.size} entries"
    return f"not finite: {found}, the first is {array[tuple(bad[0])].item()!r} at [{at}]"
