"""Claims ledger: the numbered statements of the papers as executable claims, one folder per paper.

``run_claims()`` tries them all; ``to_markdown(results)`` prints the ledger.
"""

from verification.paper_statements._claim import (
    APART,
    VOICES,
    WITNESSES,
    Claim,
    ClaimResult,
    Status,
    Voice,
)
from verification.paper_statements._ledger import (
    claims,
    papers,
    raise_if_failed,
    run_claims,
    try_claim,
)
from verification.paper_statements._markdown import evaluated, headline, to_markdown
from verification.paper_statements._numbered import (
    Item,
    items,
    missing,
    named,
    undeclared,
    unknown,
    unnumbered,
)
from verification.paper_statements._record import Edition, Paper
from verification.paper_statements._trial import Inputs, Rng, Trial

__all__ = [
    "APART",
    "VOICES",
    "WITNESSES",
    "Claim",
    "ClaimResult",
    "Edition",
    "Inputs",
    "Item",
    "Paper",
    "Rng",
    "Status",
    "Trial",
    "Voice",
    "claims",
    "evaluated",
    "headline",
    "items",
    "missing",
    "named",
    "papers",
    "raise_if_failed",
    "run_claims",
    "to_markdown",
    "try_claim",
    "undeclared",
    "unknown",
    "unnumbered",
]
