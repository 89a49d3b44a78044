"""The table of what offsets and scales cost."""

import numpy as np
import pytest

from verification.benchmarks import conditioning


def test_a_small_table(monkeypatch):
    monkeypatch.setattr(conditioning, "BEST_OF", 1)
    X, y = conditioning.blobs(60, 3, 3)
    rows = list(conditioning.measure("blobs", X, y))
    assert len(rows) == len(conditioning.MODELS) * 2 * len(conditioning.forms(X))
    assert [row.ratio for row in rows if row.form == "plain"] == [1.0] * 8
    assert max(row.gap for row in rows if "gamma" not in row.model) <= 1e-4
    assert all(row.ratio > 0.0 for row in rows)
    text = conditioning.table(rows)
    assert text.count("\n") + 1 == len(conditioning.MODELS)
    assert "| blobs | hinge | " in text


def test_other_data():
    for X, y in (conditioning.counts(60), conditioning.table_of_customers(60)):
        assert len(X) == len(y) == 60
        assert X.min() == 0.0
        assert len(np.unique(y)) > 2


def test_forms_are_what_they_say():
    X, _ = conditioning.digits()
    assert X.max() == 1.0
    found = conditioning.forms(X)
    assert found["plain"] is X
    assert found["offset 1e6"] - 1e6 == pytest.approx(X, abs=1e-9)
    assert set(found["scales 1e-8, 1, 1e8"].max(axis=0).round(9)) >= {0.0, 1e8}
