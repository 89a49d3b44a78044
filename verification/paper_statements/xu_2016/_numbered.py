"""What the paper numbers; footnotes included."""

from verification.paper_statements._numbered import Edition

EDITIONS = (
    Edition(
        last={"Proposition": 1, "Algorithm": 1, "Equation": 14, "Table": 4, "Footnote": 6},
        nothing={
            "Footnote 3": "a link to the data",
            "Footnote 4": "a link to the data",
            "Footnote 5": "a link to a solver",
            "Footnote 6": "a link to a solver",
        },
    ),
)
