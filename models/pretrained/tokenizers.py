"""Tokenizers in whatever form people have them, as ours: those of transformers, fast or written in
Python, folders and files."""

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from models import confined
from models.files.errors import CheckpointError
from models.files.folder import Folder
from models.text import (
    GENERIC_CLASSES,
    NOT_WHOLE,
    Decoding,
    FileTokenizer,
    Tokenizer,
    Tokens,
    check_text,
)

EXPECTED = "tokenizer: expected a tokenizer of transformers, a folder with one, or a tokenizer.json"
PIECES = ("spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
VOCABULARIES = ("vocab.txt", "vocab.json", *PIECES)
COMPANION_FILES = ("tokenizer_config.json", "merges.txt", "special_tokens_map.json")


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


def read_tokenizer(folder: Folder) -> Tokenizer | None:
    """The tokenizer from tokenizer.json or, converted, an older format; None without files.

    Where words begin with a mark ("▁"), many classes of the library set by themselves whether the
    first word has one; then the tokenizer is the one that the library makes of the file.
    """
    whole, settings = folder.file("tokenizer.json"), folder.json("tokenizer_config.json") or {}
    if whole is not None:
        try:
            tokenizer = FileTokenizer(whole, settings, trusted=folder.trusted)
        except ValueError as error:
            raise CheckpointError(str(error)) from error
        if tokenizer.marks_words and settings.get("tokenizer_class") not in GENERIC_CLASSES:
            return _library_tokenizer(folder) or tokenizer
        return tokenizer
    files = {name: folder.file(name) for name in VOCABULARIES}
    if not any(files.values()) and "tokenizer_class" not in settings:  # bytes need no vocabulary
        return None
    for name in COMPANION_FILES:
        folder.file(name)
    if "auto_map" in settings:
        raise CheckpointError("tokenizer_config.json asks to run code of its own: refused")
    return _library_tokenizer(folder)


def _library_tokenizer(folder: Folder) -> Tokenizer | None:
    """What the library makes of the folder's files; None if that fails."""
    try:
        if not folder.trusted:
            confined.check_tokenizer(folder.path)
        import transformers

        from models.inputs.quiet import quiet_transformers

        with quiet_transformers():
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                folder.path, local_files_only=True, trust_remote_code=False
            )
        return wrapped(tokenizer, trusted=folder.trusted)
    except confined.LimitError as error:
        raise CheckpointError(f"the tokenizer {error}") from error
    except Exception:  # a vocabulary alone may not say enough; ids can still be given
        return None


def wrapped(tokenizer: Any, *, trusted: bool = True) -> "FileTokenizer | SlowTokenizer | None":
    """A tokenizer of transformers or of the tokenizers library; None of anything else.

    It is copied or only asked, never changed.

    Args:
        tokenizer: of the library.
        trusted: False for one that comes from a file, see `models.confined`.
    """
    fast = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(fast, "to_str") and hasattr(fast, "token_to_id"):
        name = type(tokenizer).__name__
        reader = FileTokenizer(fast.to_str(), name=name, trusted=trusted)
        reader.targets = None if fast is tokenizer else Targets.of(tokenizer, trusted=trusted)
        return reader
    if hasattr(tokenizer, "convert_ids_to_tokens") and hasattr(tokenizer, "get_vocab"):
        return SlowTokenizer(tokenizer)
    return None


class SlowTokenizer(Decoding):
    """A tokenizer of transformers that is written in Python.

    It gives ids without offsets: tokens are labelled with what they decode to, and have no places
    in the text, which the first of them has whole.
    """

    def __init__(self, tokenizer: Any, *, of_targets: bool = False) -> None:
        self._tokenizer = tokenizer
        self._of_targets = of_targets
        self.targets = Targets.of(tokenizer)
        self.unknown_id: int | None = tokenizer.unk_token_id
        names = tokenizer.convert_ids_to_tokens
        self.special = {
            id: str(names(id)) for id in {*tokenizer.all_special_ids} - {self.unknown_id}
        }

    @cached_property
    def _ids(self) -> dict[str, int]:
        return self._tokenizer.get_vocab()

    def vocabulary(self) -> dict[str, int]:
        return self._ids

    def decode(self, ids: list[int], *, whole: bool) -> str:
        # bytes that are no character decode to nothing
        text = self._tokenizer.decode(ids, skip_special_tokens=not whole)
        return text or (NOT_WHOLE if whole else "")

    def id(self, word: str) -> int | None:
        return self._ids.get(word)

    def encode(self, text: str, pair: str | None = None) -> Tokens:
        check_text(text)
        check_text(pair or "")
        if self._of_targets:
            encoding = self._tokenizer(text_target=text)
        else:
            encoding = self._tokenizer(text, pair)
        tokens = self.spelled(encoding["input_ids"])
        tokens = replace(tokens, segments=tuple(encoding.get("token_type_ids", tokens.segments)))
        plain = [place for place, special in enumerate(tokens.special) if not special]
        if pair is not None or not plain:
            return tokens
        whole = {plain[0]: text}  # which part of it each token has is not known
        return replace(tokens, texts=tuple(whole.get(place, "") for place in range(len(tokens))))


@dataclass(frozen=True, eq=False)
class Targets:
    """How a tokenizer reads targets: with other special tokens around them than around a source.

    Those of translators put the code of a language there, the one that the text is in. The library
    names it `tgt_lang`, and reads a target as `tokenizer(text_target=...)`.

    Attributes:
        tokenizer: of transformers.
        codes: of the languages that a target may be in, such as "fra_Latn"; () where there is no
            choice.
        stated: the code that the tokenizer states itself; "" for none.
        trusted: as in `wrapped`.
    """

    tokenizer: Any
    codes: tuple[str, ...] = ()
    stated: str = ""
    trusted: bool = True

    @staticmethod
    def of(tokenizer: Any, *, trusted: bool = True) -> "Targets | None":
        """Of a tokenizer; None for a fast one that reads targets as it reads sources."""
        if not hasattr(tokenizer, "tgt_lang"):
            return None if hasattr(tokenizer, "backend_tokenizer") else Targets(tokenizer)
        codes = getattr(tokenizer, "lang_code_to_id", None) or tokenizer.extra_special_tokens
        stated = tokenizer.tgt_lang
        codes = tuple(map(str, codes))
        return Targets(tokenizer, codes, stated if stated in codes else "", trusted)

    def id(self, code: str) -> int:
        """The token of a language."""
        by_code = getattr(self.tokenizer, "lang_code_to_id", {})
        return by_code[code] if code in by_code else self.tokenizer.convert_tokens_to_ids(code)

    def code(self, id: int | None) -> str:
        """The language of a token; "" for any other."""
        return next((code for code in self.codes if self.id(code) == id), "")

    def reader(self, code: str) -> Tokenizer:
        """What reads targets in a language."""
        return _reader(self.tokenizer, code, self.trusted)


@lru_cache(maxsize=4)
def _reader(tokenizer: Any, code: str, trusted: bool) -> Tokenizer:
    copy = deepcopy(tokenizer)
    if code:
        copy.tgt_lang = code
    if not hasattr(copy, "backend_tokenizer"):
        return SlowTokenizer(copy, of_targets=True)
    copy.set_tgt_lang_special_tokens(copy.tgt_lang)
    return wrapped(copy.backend_tokenizer, trusted=trusted)  # pyright: ignore[reportReturnType]
