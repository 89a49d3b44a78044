"""Sources of rows: what is read is what is stored, and what is wrong is refused with file, row and fix."""

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from fast.data import Source, examine, fingerprint, groups_ahead, npy, rows
from fast.data.constant import with_ones
from fast.errors import InvalidParameterError, InvalidTypeError, UnreadableError

rng = np.random.default_rng(5)
X32 = rng.normal(size=(203, 7)).astype(np.float32)


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npy, "GROUP", 600)
    monkeypatch.setattr(npy, "PIECE", 64)


def saved(folder: Path, array: Any, name: str = "X.npy") -> str:
    np.save(folder / name, array)
    return str(folder / name)


def lists(X: np.ndarray, fixed: bool = True) -> Any:
    flat = pa.array(X.ravel())
    if fixed:
        return pa.FixedSizeListArray.from_arrays(flat, X.shape[1])
    return pa.ListArray.from_arrays(np.arange(len(X) + 1, dtype=np.int32) * X.shape[1], flat)


def written(folder: Path, name: str = "X.parquet", **columns: Any) -> str:
    pq.write_table(pa.table(columns), folder / name, row_group_size=50)
    return str(folder / name)


def wide(X: np.ndarray) -> dict[str, Any]:
    return {f"f{j}": column for j, column in enumerate(X.T)}


def check_rows(source: Source, X: np.ndarray) -> None:
    """Any slice is that of X; groups follow one another; blocks are what they promise to be."""
    assert source.shape == X.shape
    assert source.dtype in (np.float32, np.float64)
    ends = [0, *(group.stop for group in source.groups)]
    assert [group.start for group in source.groups] == ends[:-1]
    assert ends[-1] == len(X)
    X = X.astype(source.dtype)
    for group in source.groups:
        block = source.read(group)
        assert block.dtype == source.dtype
        assert block.flags.c_contiguous
        np.testing.assert_array_equal(block, X[group])
    assert source.read(slice(0, 0)).shape == (0, X.shape[1])
    for first, last in np.sort(rng.integers(0, len(X) + 1, (20, 2))):
        np.testing.assert_array_equal(source[first:last], X[first:last])
    found = [(group, block) for group, block in groups_ahead(pickle.loads(pickle.dumps(source)))]
    assert [group for group, _ in found] == list(source.groups)
    np.testing.assert_array_equal(np.concatenate([block for _, block in found]), X)


# ---- .npy -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_npy_files_and_maps_give_their_rows(tmp_path: Path, dtype: str, version: Any) -> None:
    X = X32.astype(dtype)
    X[3, :4] = [6e-8, -0.0, 3e-5, 1.0]  # float16: subnormal
    path = tmp_path / "X.npy"
    with path.open("wb") as file:
        np.lib.format.write_array(file, X, version)
    source = rows(path)
    assert len(source.groups) > 3
    check_rows(source, X)
    mapped = np.load(path, mmap_mode="r")
    check_rows(rows(mapped), X)
    check_rows(rows(mapped[10:150][5:]), X[15:150])
    assert rows(mapped[:, :]).name == str(path)
    raw = np.memmap(path, dtype, "r", offset=path.stat().st_size - 70 * X.itemsize, shape=(10, 7))
    check_rows(rows(raw), X[-10:])


def test_every_float16_is_widened_exactly(tmp_path: Path) -> None:
    X = np.arange(65536, dtype=np.uint16).view(np.float16).reshape(-1, 4)
    read = rows(saved(tmp_path, X))[0 : len(X)]
    np.testing.assert_array_equal(read.view(np.uint32), X.astype(np.float32).view(np.uint32))


def test_empty_arrays_have_no_groups(tmp_path: Path) -> None:
    source = rows(saved(tmp_path, X32[:0]))
    assert (source.shape, source.groups, source[0:0].shape) == ((0, 7), (), (0, 7))
    assert list(groups_ahead(source)) == []
    assert examine(source).largest == 0.0


