"""Checkpoints of the library and modules of PyTorch as our networks."""
