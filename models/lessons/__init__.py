"""Computations of the lessons, one concept per file: tensors in, numbers out."""
