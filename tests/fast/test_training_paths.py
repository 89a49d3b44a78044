"""How trainers get to their optimum, as recorded: gap and primal after each check, for every solver, loss and layout.

A trainer certifies its model whatever happens on the way: what is wrong there makes it slower, and no
test of the answer notices. Small problems are solved to ``tol`` here, as large ones are: where a run
ended by itself, it ends there again. The record is of the trainers' own functions, not of their parts: whoever
changes the way on purpose records it anew, and sees in the difference whether it became shorter:
``python tests/fast/test_training_paths.py``. A loss or solver that is new joins the record then. With
``--again`` and another BLAS (``OPENBLAS_CORETYPE=Prescott``, ``Haswell``) or processor
(``NUMBA_CPU_NAME=generic``; of NumPy ``NPY_DISABLE_CPU_FEATURES=X86_V3,X86_V4,AVX512_ICL,AVX512_SPR``), a path
is cut where they come to differ. One that stands still is left out.
"""

import itertools
import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from _multiclass import Cut, objectives
from _problems import bags, classes, privileged, relevant
from sklearn.exceptions import ConvergenceWarning

import fast
from fast.errors import InvalidParameterError
from fast.families import named
from fast.models import multiclass_erm, svm_plus_hinge, svm_plus_squared_hinge
from fast.solvers import one_vs_rest_training, simplex_interior, solver_selection

RECORD = Path(__file__).with_name("training_paths.json")
CHANGE, ROUNDING = 1e-4, 1e-11  # relative; and of a relative gap, after products in float64
STILL = 0.01  # a path of which neither has changed by more says little
#: Changes of features and weights that stand for the rounding of another machine. What they change by a tenth of
#: what is allowed is not recorded, nor what follows.
ROUNDED = 1e-14
MULTICLASS = {
    "multiclass_hinge": {}, "topk_hinge_alpha": {"k": 3}, "topk_hinge_beta": {"k": 2},
    "smooth_topk_hinge_alpha": {"k": 2, "gamma": 0.7}, "smooth_topk_hinge_beta": {"k": 2, "gamma": 0.7},
    "squared_topk_hinge": {"k": 2}, "softmax": {}, "sparsemax": {}, "topk_entropy_alpha": {"k": 3},
    "topk_entropy_beta": {"k": 2}, "ordered_weighted_hinge": {}, "consistent_topk_hinge": {"k": 2},
    "smooth_consistent_topk_hinge": {"k": 2, "gamma": 0.7},
}  # fmt: skip
SIGNED = ("ova_hinge", "ova_smooth_hinge", "ova_logistic", "multilabel_hinge", "multilabel_smooth_hinge",
          "multilabel_entropy")  # fmt: skip
LAYOUTS = {
    "dense": np.asarray,
    "csr": lambda X: sp.csr_array(np.where(np.abs(X) < 0.4, 0.0, X)),
    "float32": lambda X: X.astype(np.float32),
    "read": lambda X: Cut(np.ascontiguousarray(X)),
}
RANKERS: dict[str, list[dict[str, Any]]] = {
    "APSVM": [{"solver": s, "C": C, **more} for s in ("bundle", "cutting_plane") for C in (1.0, 20.0)
              for more in ({}, {"ramp": True}, {"easy_fraction": 0.5})],
    "LatentAPSVM": [{"C": 3.0}],
    "RecallAtK": [{"C": C, "solver": s} for C in (0.3, 5.0) for s in ("bundle", "cutting_plane")],
    "TopPush": [{"C": C} for C in (0.05, 1.0, 30.0)],
}  # fmt: skip
#: Examples, classes, features, C, tol.
SIZES = {
    "small": (24, 4, 3, 1.0, 1e-9),
    "many": (30, 14, 5, 3.0, 1e-6),
    "wide": (18, 4, 40, 0.3, 1e-4),
    "strong": (24, 4, 3, 0.06, 1e-9),
}
SHAPES = [("dense", "small"), ("dense", "many"), ("dense", "wide"), ("csr", "many"), ("csr", "wide"),
          ("float32", "small"), ("read", "many")]  # fmt: skip
#: Losses with trainers of their own.
APART = {"average_precision": "APSVM and its relatives", "ndcg": "NDCGSVM", "truncated_topk_entropy": "is not convex"}


