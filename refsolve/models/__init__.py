"""One model per file: primal, dual and the maps between them."""
