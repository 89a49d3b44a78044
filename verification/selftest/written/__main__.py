"""``python -m verification.selftest.written``."""

from verification.selftest.written import main

main()
