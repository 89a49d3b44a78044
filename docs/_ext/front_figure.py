"""Draws the picture of the README and of the front page: ``python docs/_ext/front_figure.py``.

Softmax regression on the digits (pixels 0 to 16, C = 100, no intercept): how far above the optimum two
trainers stop, against the CPU seconds they took. The optimum is bracketed by a certified dual bound.
"""

import time
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from fast import TopKLogisticRegression

C, REPEATS = 100.0, 5
OURS = [1e-1, 1e-3, 1e-5, 1e-8]
OTHERS = {1e-4: 100, 1e-6: 10_000, 1e-8: 100_000}
TARGET = Path(__file__).resolve().parents[1] / "_static" / "front.svg"


def fitted(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, Any, bool]:
    """Median CPU seconds of a few fits, the model, and whether it warned."""
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, y)
        seconds.append(time.process_time() - start)
    return float(np.median(seconds)), model, bool(caught)


def primal(W: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    """1/2 ||W||^2 + C sum_i (log sum_j exp f_j - f_y)."""
    f = X @ W.T
    losses = np.logaddexp.reduce(f, axis=1) - f[np.arange(len(y)), y]
    return 0.5 * float(np.vdot(W, W)) + C * float(losses.sum())


def main() -> None:
    """Measure and draw."""
    X, y = load_digits(return_X_y=True)
    TopKLogisticRegression(C=C, tol=1e-8).fit(X, y)  # compiles
    bound = TopKLogisticRegression(C=C, tol=1e-10).fit(X, y).dual_objective_
    ours = [fitted(TopKLogisticRegression(C=C, tol=tol), X, y) for tol in OURS]
    others = [
        fitted(LogisticRegression(C=C, tol=tol, max_iter=limit, fit_intercept=False), X, y)
        for tol, limit in OTHERS.items()
    ]
    plt.rcParams.update({"svg.fonttype": "path", "svg.hashsalt": "refsolve", "font.size": 10})
    figure, axes = plt.subplots(figsize=(7.2, 3.3), layout="constrained")
    for runs, label, colour, marker in (
        (others, "scikit-learn, lbfgs, tol = 1e-4, 1e-6, 1e-8", "#e0822d", "s"),
        (ours, "fast.TopKLogisticRegression, tol = 0.1, 1e-3, 1e-5, 1e-8", "#3b8ad9", "o"),
    ):
        above = [max(primal(m.coef_, X, y) / bound - 1.0, 1e-16) for _, m, _ in runs]
        axes.plot([s for s, _, _ in runs], above, marker=marker, color=colour, label=label)
        for (seconds, model, warned), gap in zip(runs, above, strict=True):
            print(
                f"{label}: {seconds:.3f} s, {gap:.2g} above the bound, warned: {warned}, {model.tol:g}"
            )
    seconds, model, warned = others[0]
    if not warned:
        gap = primal(model.coef_, X, y) / bound - 1.0
        text = f"the default stops here, without a warning:\n{gap:.0%} above the optimum"
        axes.annotate(
            text, (seconds, gap), (10, 6), textcoords="offset points", va="bottom", color="#e0822d"
        )
    axes.set(yscale="log", xlabel="CPU seconds", ylabel="objective above the optimum")
    axes.set_xlim(0.0, None)
    axes.set_ylim(None, 1e3)
    axes.set_title(
        "A status says that a solver stopped; a certificate says how far from the optimum",
        fontsize=10,
    )
    axes.grid(alpha=0.2)
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(TARGET, metadata={"Date": None})


if __name__ == "__main__":
    main()
