"""`refsolve probe`: read features and labels, forecast what it costs, train, and describe what came out."""

from __future__ import annotations

import importlib.util
import shutil
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from verification.app.console import fresh_folder, progress, stage, warnings_as_lines
from verification.app.dataset import Known, Roles
from verification.app.io import read_rows
from verification.app.model_file import packed
from verification.app.plots import drawn
from verification.app.tables import LEFT_OUT
from verification.app.trained_model import Model
from verification.app.training import Trained, compile_kernels
from verification.errors import InvalidArgumentError
from verification.report.document import (
    Cell,
    Document,
    Paragraph,
    Picture,
    number,
    table,
    verdict_cell,
)
from verification.report.document import seconds as duration
from verification.report.render import rendered, replace_files

if TYPE_CHECKING:
    from fast.probing import ProbeResult

MODEL, PLOT, KEPT = "probe.refsolve", "probe.svg", "fits"
#: Passes for each C where lists of classes are trained, and what certifying costs, in passes.
LISTS, CERTIFICATE = 15.0, 3.0
FORECAST = 10.0  # seconds from which on they are said
ARRAYS = 12  # of the weights' size: six pairs of a step in float32, and what is held besides


@dataclass(frozen=True)
class Data:
    """Features as a source or an array, and labels."""

    file: Path
    X: Any
    y: np.ndarray
    square: float  # mean of ||x||^2
    label: str | None = None
    features: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    known: Known | None = None

    @property
    def taken(self) -> str:
        """One line: what the file's columns were taken for."""
        (n, d), names = self.X.shape, self.features
        shown = ", ".join(names or self.X.columns or ())[:200] or "the whole matrix"
        label = "" if self.label is None else f" {self.label}"
        parts = [
            f"{n} rows",
            f"{d} features: {shown}",
            f"label{label}: {len(np.unique(self.y))} classes",
        ]
        parts += [*self.notes, *map(LEFT_OUT.format, self.X.left_out)]
        return f"{self.file.name}: {'; '.join(parts)}"

    def model(self, estimator: object) -> Model:
        """A trained estimator with the names of its features."""
        columns = None if self.X.columns is None else tuple(self.X.columns)
        apart = () if self.label is None else (self.label,)
        base = None if self.known is None else self.known.index_base
        return Model(
            estimator, columns=columns, apart=apart, features=self.features, index_base=base
        )


def read(
    file: Path | None, labels: Path | None, roles: Roles, trained: Data | None = None
) -> Data:  # fmt: skip
    """Features and labels of files, as every command reads them; with the columns that are trained on."""
    from fast.data import examine
    from fast.data.columns import aligned

    option = "LABELS" if trained is None else "--validation"
    if file is None:
        raise InvalidArgumentError(f"{option}: expected features beside their labels")
    own = None if trained is None else trained.known
    X, y, found = read_rows(file, roles, labels, option, own)
    if trained is not None:
        with warnings_as_lines():
            X = aligned(X, trained.X.columns, str(file))
    X.path_cache["examined"] = examine(X)  # which fit needs, too
    label = roles.label if labels is None else None
    square = float(X.path_cache["examined"].squared_norms.mean())
    notes = () if found is None else found.notes
    known = Known(classes=np.unique(y)) if found is None else Known.of(found)
    return Data(file, X, y, square, label, roles.features, notes, known)


def check_folder(folder: Path, force: bool, resume: bool = False) -> Path:
    """Make the folder; refuse one that holds something. Where fits are kept until all are done."""
    fresh_folder("output", folder, resume, force)
    kept = folder / KEPT
    if resume and not kept.is_dir():
        raise InvalidArgumentError(
            f"resume: {str(folder)!r} has no run that was ended; expected the --output of one: leave --resume out"
        )
    return kept


# -- what it will cost ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Forecast:
    """Sizes, and what training is expected to cost."""

    n: int
    d: int
    m: int
    fits: int
    passes: float
    gigaflops: float
    pass_seconds: float
    seconds: float
    megabytes: float

    @property
    def text(self) -> str:
        """For the user, before it begins."""
        sizes = f"{self.n} rows, {self.d} features, {self.m} classes; {self.fits} fits"
        if not self.known:
            return f"{sizes}: small, so that nothing is forecast"
        return (
            f"{sizes}, about {self.passes:.0f} epochs in all, {duration(self.pass_seconds)} each (products at "
            f"{number(self.gigaflops, 1)} Gflop/s): about {duration(self.seconds)} and {self.megabytes:.0f} MB "
            "besides what Python takes"
        )

    @property
    def known(self) -> bool:
        """Whether products are what takes the time: in small problems it is all the rest, which nobody counted."""
        return self.seconds >= FORECAST


