"""Every command reads every format, written by the format's own library, as the same examples."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from _commands import data, refused, run
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from fast import TopKSVC
from fast.data import rows
from verification import load_model
from verification.app.comparing import Settings, load
from verification.app.dataset import Roles
from verification.app.io import read

ml_dtypes = pytest.importorskip("ml_dtypes")
safetensors = pytest.importorskip("safetensors.numpy")

RNG = np.random.default_rng(5)
Y = RNG.permutation(np.arange(90) % 3)
#: Numbers that bfloat16 and text have exactly; no column is empty and no row.
X = np.round(RNG.normal(size=(90, 4)) * 4 + 6 * np.eye(3, 4)[Y] + 20) / 4
NAMES = ["u", "v", "w", "x"]
FRAME = pd.DataFrame(X, columns=NAMES).assign(y=Y)
LISTS = pd.DataFrame(
    {"id": [f"r{i}" for i in range(90)], "emb": list(X.astype(np.float32)), "y": Y}
)


def _hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["deep/features"], file["y"] = X, Y
        file["names"] = np.array(["a", "b", "c"], object)[Y]


def _stream(path: Path) -> None:
    table = pa.table(FRAME)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table, max_chunksize=40)


def _tensors(path: Path) -> None:
    field = pa.fixed_shape_tensor(pa.float32(), (4,))
    storage = pa.FixedSizeListArray.from_arrays(pa.array(X.astype(np.float32).ravel()), 4)
    column = pa.ExtensionArray.from_storage(field, storage)
    pq.write_table(pa.table({"emb": column, "y": Y}), path, row_group_size=50)


def _parts(folder: Path) -> None:
    """Twelve parts, of which the tenth comes after the second."""
    folder.mkdir()
    for i, rows_ in enumerate(np.array_split(np.arange(90), 12)):
        np.save(folder / f"img_emb_{i}.npy", X[rows_].astype(np.float16))


def _xmc(path: Path) -> None:
    lines = [" ".join(f"{j}:{v}" for j, v in enumerate(x)) for x in X]
    path.write_text(
        "\n".join(["90 4 3", *(f"{c} {x}" for c, x in zip(Y, lines, strict=True))]) + "\n"
    )


def _bfloat16(path: Path) -> None:
    np.save(path, X.astype(ml_dtypes.bfloat16))


def _safetensors(path: Path) -> None:
    safetensors.save_file({"X": X.astype(ml_dtypes.bfloat16), "y": Y}, path)


EMBEDDED = ("--features", "emb")
#: By name: the file, how it is written, whether labels are in a file of their own, options.
FORMATS: dict[str, tuple[str, Callable[[Path], Any], bool, tuple[str, ...]]] = {
    "csv": ("a.csv", lambda p: FRAME.to_csv(p, index=False), False, ()),
    "parquet": (
        "a.parquet",
        lambda p: FRAME.sample(frac=1, random_state=0).sort_index().to_parquet(p),
        False,
        (),
    ),
    "parquet, .pq": ("a.pq", FRAME.to_parquet, False, ()),
    "parquet of lists": (
        "l.parquet",
        lambda p: LISTS.to_parquet(p, row_group_size=40),
        False,
        EMBEDDED,
    ),
    "parquet of tensors": ("t.parquet", _tensors, False, EMBEDDED),
    "feather": ("a.feather", FRAME.to_feather, False, ()),
    "feather of lists": ("l.feather", LISTS.to_feather, False, EMBEDDED),
    "arrow stream": ("a.arrow", _stream, False, ()),
    "npz": ("a.npz", lambda p: np.savez(p, X=X, y=Y), False, ()),
    "npz of scipy": ("s.npz", lambda p: sp.save_npz(p, sp.csr_array(X)), True, ()),
    "mat": ("a.mat", lambda p: savemat(p, {"X": X, "y": Y}), False, ()),
    "npy": ("a.npy", lambda p: np.save(p, X), True, ()),
    "npy of int16": ("i.npy", lambda p: np.save(p, (4 * X).astype(np.int16)), True, ()),
    "npy of bfloat16": ("b.npy", _bfloat16, True, ()),
    "safetensors": ("a.safetensors", _safetensors, False, ()),
    "hdf5": ("a.h5", _hdf5, False, ("--dataset", "deep/features")),
    "svm": ("a.svm", lambda p: dump_svmlight_file(X, Y, str(p), zero_based=False), False, ()),
    "xmc": ("a.txt", _xmc, False, ()),
    "folder": ("parts", _parts, True, ()),
}
BLOCKS = ("npy", "safetensors", "hdf5", "folder", "parquet", "feather", "arrow")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("formats")
    for name, write, _, _ in FORMATS.values():
        write(folder / name)
    np.save(folder / "labels.npy", Y)
    return folder


@pytest.fixture(scope="module")
def right() -> Any:
    return TopKSVC(tol=1e-6, fit_intercept=True, random_state=0).fit(X, Y)


def words_of(files: Path, name: str, kind: str) -> tuple[list[Any], list[Any]]:
    """File and labels, and the other options, for a command."""
    file, _, apart, options = FORMATS[name]
    positional = [files / file, *([files / "labels.npy"] if apart else [])]
    label = kind != "predict" and not apart and name in ("parquet of lists", "feather of lists")
    named = label or (
        kind in ("probe", "audit") and not apart and name not in ("xmc", "svm", "npz", "mat")
    )
    return positional, [*options, *(["--label", "y"] if named else [])]


@pytest.mark.parametrize("name", FORMATS)
def test_train_predict_and_evaluate(name: str, files: Path, right: Any, tmp_path: Path) -> None:
    positional, options = words_of(files, name, "train")
    scale = 4.0 if name == "npy of int16" else 1.0
    model = tmp_path / "m.refsolve"
    exact = ("--scale", "none", "--tol", "1e-6")
    shown = data("train", *positional, *options, "-o", model, *exact)
    assert shown["certified"]
    scaled = right if scale == 1.0 else TopKSVC(tol=1e-6, fit_intercept=True).fit(scale * X, Y)
    assert shown["model"]["primal objective"] == pytest.approx(scaled.primal_objective_, rel=2e-6)
    trained = load_model(model)
    assert trained.classifier.classes_.tolist() == [0, 1, 2]
    run(
        "predict", model, positional[0], *(options[:2] if options else ()), "-o", tmp_path / "p.csv"
    )
    written = pd.read_csv(tmp_path / "p.csv")
    F = trained.classifier.decision_function(scale * X)
    np.testing.assert_allclose(written[[f"score_{c}" for c in range(3)]], F, atol=1e-9)
    judged = data("evaluate", model, *positional, *options)["accuracy"]
    assert judged["1"] == pytest.approx(np.mean(F.argmax(axis=1) == Y))
    told = " ".join(run("train", *positional, *options, "-o", model, "--force").stderr.split())
    assert "90 rows; 4 features" in told
    assert "3 classes" in told


@pytest.mark.parametrize("name", FORMATS)
def test_probe(name: str, files: Path, tmp_path: Path) -> None:
    positional, options = words_of(files, name, "probe")
    words = ("-C", "0.01", "--tol", "1e-6", "-o", tmp_path)
    told = run("probe", *positional, *options, *words)
    assert "90 rows; 4 features" in " ".join(told.stderr.split())
    scale = 4.0 if name == "npy of int16" else 1.0
    F = load_model(tmp_path / "probe.refsolve").classifier.decision_function(scale * X)
    judged = data("evaluate", tmp_path / "probe.refsolve", *positional, *options)
    assert judged["accuracy"]["1"] == pytest.approx(np.mean(F.argmax(axis=1) == Y))


@pytest.mark.parametrize("name", FORMATS)
def test_audit(name: str, files: Path, tmp_path: Path) -> None:
    positional, options = words_of(files, name, "audit")
    scale = 4.0 if name == "npy of int16" else 1.0
    W = TopKSVC(tol=1e-8, C=0.1, random_state=0).fit(X, Y).coef_ / scale
    np.save(tmp_path / "W.npy", W)
    words = ("--loss", "softmax", "--C", "0.1", "--tol", "10")
    found = data("audit", tmp_path / "W.npy", *positional, *options, *words)
    F = X @ W.T * scale
    P = 0.5 * (W**2).sum() + 0.1 * (np.logaddexp.reduce(F, axis=1) - F[np.arange(90), Y]).sum()
    assert found["primal"] == pytest.approx(P, rel=1e-6)
    assert (found["n_samples"], found["n_features"]) == (90, 4)


@pytest.mark.parametrize("name", FORMATS)
def test_compare_reads_the_same(name: str, files: Path) -> None:
    positional, options = words_of(files, name, "train")
    features = tuple(options[1:2])
    label = "y" if "--label" in options else None
    settings = Settings(
        (), (), (1,), (1.0,), 0, 1e-3, "none", False, 1, 0, label, None, features=features
    )
    own = positional[1] if len(positional) > 1 else None
    found = load((positional[0], positional[0], positional[0]), (own, own, own), settings)
    A, y = found.splits[0].train
    A = A.toarray() if sp.issparse(A) else A
    np.testing.assert_array_equal(A, 4 * X if name == "npy of int16" else X)
    np.testing.assert_array_equal(y, Y)
    assert found.classes.tolist() == [0, 1, 2]


def test_blocks_are_the_rows(files: Path) -> None:
    """What is read in blocks has the bits of what is read at once."""
    for name, (file, _, _, options) in FORMATS.items():
        if not name.startswith(BLOCKS):
            continue
        given = {"features": options[1]} if options else {}
        if name in ("parquet", "parquet, .pq", "feather", "arrow stream"):
            given = {"label": "y"}
        found = rows(files / file, **given)
        scale = 4.0 if name == "npy of int16" else 1.0
        np.testing.assert_array_equal(np.vstack([found.read(g) for g in found.groups]), scale * X)
        if "label" in given:
            np.testing.assert_array_equal(found.labels, Y)
            assert found.columns == NAMES


def test_labels_inside_matrices(files: Path) -> None:
    np.testing.assert_array_equal(rows(files / "a.safetensors", label="y").labels, Y)
    found = rows(files / "a.h5", label="names", features="deep/features")
    np.testing.assert_array_equal(found.labels, np.array(list("abc"))[Y])


def test_labels_and_metadata_in_matching_parts(files: Path, tmp_path: Path) -> None:
    """Parts are counted one by one: a part that lacks a row is named, not made up for by another one."""
    meta = tmp_path / "metadata"
    meta.mkdir()
    pieces = np.array_split(np.arange(90), 12)
    for i, piece in enumerate(pieces):
        part = pd.DataFrame({"caption": "a photo", "kind": Y[piece]})
        part.to_parquet(meta / f"metadata_{i}.parquet")
    words = ("probe", files / "parts", meta, "--label", "kind", "-C", "0.01", "--force")
    run(*words, "-o", tmp_path / "out")
    W = load_model(tmp_path / "out" / "probe.refsolve").classifier.coef_
    run("probe", files / "parts", files / "labels.npy", *words[5:], "-o", tmp_path / "out")
    np.testing.assert_array_equal(
        load_model(tmp_path / "out" / "probe.refsolve").classifier.coef_, W
    )
    short, long = (pd.read_parquet(meta / f"metadata_{i}.parquet") for i in (3, 4))
    short.iloc[:-1].to_parquet(meta / "metadata_3.parquet")
    pd.concat([long, long.iloc[:1]]).to_parquet(meta / "metadata_4.parquet")
    said = "".join(run(*words, "-o", tmp_path / "out", code=2).stderr.split())
    assert "metadata_3.parquetholdslabelsofshape(7,);expected8" in said
    assert "img_emb_3.npy" in said
    for i in (3, 4):
        (meta / f"metadata_{i}.parquet").unlink()
    assert "has 10 parts, the features have 12" in " ".join(
        run(*words, "-o", tmp_path, code=2).stderr.split()
    )


def test_float8_says_what_works(tmp_path: Path) -> None:
    """numpy reads neither: the fix is where the array was made."""
    for kind in (ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn):
        np.save(tmp_path / "a.npy", X.astype(kind))
        np.save(tmp_path / "labels.npy", Y)
        said = run(
            "probe", tmp_path / "a.npy", tmp_path / "labels.npy", "-o", tmp_path / "o", code=2
        ).stderr
        assert "array.astype(np.float32)" in " ".join(said.split())
    safetensors.save_file({"X": X.astype(ml_dtypes.float8_e5m2)}, tmp_path / "a.safetensors")
    said = run("train", tmp_path / "a.safetensors", tmp_path / "labels.npy", code=2).stderr
    assert "F8_E5M2" in said


def test_xmc_rows_without_labels_and_rows_that_are_missing(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("4 5 3\n0,2 0:1 4:2\n 1:1\n1 0:.5 2:1\n0 3:1\n")
    found = read(file, Roles(labels=()))
    assert found.X.shape == (4, 5)
    np.testing.assert_array_equal(found.X.toarray()[0], [1, 0, 0, 0, 2])
    np.testing.assert_array_equal(found.y, [[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 0, 0]])
    file.write_text(
        "4 5 3\n0,2 0:1 4:2\n\n1 0:.5 2:1\n0 3:1\n"
    )  # a row without labels and features
    assert "4 rows and 5 features are announced" in refused("train", file, "--model", "multilabel")


def test_words_and_numbers_of_matlab_are_the_same_classes(tmp_path: Path) -> None:
    """Character matrices, cells of words and of numbers, in versions 5 and 7.3."""
    words = ["ham", "eggs", "bacon"]
    given = {
        "chars": np.array(words)[Y],
        "cells": np.array(words, object)[Y],
        "numbers": Y.astype(object),
    }
    savemat(
        tmp_path / "five.mat",
        {"X": X, **{k: v if k == "chars" else v[:, None] for k, v in given.items()}},
    )
    with h5py.File(tmp_path / "seven.mat", "w", userblock_size=512) as file:
        file["X"] = X.T
        padded = np.array([[ord(c) for c in words[i].ljust(5)] for i in Y], np.uint16).T
        file["chars"] = padded
        file["chars"].attrs["MATLAB_class"] = np.bytes_("char")
        held = file.create_group("#refs#")
        for name, make in (
            ("cells", lambda i: np.array([[ord(c)] for c in words[i]], np.uint16)),
            ("numbers", lambda i: np.array([[float(i)]])),
        ):
            for i in range(3):
                held[f"{name}{i}"] = make(i)
                held[f"{name}{i}"].attrs["MATLAB_class"] = np.bytes_(
                    "char" if name == "cells" else "double"
                )
            refs = np.array([[held[f"{name}{i}"].ref for i in Y]], h5py.ref_dtype)
            file.create_dataset(name, data=refs).attrs["MATLAB_class"] = np.bytes_("cell")
    with (tmp_path / "seven.mat").open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    for file in ("five.mat", "seven.mat"):
        for name in given:
            y = read(tmp_path / file, Roles(name)).y
            assert y is not None
            expected = Y if name == "numbers" else np.array(words)[Y]
            np.testing.assert_array_equal(y, expected, err_msg=f"{file} {name}")


def test_a_bad_tensor_file_is_refused(tmp_path: Path) -> None:
    good = tmp_path / "a.safetensors"
    _safetensors(good)
    whole = good.read_bytes()
    header = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])
    assert header["X"]["dtype"] == "BF16"
    np.save(tmp_path / "labels.npy", Y)
    for spoilt in (
        b"",
        whole[:6],
        whole[:-3],
        b"\xff" * 8 + whole[8:],
        whole[:8] + b"x" + whole[9:],
    ):
        good.write_bytes(spoilt)
        said = run("train", good, tmp_path / "labels.npy", code=2).stderr
        assert "a.safetensors" in said.replace("\n", "")
    for name, write in (
        ("a.h5", lambda p: p.write_bytes(b"no")),
        ("a.feather", lambda p: p.write_bytes(b"ARROW1")),
    ):
        write(tmp_path / name)
        assert name in run("train", tmp_path / name, code=2).stderr.replace("\n", "")


def test_labels_of_another_length_are_refused(tmp_path: Path) -> None:
    safetensors.save_file({"X": X, "y": Y[:50], "column": Y[:, None]}, tmp_path / "a.safetensors")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["X"], file["y"], file["column"] = X, Y[:50], Y[:, None]
    for name in ("a.safetensors", "a.h5"):
        for command in ("train", "probe"):
            words = (command, tmp_path / name, "--label", "y", "-o", tmp_path / "out")
            assert "labels 'y' of shape (50,); expected (90,)" in refused(*words)
        np.testing.assert_array_equal(read(tmp_path / name, Roles("column")).y, Y)


@pytest.mark.parametrize("command", ["train", "probe"])
@pytest.mark.parametrize("name", ["a.parquet", "a.h5", "a.csv"])
def test_the_label_is_remembered(command: str, name: str, tmp_path: Path) -> None:
    """The last column is another one, which could be taken for the label."""
    frame, options = LISTS.assign(other=np.arange(90)), ["--label", "kind", "--features", "emb"]
    file = tmp_path / name
    if name == "a.parquet":
        frame.rename(columns={"y": "kind"}).to_parquet(file)
    elif name == "a.csv":
        FRAME.rename(columns={"y": "kind"}).assign(other=1).to_csv(file, index=False)
        options[-1] = "u,v,w,x"
    else:
        with h5py.File(file, "w") as held:
            held["emb"], held["kind"], held["y"] = X, Y, np.arange(90)
    out = tmp_path / ("out" if command == "probe" else "probe.refsolve")
    run(command, file, *options, "-o", out, *(["-C", "1"] if command == "probe" else []))
    model = out / "probe.refsolve" if command == "probe" else out
    assert data("evaluate", model, file)["accuracy"]["1"] > 0.8


def test_enumerations_of_polars(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"u": X[:, 0], "y": np.array(list("abc"))[Y]})
    frame = frame.with_columns(pl.col("y").cast(pl.Enum(["c", "b", "a"])))
    frame.write_ipc(tmp_path / "a.arrow")
    frame.write_parquet(tmp_path / "a.parquet")
    for name in ("a.arrow", "a.parquet"):
        assert read(tmp_path / name).y.tolist() == frame["y"].to_list()


def test_compare_takes_folders(files: Path, tmp_path: Path) -> None:
    words = ("compare", files / "parts", files / "labels.npy", "-k", "1", "-C", "1")
    words = (*words, "--method", "SVM-OVA", "-o", tmp_path / "out")
    first = data(*words)
    assert data(*words, "--resume") == first


def test_tables_in_parts_have_all_roles(tmp_path: Path) -> None:
    """Text, gaps, weights and an index in a folder of Parquet are what they are in one file."""
    frame = FRAME.assign(kind=np.array(list("pq"))[Y % 2], weight=1.0 + Y)
    frame.loc[5, "u"] = np.nan
    frame = frame[["u", "kind", "v", "weight", "w", "x", "y"]].sample(frac=1, random_state=0)
    frame.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "parts").mkdir()
    for i in range(12):
        part = frame.iloc[8 * i : 8 * i + 8]
        part[part.columns[:: (-1) ** i]].to_parquet(tmp_path / "parts" / f"part.{i}.parquet")
    words = ("--weight", "weight", "--categories", "kind", "--impute", "median", "--label", "y")
    found = []
    for name in ("a.parquet", "parts"):
        run("train", tmp_path / name, *words, "-o", tmp_path / f"{name}.refsolve")
        model = load_model(tmp_path / f"{name}.refsolve")
        found.append(model.classifier.coef_)
        assert data("evaluate", tmp_path / f"{name}.refsolve", tmp_path / "parts")["examples"] == 90
    np.testing.assert_array_equal(*found)
    odd = tmp_path / "parts" / "part.7.parquet"
    pd.read_parquet(odd).assign(y=[1, 2, None, 1, 1, 1, 1, 1]).to_parquet(odd)
    assert "part.7.parquet, row 2: the label is nan" in refused("train", tmp_path / "parts", *words)
    pd.read_parquet(odd).drop(columns="kind").to_parquet(odd)
    assert "the same in every part" in refused("train", tmp_path / "parts", *words)


def test_labels_are_counted_part_by_part_in_every_command(files: Path, tmp_path: Path) -> None:
    meta = tmp_path / "metadata"
    meta.mkdir()
    for i, piece in enumerate(np.split(np.arange(90), [9, *range(16, 90, 8)][:11])):
        pd.DataFrame({"kind": Y[piece]}).to_parquet(meta / f"metadata_{i}.parquet")
    for words in (["train"], ["probe"], ["compare", "-k", "1"]):
        said = refused(*words, files / "parts", meta, "-o", tmp_path / "out.refsolve")
        assert "holds labels of shape (9,); expected 8" in said


def test_labels_beyond_those_announced(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    for text, several in (
        ("2 4 3\n0 0:1\n3 3:1\n", ()),
        ("2 4 3\n0,3 0:1\n 3:1\n", ("--model", "multilabel")),
    ):
        file.write_text(text)
        assert "3 labels are announced" in refused("train", file, *several)


def test_folders_of_other_files(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "a.csv")
    for command in ("train", "probe"):
        assert "pass a file that ends in" in refused(command, tmp_path, "--label", "y", "-o", "out")
