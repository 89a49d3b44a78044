"""The trainers that ship, judged on small problems: their certificates recomputed, the oracle beside them."""