def expected(
    data: Data, judged: Data | None, Cs: Sequence[float] | None, options: dict[str, Any],
    workers: int | None = None,
) -> Forecast:  # fmt: skip
    """Count passes by rule of thumb, and time one block of one."""
    from joblib import effective_n_jobs
    from threadpoolctl import threadpool_limits

    from fast.probing import checked

    given = {name: value for name, value in options.items() if name != "folder"}
    _, plan, m, _ = checked(data.X, data.y, _pair(judged), Cs, **given)
    n, d = data.X.shape
    n = n if plan.shots is None else min(n, plan.shots * m)
    fits = len(plan.Cs) * plan.draws
    passes = LISTS * len(plan.Cs)
    if options["loss"] != "hinge":
        passes = _passes(data.square * np.array(plan.Cs), options["tol"])
    passes *= plan.draws
    if judged is None and plan.shots is None:  # the best again, on all rows
        fits, passes = fits + 1, passes + passes / len(plan.Cs) * 2.0
    jobs = workers or effective_n_jobs(options["n_jobs"] or 1)
    with threadpool_limits(None if workers is None and options["n_jobs"] is None else 1):
        flops, apiece = pass_speed(n, d, m, jobs)
    basis = n * d * (d + 9.0 * d * d / n) * 2.0 / flops if d <= 4096 else 0.0
    total = (passes + fits * CERTIFICATE) * apiece + basis
    held = sum(_held(part.X) for part in (data, judged) if part is not None)
    weights = 8.0 * m * d * (ARRAYS + fits)
    rows = block_rows(n, d, m)
    blocks = rows * (12.0 * m + 8.0 * d) * 2.0  # in float64 for certificates
    return Forecast(
        n, d, m, fits, passes, flops / 1e9, apiece, total, (held + weights + blocks) / 1e6
    )


def _pair(judged: Data | None) -> tuple[Any, np.ndarray] | None:
    return None if judged is None else (judged.X, judged.y)


def _held(X: Any) -> float:
    """Bytes of rows in memory: all of them, or two groups of a file."""
    rows = [group.stop - group.start for group in X.groups]
    return float((sum(rows) if X.in_memory else 2 * max(rows)) * X.shape[1] * X.dtype.itemsize)


def _passes(sizes: np.ndarray, tol: float) -> float:
    """Rule of thumb for smooth losses on deep features: so many from W = 0, fewer from close by."""
    alone = 3.0 + 4.0 * np.log10(np.maximum(sizes, 1.0))
    step = np.diff(np.log10(sizes), prepend=np.nan)
    step[:2] = 1.0  # nothing to continue along
    begun = np.maximum(alone * np.minimum(0.9 * step, 1.0), 2.0)
    return float(begun.sum() * (1.0 + 0.5 * max(0.0, np.log10(1e-3 / max(tol, 1e-15)))))


def block_rows(n: int, d: int, m: int) -> int:
    """Rows of a block of a pass."""
    from fast.solvers.passes import rows_at_once

    return min(n, rows_at_once(d, m))


def pass_speed(n: int, d: int, m: int, jobs: int = 1) -> tuple[float, float]:
    """Products' operations per second, and seconds of a pass, from the best of five blocks.

    Products, and three times what exponentials and sums of the scores take.
    """
    rows = block_rows(n, d, m)
    X, W = np.ones((rows, d), np.float32), np.full((d, m), 1e-3, np.float32)
    best = []
    for _ in range(5):
        start = perf_counter()
        f = X @ W
        between = perf_counter()
        np.exp(f, out=f)
        f /= f.sum(axis=1, keepdims=True)
        ready = perf_counter()
        f.T @ X
        best.append((perf_counter() - ready + between - start, ready - between))
    products = max(min(first for first, _ in best), 1e-9)
    seconds = products + 3.0 * min(second for _, second in best)
    return 4.0 * rows * d * m / products, n / rows * seconds / jobs


# -- training -------------------------------------------------------------------------------------


def run(
    data: Data, judged: Data | None, Cs: Sequence[float] | None, options: dict[str, Any], forecast: Forecast
) -> Trained:  # fmt: skip
    """Train, with progress, and describe."""
    from sklearn.exceptions import ConvergenceWarning

    from fast.errors import UnjudgedWarning
    from fast.probing import estimator_of, plan_of, probe

    with stage("made the kernels ready"):
        compile_kernels(estimator_of(options["loss"], 1, tol=options["tol"]), False)
    plan, done, last = plan_of(options["preset"], Cs), -1, (0.0, 0)
    with progress(forecast.fits) as task, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.simplefilter("always", UnjudgedWarning)

        def report(C: float, state: Any) -> None:
            nonlocal done, last
            passes = max(state.n_iter, state.passes)
            again = last[0] != C or passes < last[1]
            done, last = done + again, (C, passes)
            new = passes > state.n_iter or not np.isfinite(state.gap)
            gap = f"gap about {state.estimate:.1e}" if new else f"certified gap {state.gap:.1e}"
            said = f"C = {C:.3g}: epoch {passes}, {gap}"
            task.at(min(done, forecast.fits), said)

        found = probe(data.X, data.y, _pair(judged), plan.Cs, report=report, **options)
    told = (ConvergenceWarning, UnjudgedWarning)
    advice = [str(w.message) for w in caught if issubclass(w.category, told)]
    return Trained(data.model(found.best), describe(data, found, forecast, advice, options["k"]))


