"""The table of kernel SVMs beside LIBSVM, on data of a moment."""

import pytest

from verification.benchmarks import kernel_svm


def test_both_estimators_are_measured_at_every_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_svm, "SIZES", ((160, 3),))
    monkeypatch.setattr(kernel_svm, "WIDTHS", (1.0,))
    monkeypatch.setattr(kernel_svm, "CS", (1.0,))
    monkeypatch.setattr(kernel_svm, "GAPS", (1e-2, 1e-3))
    monkeypatch.setattr(kernel_svm, "REPEATS", 1)
    found = [record.to_dict() for record in kernel_svm.table()]
    assert [(line["to"], line["estimator"]) for line in found] == [
        (gap, name) for gap in (1e-2, 1e-3) for name in ("SVMPlusClassifier", "TopKSVC")
    ]
    for line in found:
        assert max(line["gap"], line["peer_gap"]) <= line["to"]
        assert line["ratio"] == line["peer_seconds"] / line["seconds"] > 0.0
