"""Row kernels: what losses, sets and trainers are compiled from."""