def describe(
    data: Data, found: ProbeResult, forecast: Forecast, advice: Sequence[str], k: int
) -> Document:
    """A row per fit, the best of them, and the plot."""
    best, tops = found.best, [f"top-{k}" for k in found.ks]
    rows: list[list[str | Cell]] = [
        [f"{C:.3g}", *(f"{100 * share:.2f}" for share in shares), number(gap), str(passes), f"{s:.3g}",
         verdict_cell(gap <= best.tol, "certified", "NOT CERTIFIED")]
        for C, shares, gap, passes, s in zip(
            found.Cs, found.accuracies.T, found.gaps, found.passes, found.seconds, strict=True
        )
    ]  # fmt: skip
    columns = ("C", *tops, "gap", "epochs", "seconds")
    chosen = found.accuracies[found.ks.index(k)][found.Cs == best.C]
    facts = {
        "C": f"{best.C:.4g}",
        f"top-{k} accuracy in percent": f"{100 * chosen.mean():.2f}"
        + (f" +- {100 * chosen.std():.2f} over {len(chosen)} draws" if len(chosen) > 1 else ""),
        "certified relative duality gap": number(best.dual_gap_),
        "seconds": f"{duration(found.seconds.sum())} of training"
        + f", {duration(forecast.seconds)} forecast" * forecast.known,
        "epochs": f"{found.passes.sum()}" + f", {forecast.passes:.0f} forecast" * forecast.known,
    }
    note = f"Accuracy in percent on {found.judged_on}"
    note += (
        ", where C was chosen: a little too good for the best." if len(set(found.Cs)) > 1 else "."
    )
    parts: list[Any] = [table("Along C", (*columns, ""), rows, columns, note)]
    parts.append(table("The best", ("", "value"), list(facts.items())))
    parts += [Paragraph(text, "bad") for text in advice]
    if not found.complete:
        parts.append(Paragraph(f"Stopped after {len(rows)} of {forecast.fits} fits.", "bad"))
    numbers = {
        "C": found.Cs.tolist(), "gap": found.gaps.tolist(), "passes": found.passes.tolist(),
        "seconds": found.seconds.tolist(),
        "accuracy": dict(zip(tops, found.accuracies.tolist(), strict=True)),
    }  # fmt: skip
    kept = {
        "C": best.C,
        "gap": best.dual_gap_,
        "primal": best.primal_objective_,
        "dual": best.dual_objective_,
    }
    told = {"forecast": asdict(forecast), "path": numbers, "best": kept, "judged_on": found.judged_on,
            "complete": found.complete, "certified": found.certified, "advice": list(advice)}  # fmt: skip
    title = f"Linear probe of {data.file.name}"
    ok, shown = found.certified and found.complete, _pictures(found, best.tol)
    return Document(title, tuple(parts), ok, told, "certified", appendix=shown)


def _pictures(found: ProbeResult, tol: float) -> tuple[Picture, ...]:
    """Accuracy over C, of draws their mean, and the gaps below."""
    if importlib.util.find_spec("matplotlib") is None or len(set(found.Cs)) == 1:
        return ()
    from fast.displays import PathDisplay

    Cs, which = np.unique(found.Cs, return_inverse=True)
    means = [np.bincount(which, shares) / np.bincount(which) for shares in found.accuracies]

    def draw(ax: Any) -> None:
        PathDisplay(Cs, means, found.ks).plot(ax, markersize=3)
        ax.set(ylabel=f"accuracy on {found.judged_on}")
        gaps, shown = ax.twinx(), np.maximum(found.gaps, 1e-16)
        gaps.plot(found.Cs, shown, "x", color="0.5", markersize=4)
        gaps.axhline(tol, color="0.7", linestyle=":")
        gaps.set(yscale="log", ylim=(shown.min() / 3, max(30 * tol, 3 * shown.max())))
        gaps.set_ylabel("certified gap (x), asked for (dotted)")

    words = "Top-k accuracy and certified gap for each C."
    return (drawn("Accuracy and certified gap along C", words, draw, (6.4, 3.6)),)


def save(trained: Trained, folder: Path, kept: Path) -> list[Path]:
    """Write the model, the report as JSON, Markdown and HTML, and the plot: all of them, or none.

    What was kept of single fits goes once all of them are done.
    """
    output = folder / MODEL
    files = {output: packed(trained.model), **rendered(trained.document, output)}
    for shown in trained.document.appendix:
        if isinstance(shown, Picture):
            files[folder / PLOT] = shown.svg.encode()
    replace_files(files)
    if trained.document.data["complete"]:
        shutil.rmtree(kept, ignore_errors=True)
    return list(files)
