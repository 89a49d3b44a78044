"""Reading data files: what is in them comes back, and every complaint says where and what to do."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import issparse
from sklearn.datasets import dump_svmlight_file

from verification.app.io import read_examples
from verification.errors import DataFileError, VerificationError


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_without_header_takes_the_last_column(tmp_path: Path) -> None:
    X, y = read_examples(write(tmp_path / "a.csv", "1,2.5,0\n-3,4e2,1\n"))
    np.testing.assert_array_equal(X, [[1, 2.5], [-3, 400]])
    np.testing.assert_array_equal(y, [0, 1])
    assert y.dtype.kind == "i"


@pytest.mark.parametrize("label", ["kind", "1", "-2"])
def test_csv_label_by_name_and_position(tmp_path: Path, label: str) -> None:
    X, y = read_examples(write(tmp_path / "a.csv", "u,kind,v\n1,cat,2\n3,dog,4\n"), label)
    np.testing.assert_array_equal(X, [[1, 2], [3, 4]])
    assert y.tolist() == ["cat", "dog"]


def test_csv_with_byte_order_mark_quotes_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbf"a","b"\r\n\r\n"1","x, y"\r\n2,z\r\n')
    X, y = read_examples(path)
    np.testing.assert_array_equal(X, [[1], [2]])
    assert y.tolist() == ["x, y", "z"]


@pytest.mark.parametrize(
    ("text", "label", "words"),
    [
        ("", None, "empty"),
        ("1,2\n1,2,3\n", None, "line 2: 3 fields"),
        ("1\n2\n", None, "one column"),
        ("a,b\n", None, "no examples"),
        ("a,b,c\n1,x,3\n", None, r"line 2, column 'b': expected a number, got 'x'"),
        ("1,2,0\n1,,1\n", None, "line 2, column 1: the value is missing"),
        ("1,2,0\n", "kind", "no column 'kind'"),
        ("1,2,0\n", "3", "no column 3"),
        ("a,2,0\n3,4,1\n", "b", "no column 'b'"),
    ],
)
def test_csv_complaints(tmp_path: Path, text: str, label: str | None, words: str) -> None:
    with pytest.raises(DataFileError, match=words) as info:
        read_examples(write(tmp_path / "a.csv", text), label)
    assert "a.csv" in str(info.value)


def test_binary_garbage_is_no_csv(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(bytes(range(128, 256)))
    with pytest.raises(DataFileError, match="UTF-8"):
        read_examples(tmp_path / "a.csv")


@given(st.text(max_size=60), st.one_of(st.none(), st.text(max_size=3)))
def test_any_csv_is_read_or_refused_by_our_own_error(text: str, label: str | None) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_text(text, encoding="utf-8", errors="replace")
        try:
            X, y = read_examples(path, label)
        except VerificationError:
            return
    assert X.ndim == 2
    assert X.shape[0] == len(y) >= 1


def test_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=np.eye(3, dtype=np.float32), y=[2, 0, 1], other=[0, 0, 1])
    X, y = read_examples(tmp_path / "a.npz")
    np.testing.assert_array_equal(X, np.eye(3))
    np.testing.assert_array_equal(y, [2, 0, 1])
    np.testing.assert_array_equal(read_examples(tmp_path / "a.npz", "other")[1], [0, 0, 1])


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X": np.eye(2)}, r"lacks the array\(s\) \['y'\]; it holds \['X'\]"),
        ({"X": np.eye(2), "y": np.zeros(3)}, r"got \(2, 2\) and \(3,\)"),
        ({"X": np.zeros(2), "y": np.zeros(2)}, r"expected X \(n, d\)"),
        ({"X": np.array([["a"]]), "y": np.zeros(1)}, "real numbers"),
        ({"X": np.array([[None]], dtype=object), "y": np.zeros(1)}, "plain arrays"),
    ],
)
def test_npz_complaints(tmp_path: Path, arrays: dict[str, np.ndarray], words: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DataFileError, match=words):
        read_examples(tmp_path / "a.npz")


def test_svm_stays_sparse(tmp_path: Path) -> None:
    dense = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0]])
    dump_svmlight_file(dense, [3, 7], str(tmp_path / "a.svm"))
    X, y = read_examples(tmp_path / "a.svm", n_features=5)
    assert issparse(X)
    assert X.shape == (2, 5)
    np.testing.assert_array_equal(X.toarray().sum(axis=0), [2.0, 1.5, 0, 0, 0])
    assert y.tolist() == [3, 7]


@pytest.mark.parametrize(
    ("text", "words"), [("a b c\n", "not in svmlight format"), ("", "no examples|svmlight format")]
)
def test_svm_complaints(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(DataFileError, match=words):
        read_examples(write(tmp_path / "a.svm", text))
    with pytest.raises(DataFileError, match="--label does not apply"):
        read_examples(write(tmp_path / "b.svm", "1 1:1\n"), "y")


def test_unknown_suffix_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"suffix '.xls' is not one of .csv"):
        read_examples(write(tmp_path / "a.xls", "1,2"))
    with pytest.raises(DataFileError, match="No such file"):
        read_examples(tmp_path / "none.csv")
