"""SmolLM2: a GGUF file of 4-bit weights."""

from collections.abc import Mapping
from pathlib import Path

from models.loading.packages.writing import write_weights


def write(files: Mapping[str, Path], folder: Path) -> None:
    """Writes the model as an ordinary folder; see `models.loading.packages`."""
    from models.pretrained.gguf import write_gguf

    (file,) = files.values()
    write_weights(folder, write_gguf(file, folder))