def test_npy_files_that_are_something_else_are_refused(tmp_path: Path) -> None:
    whole = saved(tmp_path, X32)
    data = Path(whole).read_bytes()
    short, text, header = (str(tmp_path / name) for name in ("s.npy", "t.npy", "h.npy"))
    Path(short).write_bytes(data[:-9])
    Path(text).write_text("0.5,0.25\n")
    Path(header).write_bytes(data[:40])
    new = np.zeros(3, dtype=[("\u03b3", "f4")])  # a header of version 3
    with pytest.warns(UserWarning, match=r"format 3\.0"):
        third = saved(tmp_path, new, "third.npy")
    pipe = str(tmp_path / "pipe.npy")
    os.mkfifo(pipe)
    for path, words in {
        short: "5803 bytes, where its header says 5812: it is truncated",
        text: "magic string",
        header: "array header",
        third: r"format 3\.0",
        pipe: "a folder or a device",
        str(tmp_path / "absent.npy"): "No such file",
        saved(tmp_path, np.asfortranarray(X32), "f.npy"): "Fortran order.*copy",
        saved(tmp_path, X32.astype(">f4"), "big.npy"): "dtype >f4",
        saved(tmp_path, X32.astype(complex), "complex.npy"): "dtype complex128",
        saved(tmp_path, X32[0], "one.npy"): r"shape \(7,\)",
        saved(tmp_path, X32[:, :0], "none.npy"): r"shape \(203, 0\)",
        saved(tmp_path, np.array([[None]]), "object.npy"): "dtype object",
    }.items():
        with pytest.raises(InvalidParameterError, match=words) as error:
            rows(path)
        assert path in str(error.value)
        assert "Fix: " in str(error.value)
    with pytest.raises(InvalidTypeError):
        rows(str(tmp_path / "complex.npy"))
    mapped = np.load(whole, mmap_mode="r")
    for odd in (mapped[::2], mapped[:, 1:], np.load(whole, mmap_mode="c")):
        with pytest.raises(InvalidParameterError, match="mode='r'"):
            rows(odd)
    with pytest.raises(InvalidParameterError, match="for files that have names"):
        rows(whole, label="y")


@contextmanager
def without_rights() -> Iterator[None]:
    """As nobody, where we are root: root may read everything."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.mark.parametrize("form", ["npy", "parquet"])
def test_files_that_change_or_vanish_after_they_were_opened(tmp_path: Path, form: str) -> None:
    path = saved(tmp_path, X32) if form == "npy" else written(tmp_path, x=lists(X32))
    source = rows(path)
    os.utime(path, ns=(1, 1))
    with pytest.raises(UnreadableError, match="changed since it was opened"):
        source.read(source.groups[1])
    source = rows(path)
    os.chmod(path, 0)
    with without_rights(), pytest.raises(UnreadableError, match=r"Permission denied.*permissions"):
        source.read(source.groups[1])
    os.remove(path)
    with pytest.raises(UnreadableError, match="No such file") as error:
        list(groups_ahead(source))
    assert isinstance(error.value, OSError)
    assert isinstance(pickle.loads(pickle.dumps(error.value)), UnreadableError)


def test_memory_holds_the_groups_in_use_and_no_more(tmp_path: Path) -> None:
    np.lib.format.open_memmap(
        tmp_path / "X.npy", "w+", np.float32, (1 << 21, 64)
    ).flush()  # 512 MB, none on disk
    code = f"""if True:
        from fast.data import rows, groups_ahead
        most = lambda: int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
        source = rows({str(tmp_path / "X.npy")!r})
        before = most()
        for rows, block in groups_ahead(source):
            del block
            if rows.start > 1 << 20:
                break
        print(most() - before)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 90_000  # kB, of the 256 MB that are read


# ---- Parquet --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2", "i8"])
def test_parquet_gives_lists_and_columns(tmp_path: Path, dtype: str) -> None:
    X = (8 * X32).astype(dtype)
    for i, columns in enumerate(({"x": lists(X)}, {"x": lists(X, False)}, wide(X))):
        source = rows(written(tmp_path, f"{i}.parquet", **columns))
        assert source.dtype == (np.float64 if dtype in ("f8", "i8") else np.float32)
        assert len(source.groups) == 5
        check_rows(source, X)


