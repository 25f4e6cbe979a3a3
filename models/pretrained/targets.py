"""What tokenizers of transformers put around a target: other tokens than around a source.

Those of translators put the code of a language there, the one that the text is in. The library
names it `tgt_lang`, and reads targets as `tokenizer(text_target=...)`.
"""

from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from models.text import Tokenizer


@dataclass(frozen=True, eq=False)
class Targets:
    """How a tokenizer reads targets.

    Attributes:
        tokenizer: of transformers.
        codes: of the languages that a target may be in, such as "fra_Latn"; () where there is no
            choice.
        stated: the code that the tokenizer states itself; "" for none.
    """

    tokenizer: Any
    codes: tuple[str, ...] = ()
    stated: str = ""

    @staticmethod
    def of(tokenizer: Any) -> "Targets | None":
        """Of a tokenizer; None for a fast one that reads targets as it reads sources."""
        if not hasattr(tokenizer, "tgt_lang"):
            return None if hasattr(tokenizer, "backend_tokenizer") else Targets(tokenizer)
        codes = getattr(tokenizer, "lang_code_to_id", None) or tokenizer.extra_special_tokens
        stated = tokenizer.tgt_lang
        return Targets(tokenizer, tuple(map(str, codes)), stated if stated in codes else "")

    def id(self, code: str) -> int:
        """The token of a language."""
        by_code = getattr(self.tokenizer, "lang_code_to_id", {})
        return by_code[code] if code in by_code else self.tokenizer.convert_tokens_to_ids(code)

    def code(self, id: int | None) -> str:
        """The language of a token; "" for any other."""
        return next((code for code in self.codes if self.id(code) == id), "")

    def reader(self, code: str) -> Tokenizer:
        """What reads targets in a language."""
        return _reader(self.tokenizer, code)


@lru_cache(maxsize=4)
def _reader(tokenizer: Any, code: str) -> Tokenizer:
    from models.pretrained.tokenizers import SlowTokenizer, wrapped

    copy = deepcopy(tokenizer)
    if code:
        copy.tgt_lang = code
    if not hasattr(copy, "backend_tokenizer"):
        return SlowTokenizer(copy, of_targets=True)
    copy.set_tgt_lang_special_tokens(copy.tgt_lang)
    return wrapped(copy.backend_tokenizer)  # pyright: ignore[reportReturnType]
