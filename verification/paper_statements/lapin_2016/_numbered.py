"""What the paper numbers, in its printed version and in its longer one with the supplement.

Rows use the printed numbers; "of the arXiv version" stands behind a number of the longer one.
"""

from verification.paper_statements._numbered import Edition

SUFFIX = "of the arXiv version"

#: Where the printed version and the longer one have the same equation.
EQUATIONS = {
    **{n: n for n in range(1, 8)},
    **{n: n - 2 for n in range(10, 16)},
    **{n: n - 7 for n in (21, 22, 23, 24, 25)},
}

PRINTED = Edition(
    last={
        "Proposition": 11,
        "Lemma": 2,
        "Definition": 1,
        "Equation": 18,
        "Table": 4,
        "Figure": 2,
        "Footnote": 5,
    },
    stated_by={
        "Equation (10)": ("Proposition 6",),
        "Equation (11)": ("Proposition 6",),
        "Equation (12)": ("Proposition 7",),
        "Equation (13)": ("Proposition 8",),
        "Equation (17)": ("Proposition 10",),
        "Equation (18)": ("Proposition 11", "Proposition 11, the system solved"),
        "Figure 2": ("Section 4, best linear accuracy, equal segments",),
    },
    nothing={
        "Footnote 1": "a link to the code",
        "Footnote 2": "what a conjugate is",
        "Footnote 3": "what an effective domain is",
        "Footnote 4": "what the code was made for",
        "Footnote 5": "a link to the code",
    },
)

LONGER = Edition(
    last={
        "Proposition": 12,
        "Lemma": 3,
        "Definition": 1,
        "Equation": 25,
        "Table": 24,
        "Figure": 4,
        "Footnote": 5,
    },
    stated_by={"Equation (16)": ("Proposition 8",), "Figure 1": ("Section 3, V(t) = W(e^t)",)},
    same={
        "Figure 2": "Figure 1",
        **{f"Proposition {n}": f"Proposition {n}" for n in range(1, 6)},
        **{f"Proposition {n}": f"Proposition {n - 1}" for n in range(7, 13)},
        "Lemma 1": "Lemma 1",
        "Lemma 2": "Lemma 2",
        "Definition 1": "Definition 1",
        **{f"Equation ({n})": f"Equation ({first})" for n, first in EQUATIONS.items()},
        **{f"Table {n}": f"Table {n}" for n in range(1, 5)},
        "Figure 4": "Figure 2",
        **{f"Footnote {n}": f"Footnote {n}" for n in range(1, 6)},
    },
    suffix=SUFFIX,
)

EDITIONS = (PRINTED, LONGER)
