"""Tokenizers of transformers, fast or written in Python, as ours."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from models.text import NOT_WHOLE, Decoding, FileTokenizer, Tokens, check_text, spelled


def wrapped(tokenizer: Any) -> Decoding | None:
    """A tokenizer of transformers or of the tokenizers library; None of anything else.

    It is copied or only asked, never changed.
    """
    fast = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(fast, "to_str") and hasattr(fast, "token_to_id"):
        return FileTokenizer.of_json(fast.to_str(), type(tokenizer).__name__)
    if hasattr(tokenizer, "convert_ids_to_tokens") and hasattr(tokenizer, "get_vocab"):
        return SlowTokenizer(tokenizer)
    return None


class SlowTokenizer:
    """A tokenizer of transformers that is written in Python.

    It gives ids without offsets: tokens are labelled with what they decode to, and have no places
    in the text.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._special_ids = frozenset(tokenizer.all_special_ids) - {tokenizer.unk_token_id}

    @property
    def words(self) -> dict[int, str]:
        """The token string of each id."""
        return self._words

    @cached_property
    def _words(self) -> dict[int, str]:
        return {number: word for word, number in self._tokenizer.get_vocab().items()}

    @property
    def unknown_id(self) -> int | None:
        """The id of what is not in the vocabulary; None if there is none."""
        return self._tokenizer.unk_token_id

    def text(self, ids: Sequence[int]) -> str:
        """The text of ids, without special tokens."""
        return self._tokenizer.decode(list(ids), skip_special_tokens=True)

    def spelled(
        self, ids: Sequence[int], names: Mapping[int, str] = MappingProxyType({})
    ) -> Tokens:
        """Ids by what they stand for; see `FileTokenizer.spelled`."""
        special = self._special_ids & {*ids}
        special_names = {
            token: str(self._tokenizer.convert_ids_to_tokens(token)) for token in special
        }
        return spelled(ids, self._decode, {**special_names, **names})

    def encode(self, text: str, pair: str | None = None) -> Tokens:
        check_text(text)
        check_text(pair or "")
        encoding = self._tokenizer(text, pair)
        tokens = self.spelled(encoding["input_ids"])
        return replace(tokens, segments=tuple(encoding.get("token_type_ids", tokens.segments)))

    def _decode(self, ids: list[int]) -> str:
        """The text of ids; NOT_WHOLE for bytes that are no character, which decode to nothing."""
        return self._tokenizer.decode(ids, skip_special_tokens=False) or NOT_WHOLE
