import json
import math
import os
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.external import wire

PATTERNS = st.integers(min_value=0, max_value=2**64 - 1)
SPECIAL = [-0.0, 0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1]
SPECIAL += [math.inf, -math.inf, math.nan]


def bits(value):
    return "nan" if math.isnan(value) else struct.pack("<d", value)


def across(message):
    return wire.loads(wire.dumps(message))


@given(st.lists(PATTERNS, max_size=20), st.booleans())
def test_no_bit_of_a_double_is_lost(patterns, hexadecimal):
    values = [struct.unpack("<d", struct.pack("<Q", p))[0] for p in patterns] + SPECIAL
    sent = across({"x": wire.array(np.array(values), hexadecimal)})["x"]
    back = wire.decode(sent, "x")
    assert [bits(v) for v in back.tolist()] == [bits(v) for v in values]
    for value in values:
        again = wire.read(across({"r": wire.scalar(value, hexadecimal)})["r"], "r")
        assert bits(again) == bits(value)


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=20))
def test_single_precision_keeps_its_dtype_and_bits(patterns):
    values = np.array(patterns, dtype=np.uint32).view(np.float32)
    back = wire.decode(across({"x": wire.array(values)})["x"], "x")
    assert back.dtype == np.float32
    same = (back.view(np.uint32) == values.view(np.uint32)) | (np.isnan(back) & np.isnan(values))
    assert same.all()


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint64", "bool", "float32"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (0, 4), (2, 1, 3)])
def test_arrays_keep_dtype_and_shape(dtype, shape):
    value = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    back = wire.decode(across({"x": wire.array(value)})["x"], "x")
    assert back.dtype == value.dtype
    assert back.shape == value.shape
    assert np.array_equal(back, value)


def test_a_line_is_valid_json_for_any_parser():
    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    line = wire.dumps({"x": wire.array(np.array(SPECIAL)), "r": wire.scalar(np.float64(np.inf))})
    assert line.count(b"\n") == 1
    message = json.loads(line, parse_constant=refuse)
    assert message["r"] == "inf"
    assert message["x"]["values"][-3:] == ["inf", "-inf", "nan"]


@pytest.mark.parametrize(
    ("value", "shape"),
    [(1.5, ()), ([1, 2], (2,)), ([[1], [2]], (2, 1)), ([], (0,)), ([[], []], (2, 0)), ("inf", ())],
)
def test_answers_may_be_numbers_and_lists(value, shape):
    assert wire.decode(value, "x").shape == shape
    assert wire.decode(value, "x").dtype == np.float64


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["1.5"], "not quoted"),
        ("0x", "not quoted"),
        ([None], "infinities are written"),
        (None, "null where a number"),
        (True, "true where a number"),
        ([1.0, False], "false where a number"),
        ([10**400], "no double"),
        ("0x1p99999", "no double"),
        ([[1], [1, 2]], "unequal lengths"),
        ([[1], 2], "unequal lengths"),
        ({}, "no values"),
        ({"values": [1, 2], "shape": [3]}, "not of shape"),
        ({"values": [1], "shape": [-1]}, "list of lengths"),
        ({"values": [1], "shape": "x"}, "list of lengths"),
        ({"values": [1], "dtype": "object"}, "dtype"),
        ({"values": [1], "dtype": ["float64"]}, "dtype"),
        ({"values": [1.5], "dtype": "int64"}, "int64"),
        ({"values": [300], "dtype": "int8"}, "int8"),
        ({"npz": "nowhere.npz"}, "No such file"),
        ({"npz": os.devnull}, "need not end"),
        ({"npz": "a\0b"}, "no file|no array"),
        (json.loads("[" * 65 + "1" + "]" * 65), "which numpy lacks"),
        ({"values": [], "shape": [0, 2**63]}, "which numpy lacks"),
    ],
)
def test_what_is_no_array_is_named(value, message):
    with pytest.raises(wire.MalformedError, match=message):
        wire.decode(value, "x")


@pytest.mark.parametrize("line", [b"{", b"[1]", b"nonsense", b"\xff{}", b"1", b"[" * 100_000])
def test_what_is_no_message_is_refused(line):
    with pytest.raises(wire.MalformedError):
        wire.loads(line)


def test_files_hold_arrays_and_nothing_else(tmp_path):
    value = np.array([[0.1, -0.0], [np.nan, 5e-324]])
    sent = across(wire.stored(value, tmp_path / "a.npz", "a"))
    assert wire.decode(sent, "a").tobytes() == value.tobytes()
    assert wire.decode({"npz": "a.npz", "key": "a"}, "a", tmp_path).tobytes() == value.tobytes()
    with pytest.raises(wire.MalformedError, match="no array 'b'"):
        wire.decode({"npz": "a.npz", "key": "b"}, "a", tmp_path)
    np.savez(tmp_path / "objects.npz", a=np.array([None]))
    with pytest.raises(wire.MalformedError, match="no array"):
        wire.decode({"npz": "objects.npz", "key": "a"}, "a", tmp_path)
    np.savez(tmp_path / "words.npz", a=np.array(["x"]))
    with pytest.raises(wire.MalformedError, match="expected numbers"):
        wire.decode({"npz": "words.npz", "key": "a"}, "a", tmp_path)


def test_a_file_that_unfolds_without_end_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(wire, "LARGEST_FILE", 1000)
    np.savez_compressed(tmp_path / "zeros.npz", a=np.zeros(10_000))
    with pytest.raises(wire.MalformedError, match="unfolds"):
        wire.decode({"npz": "zeros.npz", "key": "a"}, "a", tmp_path)
