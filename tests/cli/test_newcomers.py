"""What newcomers meet: rare classes, messy tables, options that messages and pages name, silence."""

import ast
import bz2
import gzip
import io
import lzma
import re
import sys
import time
import zipfile
from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from _commands import data, refused, run
from sklearn.metrics import f1_score, precision_score, recall_score

from verification import load_model
from verification.app import console
from verification.app.comparison import _constant
from verification.app.metrics import _balance, _by_class, _random_order
from verification.app.probing import Forecast
from verification.cli import command_names, options_of
from verification.report.document import seconds

ROOT = Path(__file__).resolve().parents[2]
RNG = np.random.default_rng(4)
N = 120
FRAME = pd.DataFrame(
    {"x": RNG.normal(size=N), "wet": RNG.random(N) < 0.5, "town": RNG.choice(["a", "b"], N)}
)
FRAME["kind"] = np.where(FRAME.x + FRAME.wet > 0.8, "up", "down")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
OPTIONS = {name: options_of(name) for name in command_names()}
#: Of pytest, pip, git, of a program in an example, and of modules that are run by themselves.
OTHERS = {"--pyargs", "--verify-solver", "--verify-problem", "--verify-exec", "--verify-xfail", "--porcelain",
          "--upgrade", "--version", "--help", "--record", "--count", "--seed", "--profile", "--fast"}  # fmt: skip


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    return tmp_path / "a.csv"


# -- options and commands that texts name -----------------------------------------------------------


@cache
def texts() -> list[tuple[str, str]]:
    """Strings of the packages without docstrings of functions, and lines of pages."""
    found = []
    for file in [p for room in ("fast", "refsolve", "verification") for p in (ROOT / room).rglob("*.py")]:
        if "--" not in (text := file.read_text(encoding="utf-8")) and "refsolve " not in text:
            continue
        found += [
            (str(file), str(node.value))
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        found += [(str(page), line) for line in page.read_text(encoding="utf-8").splitlines()]
    return found


def test_every_command_line_in_a_text_is_one() -> None:
    """`refsolve NAME ... --option`: the command exists and has the option."""
    wrong, seen = [], 0
    for where, text in texts():
        for name, rest in re.findall(r"(?:`|\$ |^ *|\")refsolve ([a-z]+)([^`|;\"\n]*)", text, re.MULTILINE):
            if name not in OPTIONS:
                wrong += [(where, name)] * (("`refsolve " + name) in text)
                continue
            named = OPTION.findall(rest)
            seen += len(named)
            wrong += [(where, name, o) for o in named if o not in OPTIONS[name] | {"--help", "--json"}]
    assert seen > 100
    assert wrong == []


def test_every_option_in_a_message_is_one_of_some_command() -> None:
    known = set[str]().union(*OPTIONS.values()) | OTHERS
    app = [(where, text) for where, text in texts() if "/verification/app/" in where or "/fast/data/" in where]
    assert [(w, o) for w, text in app for o in OPTION.findall(text) if o not in known] == []
    assert not any("refsolve[" in text for _, text in texts())  # which no index has


def test_a_message_says_which_command_has_an_option_that_this_one_has_not(csv: Path) -> None:
    run("train", csv, "--categories", "town", "-o", csv.with_name("m"))
    FRAME.assign(x=np.where(FRAME.x > 1.5, np.nan, FRAME.x)).to_csv(csv, index=False)
    said = refused("predict", csv.with_name("m.refsolve"), csv)
    assert "--impute is an option of `refsolve compare`, `train`" in said
    assert "is an option of" not in refused("train", csv, "--categories", "town", "--force")
    FRAME[["x", "kind"]].to_csv(csv, index=False)
    np.savetxt(csv.with_name("w.csv"), np.zeros((2, 1)))
    assert "take one of average_precision" in refused("audit", csv.with_name("w.csv"), csv, "--loss", "hing")


@pytest.mark.parametrize("name", ["train", "probe", "compare", "audit"])
def test_commands_share_their_options(name: str) -> None:
    shared = {"--tol", "-C"} | ({"--output", "-o", "--fit-intercept"} if name != "audit" else set())
    assert shared <= OPTIONS[name]
    assert not OPTIONS[name] & {"--out", "--Cs", "--tolerance", "--bias"}


# -- a model, and who judges it ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [("--gamma", "0.5"), ("--model", "logistic", "--class-weight", "balanced"), ()]
)
def test_a_model_file_is_audited_as_it_was_trained(csv: Path, words: tuple[str, ...]) -> None:
    told = data("train", csv, "--categories", "auto", "--tol", "1e-6", *words)["model"]
    found = data("audit", csv.with_suffix(".refsolve"), csv)
    assert found["primal"] == pytest.approx(told["primal objective"], rel=1e-6)
    assert found["dual"] == pytest.approx(told["dual objective"], rel=1e-3)
    assert "says it: leave it out" in refused("audit", csv.with_suffix(".refsolve"), csv, "-C", "2")


