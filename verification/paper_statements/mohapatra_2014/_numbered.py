"""What the paper numbers; figures included."""

from verification.paper_statements._numbered import Edition

EDITIONS = (
    Edition(
        last={"Proposition": 1, "Algorithm": 3, "Equation": 10, "Table": 3, "Figure": 1},
        nothing={
            "Figure 1": "ranks of 4703 negatives over 131 iterations, on data without its numbers"
        },
    ),
)
