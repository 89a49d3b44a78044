"""Reading data files: what is in them comes back; spoilt ones are refused in our own words, with their place, and no
size is believed that a file claims.
"""

import io
import os
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import savemat
from scipy.sparse import issparse

from verification.app.io import read_examples
from verification.errors import DataFileError, VerificationError

X, Y = np.arange(12.0).reshape(4, 3), np.array([0, 1, 0, 1])


def packed(members: dict[str, bytes], pack: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", pack) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def saved(save: Callable[..., None] = np.savez, **arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    save(stream, **({"X": X, "y": Y} | arrays))
    return stream.getvalue()


def savemat_of(stream: io.BytesIO, **arrays: np.ndarray) -> None:
    savemat(stream, {name: value for name, value in arrays.items() if len(value)})


def claiming(shape: str, descr: str = "'<f8'") -> bytes:
    """An archive whose X has a header of one's own, and 96 bytes."""
    head = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    data = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + X.tobytes()
    return packed({"X.npy": data, "y.npy": npy(Y)})


def other_crc(data: bytes) -> bytes:
    spoilt = bytearray(data)
    spoilt[data.find(b"PK\x01\x02") + 16] ^= 1
    return bytes(spoilt)


def claimed_size(data: bytes) -> bytes:
    """Its directory, too, says that X has 7 TiB."""
    spoilt = bytearray(data)
    at = data.find(b"PK\x01\x02")
    spoilt[at + 24 : at + 28] = b"\xf0\xff\xff\xff"
    return bytes(spoilt)


SPOILT = {
    "label beyond int64": ("csv", b"1,2,0\n3,4,99999999999999999999\n", "line 2: the label 9999"),
    "label of 2**53": ("svm", b"1 1:1\n9007199254740993 1:1\n", "example 2: the label 9007199254740992 is"),
    "label that is a gap": ("csv", b"1,2,a\n3,4,N/A\n", "line 2: the label is 'N/A'"),
    "label with NUL": ("csv", b"1,2,0\n3,4,9223372036854775808\x00\n", "line 2: the label is '92"),
    "stray quote": ("csv", b'1,2,0\n"3,4,1\n5,6,0\n', "row that starts in line 2: .* stray quote"),
    "quote in a quoted field": ("csv", b'1,2,0\n"3"x,4,1\n', "starts in line 2: ',' expected"),
    "131 073 characters": ("csv", b"1,2,0\n3,4," + b"x" * 131_073, "line 2: .*13107[23] char"),
    "label of 100 000 characters": ("csv", b"1,0\n2," + b"x" * 100_000, "line 2: .* of 100000"),
    "semicolons": ("csv", b"1,5;2,5;0\n3;4;1\n", "line 2: .*no semicolons"),
    "UTF-16": ("csv", "1,2,0\n".encode("utf-16"), "not UTF-8 text"),
    "NUL": ("csv", b"1,2,0\n\x00,4,1\n", "line 2"),
    "label nan": ("csv", b"1,2,a\n3,4,nan\n", "line 2: the label is 'nan'"),
    "label NaN among numbers": ("csv", b"1,2,0\n3,4,NaN\n", "line 2: the label is 'NaN'"),
    "label missing": ("csv", b"1,2,a\n3,4,\n", "line 2: the label is ''"),
    "feature nan": ("csv", b"1,2,0\n3,nan,1\n", "line 2, column 1: the value is missing"),
    "continuous": ("csv", b"1,2,0.5\n3,4,1\n", "line 1: the label is 0.5; .* measurements"),
    "hundreds of numbers": (
        "csv", b"".join(b"1,%d\n" % i for i in range(300)), "300 different numbers",
    ),
    "line of csv after blank and folded lines": ("csv", b'1,"a\nb"\n\n2,c\nx,d\n', "line 5, col"),
    "empty": ("csv", b"", "empty"),
    "more fields": ("csv", b"1,2\n1,2,3\n", "line 2: 3 fields"),
    "one column": ("csv", b"1\n2\n", "one column"),
    "a header alone": ("csv", b"a,b\n", "no examples"),
    "text for a number": ("csv", b"a,b,c\n1,x,3\n", "line 2, column 'b': expected a number, got 'x'"),
    "a gap": ("csv", b"1,2,0\n1,,1\n", "line 2, column 1: the value is missing"),
    "no text at all": ("csv", bytes(range(128, 256)), "UTF-8"),
    "no y": ("npz", packed({"X.npy": npy(X)}), r"lacks the array\(s\) \['y'\]; it holds \['X'\]"),
    "y too short": ("npz", saved(y=np.zeros(3)), r"got \(4, 3\) and \(3,\)"),
    "X a vector": ("npz", saved(X=np.zeros(4)), r"expected X \(n, d\)"),
    "X of text": ("npz", saved(X=np.array([["a"]] * 4)), "real numbers"),
    "no svm": ("svm", b"a b c\n", "not in svmlight format"),
    "empty svm": ("svm", b"", "no examples|svmlight format"),
    "no mat": ("mat", b"x" * 500, "not a readable .mat file"),
    "no mat of 7.3": (
        "mat", b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(400),
        "not a readable .mat file|pip install h5py",
    ),
    "mat without y": ("mat", saved(savemat_of, y=()), r"lacks the array\(s\) \['y'\]"),
    "truncated": ("npz", saved()[:-30], "not a readable .npz"),
    "truncated within": ("npz", saved()[:100], "not a readable .npz"),
    "wrong CRC": ("npz", other_crc(saved()), "CRC"),
    "wrong CRC, packed": ("npz", other_crc(saved(np.savez_compressed)), "CRC"),
    "empty npz": ("npz", b"", "it is empty"),
    "npy named npz": ("npz", npy(X), "one array .* under the name of an archive"),
    "7 TiB": ("npz", claiming("(1000000000000, 1)"), r"array X claims shape .* 8000000000000 bytes"),
    "7 TiB, also said outside": (
        "npz", claimed_size(claiming("(536870868, 1)")), "array X claims shape",
    ),
    "negative": ("npz", claiming("(-4, -3)"), "array X claims shape"),
    "wide": ("npz", claiming("(4, 3)", "'<U99999999'"), "array X claims shape"),
    "nothing many times": ("npz", claiming("(10**18, 4)".replace("10**18", "9" * 18), "'<U0'"), "dtype"),
    "header of brackets": ("npz", claiming("(" * 4000), "not a readable .npz"),
    "objects": ("npz", saved(X=np.array([[None]])), "plain arrays"),
    "records": ("npz", saved(X=np.zeros(4, "f8,i4")), "plain arrays"),
    "no examples": ("npz", saved(X=np.zeros((0, 3)), y=np.zeros(0)), "at least 1"),
    "packed otherwise": ("npz", packed({"X.npy": npy(X), "y.npy": npy(Y)}, zipfile.ZIP_BZIP2), "pack"),
    "y nan": ("npz", saved(y=np.array([0, 1, np.nan, 1])), r"y\[2\]: the label is nan"),
    "y continuous": ("npz", saved(y=np.array([0, 1, 0.25, 1])), r"y\[2\]: the label is 0.25"),
    "y beyond": ("npz", saved(y=np.array([0, 1, 2**64 - 1, 1], np.uint64)), "18446744073709551615"),
    "y no text": ("npz", saved(y=np.frombuffer(b"\xff" * 16, "<U1")), "no text"),
    "y bytes": ("npz", saved(y=np.array([b"\xff"] * 4)), r"np.char.decode"),
    "X inf": ("npz", saved(X=np.where(X == 4, np.inf, X)), r"X\[1, 1\]: the feature is inf"),
    "index 2**31": ("svm", b"1 1:1\n0 2147483648:1\n", "line 2: not in svmlight format: value too"),
    "index 2**63": ("svm", b"1 1:1\n0 1:1\n0 9223372036854775808:1\n", "line 3: .* too large"),
    "index 2**31 - 1": ("svm", b"1 1:1\n0 2147483647:1\n", "example 2, feature 2147483647"),
    "not sorted": ("svm", b"1 1:1\n" * 9 + b"0 3:1 2:1\n" + b"1 1:1\n" * 9, "line 10: .* sorted"),
    "svm nan": ("svm", b"1 1:1\nnan 1:1\n", "example 2: the label is nan"),
    "svm continuous": ("svm", b"1 1:1\n1.5 1:1\n", "example 2: the label is 1.5"),
    "svm inf": ("svm", b"1 1:1\n0 1:1 3:inf\n", "example 2, feature 3: the feature is inf"),
}  # fmt: skip


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """What the reader of svm files imports is nothing that a file makes it take."""
    path = tmp_path_factory.mktemp("good") / "a.svm"
    path.write_bytes(b"1 1:1\n0 1:2\n")
    read_examples(path)


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize("case", SPOILT)
def test_spoilt_files_are_refused_with_their_place(case: str, tmp_path: Path) -> None:
    suffix, data, words = SPOILT[case]
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(DataFileError, match=words) as info:
            read_examples(path)
        assert tracemalloc.get_traced_memory()[1] < 50 * len(data) + 2e7
    finally:
        tracemalloc.stop()
    assert str(path) in str(info.value)


def test_whole_numbers_are_integers_however_they_are_written(tmp_path: Path) -> None:
    for name, data in {
        "a.csv": b"1,0.0\n2,+1\n",
        "a.npz": saved(X=X[:2], y=np.array([0.0, 1.0])),
        "a.svm": b"0.0 1:1\n1 1:2\n",
    }.items():
        (tmp_path / name).write_bytes(data)
        y = read_examples(tmp_path / name)[1]
        assert y.dtype.kind == "i", name
        assert y.tolist() == [0, 1]


def test_many_classes_are_read_where_each_has_its_examples_or_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("".join(f"1,{i % 150}\n" for i in range(300)))
    assert len(set(read_examples(path)[1])) == 150
    path.write_text("".join(f"1,c{i}\n" for i in range(300)))
    assert len(set(read_examples(path)[1])) == 300


@pytest.mark.parametrize("name", ["a.csv", "a.npz", "a.svm"])
def test_what_may_not_be_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(DataFileError, match="an empty folder"):
        read_examples(tmp_path / name)
    (tmp_path / f"zero{name}").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / f"pipe{name}")
    for endless in ("zero", "pipe"):
        with pytest.raises(DataFileError, match="need not end"):
            read_examples(tmp_path / f"{endless}{name}")
    with pytest.raises(DataFileError, match="File name too long"):
        read_examples(tmp_path / ("x" * 300 + name))