def test_labels_in_a_file_of_their_own_by_their_option(csv: Path) -> None:
    run("train", csv, "--categories", "auto")
    np.save(csv.with_name("y.npy"), FRAME.kind.to_numpy(str))
    model = csv.with_suffix(".refsolve")
    told = data("evaluate", model, csv, "--labels", csv.with_name("y.npy"))
    assert told["accuracy"] == data("evaluate", model, csv)["accuracy"]
    again = refused("evaluate", model, csv, csv.with_name("y.npy"), "--labels", csv.with_name("y.npy"))
    assert "give one of them" in again


def test_measures_of_each_class_are_those_of_scikit_learn() -> None:
    y, guessed = RNG.integers(3, size=50), RNG.integers(3, size=50)
    hits = np.bincount(y[y == guessed], minlength=3)
    found = _by_class(np.array(list("abc")), np.bincount(y), np.bincount(guessed), hits)
    for j, score in ((2, precision_score), (3, recall_score), (4, f1_score)):
        np.testing.assert_allclose([row[j] for row in found], score(y, guessed, average=None))
    assert set(_balance(np.zeros((50, 3)), y, found)) == {"balanced accuracy"}


def test_a_model_that_always_says_the_same_is_called_so(tmp_path: Path) -> None:
    y = np.arange(200) < 5
    pd.DataFrame({"x": RNG.normal(size=200), "y": y}).to_csv(tmp_path / "a.csv", index=False)
    shown = run("train", tmp_path / "a.csv", "-C", "0.01").stdout
    assert "no better than the answer 'False'" in " ".join(shown.split())
    assert "always the most frequent (train)" in shown
    assert "Certified: no model has a training objective" in " ".join(shown.split())
    told = data("train", tmp_path / "a.csv", "--force")
    assert told["by_class"]["train"]["always the most frequent"] == {"1": 0.975}
    balanced = data("train", tmp_path / "a.csv", "--force", "--class-weight", "balanced")
    share = [t["accuracy"]["train"]["balanced accuracy"] for t in (told, balanced)]
    assert share[1] > share[0] == 0.5
    assert load_model(tmp_path / "a.refsolve").classifier.class_weight == "balanced"
    assert "expected balanced" in refused("train", tmp_path / "a.csv", "--class-weight", "heavy")


def test_rows_of_compare_have_the_most_frequent_classes_beside_them() -> None:
    y = np.array([0, 0, 0, 1, 1, 2])
    held: Any = SimpleNamespace(
        splits=[SimpleNamespace(pairs=(None, None, (None, y)))], classes=np.arange(3)
    )
    found = _constant(held, ["Top-1", "Top-2", "accuracy", "average precision"])
    np.testing.assert_allclose(found, [50.0, 250.0 / 3.0, 50.0, np.nan])


def test_accuracy_on_training_examples_is_called_so(csv: Path) -> None:
    words = ("train", csv, "--categories", "auto", "--force")
    alone, seen = "training examples alone", "was trained on a.csv"
    model = csv.with_suffix(".refsolve")
    assert alone in run(*words).stdout
    assert alone not in run(*words, "--holdout", "0.2").stdout
    assert seen in " ".join(run("evaluate", model, csv).stdout.split())
    FRAME[::-1].to_csv(csv, index=False)
    assert seen not in " ".join(run("evaluate", model, csv).stdout.split())
    assert "trained" not in refused(*words, "-C", "0.1,1")  # before any work
    assert "C has 2 values; expected examples to choose by" in " ".join(refused(*words, "-C", "0.1,1").split())


