"""SVM+: deformed kernel, correcting functions, and the trainers for data and for kernels."""
