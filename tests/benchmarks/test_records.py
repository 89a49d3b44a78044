"""Records, their tables and documents; races of two runs in turns. No test here asserts a time."""

import dataclasses

import numba
import pytest
from threadpoolctl import threadpool_info

from verification.benchmarks.records import Record, Section, document, record_table, stream
from verification.benchmarks.timing import median_ratio, one_thread, race
from verification.report.document import Cell

RECORD = Record({"data": "digits", "C": 0.1}, {"ratio": 3.0, "gap": 1e-6}, {"ratio": 2.0}, {"gap": 1e-5})  # fmt: skip
SECTIONS = {"training": Section("Training", "a note", lowest="ratio")}


@pytest.mark.parametrize(
    ("figures", "missed"),
    [
        ({}, set()),
        ({"ratio": 2.0, "gap": 1e-5}, set()),
        ({"ratio": 1.9}, {"ratio"}),
        ({"gap": 2e-5}, {"gap"}),
        ({"gap": None}, {"gap"}),
        ({"gap": float("nan"), "ratio": 1.0}, {"gap", "ratio"}),
    ],
)
def test_a_record_is_reached_within_its_bounds(figures: dict, missed: set[str]) -> None:
    record = dataclasses.replace(RECORD, figures=RECORD.figures | figures)
    assert {name for name in ("ratio", "gap") if record.misses(name)} == missed
    assert record.reached is not bool(missed)
    assert dataclasses.replace(record, objection="false claims").reached is False
    told = record.to_dict()
    assert (told["data"], told["reached"]) == ("digits", not missed)
    assert told["targets"] == "ratio >= 2, gap <= 1e-05"
    for strict in (True, False):
        found = document("A benchmark", SECTIONS, {"training": [record]}, strict)
        assert found.ok is (not missed if strict else None)
        assert found.data["all_reached"] is not bool(missed)
    (row,) = record_table("title", [record]).rows
    assert {cell.text for cell in row if isinstance(cell, Cell) and cell.tone == "bad"} >= (
        {"missed"} if missed else set()
    )


def test_a_table_has_the_columns_of_all_records() -> None:
    other = Record(
        {"data": "letter"}, {"note": Cell("50 %", "warn"), "parts": (1, 2.5), "none": None}
    )
    shown = record_table("title", [RECORD, other], "a note")
    assert shown.columns == ("data", "C", "ratio", "gap", "note", "parts", "none", "target", "")
    assert shown.rows[1][:7] == ("letter", "", "", "", Cell("50 %", "warn"), "1 / 2.5", "-")
    assert "data" not in shown.numeric >= {"C", "ratio", "parts"}
    assert other.reached
    assert other["parts"] == (1, 2.5)


def test_a_section_may_show_its_lowest_records_alone_and_an_empty_document_is_no_success() -> None:
    many = [dataclasses.replace(RECORD, figures={"ratio": 20.0 - i, "gap": 0.0}) for i in range(15)]
    found = document("title", SECTIONS, {"training": many, "empty": []}, pictures=["a.png"])
    assert [row[2] for row in found.blocks[0].rows] == [f"{6.0 + i:g}" for i in range(12)]  # type: ignore[union-attr]
    assert len(found.data["training"]) == 15
    assert found.data["pictures"] == ["a.png"]
    assert document("title", SECTIONS, {"training": []}).ok is False


def test_rows_are_printed_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    stream([RECORD, RECORD])
    assert capsys.readouterr().out.splitlines() == [
        "| data | C | ratio | gap |",
        "|---|---|---|---|",
        *2 * ["| digits | 0.1 | 3 | 1.000e-06 |"],
    ]


def test_ratios_are_those_of_pairs_not_of_medians() -> None:
    assert median_ratio([1.0, 20.0, 3.0], [1.0, 10.0, 1.0]) == 2.0


def test_races_take_turns_by_the_clock_that_is_given() -> None:
    calls: list[str] = []
    now = iter([0.0, 1.0, 1.0, 3.0, 3.0, 4.0, 4.0, 8.0, 8.0, 9.0, 9.0, 12.0])
    found = race(
        lambda: calls.append("a"), lambda: calls.append("b") or len(calls), 3, now.__next__
    )
    assert calls == ["a", "b"] * 3
    assert (found.seconds, found.peer_seconds, found.ratio) == (1.0, 3.0, 3.0)
    assert (found.ours, found.theirs) == (None, 6)


def test_short_runs_are_repeated_until_the_clock_can_tell() -> None:
    clock, calls = [0.0], {"a": 0, "b": 0}

    def run(name: str, seconds: float) -> None:
        clock[0] += seconds
        calls[name] += 1

    found = race(lambda: run("a", 0.25), lambda: run("b", 1.0), 2, lambda: clock[0], tick=1.0)
    assert calls == {"a": 1 + 2 * 4, "b": 1 + 2}
    assert (found.seconds, found.ratio) == (0.25, 4.0)


def test_one_thread_limits_both_pools_and_gives_them_back() -> None:
    before = numba.get_num_threads()
    with one_thread():
        assert numba.get_num_threads() == 1
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        assert {pool["num_threads"] for pool in pools} <= {1}
    assert numba.get_num_threads() == before
