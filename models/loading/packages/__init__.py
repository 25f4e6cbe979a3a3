"""Models from packages, one file a model: what lies in the package to an ordinary folder.

Each has `write(files, folder)`: `files` by their path in the package, and an empty folder that
gets config.json, model.safetensors, and what else the model needs to read its input.
"""