def test_parquet_labels_and_features_are_named(tmp_path: Path) -> None:
    y = rng.integers(0, 5, len(X32))
    texts = [f"class {i}" for i in y]
    path = written(tmp_path, y=y, x=lists(X32), name_of=texts)
    source = rows(path, label="y", features="x")
    check_rows(source, X32)
    np.testing.assert_array_equal(source.labels, y)
    assert rows(path, label="name_of", features="x").labels.tolist() == texts  # type: ignore[union-attr]
    path = written(tmp_path, "wide.parquet", **wide(X32), y=y)
    check_rows(rows(path, label="y"), X32)
    check_rows(rows(path, features=["f3", "f1"]), X32[:, [3, 1]])
    assert rows(path).shape == (203, 8)


def test_parquet_that_is_something_else_is_refused(tmp_path: Path) -> None:
    rugged = X32.tolist()
    rugged[120] = rugged[120][:3]
    holes, absent = X32.tolist(), X32.tolist()
    holes[77][2] = None
    absent[201] = None
    column: list[Any] = X32[:, 0].tolist()
    column[58] = None
    texts = ["a"] * len(X32)
    cut = written(tmp_path, "cut.parquet", x=lists(X32))
    Path(cut).write_bytes(Path(cut).read_bytes()[:900])
    middle = written(tmp_path, "middle.parquet", x=lists(X32))
    data = bytearray(Path(middle).read_bytes())
    data[4:400] = bytes(396)
    Path(middle).write_bytes(data)
    for i, (path, given, words) in enumerate(
        [
            (cut, {}, "not readable as Parquet"),
            (middle, {}, "middle"),
            (None, {"x": rugged}, "row 120, column 'x': 3 entries, not 7"),
            (None, {"x": holes}, "row 77, column 'x': a null in its list"),
            (None, {"x": absent}, "row 201, column 'x': null"),
            (None, {"x": [[], [1.0]]}, "row 0, column 'x': no entries"),
            (None, {"a": X32[:, 1], "b": column}, "row 58, column 'b': null"),
            (None, {"a": X32[:, 1], "t": texts}, "column 't' of type string.*features="),
            (None, {"x": lists(X32), "b": column}, "column 'x' of type fixed_size_list"),
            (None, {"x": [["a"]]}, "column 'x' of type string"),
        ]
    ):
        path = path or written(tmp_path, f"{i}.parquet", **given)
        with pytest.raises(InvalidParameterError, match=words) as error:
            list(groups_ahead(rows(path)))
        assert path in str(error.value)
    source = rows(written(tmp_path, x=lists(X32)))
    source.groups = (slice(0, 60), slice(60, 203))  # as spoilt metadata may say
    with pytest.raises(InvalidParameterError, match="group 0 of 50 rows, not 60"):
        source.read(slice(0, 10))
    path = written(tmp_path, x=lists(X32), y=column, z=lists(X32))
    for label, features, words in (
        ("q", None, "no column 'q'; expected one of x, y, z"),
        ("y", "q", "no column 'q'"),
        ("y", "x", "row 58, column 'y': null"),
        ("z", "x", "column 'z' of type"),
        (None, [], "no features"),
        (None, ["x", "x"], "every column once"),
    ):
        with pytest.raises(InvalidParameterError, match=words):
            rows(path, label=label, features=features)


# ---- several files, Dask ----------------------------------------------------------------------------


def test_shards_follow_one_another(tmp_path: Path) -> None:
    y = np.arange(203)
    shards: list[Any] = [saved(tmp_path, X32[:60].astype(np.float16), "0.npy")]
    shards += [Path(saved(tmp_path, X32[60:60], "1.npy")), saved(tmp_path, X32[60:90], "2.npy")]
    shards += [rows(X32[90:150]), written(tmp_path, x=lists(X32[150:]))]
    X = np.concatenate([X32[:60].astype(np.float16), X32[60:]])
    source = rows(shards)
    assert source.labels is None
    assert [source.place(i) for i in (0, 61, 202)] == [
        (shards[0], 0),
        (shards[2], 1),
        (shards[4], 52),
    ]
    assert with_ones(source).place(61) == (shards[2], 1)
    check_rows(source, X)
    parts = [
        written(tmp_path, f"{i}.parquet", **wide(X32[part]), y=y[part])
        for i, part in enumerate((slice(0, 101), slice(101, 203)))
    ]
    source = rows(parts, label="y")
    check_rows(source, X32)
    np.testing.assert_array_equal(source.labels, y)
    with pytest.raises(InvalidParameterError, match=r"n\.npy: 3 features, where .*0\.npy has 7"):
        rows([shards[0], saved(tmp_path, X32[:, :3], "n.npy")])
    with pytest.raises(InvalidParameterError, match="labels in some of the files only"):
        rows([rows(parts[0], label="y"), rows(X32)])
    with pytest.raises(InvalidParameterError, match="an empty list"):
        rows([])
    one, turned = (
        written(tmp_path, f"{name}.parquet", **dict(columns))
        for name, columns in (("one", wide(X32).items()), ("turned", [*wide(X32).items()][::-1]))
    )
    check_rows(rows([shards[0], one, turned]), np.concatenate([X[:60], X32, X32]))
    other = written(tmp_path, "other.parquet", **{f"g{i}": X32[:, i] for i in range(7)})
    with pytest.raises(InvalidParameterError, match=r"columns g0, g1.*f0, f1.*features="):
        rows([shards[0], one, other])


