"""What the paper numbers; footnotes and figures included."""

from verification.paper_statements._numbered import Edition

EDITIONS = (
    Edition(
        last={
            "Theorem": 1,
            "Proposition": 4,
            "Lemma": 5,
            "Definition": 2,
            "Algorithm": 1,
            "Equation": 7,
            "Table": 1,
            "Figure": 2,
            "Footnote": 2,
        },
        stated_by={
            "Equation (2)": ("Proposition 1",),
            "Equation (4)": ("Proposition 2",),
            "Equation (6)": ("Lemma 3, case 3",),
            "Equation (7)": ("Lemma 3, case 3", "Projection, fall-back to 0"),
            "Figure 2": ("Definition 1",),
        },
        nothing={
            "Figure 1": "photographs of classes that are easily confused",
            "Footnote 1": "what an effective domain is",
            "Footnote 2": "a link to the code",
        },
    ),
)
