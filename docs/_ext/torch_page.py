"""What the page on torch shows: gradients by k, the fine-tuning experiment, speed and verdicts as recorded."""

import importlib.util
import json
from dataclasses import replace
from typing import Any

import kills
import matplotlib.pyplot as plt
import numpy as np
from figures import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, Picture, show
from markup import Html, table
from records import RECORDS

import fast
from verification.benchmarks.torch_finetune import TOPS, beyond_noise, differences

INSTALLED = importlib.util.find_spec("torch") is not None
COLOURS = {"hinge": BLUE, "smooth": GREEN, "entropy": ORANGE, "truncated": PURPLE}
NAMES = {
    "softmax": "softmax",
    "topk_hinge_alpha": "hinge α",
    "topk_hinge_beta": "hinge β",
    "smooth_topk_hinge_alpha": "smooth hinge α",
    "smooth_topk_hinge_beta": "smooth hinge β",
    "topk_entropy_alpha": "entropy α",
    "topk_entropy_beta": "entropy β",
    "truncated_topk_entropy": "truncated entropy",
}


def without_torch(lines: list[str]) -> list[str]:
    """Cells as they are; where torch is not installed, those from here on say so instead."""
    if any("torch_page" in line for line in lines):
        return lines
    return ['print("not run: this page was built where torch is not installed")\n']


def guard() -> None:
    """Skip the cells that need torch where there is none; what is drawn from records is still shown."""
    if not INSTALLED:
        from IPython import get_ipython

        get_ipython().input_transformers_cleanup.append(without_torch)


def record(name: str) -> dict[str, Any] | None:
    """A record; None before it is measured."""
    path = RECORDS / f"{name}.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def gradients() -> Picture:
    """Entries of the gradient, classes sorted by their scores, for k = 1, 3, 5."""
    scores = np.array([2.4, 1.9, 1.5, 1.2, 1.0, 0.7, 0.4, 0.1, -0.3, -0.8, -1.2, -2.0])
    truth, ks = 4, (1, 3, 5)
    panels = (
        "topk_hinge_alpha",
        "smooth_topk_hinge_alpha",
        "topk_entropy_alpha",
        "truncated_topk_entropy",
    )
    figure, axes = plt.subplots(1, 4, figsize=(10, 2.8), sharey=True)
    places = np.arange(len(scores))
    for axis, object_name in zip(axes, panels, strict=True):
        for i, (k, colour) in enumerate(zip(ks, (GREY, BLUE, RED), strict=True)):
            g = getattr(fast.losses, object_name).gradient(scores, truth, k=k)
            axis.bar(places + 0.27 * (i - 1), g, 0.25, color=colour, label=f"k = {k}")
        axis.axhline(0, color="0.5", lw=0.6)
        axis.set_title(NAMES[object_name], fontsize=10)
        axis.set_xticks([0, truth, len(scores) - 1], ["best", "truth", "worst"])
    axes[0].set_ylabel("gradient")
    axes[0].legend(loc="lower right", fontsize=8)
    return show(
        figure,
        "Gradients in the scores of twelve classes, sorted; the truth is fifth, margin and smoothing are 1.",
    )


def _name(key: str) -> str:
    object_name, _, k = key.partition(", ")
    return (
        "before fine-tuning"
        if object_name == "pretrained"
        else f"{NAMES[object_name]}{'' if object_name == 'softmax' else ', ' + k}"
    )


def finetuned(found: dict[str, Any]) -> Html:
    """Top-1 to top-5 accuracies, mean and standard deviation over the seeds."""
    rows = []
    tops = {key: 100 * np.array(row["top"]) for key, row in found["losses"].items()}
    best = np.max([t.mean(0) for t in tops.values()], axis=0)
    for key, t in tops.items():
        cells = [
            f"{'<b>' if m == b else ''}{m:.1f}{'</b>' if m == b else ''} ± {s:.1f}"
            for m, s, b in zip(t.mean(0), t.std(0, ddof=1), best, strict=True)
        ]
        rows.append((_name(key), *cells))
    return table(("loss", *(f"top-{k}" for k in TOPS)), rows)


def against_softmax(found: dict[str, Any]) -> Picture:
    """Differences to softmax on the same seeds, with twice the standard error, for top-1, top-3 and top-5."""
    away = differences(found)
    keys = [key for key in found["losses"] if key in away and key != "pretrained"]
    figure, axes = plt.subplots(1, 3, figsize=(10, 4.2), sharey=True)
    heights = np.arange(len(keys))[::-1]
    for axis, k in zip(axes, (1, 3, 5), strict=True):
        for at, key in zip(heights, keys, strict=True):
            mean, error = 100 * away[key][:, k - 1]
            colour = next(
                c for word, c in reversed(COLOURS.items()) if word in key.replace("topk_", "")
            )
            axis.errorbar(mean, at, xerr=2 * error, fmt="o", color=colour, ms=4, lw=1.2)
        axis.axvline(0, color="0.5", lw=0.8)
        axis.set_title(f"top-{k}", fontsize=10)
        axis.set_xlabel("points above softmax")
    axes[0].set_yticks(heights, [_name(key) for key in keys], fontsize=8)
    return show(
        figure,
        "Accuracy after fine-tuning less that of softmax from the same network: mean over five seeds, and two "
        "standard errors.",
    )