def multiclass(loss, solver, layout, size, moved):
    n, m, d, C, tol = SIZES[size]
    X, y = classes(0, n=n, m=m, d=d)
    r = C * np.random.default_rng(3).uniform(0.5, 1.5, n)
    r = moved(r)
    r[2] = 0.0
    X = LAYOUTS[layout](moved(X))
    given = {"tol": tol, "max_iter": 20, "solver": solver}
    kind = named(loss, **MULTICLASS[loss])
    found = multiclass_erm.train(X, y, r, m, kind, **given)
    if found.dual_variables is not None:  # what is claimed is so, by definition
        X = getattr(X, "X", X).astype(float)
        primal, dual = objectives(kind, X, y, r, found.W, np.asarray(found.dual_variables, float)
                                  if kind.complements else found.dual_variables)  # fmt: skip
        room = 1e-9 * (1.0 + abs(primal))
        assert found.primal == pytest.approx(primal, abs=room)
        assert found.dual == pytest.approx(dual, abs=room)
    return found.history


def signed(loss, solver, layout, size, moved):
    n, m, d, C, tol = SIZES[size]
    X, y = classes(0, n=n, m=m, d=d)
    own = y[:, None] == np.arange(m)
    if loss.startswith("multilabel"):
        own = y = own | (X @ np.random.default_rng(1).standard_normal((d, m)) > 1.0)
    r = moved(C * np.random.default_rng(3).uniform(0.5, 1.5, n))
    X = LAYOUTS[layout](moved(X))
    return one_vs_rest_training.train(
        X, y, own, r, named(loss), tol=tol, max_iter=20, solver=solver
    ).history


def plus(loss, nonneg, delta, space, C, moved):
    module = {"hinge": svm_plus_hinge, "squared": svm_plus_squared_hinge}[loss]
    X, y, Z = privileged(1, n=30)
    if space == "rows":
        X, y, Z = privileged(1, n=400)
    X, y, Z = moved(X), np.where(y, 1.0, -1.0), (Z - Z.mean(axis=0)) / Z.std(axis=0)
    given = {"nonneg_slack": nonneg, "free_slack": delta, "tol": 1e-9, "max_iter": 30}
    if space in ("features", "rows"):
        return module.train(X, y, Z, C, 0.5, **given).history
    given |= {"Z": Z} if space == "Z" else {"Kz": np.exp(-0.3 * ((Z[:, None] - Z) ** 2).sum(-1))}
    K = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(-1)) + 1e-3 * np.eye(len(X))
    return module.train_kernel(K, y, C, 0.5, **given).history


def views(kernel, kernel_z, C, moved):
    X, y, Z = privileged(1, n=40)
    model = fast.SVM2KClassifier(
        C, 2.0, 0.7, 0.1, kernel, kernel_z, 0.3, 0.3, tol=1e-9, max_iter=30
    )
    return model.fit(moved(X), y, Z).history_


def ranked(make, data, layout, moved, **given):
    given["C"] = float(moved(np.array(given["C"])))
    model = getattr(fast, make)(**given, tol=1e-7, max_iter=25)
    X, y = {"two": partial(relevant, 1), "long": partial(relevant, 9, n=200, d=6, shift=3.0),
            "classes": partial(classes, 5, n=40, m=4, d=3), "bags": partial(bags, 1)}[data]()  # fmt: skip
    X = [moved(x) for x in X] if data == "bags" else LAYOUTS[layout](moved(X))
    return model.fit(X, y).history_


def cases() -> Iterator[tuple[str, Any]]:
    """Every trainer, loss, layout and size that go together, by name."""
    solvers = "auto", *multiclass_erm.SOLVERS
    for loss, solver, (layout, size) in itertools.product(MULTICLASS, solvers, SHAPES):
        yield f"{loss} {solver} {layout} {size}", partial(multiclass, loss, solver, layout, size)
    solvers = "auto", *one_vs_rest_training.SOLVERS
    shapes = [*SHAPES[:6], ("dense", "strong")]  # of hinges, rounding moves where others are first
    for loss, solver, (layout, size) in itertools.product(SIGNED, solvers, shapes):
        yield f"{loss} {solver} {layout} {size}", partial(signed, loss, solver, layout, size)
    spaces = "features", "rows", "Z", "Kz"
    for case in itertools.product(("hinge", "squared"), (True, False), (0.0, 0.4), spaces, (1, 30)):
        yield " ".join(map(str, ("plus", *case))), partial(plus, *case)
    for case in itertools.product(("linear", "rbf"), ("linear", "rbf"), (0.5, 20)):
        yield " ".join(map(str, ("views", *case))), partial(views, *case)
    for make, settings in RANKERS.items():
        data = {"APSVM": ("two",), "LatentAPSVM": ("bags",)}.get(make, ("two", "long", "classes"))
        for given, name, layout in itertools.product(settings, data, ("dense", "csr", "float32")):
            if layout == "dense" or (name != "bags" and given["C"] < 20.0):
                text = f"{make} {' '.join(map(str, given.values()))} {name} {layout}"
                yield text, partial(ranked, make, name, layout, **given)


