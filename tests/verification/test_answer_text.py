"""Messages show an answer in a length that can be read."""

import numpy as np

from verification import verify
from verification.certificates.text import WHOLE, brief, not_finite


def test_short_answers_are_shown_whole() -> None:
    assert brief(np.array(np.inf)) == "inf"
    assert brief([1.5, 2.0]) == "[1.5, 2.0]"
    assert brief(np.ones((2, 2), dtype=np.float32)) == "[[1.0, 1.0], [1.0, 1.0]]"
    assert not_finite([0.0, np.nan]) == "not finite: [0.0, nan]"


def test_long_answers_are_cut() -> None:
    assert brief(np.arange(WHOLE + 1)) == "[0, 1, 2, 3, ...] of shape (9,)"
    bad = np.zeros((3, 4))
    bad[1, 2], bad[2, 0] = np.nan, -np.inf
    assert not_finite(bad) == "not finite: 2 of 12 entries, the first is nan at [1, 2]"


def test_no_message_holds_a_thousand_numbers() -> None:
    report = verify(
        lambda a, r: np.maximum(a, 0.0), "simplex.projection", checks=["lengths"], shrink=False
    )
    lengths = {len(failure.message) for failure in report.failures}
    assert lengths
    assert max(lengths) < 300
    report = verify(
        lambda scores, y: np.full(np.shape(y), -np.inf),
        "softmax.value",
        checks=["saturation"],
        shrink=False,
    )
    assert report.failures[0].message.startswith("returned -inf, expected one finite number: ")
