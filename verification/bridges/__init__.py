"""From the kit to test runners: a run in parts, and the items of pytest that hold them."""