def followed(run: Any, change: float = 0.0) -> np.ndarray:
    """Relative gap, and primal as part of the first, after each check; ``change``: of features and weights."""
    rng = np.random.default_rng(0)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", ConvergenceWarning)
        for module in (multiclass_erm, one_vs_rest_training, solver_selection):
            patch.setattr(module, "POLISHED_SIZE", 0)
        patch.setattr(simplex_interior, "QUICK", 0)
        history = run(lambda X: X * (1.0 + change * rng.standard_normal(X.shape)) if change else X)
    if not isinstance(history, dict):
        history = {name: [h[name] for h in history] for name in ("gap", "primal")}
    return np.column_stack([history["gap"], np.divide(history["primal"], history["primal"][0])])


def agree(found: np.ndarray, recorded: np.ndarray, part: float = 1.0) -> np.ndarray:
    """Whether checks found the same, up to a part of what is allowed."""
    return np.isclose(found, recorded, rtol=part * CHANGE, atol=part * ROUNDING).all(axis=1)


def recorded(again: bool) -> dict[str, dict[str, Any]]:
    """The paths, each as far as rounding leaves it what it is; ``again``: of those in the record, on this machine."""
    kept = {}
    for name, run in cases():
        if again and name not in PATHS:
            continue
        try:
            path = followed(run)
        except InvalidParameterError:  # they do not go together
            continue
        whole = True
        if again:
            path, other, whole = as_array(PATHS[name]), path, PATHS[name]["whole"]
        else:
            other = followed(run, ROUNDED)
        length = min(len(path), len(other))
        same = agree(path[:length], other[:length], 0.1)
        if not (whole and same.all() and len(path) == len(other)):
            path, whole = path[: length if same.all() else int(same.argmin())], False
        if (len(path) > 1 and np.ptp(path, axis=0).max() > STILL) or (
            whole and path[-1, 0] < STILL
        ):
            gap, primal = ([float(f"{v:.7g}") for v in column] for column in path.T)
            kept[name] = {"whole": whole, "gap": gap, "primal": primal}
    return kept


def as_array(path: dict[str, Any]) -> np.ndarray:
    return np.column_stack([path["gap"], path["primal"]])


PATHS: dict[str, dict[str, Any]] = {}
if __name__ != "__main__" or "--again" in sys.argv:
    PATHS = json.loads(RECORD.read_text(encoding="utf-8"))
CASES = {name: run for name, run in cases() if name in PATHS}


def test_every_recorded_path_has_its_case() -> None:
    assert CASES.keys() == PATHS.keys()


def test_every_loss_has_paths() -> None:
    losses = {name for name in dir(fast.losses) if not name.startswith("_")}
    assert losses == {*MULTICLASS, *SIGNED, *APART}


@pytest.mark.parametrize("loss", [*MULTICLASS, *SIGNED])
def test_solvers_without_a_path_refuse_the_loss(loss: str) -> None:
    train, module = signed, one_vs_rest_training
    if loss in MULTICLASS:
        train, module = multiclass, multiclass_erm
    for solver in ("auto", *module.SOLVERS):
        if not any(name.startswith(f"{loss} {solver} ") for name in PATHS):
            with pytest.raises(InvalidParameterError, match=f"'{solver}' for"):
                train(loss, solver, "dense", "small", lambda X: X)


def among(firsts: Iterable[str]) -> Any:
    """The recorded cases that begin with one of these words."""
    kinds = {*firsts}
    return pytest.mark.parametrize("name", [name for name in PATHS if name.split()[0] in kinds])


def follow(name: str) -> None:
    found, path = followed(CASES[name]), as_array(PATHS[name])
    if PATHS[name]["whole"]:
        assert len(found) == len(path)
    assert len(found) >= len(path)
    same = agree(found[: len(path)], path)
    at = int(same.argmin())
    assert same.all(), f"check {at}: {found[at]}, recorded {path[at]}"


@among(MULTICLASS)
def test_one_loss_of_all_classes(name: str) -> None:
    follow(name)


@among(SIGNED)
def test_one_loss_per_class(name: str) -> None:
    follow(name)


@among(["plus"])
def test_privileged_features(name: str) -> None:
    follow(name)


@among(["views"])
def test_two_views(name: str) -> None:
    follow(name)


@among(RANKERS)
def test_rankers(name: str) -> None:
    follow(name)


if __name__ == "__main__":
    lines = (
        f' "{name}": {json.dumps(path)}' for name, path in recorded("--again" in sys.argv).items()
    )
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
