"""Foreign checkpoints to our networks, one file a family: settings and names of tensors.

models/loading/folders.py lists the families and builds the networks.
"""