def test_dask_arrays_are_read_by_chunks_of_rows() -> None:
    X = da.from_array(X32, chunks=((50, 0, 103, 50), 7))
    source = rows(X)
    assert source.groups[1:3] == (slice(50, 50), slice(50, 153))
    check_rows(source, X32)
    check_rows(rows(da.from_array(X32.astype(np.float16), chunks=(50, 7))), X32.astype(np.float16))
    for wrong, words in (
        (da.from_array(X32, chunks=(50, 3)), "3 chunks along the features.*rechunk"),
        (X[X[:, 0] > 0], "unknown size.*compute_chunk_sizes"),
        (X[0], "expected a dask.array.Array"),
        (X.astype(int), "dtype int64.*astype"),
        (X.map_blocks(lambda b: b[1:], dtype=X.dtype), r"rows 0:50 of shape \(49, 7\)"),
    ):
        with pytest.raises(InvalidParameterError, match=words):
            list(groups_ahead(rows(wrong)))


# ---- passes ---------------------------------------------------------------------------------------


def test_the_first_pass_finds_norms_and_refuses_what_is_not_finite(tmp_path: Path) -> None:
    squares = (X32.astype(float) ** 2).sum(1)
    holes = np.where(abs(X32) > 0.5, X32, 0.0).astype(np.float32)
    for source in (rows(X32), rows(saved(tmp_path, X32)), rows(X32.astype(float))):
        found = examine(source, np.arange(203) % 3, 3)
        assert found.largest == abs(X32).max()
        np.testing.assert_allclose(found.squared_norms, squares, rtol=1e-15)
    found = examine(rows(sp.csr_array(holes)))
    np.testing.assert_allclose(found.squared_norms, (holes.astype(float) ** 2).sum(1), rtol=1e-15)
    for bad in (np.nan, np.inf, -np.inf, -2e70, 1e200):
        X = holes.astype(float)
        X[57, 4] = bad
        path = saved(tmp_path, X, "bad.npy")
        for given in (X, path, sp.csr_array(X)):
            with pytest.raises(InvalidParameterError, match="row 57, column 4: ") as error:
                examine(rows(given))
            assert "magnitude at most 1e+70" in str(error.value)
        with pytest.raises(InvalidParameterError, match=r"bad\.npy: row 57, column 4"):
            examine(rows([saved(tmp_path, holes), path]))
    for y, words in (
        ([0, 1], r"shape \(2,\); expected 203"),
        ([*[0] * 202, 3], r"class 3; .*row 202"),
    ):
        with pytest.raises(InvalidParameterError, match=words):
            examine(rows(X32), y, 3)


def test_a_fingerprint_tells_rows_from_others_of_equal_shape(tmp_path: Path) -> None:
    other, signs, moved = X32.copy(), X32.copy(), X32[:, ::-1]
    other[201, 3] = np.nextafter(other[201, 3], np.float32(9.0))
    signs[150, :2] *= -1.0
    holes = np.where(abs(X32) > 0.5, X32, 0.0)
    sparse, shifted = sp.csr_array(holes), sp.csr_array(np.roll(holes, 1, axis=1))
    given = (X32, other, signs, moved, X32[::-1], X32.astype(float), sparse, shifted, sparse * 2)
    told = [fingerprint(X) for X in given]
    assert len({*told}) == len(given)
    assert told == [
        fingerprint(np.asfortranarray(X) if X.ndim == 2 and isinstance(X, np.ndarray) else X)
        for X in given
    ]
    assert told[0] == fingerprint(rows(X32)) == examine(rows(X32)).digest
    paths = [saved(tmp_path, X, f"{i}.npy") for i, X in enumerate(given[:3])]
    assert len({fingerprint(rows(path)) for path in paths}) == 3
    parts = [rows([paths[0], path]) for path in paths]
    assert len({fingerprint(X) for X in parts}) == 3
    assert fingerprint(parts[0]) == fingerprint(rows([paths[0], paths[0]]))


