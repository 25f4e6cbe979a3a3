"""Checkpoints of the library, our own, and modules of PyTorch, as our networks."""