#: Files, the label that is asked for, and what is in them.
GOOD = {
    "no header": ("csv", b"1,2.5,0\n-3,4e2,1\n", None, [[1, 2.5], [-3, 400]], [0, 1]),
    "by name": ("csv", b"u,kind,v\n1,cat,2\n3,dog,4\n", "kind", [[1, 2], [3, 4]], ["cat", "dog"]),
    "by position": ("csv", b"u,kind,v\n1,cat,2\n3,dog,4\n", "1", [[1, 2], [3, 4]], ["cat", "dog"]),
    "from the end": ("csv", b"u,kind,v\n1,cat,2\n3,dog,4\n", "-2", [[1, 2], [3, 4]], ["cat", "dog"]),
    "byte order mark, quotes, blank lines": (
        "csv", b'\xef\xbb\xbf"a","b"\r\n\r\n"1","x, y"\r\n2,z\r\n', None, [[1], [2]], ["x, y", "z"],
    ),
    "npz": ("npz", saved(X=np.eye(2, dtype=np.float32), y=[2, 0]), None, np.eye(2), [2, 0]),
    "another array": ("npz", saved(X=np.eye(2), other=[0, 5]), "other", np.eye(2), [0, 5]),
    "svm": ("svm", b"3 2:1.5\n7 1:2\n", None, [[0, 1.5, 0], [2, 0, 0]], [3, 7]),
}  # fmt: skip


