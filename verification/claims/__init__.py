"""Claims ledger: the numbered statements of the papers as executable claims, one folder per paper.

``run_claims()`` tries them all; ``to_markdown(results)`` prints the ledger.
"""

from verification.claims._claim import (
    APART,
    VOICES,
    WITNESSES,
    Claim,
    ClaimResult,
    Status,
    Voice,
)
from verification.claims._ledger import claims, papers, raise_if_failed, run_claims, try_claim
from verification.claims._markdown import headline, to_markdown
from verification.claims._numbered import Edition, Item, items, missing, named, unknown
from verification.claims._trial import Inputs, Rng, Trial

__all__ = [
    "APART",
    "VOICES",
    "WITNESSES",
    "Claim",
    "ClaimResult",
    "Edition",
    "Inputs",
    "Item",
    "Rng",
    "Status",
    "Trial",
    "Voice",
    "claims",
    "headline",
    "items",
    "missing",
    "named",
    "papers",
    "raise_if_failed",
    "run_claims",
    "to_markdown",
    "try_claim",
    "unknown",
]
