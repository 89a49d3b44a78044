"""The gates fall: on another byte, another status, another count, and on libraries that are not the record's."""

from argparse import Namespace
from importlib.metadata import version

import pytest

from tests import gates

OPTIONS = Namespace(share=0.0)


def test_the_names_of_fits_differ_and_the_record_has_every_loss() -> None:
    names = [name for name, *_ in gates.cells()]
    assert len(names) == len(set(names))
    recorded = gates.json.loads(gates.RECORD.read_text())["bytes"]["sha256"]
    assert set(recorded) <= set(names)
    losses = {name.split(" | ")[1] for name in names}
    assert {name.split(" | ")[1] for name in recorded} == losses


def test_another_byte_is_seen_and_other_libraries_are_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cell = "rare class | TopPush | auto"
    chosen = [each for each in gates.cells() if each[0] == cell]
    monkeypatch.setattr(gates, "cells", lambda: iter(chosen))
    right = gates.fits(None, OPTIONS)
    assert set(right.record["sha256"]) == {cell}
    assert gates.fits(right.record, OPTIONS).problems == []
    other = {**right.record, "sha256": {cell: "0" * 64, "gone": "0" * 64}}
    assert gates.fits(other, OPTIONS).problems == [f"{cell} changed", "gone changed"]
    old = {**right.record, "versions": {"numpy": version("numpy") + ".0"}}
    assert "on record are fits with" in gates.fits(old, OPTIONS).problems[0]


def test_another_status_a_new_row_and_one_that_is_gone_are_seen() -> None:
    known = {"paper": {"Lemma 1": "verified", "Lemma 2": "refuted"}}
    found = {"paper": {"Lemma 1": "open", "Lemma 3": "verified"}}
    assert gates._compared(known, known, [], "").problems == []
    assert gates._compared(known, found, [], "").problems == [
        "paper Lemma 1: open, on record verified",
        "paper Lemma 2: None, on record refuted",
        "paper Lemma 3: verified, on record None",
    ]
