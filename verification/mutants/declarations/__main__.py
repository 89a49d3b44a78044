"""``python -m verification.mutants.declarations``."""

from verification.mutants.declarations import main

raise SystemExit(main())
