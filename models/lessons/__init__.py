"""What the lessons compute, one small idea a file: tensors in, numbers to look at out."""
