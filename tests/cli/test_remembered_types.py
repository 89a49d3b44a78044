"""What a column of the training file was taken for, later files are read as, or they are refused in words."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _commands import refused

from verification.app import csv_file
from verification.app.column_checks import without_identifiers
from verification.app.dataset import Examples, Known, Roles
from verification.app.io import read
from verification.app.model_file import load_model, packed
from verification.app.trained_model import Model
from verification.app.training import train
from verification.errors import DataFileError

N = 40
B = np.arange(N) % 2 == 0
X = np.random.default_rng(3).standard_normal(N)
KINDS = ("csv", "parquet")


def file(folder: Path, name: str, column: object, kind: str = "csv", **more: object) -> Path:
    """A column, a feature and labels that only the column tells apart, where it has two values in turn."""
    n = len(column)  # type: ignore[arg-type]
    frame = pd.DataFrame({"c": column, "x": X[:n], "y": np.where(B, "up", "down")[:n]} | more)
    path = folder / f"{name}.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path, index=False)
    return path


def fitted(path: Path, *categories: str, impute: str | None = None) -> tuple[Model, Examples]:
    """A model of a file, out of its own file, and the examples."""
    examples = read(path, Roles(categories=categories))
    made = train(examples, categories=categories, model="logistic", impute=impute, fit_intercept=True, C=10.0)
    saved = path.with_suffix(".refsolve")
    saved.write_bytes(packed(made.model))
    return load_model(saved), examples


def answers(model: Model, path: Path) -> list[str]:
    examples = read(path, Roles(labelled=False, spare=model.apart), model.known)
    return list(model.estimator.predict(model.fed(examples)))


def matrix(model: Model, path: Path) -> list[list[int]]:
    """The columns of 0 and 1 of the categories."""
    examples = read(path, Roles(labelled=False, spare=model.apart), model.known)
    encoder = model.estimator[0].named_transformers_["categories"]
    return encoder.transform(model.fed(examples)[["c"]]).astype(int).tolist()


# -- categories are text ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pair", [("01", "1"), ("1e3", "1000"), ("+5", "5"), ("True", "maybe"), ("01", "x"),
                                  ("inf", "Infinity")])  # fmt: skip
def test_two_texts_are_two_categories(tmp_path: Path, pair: tuple[str, str], kind: str) -> None:
    """Also in a later file that holds only one of them, or is of the other format."""
    model, _ = fitted(file(tmp_path, "t", np.where(B, *pair), kind), "c")
    assert model.categories == {"c": sorted(pair)}
    at = [int(text == sorted(pair)[1]) for text in pair]
    for later in KINDS:
        for i, text in enumerate(pair):
            path = file(tmp_path, "n", [text] * 3, later)
            assert matrix(model, path) == [[1 - at[i], at[i]]] * 3
    assert answers(model, file(tmp_path, "n", list(pair) * 3)) == ["up", "down"] * 3


@pytest.mark.parametrize(("given", "kinds", "later"), [
    (["1.0", "2.0"], ["1", "2"], ["1", "2.00"]),
    ([1.0, 2.0], ["1", "2"], [1, 2]),
    ([1, 2], ["1", "2"], [1.0, 2.0]),
    (["-0", "2.50"], ["0", "2.5"], ["0", "2.5"]),
    (["1.0", "x"], ["1.0", "x"], ["1", "x"]),
    (["True", "False"], ["False", "True"], ["true", "FALSE"]),
    ([1, 0], ["0", "1"], ["True", "False"]),
    ([True, False], ["False", "True"], [1, 0]),
    ([2**53 + 1, 2**53], [str(2**53), str(2**53 + 1)], [2**53 + 1, 2**53]),
])  # fmt: skip
def test_numbers_and_truths_are_categories_in_any_spelling(
    tmp_path: Path, given: list, kinds: list[str], later: list
) -> None:
    for first in KINDS:
        model, _ = fitted(file(tmp_path, "t", [given[i % 2] for i in range(N)], first), "c")
        if first == "csv" or not isinstance(given[0], str):
            assert model.categories == {"c": kinds}
        for second in KINDS:
            assert answers(model, file(tmp_path, "n", later, second)) == ["up", "down"]


def test_a_spelling_of_two_categories_is_neither(tmp_path: Path) -> None:
    model, _ = fitted(file(tmp_path, "t", [["1", "1.0", "x"][i % 3] for i in range(N)]), "c")
    path = file(tmp_path, "n", ["1.00", "1.0", "1", "01"])
    assert matrix(model, path) == [[0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 0]]
    examples = read(path, Roles(labelled=False, spare=model.apart), model.known)
    assert model.unknown_values(examples)[0].startswith("c: 2 of 4 values are none that training saw, such as '1.00'")


def test_missing_is_what_training_says(tmp_path: Path) -> None:
    """NA may be the name of a country; where it was missing it stays so."""
    typed, _ = fitted(file(tmp_path, "t", np.where(B, "NA", "DE"), "parquet"), "c")
    assert typed.categories == {"c": ["DE", "NA"]}
    untyped, _ = fitted(file(tmp_path, "t", np.where(B, "NA", "DE")), "c")
    assert untyped.categories == {"c": ["(missing)", "DE"]}
    for kind in KINDS:
        path = file(tmp_path, "n", ["NA", "DE"], kind)
        assert answers(typed, path) == answers(untyped, path) == ["up", "down"]
    assert answers(untyped, file(tmp_path, "n", [None, "DE"])) == ["up", "down"]


def test_floats_that_are_not_told_apart_are_no_names(tmp_path: Path) -> None:
    path = file(tmp_path, "t", [2.0**53, 2.0**53 + 2] * 2, "parquet")
    with pytest.raises(DataFileError, match=r"beyond 2\*\*53, which are not told apart; expected names"):
        read(path, Roles(categories=("c",)))


# -- zeros before digits ----------------------------------------------------------------------------


@pytest.mark.parametrize("strict", [False, True])
def test_zeros_before_digits_are_said_or_kept(
    tmp_path: Path, strict: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if strict:
        monkeypatch.setattr(csv_file, "_arrow", lambda source: None)
    path = file(tmp_path, "t", np.where(B, "01067", "80331"), when=[f"{i % 12:02d}" for i in range(N)])
    examples = read(path, Roles(label="y"))
    assert [note for note in examples.notes if "taken" in note] == [
        "c: 01067 is taken for 1067 (--categories c keeps its zeros)",
        "when: 00 is taken for 0 (--categories when keeps its zeros)",
    ]
    assert examples.X.c[:2].tolist() == [1067.0, 80331.0]
    whole = read(path, Roles(label="y", categories=("auto",)))
    assert [str(kind) for kind in whole.X.dtypes] == ["object", "float64", "object"]
    assert whole.X.when[:2].tolist() == ["00", "01"]
    for plain in (["0.5", "00.5x"], ["0", "10"], ["0.0", "-0"], ["0.25", "1"]):
        assert not [n for n in read(file(tmp_path, "p", plain)).notes if "taken" in n]
    model, _ = fitted(file(tmp_path, "t", np.where(B, "01", "2")))
    later = read(file(tmp_path, "n", ["01", "1", "2"]), Roles(labelled=False, spare=("y",)), model.known)
    assert later.X.c.tolist() == [1.0, 1.0, 2.0]  # numbers in training
    assert not [note for note in later.notes if "taken" in note]


# -- True and False ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_truths_stay_truths(tmp_path: Path, kind: str) -> None:
    gaps = pd.array([None if i == 5 else bool(b) for i, b in enumerate(B)], dtype="boolean")
    for column, impute in ((B, None), (gaps, "most_frequent")):
        model, _ = fitted(file(tmp_path, "t", column, kind), impute=impute)
        assert model.booleans == ("c",)
        for good in ([True, False], ["true", "FALSE"], [1, 0], [1.0, 0.0]):
            assert answers(model, file(tmp_path, "n", good)) == ["up", "down"]
        for bad, said in ((["yes", "no"], "yes"), ([1, 2], r"2\.0"), ([0.5, 1], r"0\.5"), (["True", "T"], "T")):
            expected = rf"column 'c': expected True or False, as in training, or 1 or 0; got {said}$"
            with pytest.raises(DataFileError, match=expected):
                answers(model, file(tmp_path, "n", bad))


def test_truths_where_training_had_numbers_are_said(tmp_path: Path) -> None:
    model, _ = fitted(file(tmp_path, "t", np.where(B, 3, 0)))
    examples = read(file(tmp_path, "n", [True, False]), Roles(labelled=False, spare=("y",)), model.known)
    assert model.unknown_values(examples) == ["c: True and False are taken as 1 and 0; training had numbers"]


def test_a_file_of_a_model_names_features_as_truths(tmp_path: Path) -> None:
    model, _ = fitted(file(tmp_path, "t", B))
    path = tmp_path / "wrong.refsolve"
    path.write_bytes(packed(replace(model, booleans=("z",))))
    with pytest.raises(DataFileError, match="booleans is \\['z'\\]; expected names of features that are no categories"):
        load_model(path)


# -- the rest ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", [
    ["1,5", "-2,25"], ["1,500", "1,234,567.5"], ["1.234,5", "7,0"], ["1 234,5", "3"], ["2", "3,5"],
])  # fmt: skip
def test_commas_in_numbers_are_no_categories(tmp_path: Path, column: list[str]) -> None:
    if "1,500" in column:  # thousands alone may be lists, too
        column = ["1,234.5", "1,234,567.5"]
    path = file(tmp_path, "t", column * 10)
    assert without_identifiers(read(path), ("auto",)).X.shape[1] == 2
    with pytest.raises(DataFileError, match=r"column 'c': expected a number, got .*; write numbers with a dec"):
        fitted(path, "auto")
    model, _ = fitted(path, "c")
    assert model.categories == {"c": sorted(column)}


def test_text_among_numbers_is_refused_where_gaps_are_filled(tmp_path: Path) -> None:
    model, _ = fitted(file(tmp_path, "t", np.where(B, 3.0, np.nan)), impute="median")
    with pytest.raises(DataFileError, match="line 3, column 'c': expected a number, got '-'"):
        answers(model, file(tmp_path, "n", ["NA", "-"]))
    with pytest.raises(DataFileError, match="line 2, column 'c': the feature is inf"):
        answers(model, file(tmp_path, "n", ["inf", "1"]))


def test_columns_without_names_keep_their_places(tmp_path: Path) -> None:
    """The label stands first, so that places in the file are not those of the features."""
    path, later = tmp_path / "t.csv", tmp_path / "n.csv"
    frame = pd.DataFrame({"y": np.where(B, "up", "down"), "x": X, "b": np.arange(N) % 3 == 0})
    frame["c"] = np.where(B, "01", "1")
    frame.to_csv(path, index=False, header=False)
    roles = Roles(label="0", header=False, categories=("3",))
    examples = read(path, roles)
    made = train(examples, categories=("3",), model="logistic", fit_intercept=True, C=10.0).model
    (saved := tmp_path / "m.refsolve").write_bytes(packed(made))
    model = load_model(saved)
    assert (model.categories, model.booleans) == ({"2": ["01", "1"]}, ("1",))
    frame[["x", "b", "c"]].iloc[:4].to_csv(later, index=False, header=False)
    for known in (made, model):
        found = read(later, Roles(labelled=False, header=False, spare=known.apart), known.known)
        assert list(known.estimator.predict(known.fed(found))) == ["up", "down", "up", "down"]
    later.write_text("0.1,True,01\n0.1,7,1\n")
    found = read(later, Roles(labelled=False, header=False, spare=model.apart), model.known)
    with pytest.raises(DataFileError, match="line 2, column 1: expected True or False"):
        model.fed(found)


def test_test_files_and_frames_are_read_as_the_training_file(tmp_path: Path) -> None:
    path = file(tmp_path, "t", np.where(B, "01", "x"))
    model, examples = fitted(path, "auto")
    only = read(file(tmp_path, "n", ["01", "01"]), Roles(), Known.of(examples))
    assert only.X.c.tolist() == ["01", "01"]
    frame = pd.DataFrame({"x": [0.0, 0.0], "c": ["01", "01"]})  # another order
    assert list(model.predict(frame)) == ["up", "up"]
    assert list(model.predict(frame.assign(c=["x", "x"]))) == ["down", "down"]


def test_the_command_line(tmp_path: Path) -> None:
    path = file(tmp_path, "t", B)
    fitted(path)
    said = refused("predict", path.with_suffix(".refsolve"), file(tmp_path, "n", ["yes", "no"]))
    assert "expected True or False, as in training, or 1 or 0; got yes" in " ".join(said.split())
