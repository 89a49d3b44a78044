"""The table of what offsets and scales cost."""

import numpy as np
import pytest

from verification.benchmarks import conditioning


def test_a_small_table(monkeypatch):
    monkeypatch.setattr(conditioning, "BEST_OF", 1)
    X, y = conditioning.blobs(60, 3, 3)
    for model, (_, params) in conditioning.MODELS.items():
        rows = list(conditioning.measure("blobs", X, y, model))
        assert len(rows) == 2 * len(conditioning.forms(X))
        assert [row["ratio"] for row in rows if row["form"] == "plain"] == [1.0, 1.0]
        assert "gamma" in params or max(row["gap"] for row in rows) <= 1e-4
        assert all(row["ratio"] > 0.0 for row in rows)
        found = conditioning.summary(rows)
        assert found.names == {"data": "blobs", "loss": model}
        assert found["largest"] >= found["median"]


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