@pytest.mark.parametrize("case", GOOD)
def test_what_is_in_a_file_comes_back(case: str, tmp_path: Path) -> None:
    suffix, data, label, features, labels = GOOD[case]
    (tmp_path / f"a.{suffix}").write_bytes(data)
    X, y = read_examples(tmp_path / f"a.{suffix}", label, n_features=3 if suffix == "svm" else None)
    assert issparse(X) == (suffix == "svm")
    np.testing.assert_array_equal(X.toarray() if issparse(X) else X, features)
    assert y.tolist() == labels


@pytest.mark.parametrize(
    ("name", "label", "words"),
    [
        ("a.csv", "kind", "no column 'kind'"),
        ("a.csv", "3", "no column 3"),
        ("b.csv", "b", "no column 'b'"),
        ("a.svm", "y", "--label does not apply"),
        ("a.xls", None, r"suffix '.xls' is not one of .csv"),
        ("none.csv", None, "No such file"),
    ],
)
def test_what_is_not_there_is_named(
    name: str, label: str | None, words: str, tmp_path: Path
) -> None:
    for there, text in (
        ("a.csv", "1,2,0\n"), ("b.csv", "a,2,0\n3,4,1\n"), ("a.svm", "1 1:1\n"), ("a.xls", "1,2"),
    ):  # fmt: skip
        (tmp_path / there).write_text(text)
    with pytest.raises(DataFileError, match=words):
        read_examples(tmp_path / name, label)


@given(st.text(max_size=60), st.one_of(st.none(), st.text(max_size=3)))
def test_any_csv_is_read_or_refused_by_our_own_error(
    tmp_path_factory: pytest.TempPathFactory, text: str, label: str | None
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text(text, encoding="utf-8", errors="replace")
    try:
        X, y = read_examples(path, label)
    except VerificationError:
        return
    assert X.ndim == 2
    assert X.shape[0] == len(y) >= 1