def test_one_nan_late_in_a_long_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "X.npy"
    X = np.lib.format.open_memmap(path, "w+", np.float16, (21_000, 25))  # 12 rows are a group
    X[1734 * 12 + 5, 3] = np.nan
    X.flush()
    with pytest.raises(InvalidParameterError, match="row 20813, column 3: nan"):
        examine(rows(path))


class Slow(Source):
    """Counts what is being read, and what is alive."""

    def __init__(self, groups: int, wrong: int = -1) -> None:
        self.shape, self.dtype, self.wrong = (groups, 2), np.dtype(float), wrong
        self.groups = tuple(slice(i, i + 1) for i in range(groups))
        self.started: list[int] = []

    def read(self, rows: slice) -> Any:
        self.started.append(rows.start)
        time.sleep(0.005)
        if rows.start == self.wrong:
            raise UnreadableError("file", "gone", "a file", "find it")
        return np.full((1, 2), float(rows.start))


def test_one_group_is_read_ahead_and_no_thread_is_left() -> None:
    threads = threading.active_count()
    source = Slow(6)
    for i, (group, block) in enumerate(groups_ahead(source)):
        assert (group.start, block[0, 0]) == (i, i)
        time.sleep(0.003)
        assert source.started == list(range(min(i + 2, 6)))
    source, seen = Slow(6, wrong=3), []
    with pytest.raises(UnreadableError, match="gone"):
        seen.extend(group.start for group, _ in groups_ahead(source))
    assert source.started == [0, 1, 2, 3]
    source = Slow(6)
    with suppress(KeyboardInterrupt):
        for _ in groups_ahead(source):
            raise KeyboardInterrupt
    deadline = time.monotonic() + 5.0
    while threading.active_count() > threads and time.monotonic() < deadline:
        time.sleep(0.001)
    assert threading.active_count() == threads
    assert source.started == [0, 1]


def test_arrays_in_memory_are_not_read_ahead() -> None:
    (found,) = groups_ahead(rows(X32))
    assert found[1] is X32
    assert found[0] == slice(0, 203)


def test_arrays_of_any_kind_become_rows() -> None:
    X, twice = X32.astype(float), np.concatenate([X32, X32])
    holes = sp.coo_array((np.ones(3), ([0, 0, 4], [1, 1, 2])), shape=(5, 4))
    for given, expected in (
        (X.tolist(), X),
        (np.asfortranarray(X32), X32),
        (X32.astype(np.float16), X32.astype(np.float16)),
        (X32.astype(int), X32.astype(int)),
        ([X32, rows(X32)], twice),
        ([X32[:9].astype(np.float16), X32.astype(np.float16)[9:]], X32.astype(np.float16)),
    ):
        check_rows(rows(given), expected)
    for given, matrix in ((holes, holes), ([holes.tocsr(), rows(holes)], sp.vstack([holes] * 2))):
        found = rows(given)
        assert found.in_memory
        np.testing.assert_array_equal(found[:].toarray(), matrix.toarray())
        assert found[:].has_canonical_format
        np.testing.assert_allclose(examine(found).squared_norms[:1], 4.0)
    texts: Any = ["X.npy"]
    for odd, words in (
        (None, "None; expected rows of features"),
        (iter(texts), "in the order of rows"),
        (X32[0], r"shape \(7,\)"),
        (X32.astype(complex), "complex128"),
        ([holes, X32[:5, :4]], "CSR beside dense"),
    ):
        with pytest.raises(InvalidParameterError, match=words):
            rows(odd)


def test_the_door_is_cheap() -> None:
    code = (
        "import sys, fast.data; print([n for n in ('scipy.sparse', 'pandas', 'pyarrow', 'dask',"
        " 'numba', 'sklearn') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