def test_a_report_shows_no_parameter_that_does_nothing(csv: Path) -> None:
    plain = run("train", csv, "--categories", "auto")
    assert not re.search("gamma|variant|truncated|guesses", plain.stdout)
    assert "1 feature (text)" in " ".join(plain.stderr.split())
    smooth = run("train", csv, "--categories", "auto", "--gamma", "0.5", "--force")
    assert re.search(r"smoothing gamma +0.5", smooth.stdout)
    three = csv.with_name("b.csv")
    FRAME.assign(kind=np.arange(N) % 3).to_csv(three, index=False)
    assert "Multiclass SVM trained on" in run("train", three, "--categories", "auto").stdout
    assert "Top-k SVM trained on" in run("train", three, "--categories", "auto", "-k", "2", "--force").stdout


# -- messy tables -----------------------------------------------------------------------------------


def zipped(text: bytes, *others: str) -> bytes:
    with zipfile.ZipFile(held := io.BytesIO(), "w") as file:
        for name in ("folder/other.csv", *others):
            file.writestr(name, text)
    return held.getvalue()


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zip": zipped,
}  # fmt: skip


TEXTS = [(".tsv", "\t"), (".csv", ";"), *((f".csv{how}", ",") for how in COMPRESS)]


@pytest.mark.parametrize(("suffix", "separator"), TEXTS)
def test_separators_and_compressed_files(tmp_path: Path, suffix: str, separator: str) -> None:
    FRAME.drop(columns="town").to_csv(tmp_path / "plain.csv", index=False)
    text = FRAME.drop(columns="town").to_csv(index=False, sep=separator)
    file = tmp_path / f"other{suffix}"
    file.write_bytes(COMPRESS.get(file.suffix, bytes)(text.encode()))
    words = ("--separator", ";") if separator == ";" else ()
    run("train", tmp_path / "plain.csv", "-o", tmp_path / "m")
    told = data("evaluate", tmp_path / "m.refsolve", file, *words)
    assert told["accuracy"] == data("evaluate", tmp_path / "m.refsolve", tmp_path / "plain.csv")["accuracy"]
    if words:
        assert "--separator ';'" in refused("train", file)
        assert "expected one character" in refused("train", file, "--separator", ";;")
    if file.suffix in COMPRESS:
        for broken in (b"damaged", file.read_bytes()[:-20]):
            file.write_bytes(broken)
            assert "expected one table, compressed as its suffix says" in refused("train", file)
    if file.suffix == ".zip":
        file.write_bytes(zipped(text.encode(), "another.csv"))
        assert "it holds 2 files" in refused("train", file)


def test_booleans_dates_and_names(csv: Path) -> None:
    frame = FRAME.assign(name=[f"n{i}" for i in range(N)])[["name", *FRAME]]
    frame.to_csv(csv, index=False)
    said = " ".join(run("train", csv, "--categories", "auto").stderr.split())
    assert "name left out: 120 different texts" in said
    model = load_model(csv.with_suffix(".refsolve"))
    assert (model.columns, list(model.categories)) == (("x", "wet", "town"), ["town"])
    assert model.predict(FRAME).tolist() == model.predict(frame).tolist()
    run("predict", csv.with_suffix(".refsolve"), csv, "-o", csv.with_name("p"))
    assert csv.with_name("p.csv").is_file()
    frame.assign(name=pd.date_range("2020-01-01", periods=N)).to_csv(csv, index=False)
    for words in ((), ("--categories", "auto")):
        assert "the date '2020-01-01'" in refused("train", csv, "--force", *words)


def test_rare_classes_are_refused_in_our_words(csv: Path) -> None:
    FRAME.assign(kind=["one", *FRAME.kind[1:]]).to_csv(csv, index=False)
    said = refused("train", csv, "--categories", "auto", "--holdout", "0.2")
    assert "['one'] of 3 classes have one example" in said
    assert "np.str_" not in said
    assert "--rare-classes drop" in said