def spread(found: dict[str, Any], *names: str) -> tuple[float, float]:
    """Least and largest mean difference to softmax, in points, of losses with one of these in their name."""
    some = [d[0] for key, d in differences(found).items() if any(name in key for name in names)]
    return 100 * float(np.min(some)), 100 * float(np.max(some))


def sentence(found: dict[str, Any]) -> str:
    """What comes out of it."""
    away, other = differences(found), beyond_noise(found)
    means = {key: 100 * d[0] for key, d in away.items() if key != "pretrained"}
    best = {k: max(means, key=lambda key: means[key][k - 1]) for k in (1, 5)}
    gains = 100 * (
        np.mean(found["losses"]["softmax, k = 1"]["top"], 0)
        - np.mean(found["losses"]["pretrained"]["top"], 0)
    )
    count = sum(len(ks) for key, ks in other.items())
    higher = [
        f"{_name(key)} at top-{k}" for key, ks in other.items() for k in ks if means[key][k - 1] > 0
    ]
    lower = count - len(higher)
    return (
        f"Fine-tuning with softmax itself moves top-1 by {gains[0]:+.1f} points and top-5 by {gains[4]:+.1f}. "
        f"The best of the others at top-1 is {_name(best[1])} ({means[best[1]][0]:+.1f} points against softmax), "
        f"at top-5 {_name(best[5])} ({means[best[5]][4]:+.1f}). Of {5 * len(means)} comparisons "
        f"{count} are beyond the noise of five seeds (t test, 5 % shared by the {len(means)} losses): "
        f"{len(higher)} above softmax{' (' + ', '.join(higher) + ')' if higher else ''}, {lower} below."
    )


def speed() -> Html:
    """Forward and backward as multiples of cross-entropy in the same run, and memory, on every machine recorded."""
    parts = []
    for path in sorted(RECORDS.glob("torch_bench*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        head = ("loss", "scores", "threads", "", "ms", "× cross-entropy", "arrays held")
        rows = [
            (
                f"<code>{t['loss']}</code>",
                f"{t['rows']} × {t['classes']}",
                t["threads"],
                "compiled" if t["compiled"] else "eager",
                f"{t['ms']:.2f}",
                f"{t['ratio']:.2f}",
                f"{t['arrays']:.1f}",
            )
            for t in found["timings"]
        ]
        said = f"{found['device']}, torch {found['torch']}"
        parts.append(f"<details><summary>{said}</summary>{table(head, rows)}</details>")
    parts.append(
        "<p>Forward and backward against <code>torch.nn.functional.cross_entropy</code> in the same run, on normal "
        "scores; memory in arrays of the scores' size. <code>refsolve bench torch</code>, for a GPU with "
        "<code>--device cuda</code>, measures this machine.</p>"
    )
    return Html("".join(parts))


def judged(found: dict[str, Any]) -> Html:
    """Instances judged per object and form, values and gradients together."""
    counts: dict[str, dict[str, int]] = {}
    for key, row in found["judged"].items():
        problem, form = key.split()
        object_name = counts.setdefault(problem.partition(".")[0], {})
        object_name[form] = object_name.get(form, 0) + row["pass"]
    forms = list(dict.fromkeys(form for row in counts.values() for form in row))
    rows = [
        (f"<code>{object_name}</code>", *(row.get(form, "") for form in forms))
        for object_name, row in counts.items()
    ]
    return table(("passed", *forms), rows)


def verdict(found: dict[str, Any]) -> str:
    """How many instances in all, and whether anything failed."""
    passed = sum(row["pass"] for row in found["judged"].values())
    failed = sum(not row["ok"] for row in found["judged"].values())
    every = found["every"]
    return (
        f"{passed} instances passed, {failed} of {len(found['judged'])} runs failed: profile {found['profile']}, "
        f"of its instances the first of {every}, in the forms but for the first of {5 * every} "
        f"(torch {found['torch']})."
    )


def killed() -> Html:
    """The wrong losses on tensors, and what kills them, as recorded."""
    matrix = kills.recorded("quick")
    rows = tuple(row for row in matrix.rows if row.name.startswith("torch_"))
    said = f"{len(rows)} wrong losses, {sum(row.killed for row in rows)} killed"
    return Html(
        f"<details><summary>{said}</summary>{kills.kills(replace(matrix, rows=rows))}</details>"
    )
