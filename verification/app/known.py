"""The data sets of Lapin et al. 2016: what was trained on, in which protocol, and what was printed."""

from collections.abc import Sequence
from dataclasses import dataclass

from verification.errors import InvalidArgumentError
from verification.paper_statements.lapin_2016.tables import TABLES
from verification.report.document import Document, Paragraph, table

_SIZES = {
    "aloi": ("1000", "54 000", "128"),
    "letter": ("26", "10 500", "16"),
    "news20": ("20", "15 900", "16 000 (PCA of 62 060)"),
    "caltech101": ("101", "4100", "784"),
    "cub": ("202", "5994", "4096"),
    "flowers": ("102", "2040", "4096"),
    "fmd": ("10", "500", "4096"),
    "indoor67": ("67", "5354", "4096"),
    "sun397": ("397", "19 900", "4096"),
    "places205": ("205", "2.4 million", "4096"),
    "ilsvrc2012": ("1000", "1.3 million", "4096"),
}
_VGG = "last layer of VGG-16, trained on ImageNet"
_FC7, _FC6 = (f"FC{i} of VGG-16, trained on Places 205" for i in (7, 6))
_ALEX = "FC7 of AlexNet, trained on {}"


@dataclass(frozen=True)
class Known:
    """A table of the longer version, with what the paper says of its data, and where to get them."""

    table: int
    size: str
    features: str
    split: str
    get: str


GRID = "1e-5,1e-4,1e-3,0.01,0.1,1,10,100,1000"
_GIVEN = "as the data set gives it"
_LIBSVM = "LIBSVM's collection, multiclass: {}"
_IMAGES = "the images from their authors, and the network's weights to compute features with"

#: By the name of ``--like``.
DATA = {
    "aloi": Known(6, "aloi", "of the collection", "half and half, stratified", _LIBSVM.format("aloi")),
    "letter": Known(7, "letter", "of the collection", "validation part to choose C", "fast.datasets.load_letter"),
    "news20": Known(8, "news20", "of the collection, by PCA", _GIVEN, _LIBSVM.format("news20")),
    "caltech101": Known(9, "caltech101", "silhouettes, 28 x 28", _GIVEN, "from its authors (.mat)"),
    "cub": Known(12, "cub", _VGG, _GIVEN, _IMAGES),
    "flowers": Known(13, "flowers", _VGG, _GIVEN, _IMAGES),
    "fmd": Known(14, "fmd", _VGG, _GIVEN, _IMAGES),
    "indoor67-alexnet": Known(15, "indoor67", _ALEX.format("Places 205"), _GIVEN, _IMAGES),
    "indoor67-fc6": Known(16, "indoor67", _FC6, _GIVEN, _IMAGES),
    "indoor67": Known(17, "indoor67", _FC7, _GIVEN, _IMAGES),
    "sun397-alexnet": Known(19, "sun397", _ALEX.format("Places 205"), "the splits given, ± over them", _IMAGES),
    "sun397": Known(20, "sun397", _FC7, "the splits given, ± over them", _IMAGES),
    "places205-alexnet": Known(21, "places205", _ALEX.format("Places 205"), _GIVEN, _IMAGES),
    "places205": Known(22, "places205", _FC7, _GIVEN, _IMAGES),
    "ilsvrc2012-alexnet": Known(23, "ilsvrc2012", _ALEX.format("ImageNet"), _GIVEN, _IMAGES),
    "ilsvrc2012": Known(24, "ilsvrc2012", "FC7 of VGG-16, trained on ImageNet", _GIVEN, _IMAGES),
}  # fmt: skip


def find(name: str) -> Known:
    """A data set by its name.

    Raises
    ------
    InvalidArgumentError
        A name that is not known.
    """
    if name not in DATA:
        raise InvalidArgumentError(f"like is {name!r}; expected one of {', '.join(DATA)}")
    return DATA[name]


def printed(name: str, methods: Sequence[str], guesses: Sequence[int]) -> dict[str, list[float]]:
    """The paper's accuracies of the methods that it has, in the columns asked for."""
    table_of = TABLES[find(name).table][1]
    found = {}
    for method in methods:
        row = table_of.get(_longer(method), [])
        if row and max(guesses) <= len(row):
            found[method] = [float(row[k - 1]) for k in guesses]
    return found


def _longer(method: str) -> str:
    """A method as the longer tables name it."""
    single = {"SVM-Multi": "top-1 SVM alpha", "LR-Multi": "top-1 Ent"}
    return single.get(method, f"{method} alpha" if method.endswith("SVM") else method)


def about(name: str) -> Document:
    """What the paper used, what to get, the command, and the printed accuracies."""
    known, (data, rows) = find(name), TABLES[find(name).table]
    m, n, d = _SIZES[known.size]
    facts = {
        "data": data,
        "classes": m,
        "training examples": n,
        "features": f"{d}: {known.features}",
        "split": known.split,
        "grid": "C or lambda from 1e-5 to 1e3 by powers of ten, further where the best is at an end",
        "losses": "no bias; P = 1/2 ||W||^2 + C * sum of losses",
        "to get": known.get,
        "then": f"refsolve compare TRAIN --test TEST --like {name} --Cs {GRID} -k 1,3,5,10",
    }
    columns = len(next(iter(rows.values())))
    heads = [f"Top-{k}" for k in range(1, columns + 1)]
    lines = [(method, *(f"{float(v):.1f}" for v in row)) for method, row in rows.items()]
    blocks = [
        table(
            f"Lapin et al. 2016, longer version, Table {known.table}",
            ("", " "),
            list(facts.items()),
        ),
        table("Printed accuracy in percent", ("method", *heads), lines, heads),
    ]
    said = "Of this table our copy has the first five columns." if columns < 10 else ""
    told = {"like": name, "table": known.table, **facts,
            "printed": {method: [float(v) for v in row] for method, row in rows.items()}}  # fmt: skip
    return Document(data, (*blocks, *([Paragraph(said)] if said else [])), None, told)
