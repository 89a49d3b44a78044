"""What a file does not say is asked for, or said: indices, names, headers, text, gaps."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _commands import data, refused, run
from sklearn.datasets import dump_svmlight_file

from fast.data import rows
from verification import load_model
from verification.app.dataset import Known, Roles
from verification.app.io import read, read_examples, read_rows
from verification.errors import DataFileError

RNG = np.random.default_rng(2)
Y = np.arange(60) // 20
NOISE = RNG.normal(size=(60, 2))
FRAME = pd.DataFrame(NOISE, columns=["a", "b"]).assign(y=Y)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def said(*words: Any) -> str:
    return " ".join(run(*words).stderr.split())


# -- what pandas stored as an index ---------------------------------------------------------------

INDEXED = {
    "shuffled": FRAME.sample(frac=1, random_state=0),
    "named": FRAME.set_index(pd.Index(RNG.permutation(60), name="row")),
    "dates": FRAME.set_index(pd.date_range("2020-01-01", periods=60, name="day")),
    "levels": FRAME.set_index(pd.MultiIndex.from_product([range(6), range(10)], names=["i", "j"])),
    "unnamed levels": FRAME.set_index(pd.MultiIndex.from_product([range(6), range(10)])),
    "text": FRAME.set_index(pd.Index([f"r{i}" for i in range(60)])),
}


@pytest.mark.parametrize("name", INDEXED)
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_a_stored_index_is_no_feature(name: str, suffix: str, tmp_path: Path) -> None:
    frame, file = INDEXED[name], tmp_path / f"a{suffix}"
    if suffix == ".parquet":
        frame.to_parquet(file)
    else:
        table = pa.Table.from_pandas(frame)
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, table.schema) as out:
            out.write_table(table)
    for X, y in (
        read_examples(file, "y"),
        (lambda s: (s[:], s.labels))(rows(file, label="y")),
        (lambda s: (s[0][:], s[1]))(read_rows(file, Roles("y"), None)),
    ):
        np.testing.assert_array_equal(X, frame[["a", "b"]].to_numpy())
        np.testing.assert_array_equal(y, frame["y"])
    told = said("probe", file, "--label", "y", "-C", "0.1", "-o", tmp_path / "p")
    assert "60 rows; 2 features: a, b" in told
    assert "left out: the index of a data frame" in told


@pytest.mark.parametrize("kind", ["one", "twice", "default names", "levels", "dates"])
def test_an_index_in_csv_is_no_feature(kind: str, tmp_path: Path) -> None:
    frame, file = FRAME.sample(frac=1, random_state=0), tmp_path / "a.csv"
    if kind == "default names":
        frame = frame.set_axis(range(3), axis=1)
    if kind == "levels":
        frame = INDEXED["unnamed levels"]
    if kind == "dates":
        frame = frame.set_index(pd.date_range("2020-01-01", periods=60))
    frame.to_csv(file)
    if kind == "twice":
        pd.read_csv(file).to_csv(file)
    names = tuple(map(str, frame.columns[:2]))
    label = str(frame.columns[2])
    found = read(file)
    np.testing.assert_allclose(found.X.to_numpy(), frame.iloc[:, :2].to_numpy(), rtol=1e-12)
    assert found.columns == names
    assert found.y.tolist() == frame.iloc[:, 2].tolist()
    assert "left out: the index of a data frame" in found.taken
    X, y, _ = read_rows(file, Roles(label), None)
    assert (X.columns, y.tolist()) == ([*names], found.y.tolist())
    told = said("probe", file, "--label", label, "-C", "1", "-o", tmp_path / "out")
    assert "left out: the index of a data frame" in told
    own = read(file, Roles(label, features=("0", "-2")))  # who asks for it gets it
    assert len(own.columns) == 2
    old = read(file, Roles(label), Known(columns=own.columns))  # as does a model that knows it
    assert set(own.columns) <= set(old.columns)


def test_labels_of_csv_have_no_index(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", NOISE)
    FRAME[["y"]].to_csv(tmp_path / "y.csv")
    assert read(tmp_path / "X.npy", labels=tmp_path / "y.csv").y.tolist() == Y.tolist()
    pd.Series(Y).to_csv(tmp_path / "y.csv", index=False)  # its header is 0
    words = ("train", tmp_path / "X.npy", tmp_path / "y.csv")
    assert "--header or --no-header" in refused(*words)
    run(*words, "--header")


def test_a_named_index_is_a_feature_for_who_asks(tmp_path: Path) -> None:
    INDEXED["named"].to_parquet(tmp_path / "a.parquet")
    roles = Roles("y", features=("a", "row"))
    assert read(tmp_path / "a.parquet", roles).columns == ("a", "row")
    assert read_rows(tmp_path / "a.parquet", roles, None)[0].columns == ["a", "row"]


def test_an_index_whose_metadata_a_later_writer_dropped(tmp_path: Path) -> None:
    table = pa.Table.from_pandas(INDEXED["shuffled"]).replace_schema_metadata(None)
    pq.write_table(table, tmp_path / "a.parquet")
    assert table.schema.names == ["a", "b", "y", "__index_level_0__"]
    assert rows(tmp_path / "a.parquet", label="y").columns == ["a", "b"]
    named = rows(tmp_path / "a.parquet", features=["__index_level_0__"])
    assert named[:].ravel().tolist() == INDEXED["shuffled"].index.tolist()


# -- names of columns -----------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_are_put_right_by_name(suffix: str, tmp_path: Path) -> None:
    X = RNG.normal(size=(60, 3)) + 3 * np.eye(3)[Y]
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y)

    def file(name: str, columns: list[str], **more: Any) -> Path:
        own = frame.assign(**more)[columns]
        path = tmp_path / f"{name}.{suffix}"
        own.to_csv(path, index=False) if suffix == "csv" else own.to_parquet(path)
        return path

    train = file("train", ["a", "b", "c", "y"])
    run("probe", train, "--label", "y", "-C", "1", "-o", tmp_path / "p")
    model = tmp_path / "p" / "probe.refsolve"
    right = data("evaluate", model, train)["accuracy"]
    assert right["1"] > 0.9
    assert data("evaluate", model, file("turned", ["y", "c", "b", "a"]))["accuracy"] == right
    more = file("more", ["z", "c", "y", "b", "a"], z=RNG.normal(size=60))
    assert data("evaluate", model, more)["accuracy"] == right
    assert "left out: ['z']" in said("evaluate", model, more)
    for name in ("turned", "more"):
        run("predict", model, tmp_path / f"{name}.{suffix}", "-o", tmp_path / f"{name}.out.csv")
        written = pd.read_csv(tmp_path / f"{name}.out.csv")["top_1"]
        np.testing.assert_array_equal(written, load_model(model).classifier.predict(X))
    assert "lacks the features ['b']" in refused("evaluate", model, file("less", ["a", "c", "y"]))
    judged = data(
        "probe", train, "--label", "y", "-C", "1", "--validation", more, "-o", tmp_path / "q"
    )
    assert judged["path"]["accuracy"]["top-1"] == [right["1"]]


# -- where indices begin --------------------------------------------------------------------------


def test_indices_begin_where_training_says(tmp_path: Path) -> None:
    """A test file in which no row has the first feature is no file whose indices begin at 1."""
    X = np.abs(RNG.normal(size=(60, 4))) + 4 * np.eye(3, 4, 1)[Y]
    dump_svmlight_file(X, Y, str(tmp_path / "train.svm"), zero_based=True)
    later = X.copy()
    later[:, 0] = 0.0
    dump_svmlight_file(later, Y, str(tmp_path / "test.svm"), zero_based=True)
    told = said("train", tmp_path / "train.svm", "--test", tmp_path / "test.svm", "--scale", "none")
    assert "indices begin at 0" in told
    model = tmp_path / "train.refsolve"
    assert load_model(model).index_base == 0
    assert data("evaluate", model, tmp_path / "test.svm")["accuracy"]["1"] > 0.9
    run("predict", model, tmp_path / "test.svm")
    F = pd.read_csv(tmp_path / "test.predictions.csv")["score_0"]
    np.testing.assert_allclose(
        F, load_model(model).classifier.decision_function(later)[:, 0], rtol=1e-6
    )
    # from 1 on: said, kept, and an index 0 that comes later is refused
    told = said("train", tmp_path / "test.svm", "-o", tmp_path / "one.refsolve")
    assert "indices begin at 1, as none is 0 (else: --index-base 0)" in told
    assert "example 1: the index is 0" in refused(
        "evaluate", tmp_path / "one.refsolve", tmp_path / "train.svm"
    )
    run("train", tmp_path / "test.svm", "--index-base", "0", "-o", tmp_path / "zero.refsolve")
    assert (
        data("evaluate", tmp_path / "zero.refsolve", tmp_path / "train.svm")["accuracy"]["1"] > 0.9
    )
    assert "the index is 0" in refused(
        "train", tmp_path / "train.svm", "--index-base", "1", "--force"
    )


def test_files_that_begin_elsewhere_than_training(tmp_path: Path) -> None:
    X = NOISE + 9 * np.eye(3, 2)[Y]
    for name, base in (("zero", True), ("one", False)):
        dump_svmlight_file(X, Y, str(tmp_path / f"{name}.svm"), zero_based=base)
    zero, one = tmp_path / "zero.svm", tmp_path / "one.svm"
    run("train", zero)
    for model in (tmp_path / "zero.refsolve", tmp_path / "p" / "probe.refsolve"):
        assert "--index-base 1" in refused("evaluate", model, one)
        judged = data("evaluate", model, one, "--index-base", "1")["accuracy"]
        assert judged["1"] > 0.7
        if model.parent == tmp_path:
            assert "--index-base 1" in refused(
                "train", zero, "--test", one, "-o", tmp_path / "n.refsolve"
            )
            run("probe", zero, "-C", "1", "-o", tmp_path / "p")
    words = ("probe", zero, "-C", "1", "-o", tmp_path / "q", "--validation")
    assert "--index-base 1" in refused(*words, one)
    some = write(tmp_path / "some.svm", "0 1:3\n1 1:2\n")
    told = said("evaluate", tmp_path / "zero.refsolve", some)
    assert "indices begin at 0 as in training, though none is 0 (else: --index-base 1)" in told


def test_sparse_files_for_a_model_of_dense_ones(tmp_path: Path) -> None:
    X = NOISE + 9 * np.eye(3, 2)[Y]
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    dump_svmlight_file(X, Y, str(tmp_path / "a.svm"), zero_based=False)
    for scale in ("standard", "minmax", "maxabs", "none"):
        run("train", tmp_path / "X.npy", tmp_path / "y.npy", "--scale", scale, "--force")
        model = tmp_path / "X.refsolve"
        right = data("evaluate", model, tmp_path / "X.npy", tmp_path / "y.npy")["accuracy"]
        assert data("evaluate", model, tmp_path / "a.svm")["accuracy"] == pytest.approx(right)


def test_features_beyond_training_have_weight_0(tmp_path: Path) -> None:
    write(tmp_path / "a.svm", "".join(f"{i % 2} 1:{1 + i % 2} 2:1\n" for i in range(8)))
    write(tmp_path / "b.svm", "0 1:1 2:1 7:9\n1 1:2 2:1 7:1 9:1\n")
    run("train", tmp_path / "a.svm")
    told = said("evaluate", tmp_path / "a.refsolve", tmp_path / "b.svm")
    assert "3 entries of 2 features beyond the 2 of training left out" in told
    assert data("evaluate", tmp_path / "a.refsolve", tmp_path / "b.svm")["accuracy"]["1"] == 1.0


def test_a_row_without_query_is_named(tmp_path: Path) -> None:
    file = write(tmp_path / "a.svm", "1 qid:1 1:1\n0 1:2\n1 qid:2 1:3\n")
    with pytest.raises(DataFileError, match="example 2: the query is missing"):
        read(file, Roles(group="qid"))


# -- headers --------------------------------------------------------------------------------------

BODY = "1.5,2,3.25,0,a\n2.5,1,0.5,1,b\n0.5,4,1,0,a\n3,2,2,1,b\n"
NUMBERS = "1.5,2,3.25,0,0\n2.5,1,0.5,1,1\n0.5,4,1,0,0\n3,2,2,1,1\n"
HEADERS = [
    ("0,1,2,3,label\n", NUMBERS, True),
    ("0,1,2,3,label\n", BODY, True),
    ("0,1,2,3,anything\n", BODY, True),
    ("0,1,2,3,4\n", NUMBERS, True),  # what pandas writes for an array
    ("1,2,3,4,5\n", NUMBERS, True),
    ("1990,1991,1992,1993,country\n", BODY, True),
    ("400.5,401,401.5,402,sample\n", NUMBERS, True),
    ("a,b,c,d,e\n", NUMBERS, True),
    ("a,b,c,d,a\n".replace(",a\n", ",f\n"), BODY, True),
    ("4000.5,3998.5,3996.5,3994.5,species\n", BODY, True),  # infrared spectra fall
    ("4000,3998,3996,3991,2000,species\n", "9," + BODY.replace("\n", "\n9,")[:-2], True),
    ("a,2,b,1,kind\n", BODY, True),
    ("a,nan,null,none,kind\n", NUMBERS, True),
    ("a,nan,b,c,kind\n", BODY, True),
    ("0,1,2,3\n", "0.5,1.0,2.25,0\n1.5,1.5,0.25,1\n2.5,1.0,7.25,0\n", True),
    ("0,1,2\n", "0.5,1.0,0\n1.5,1.5,1\n2.5,1.0,0\n", True),
    ("9,-,4,2,a\n", BODY, False),
    ("1,2,3,4,b\n", BODY, False),
    ("5.1,3.5,1.4,0.2,setosa\n", BODY, False),
    ("9,3,4,2,b\n", BODY, False),
    ("9,3,4,2,1\n", NUMBERS, False),
    ("9,?,4,2,1\n", NUMBERS, False),
    ("red,big,p\n", "blue,big,e\nred,small,p\nblue,small,e\nred,big,e\n", False),
    ("colour,size,kind\n", "blue,big,e\nred,small,p\nblue,small,e\nred,big,e\n", True),
]


@pytest.mark.parametrize(("first", "body", "named"), HEADERS)
def test_headers_are_found(first: str, body: str, named: bool, tmp_path: Path) -> None:
    found = read(write(tmp_path / "a.csv", first + body))
    assert (found.named, len(found.y)) == (named, body.count("\n") + (not named))
    assert ("header in line 1" in found.taken) == named
    for header in (True, False):
        forced = read(tmp_path / "a.csv", Roles(header=header))
        assert (forced.named, len(forced.y)) == (header, body.count("\n") + (not header))


@pytest.mark.parametrize(
    "text",
    [
        "2,4,6\n1,5,0\n7,1,1\n2,2,0\n",
        "0,1,2\n1.5,5,0\n7,1,1\n2,2,0\n",
        "0,1\n1.5,0\n7.5,1\n2.5,1\n",
        "1,2,kind\n5,1,a\n3,3,a\n2,7,b\n",
        "7,kind\n5,a\n3,a\n2,b\n",
        "5,1,2,label\n5,1,2,a\n3,3,1,a\n2,7,1,b\n",
        "colour,2,1,kind\nred,5,1,a\nred,3,3,a\nblue,2,7,b\n",
    ],
)
@pytest.mark.parametrize("command", ["train", "probe", "compare"])
def test_rows_that_may_be_either_are_asked_about(command: str, text: str, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", text)
    out = tmp_path / "out"
    assert "--header or --no-header" in refused(command, file, "-o", out)
    assert "--no-header" in "".join(str(word) for word in run(command, "--help").stdout.split())
    (n, d), first = (text.count("\n"), text.partition("\n")[0].count(",")), text.partition(",")[0]
    assert read(file, Roles(header=False)).X.shape == (n, d)
    named = read(file, Roles(header=True))
    assert (named.X.shape, named.columns[0]) == ((n - 1, d), first)


def test_predictions_are_as_many_as_examples(tmp_path: Path) -> None:
    X = np.tile(NOISE + 9 * np.eye(3, 2)[Y], (2, 1))
    frame = pd.DataFrame(X).assign(label=np.tile(Y, 2))
    frame.to_csv(tmp_path / "a.csv", index=False)
    run("train", tmp_path / "a.csv")
    run("predict", tmp_path / "a.refsolve", tmp_path / "a.csv")
    written = pd.read_csv(tmp_path / "a.predictions.csv")
    assert len(written) == 120
    assert sorted(set(written["top_1"])) == [0, 1, 2]


# -- text that is no number, and what is missing --------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1_0", "1_1", "10"], ["1_0", "1_1", "10"]),
        (["01", "1", "2"], ["01", "1", "2"]),
        (["1e3", "1000", "7"], ["1e3", "1000", "7"]),
        (["\u0661", "1", "2"], ["\u0661", "1", "2"]),
        (["1", "1.0", "2"], ["1", "1.0", "2"]),
        (["1.0", "2.0", "3."], [1, 2, 3]),
        (["+1", "-1", "0"], [1, -1, 0]),
        (["True", "False", "True"], [True, False, True]),
        (["true", "false", "true"], [True, False, True]),
        (["true", "True", "False"], ["true", "True", "False"]),
        (["a", "1", "2"], ["a", "1", "2"]),
    ],
)
def test_labels_of_text_files(labels: list[str], expected: list[Any], tmp_path: Path) -> None:
    text = "".join(f"{i},{label}\n" for i, label in enumerate(["u", *labels, *labels]))
    found = read(write(tmp_path / "a.csv", "x,y\n" + text.partition("\n")[2])).y
    assert found is not None
    assert found.tolist() == [*expected, *expected]


def test_labels_of_a_model_and_of_a_file_that_writes_them_otherwise(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "u,y\n" + "".join(f"{i % 3},{i % 3}\n" for i in range(9)))
    write(tmp_path / "b.csv", "u,y\n0,0.0\n1,1\n1,1.0\n2,2.0\n")
    run("train", tmp_path / "a.csv")
    assert data("evaluate", tmp_path / "a.refsolve", tmp_path / "b.csv")["examples"] == 4
    write(tmp_path / "c.csv", "u,y\n" + "".join(f"{i % 3},0{i % 3}\n" for i in range(9)))
    write(tmp_path / "d.csv", "u,y\n0,00\n1,01\n")
    run("train", tmp_path / "c.csv")
    assert load_model(tmp_path / "c.refsolve").classifier.classes_.tolist() == ["00", "01", "02"]
    assert data("evaluate", tmp_path / "c.refsolve", tmp_path / "d.csv")["examples"] == 2
    assert "none of the classes" in refused("evaluate", tmp_path / "c.refsolve", tmp_path / "b.csv")


def test_features_that_are_numbers_of_python_alone_are_text(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", "u,v,y\n1_0,1e-05,a\n1_1,2,b\n1_0,.5,a\n1_1,-inf,b\n")
    with pytest.raises(DataFileError, match="the feature is inf"):
        read(file)
    X = read(write(file, file.read_text().replace("-inf", "3"))).X
    assert X["u"].tolist() == ["1_0", "1_1", "1_0", "1_1"]
    assert X["v"].tolist() == [1e-05, 2.0, 0.5, 3.0]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["01", "1", "1_0"] * 4),
        pa.array(["01", "1", "1_0"] * 4).dictionary_encode(),
        pa.array(["01", "1", "1_0"] * 4, pa.large_string()),
    ],
)
def test_typed_text_stays_text(column: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"u": np.arange(12.0), "c": column, "y": column}), file)
    found = read(file, Roles(group="c"))
    assert found.y is not None
    assert found.y.tolist() == ["01", "1", "1_0"] * 4
    assert found.group is not None
    assert found.group.tolist() == ["01", "1", "1_0"] * 4
    words = ("--categories", "c", "-o", tmp_path / "m.refsolve")
    run("train", file, *words)
    assert load_model(tmp_path / "m.refsolve").categories == {"c": ["01", "1", "1_0"]}


@pytest.mark.parametrize("token", ["NA", "?", "null", "N/A", "<NA>", "None", "nan", ""])
def test_what_is_missing_is_no_class_and_no_query(token: str, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", f"u,q,y\n1,p,a\n2,p,b\n3,p,{token}\n")
    assert f"line 4: the label is {token!r}" in refused("train", file)
    file = write(tmp_path / "a.csv", f"u,q,y\n1,p,a\n2,{token},b\n3,r,a\n")
    said_ = refused("train", file, "--model", "ap", "--positive", "a", "--group", "q")
    assert "line 3, column 'q': the query is missing" in said_
    file = write(tmp_path / "a.csv", f"u,q,y\n1,1,a\n2,{token},b\n3,2,a\n")
    assert "line 3, column 'q': the weight is nan" in refused("train", file, "--weight", "q")
    file = write(tmp_path / "a.csv", f"u,q,y\n1,1,a\n2,{token},b\n3,2,a\n")
    assert "line 3, column 'q': the value is missing" in refused("train", file)


def test_nulls_of_parquet(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    good = {"u": [1.0, 2, 3], "q": ["p", "q", "q"], "y": ["a", "b", "a"]}
    for column, values, words, what in (
        ("y", ["a", None, "b"], (), "row 1: the label is missing"),
        ("y", [1, None, 2], (), "row 1: the label is nan"),
        ("y", pa.array([True, None, False]), (), "row 1: the label is nan"),
        (
            "q",
            ["p", None, "q"],
            ("--model", "ap", "--positive", "a", "--group", "q"),
            "row 1, column 'q': the query",
        ),
        (
            "q",
            [1, None, 2],
            ("--model", "ap", "--positive", "a", "--group", "q"),
            "row 1, column 'q': the query",
        ),
    ):
        pq.write_table(pa.table(good | {column: values}), file)
        assert what in refused("train", file, *words)


def test_booleans_and_dictionaries_of_arrow(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    frame = pd.DataFrame({"u": np.arange(8.0), "f": [True, False] * 4, "y": [False, True] * 4})
    frame.astype({"y": "bool[pyarrow]", "f": "bool[pyarrow]"}).to_parquet(file)
    X, y = read_examples(file)
    assert y.tolist() == [False, True] * 4
    assert X[:, 1].tolist() == [1.0, 0.0] * 4
    words = pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    frame.assign(y=pd.Series(["a", "b"] * 4, dtype=words)).to_parquet(file)
    assert read_examples(file)[1].tolist() == ["a", "b"] * 4


def test_many_classes_are_believed_of_a_model_that_knows_them(tmp_path: Path) -> None:
    m = 120
    write(
        tmp_path / "a.csv",
        "u,v,y\n" + "".join(f"{i % m},{(i % m) ** 2 % 7},{i % m}\n" for i in range(2 * m)),
    )
    write(tmp_path / "b.csv", "u,v,y\n" + "".join(f"{i},{i**2 % 7},{i}\n" for i in range(110)))
    run("train", tmp_path / "a.csv", "--test", tmp_path / "b.csv", "--tol", "0.1")
    assert data("evaluate", tmp_path / "a.refsolve", tmp_path / "b.csv")["examples"] == 110
    assert "110 different numbers" in refused("train", tmp_path / "b.csv", "--force")
    found = read(tmp_path / "b.csv", None, Known(classes=np.arange(m)))
    assert found.y is not None


def test_labels_of_bytes_are_text(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", NOISE)
    np.save(tmp_path / "y.npy", np.char.encode(np.array(["é", "b", "c"])[Y], "utf-8"))
    run("train", tmp_path / "X.npy", tmp_path / "y.npy")
    assert load_model(tmp_path / "X.refsolve").classifier.classes_.tolist() == ["b", "c", "é"]


def test_labels_that_svm_readers_round_are_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "a.svm", "9007199254740992 1:1\n9007199254740993 1:2\n")
    assert "the label 9007199254740992 is beyond" in refused("train", file)


def test_several_labels_in_a_file_of_their_own(tmp_path: Path) -> None:
    many = NOISE[:, :1] > [0.5, -0.5, 0.0]
    np.save(tmp_path / "X.npy", NOISE)
    np.save(tmp_path / "Y.npy", many)
    pd.DataFrame(many.astype(int), columns=["sad", "loud", "fast"]).to_csv(
        tmp_path / "Y.csv", index=False
    )
    for file, names in (("Y.npy", ("0", "1", "2")), ("Y.csv", ("sad", "loud", "fast"))):
        found = read(tmp_path / "X.npy", Roles(labels=()), None, tmp_path / file)
        np.testing.assert_array_equal(found.y, many)
        assert found.labels == names


def test_indicators_of_booleans(tmp_path: Path) -> None:
    frame = pd.DataFrame(NOISE, columns=["a", "b"]).assign(u=NOISE[:, 0] > 0, v=NOISE[:, 1] > 0)
    frame.to_csv(tmp_path / "a.csv", index=False)
    found = read(tmp_path / "a.csv", Roles(labels=("u", "v"))).y
    np.testing.assert_array_equal(found, NOISE > 0)
    frame.astype({"u": str}).replace({"u": {"False": "no"}}).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(DataFileError, match="the entry is no"):
        read(tmp_path / "a.csv", Roles(labels=("u", "v")))


def test_one_class_of_a_model_is_the_same_number_in_every_file(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    FRAME.astype(float).to_csv(tmp_path / "b.csv", index=False)
    run("train", tmp_path / "a.csv", "--positive", "1")
    model = tmp_path / "a.refsolve"
    right = data("evaluate", model, tmp_path / "a.csv")["accuracy"]
    assert data("evaluate", model, tmp_path / "b.csv")["accuracy"] == right


def test_columns_that_a_model_does_not_know_are_told_of_in_python(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    run("train", tmp_path / "a.csv")
    model = load_model(tmp_path / "a.refsolve")
    caplog.clear()
    found = model.predict(FRAME.assign(c=1.0))
    assert "'c'" in caplog.text
    np.testing.assert_array_equal(found, model.predict(FRAME))
    batch = pa.RecordBatch.from_pandas(FRAME[["b", "a"]])
    np.testing.assert_array_equal(model.predict(batch), found)


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("pyarrow", "a.parquet"),
        ("pyarrow", "a.feather"),
        ("safetensors", "a.safetensors"),
        ("h5py", "a.h5"),
    ],
)
@pytest.mark.parametrize("command", ["train", "probe"])
def test_a_library_that_is_missing_is_named(
    package: str, name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_bytes(b"?")
    monkeypatch.setitem(sys.modules, package, None)
    more = ("--label", "y", "-o", tmp_path / "out") if command == "probe" else ()
    assert "pip install '.[" in refused(command, tmp_path / name, *more)
