"""``python -m verification.faulty_solvers.declarations``."""

from verification.faulty_solvers.declarations import main

raise SystemExit(main())
