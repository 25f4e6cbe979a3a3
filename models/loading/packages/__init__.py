"""Converts downloaded packages to ordinary checkpoint folders, one file a model.

Each has `write(files, folder)`: `files` by their path in the package, and an empty folder that
gets config.json, model.safetensors, and what else the model needs to read its input. The packages
are pinned, so that their settings lie ready in `settings/`.
"""
