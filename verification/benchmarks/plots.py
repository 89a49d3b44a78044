"""What all pictures share: matplotlib without a window, colours, legends, and their files."""

from pathlib import Path
from typing import Any

from verification.errors import InvalidArgumentError

COLOURS = ("#0072b2", "#d55e00", "#009e73")  # distinguishable without red-green vision
FORMATS = ("png", "svg")


def pyplot() -> Any:
    """Matplotlib without a window; an extra of the package."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise InvalidArgumentError(
            "output: pictures need matplotlib; in a clone of refsolve, pip install '.[plot]'; or leave out --output"
        ) from error
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "circle"  # same figures, same file
    from matplotlib import pyplot as plt

    return plt


def save(plt: Any, figure: Any, folder: Path, object_name: str) -> list[Path]:
    """Write a figure in every format and close it; the folder is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for kind in FORMATS:
        path = folder / f"{object_name}.{kind}"
        figure.savefig(path, dpi=150, metadata={"Date": None} if kind == "svg" else None)
        written.append(path)
    plt.close(figure)
    return written


def legend(figure: Any, axis: Any, columns: int) -> None:
    """What one panel names, below all of them."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