@pytest.mark.parametrize("name", ["train", "compare"])
def test_rare_classes_are_dropped_or_merged(csv: Path, name: str) -> None:
    kinds = [*FRAME.kind[4:80], *(["mid"] * (N - 80))]
    FRAME.assign(kind=["one", "two", "two", "three", *kinds]).to_csv(csv, index=False)
    words = [name, csv, "--categories", "auto", "-o", csv.with_name("m"), "--force"]
    words += ["--holdout", "0.2"] if name == "train" else ["-k", "1", "--method", "LR-Multi"]
    assert "--rare-classes drop or merge" in refused(*words)
    least = 2 if name == "train" else 4
    counts = pd.read_csv(csv).kind.value_counts()
    few = counts[counts < least]
    for how in ("drop", "merge"):
        found = f"{len(few)} class{'es' * (len(few) > 1)}"
        assert f"{found} with fewer than {least} examples" in run(*words, "--rare-classes", how).stderr
        told = data(*words, "--rare-classes", how)
        left = len(counts) - len(few) + (how == "merge")
        if name == "train":
            assert told["model"]["classes"] == left
            sizes = told["model"]["examples"], int(0.8 * (N - (how == "drop") * few.sum()))
            assert abs(sizes[0] - sizes[1]) <= 1
            assert told["card"]["check"] == ""
            assert ("other" in load_model(csv.with_name("m.refsolve")).classifier.classes_) == (how == "merge")
        else:
            page = csv.with_name("m").joinpath("compare.md").read_text()
            assert f"{left} classes" in page
            assert "LR logistic regression; Multi all classes in one loss." in page
    assert "expected drop or merge" in refused(*words, "--rare-classes", "keep")
    if name == "compare":
        assert "of which parts are drawn" in refused(*words, "--rare-classes", "drop", "--test", csv)
    FRAME.assign(kind=["one", "other", "other", "other", *kinds]).to_csv(csv, index=False)
    assert "a class is called other" in refused(*words, "--rare-classes", "merge")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_examples_without_a_label_are_left_out_where_that_is_asked(tmp_path: Path, suffix: str) -> None:
    """The model is that of the table without them, and each command takes the table as it is."""
    holed = FRAME.assign(kind=FRAME.kind.where(np.arange(N) % 7 > 0), wet=FRAME.wet * 1.0)
    file, whole, model = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}", tmp_path / "m.refsolve"
    for frame, where in ((holed, file), (holed.dropna(), whole)):
        frame.to_csv(where, index=False) if suffix == ".csv" else frame.to_parquet(where)
    drop, words = "--drop-unlabelled", ("--categories", "town", "--holdout", "0.3")
    assert drop in refused("train", file, *words)
    said = run("train", file, *words, drop, "-o", model).stderr
    assert f"{-(-N // 7)} rows without a label left out" in " ".join(said.split())
    run("train", whole, *words)
    own = [load_model(m).classifier.coef_ for m in (model, whole.with_suffix(".refsolve"))]
    np.testing.assert_array_equal(*own)
    assert drop in refused("evaluate", model, file)
    figures = [data("evaluate", model, f, *w)["accuracy"] for f, w in ((file, (drop,)), (whole, ()))]
    assert figures[0] == figures[1]
    check = data("train", file, *words, drop, "-o", model, "--force")["card"]["check"]
    assert data(*check.split()[1:])["gap"] >= 0.0
    rows = data("compare", file, "--categories", "town", drop, "-o", tmp_path / "c", "--method", "SVM", "-C", "1")
    assert rows["ok"] is True
    np.savez(tmp_path / "a.npz", X=FRAME[["x"]], y=FRAME.kind.to_numpy(str))
    assert "goes with tables" in refused("train", tmp_path / "a.npz", drop)
    holed.assign(kind=None).to_csv(tmp_path / "none.csv", index=False)
    assert "no row has a label" in refused("train", tmp_path / "none.csv", "--label", "kind", drop)


