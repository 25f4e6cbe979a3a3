"""Tokenizers of transformers, fast or written in Python, as ours."""

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from models.text import (
    NOT_WHOLE,
    Decoding,
    FileTokenizer,
    Tokenizer,
    Tokens,
    check_text,
)


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
