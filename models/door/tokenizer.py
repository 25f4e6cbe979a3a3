"""The tokenizer of a folder, and keeping the library quiet while it works."""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import transformers
from transformers.utils import logging as library

from models.catalogue import CheckpointError
from models.safe import Folder
from models.text import FileTokenizer, Tokenizer

PIECES = ("spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
VOCABULARIES = ("vocab.txt", "vocab.json", *PIECES)
BESIDE = ("tokenizer_config.json", "merges.txt", "special_tokens_map.json")


@contextmanager
def quietly() -> Iterator[None]:
    """The library's own report and progress bar are left out: errors say it in one line."""
    level, bar = library.get_verbosity(), library.is_progress_bar_enabled()
    library.set_verbosity(logging.CRITICAL)
    library.disable_progress_bar()
    try:
        yield
    finally:
        library.set_verbosity(level)
        if bar:
            library.enable_progress_bar()


def tokenizer_in(folder: Folder) -> Tokenizer | None:
    """tokenizer.json, or what the library makes of an older vocabulary; None without files."""
    whole = folder.file("tokenizer.json")
    if whole is not None:
        try:
            return FileTokenizer(whole)
        except ValueError as error:
            raise CheckpointError(str(error)) from error
    files = {name: folder.file(name) for name in VOCABULARIES}
    if not any(files.values()):
        return None
    for name in BESIDE:
        folder.file(name)
    settings = folder.json("tokenizer_config.json") or {}
    if "auto_map" in settings:
        raise CheckpointError("tokenizer_config.json asks to run code of its own: refused")
    try:
        with quietly(), tempfile.TemporaryDirectory() as place:
            made = transformers.AutoTokenizer.from_pretrained(
                folder.path, local_files_only=True, trust_remote_code=False
            )
            written = Path(place, "tokenizer.json")
            written.write_text(made.backend_tokenizer.to_str(), encoding="utf-8")
            return FileTokenizer(written)
    except Exception:  # a vocabulary alone may not say enough; ids can still be given
        return None