def test_lists_are_ranked_query_by_query(tmp_path: Path) -> None:
    """Ranks count from 1 in every query; average precision is said to be a mean over so many."""
    table, model = tmp_path / "q.csv", tmp_path / "m.refsolve"
    frame = FRAME[["x", "kind"]].assign(query=np.arange(N) // 10)
    frame.to_csv(table, index=False)
    words = ("--model", "ap", "--positive", "up", "--label", "kind", "--group", "query", "--holdout", "0.5")
    shown = run("train", table, *words, "-o", model)
    assert "12 queries (query)" in " ".join(shown.stderr.split())
    assert re.search(r"examples +queries +mean average precision", shown.stdout)
    assert re.search(r"holdout +60 +6 ", shown.stdout)
    assert re.search(r"random order \(holdout\) +60 +6 ", shown.stdout)
    assert data("evaluate", model, table)["accuracy"]["queries"] == 12
    run("predict", model, table, "-o", tmp_path / "p.csv")
    found = pd.read_csv(tmp_path / "p.csv")
    assert list(found.columns) == ["query", "rank", "score", "predicted"]
    assert found["query"].tolist() == frame["query"].tolist()
    for _, part in found.groupby("query"):
        ordered = part.sort_values("rank")
        assert ordered["rank"].tolist() == list(range(1, 11))
        assert (np.diff(ordered["score"]) <= 0).all()
    frame.drop(columns="query").to_csv(table, index=False)
    run("predict", model, table, "-o", tmp_path / "p.csv", "--force")
    assert sorted(pd.read_csv(tmp_path / "p.csv")["rank"]) == list(range(1, N + 1))
    assert "no column 'query'" in refused("evaluate", model, table)


@pytest.mark.parametrize(("n", "positives"), [(1, 1), (4, 1), (5, 2), (5, 5)])
def test_average_precision_of_a_random_order_is_the_mean_over_all_orders(n: int, positives: int) -> None:
    ranks = combinations(range(1, n + 1), positives)
    found = [np.mean([(j + 1) / rank for j, rank in enumerate(chosen)]) for chosen in ranks]
    assert _random_order(n, positives) == pytest.approx(np.mean(found), rel=1e-12)


# -- silence, and numbers for people ----------------------------------------------------------------


def test_a_log_hears_that_a_silent_command_works(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(console, "SILENT", 0.0)
    with console.ALIVE.watch(), console.stage("trained"):
        for _ in range(500):
            if "still at work: training" in stream.getvalue():
                break
            time.sleep(0.02)
    assert "still at work: training" in stream.getvalue()


def test_nothing_is_forecast_of_small_problems() -> None:
    small = Forecast(10, 2, 2, 1, 5.0, 0.01, 1e-5, 0.01, 0.0)
    assert small.text.endswith("nothing is forecast")
    large = Forecast(10**6, 2000, 2, 1, 5.0, 0.2, 50.0, 250.0, 0.0)
    assert "0.2 Gflop/s" in large.text
    assert "about 4 min 10 s" in large.text


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0123456, "0.0123 s"), (12.34, "12.3 s"), (119.6, "120 s"), (125.0, "2 min 5 s"), (0.0, "0 s")],
)
def test_times_have_three_digits_and_a_unit(value: float, shown: str) -> None:
    assert seconds(value) == shown


def test_audit_of_weighted_classes_and_of_one_against_the_rest(csv: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.refsolve"
    options = ("--positive", "up", "--class-weight", "balanced", "--categories", "auto", "-o", model)
    run("train", csv, *options)
    found, told = data("audit", model, csv), " ".join(run("audit", model, csv).stdout.split())
    plain = data("evaluate", model, csv)["accuracy"]
    assert "weighted accuracy on these rows" in told
    assert found["accuracy"] == pytest.approx(plain["balanced accuracy"], abs=1e-9)
    assert found["gap"] <= 1e-3 * found["primal"]


def test_values_that_training_did_not_see_and_the_positive_class_are_said(
    csv: Path, tmp_path: Path
) -> None:
    model, other = tmp_path / "m.refsolve", tmp_path / "other.csv"
    run("train", csv, "--categories", "auto", "-o", model)
    FRAME.assign(town=FRAME.town.replace("a", "c")).to_csv(other, index=False)
    for command in ("evaluate", "predict"):
        count = (FRAME.town == "a").sum()
        assert f"town: {count} of {N} values are none that training saw, such as 'c'" in (
            " ".join(run(command, model, other).stderr.split())
        )
        assert "training saw" not in run(command, model, csv, *["--force"] * (command == "predict")).stderr
    assert "AUC and average precision are those of 'up'" in run("evaluate", model, csv).stdout
