"""Tokenizers in whatever form people have them: an object of transformers, a folder, a file."""

from pathlib import Path
from typing import Any

from models.files.folder import Folder
from models.pretrained.tokenizers import wrapped
from models.text import FileTokenizer, Tokenizer, Tokens

EXPECTED = "tokenizer: expected a tokenizer of transformers, a folder with one, or a tokenizer.json"


def tokenizer_of(given: Any) -> Tokenizer:
    """The tokenizer that something is, or that lies in a folder or a file.

    Args:
        given: a tokenizer of transformers (fast or slow) or of the tokenizers library, a folder
            with a tokenizer's files, a tokenizer.json or one of those files (which are read
            together), or an object whose `encode` returns `Tokens`. None of them is changed.

    Raises:
        ValueError: for anything else.
    """
    if isinstance(given, str | Path):
        return _from_path(Path(given).expanduser())
    tokenizer = wrapped(given)
    if tokenizer is not None:
        return tokenizer
    if isinstance(given, Tokenizer) and _returns_tokens(given):
        return given
    inside = getattr(given, "tokenizer", None)
    hint = "" if inside is None else "; it has a tokenizer of its own: pass its .tokenizer"
    raise ValueError(f"{EXPECTED}, received {type(given).__name__}{hint}")


def _from_path(path: Path) -> Tokenizer:
    from models.pretrained.loader import COMPANION_FILES, VOCABULARIES, read_tokenizer

    files = ("tokenizer.json", *VOCABULARIES, *COMPANION_FILES)
    is_file = path.is_file()
    if is_file and path.name not in files:
        return FileTokenizer(path)
    if not is_file and not path.is_dir():
        raise ValueError(f"{EXPECTED}; there is no file or folder {str(path)!r}")
    folder = path.parent if is_file else path
    tokenizer = read_tokenizer(Folder.at(folder))
    if tokenizer is None:
        names = ", ".join(("tokenizer.json", *VOCABULARIES))
        raise ValueError(
            f"{EXPECTED}; the folder {folder.name!r} has none that can be read ({names})"
        )
    return tokenizer


def _returns_tokens(given: Tokenizer) -> bool:
    try:
        return isinstance(given.encode("a"), Tokens)
    except Exception:  # of somebody else's object
        return False
