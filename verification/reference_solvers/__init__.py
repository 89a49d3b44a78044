"""Sound, slow algorithms that the mutants are made from: each piece may be replaced by a wrong one."""
