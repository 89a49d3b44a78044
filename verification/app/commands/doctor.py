"""``refsolve doctor``: what is installed and where, and what is wrong with it."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import typer

from verification.app.options import command
from verification.report.document import Cell, Document, table, verdict_cell
from verification.report.environment import version, versions

app = typer.Typer(add_completion=False)

OURS = ("refsolve", "fast", "verification")
#: Optional packages, and what is missing without them.
OPTIONAL = {
    "matplotlib": "pictures",
    "pyarrow": "Parquet and Arrow files",
    "safetensors": "safetensors files",
    "h5py": "HDF5 files, and MATLAB files of version 7.3",
    "skl2onnx": "export of linear models",
    "ecos": "one more solver for exponential cones",
    "torch": "losses and adapters for tensors",
    "pytest": "the plugin, one item per check",
    "hypothesis": "the test suite",
}


@command(app)
def doctor() -> Document:
    """Say what is installed and where, and what stands in the way.

    Ends with exit code 1 where something stands in the way.
    """
    names = [owner(name) for name in OURS]
    cache = _cache()
    optional = {name: version(name) for name in OPTIONAL}
    ok = all(each["ok"] for each in names) and cache["writable"]
    blocks = (
        table("Installed", ("", "version"), tuple(versions().items())),
        table(
            "Optional",
            ("package", "version", "for"),
            [(n, v or Cell("not there", "dim"), OPTIONAL[n]) for n, v in optional.items()],
        ),
        table(
            "Import names",
            ("name", "found at", "also claimed by", ""),
            [(e["name"], e["place"], ", ".join(e["others"]), _mark(e["ok"])) for e in names],
            note="All three must come from one folder; another distribution with such a name hides ours.",
        ),
        table(
            "JIT compilation",
            ("folder", "kernels", "MB", ""),
            [
                (
                    cache["folder"],
                    str(cache["kernels"]),
                    f"{cache['MB']:.1f}",
                    _mark(cache["writable"]),
                )
            ],
            note="The first use of a kernel compiles it, some seconds each. Where the folder cannot be "
            "written every process compiles anew: set NUMBA_CACHE_DIR to one that can.",
        ),
    )
    data = {"versions": versions(), "optional": optional, "names": names, "cache": cache}
    good, bad = "nothing is in the way", "SOMETHING IS IN THE WAY"
    return Document("What is installed", blocks, ok, data, good, bad)


def _mark(ok: bool) -> Cell:
    return verdict_cell(ok, "fine", "WRONG")


def owner(name: str) -> dict[str, Any]:
    """Where an import name leads, and which other distributions install something under it."""
    from importlib.metadata import packages_distributions
    from importlib.util import find_spec

    spec = find_spec(name)
    place = Path(spec.origin).parent if spec is not None and spec.origin else None
    others = sorted(set(packages_distributions().get(name, ())) - {"refsolve"})
    ours = Path(__file__).resolve().parents[3] / name
    ok = place is not None and place.resolve() == ours and not others
    return {"name": name, "place": str(place or "nowhere"), "others": others, "ok": ok}


def _cache() -> dict[str, Any]:
    """The folder of compiled kernels: numba's choice, asked of one kernel."""
    from fast.kernels.projections import uncapped_row

    place = getattr(getattr(uncapped_row, "_cache", None), "cache_path", None)
    if place is None:
        return {"folder": "none that can be written", "kernels": 0, "MB": 0.0, "writable": False}
    here = Path(place)
    folder = here.parents[1] if here.name == "__pycache__" else here.parent
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen and here.is_relative_to(chosen):  # numba goes elsewhere where it cannot write there
        folder = Path(chosen)
    files = list(folder.rglob("*.nbc"))
    nearest = next(p for p in (here, *here.parents) if p.exists())
    return {
        "folder": str(folder),
        "kernels": len(files),
        "MB": sum(file.stat().st_size for file in files) / 1e6,
        "writable": writable(nearest),
    }


def writable(folder: Path) -> bool:
    """Whether a file can be made there, which permissions alone do not tell."""
    try:
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
