"""Computations of the lessons, one idea a file: tensors in, numbers out."""
