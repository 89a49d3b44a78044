"""What is known of top-k losses since the papers of the ledger: several later papers, by section (see ``sources``)."""

from verification.paper_statements._record import statements

stated = statements(__name__)
