"""Tokenisation: token ids, and labels for display.

A label is the slice of the user's own text that a token covers: "Über" even where the model reads
"uber". Special tokens keep their name, an unknown piece shows its text and that it is unknown, and
a piece of a character counts itself: 🙂 1/3.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable
from zlib import crc32

if TYPE_CHECKING:
    from tokenizers import Encoding
    from tokenizers import Tokenizer as Reader

Span = tuple[int, int] | None
GENERIC_CLASSES = ("PreTrainedTokenizerFast", "TokenizersBackend")  # of transformers
MOST_MARKS = 64  # behind one letter


@dataclass(frozen=True)
class Tokens:
    """The tokens of one item.

    Attributes:
        ids: token ids.
        labels: what each token shows.
        special: whether a token is the tokenizer's own ([CLS], [SEP], …).
        segments: 0 for the first text, 1 for the second of a pair.
        spans: where in its text each token stands, in characters; None for special tokens.
    """

    ids: tuple[int, ...]
    labels: tuple[str, ...]
    special: tuple[bool, ...]
    segments: tuple[int, ...]
    spans: tuple[Span, ...]

    def __len__(self) -> int:
        return len(self.ids)

    @staticmethod
    def of_ids(
        ids: Sequence[int],
        names: Mapping[int, str] = MappingProxyType({}),
        words: Mapping[int, str] = MappingProxyType({}),
    ) -> "Tokens":
        """Tokens without a text of the user's.

        Args:
            ids: the tokens.
            names: of special ones.
            words: what others stand for; one that is in neither is labelled with its id.
        """
        none = (None,) * len(ids)
        labels = tuple(names.get(token, words.get(token, str(token))) for token in ids)
        special = tuple(token in names for token in ids)
        return Tokens(tuple(ids), labels, special, (0,) * len(ids), none)

    def __add__(self, other: "Tokens") -> "Tokens":
        """These, then the others."""
        return Tokens(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Tokens)))

    def __getitem__(self, part: slice) -> "Tokens":
        """Some of these, in a row."""
        return Tokens(*(getattr(self, f.name)[part] for f in fields(Tokens)))

    @staticmethod
    def of_patches(prefix: Sequence[str], rows: int, cols: int) -> "Tokens":
        """Tokens of an image: named ones in front, then "patch row,col", numbered as ids."""
        patches = [f"patch {row},{col}" for row in range(rows) for col in range(cols)]
        count = len(prefix) + len(patches)
        special = (True,) * len(prefix) + (False,) * len(patches)
        labels = (*prefix, *patches)
        return Tokens(tuple(range(count)), labels, special, (0,) * count, (None,) * count)


@runtime_checkable
class Tokenizer(Protocol):
    """Anything that turns a text, or a pair of texts, into tokens."""

    def encode(self, text: str, pair: str | None = None) -> Tokens: ...


@runtime_checkable
class Decoding(Tokenizer, Protocol):
    """A tokenizer that also tells what ids stand for."""

    @property
    def words(self) -> dict[int, str]: ...

    def text(self, ids: Sequence[int]) -> str: ...

    def spelled(self, ids: Sequence[int], names: Mapping[int, str] = ...) -> Tokens: ...


class WordTokenizer:
    """Words and punctuation, each with an id that only depends on how it is spelled.

    For networks built here, which have no vocabulary to learn: the id is a hash of the word
    (CRC-32) within the size of the vocabulary, so that the same word always gets the same vector.
    """

    def __init__(self, vocab: int, *, reserved: int = 0) -> None:
        """Takes note of the sizes.

        Args:
            vocab: how many token ids there are.
            reserved: how many of them, from 0 on, are no words.
        """
        if not 0 <= reserved < vocab:
            raise ValueError(f"vocab: expected more than the {reserved} reserved, received {vocab}")
        self.vocab = vocab
        self.reserved = reserved

    def encode(self, text: str, pair: str | None = None) -> Tokens:
        from tokenizers.pre_tokenizers import BertPreTokenizer

        check_text(text)
        check_text(pair or "")
        split = BertPreTokenizer()
        pieces = [
            (word, span, segment)
            for segment, part in enumerate((text, pair or ""))
            for word, span in split.pre_tokenize_str(part)
        ]
        return Tokens(
            ids=tuple(self._id(word) for word, _, _ in pieces),
            labels=tuple(word for word, _, _ in pieces),
            special=(False,) * len(pieces),
            segments=tuple(segment for _, _, segment in pieces),
            spans=tuple(span for _, span, _ in pieces),
        )

    def _id(self, word: str) -> int:
        return self.reserved + crc32(word.casefold().encode()) % (self.vocab - self.reserved)


class FileTokenizer:
    """A tokenizer.json, read as it is except that nothing is cut off and nothing padded."""

    def __init__(self, path: Path, settings: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Reads the file.

        Args:
            path: of the tokenizer.json.
            settings: of the tokenizer_config.json beside it, whose `add_prefix_space` counts for
                byte-level vocabularies, unless its class takes the file as it is.

        Raises:
            ValueError: for a file that is no tokenizer.
        """
        from tokenizers.pre_tokenizers import ByteLevel

        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ValueError(f"{path.name} is not a readable tokenizer file: {error}") from error
        self.read(text, path.name)
        prefix, splits = settings.get("add_prefix_space"), self._reader.pre_tokenizer
        as_it_is = settings.get("tokenizer_class") in GENERIC_CLASSES
        if isinstance(prefix, bool) and isinstance(splits, ByteLevel) and not as_it_is:
            splits.add_prefix_space = prefix
            self._reader.pre_tokenizer = splits

    @staticmethod
    def of_json(text: str, name: str) -> "FileTokenizer":
        """The tokenizer of a tokenizer.json's contents.

        Args:
            text: of the file.
            name: for the error.

        Raises:
            ValueError: for text that is no tokenizer.
        """
        tokenizer = FileTokenizer.__new__(FileTokenizer)
        tokenizer.read(text, name)
        return tokenizer

    def read(self, text: str, name: str) -> None:
        """Reads the contents of a tokenizer.json; see `of_json`."""
        from tokenizers import Tokenizer as Reader

        try:
            self._reader = Reader.from_str(text)
        except Exception as error:  # the library raises bare Exception
            raise ValueError(f"{name} is not a readable tokenizer file: {error}") from error
        self._reader.no_truncation()
        self._reader.no_padding()
        added = self._reader.get_added_tokens_decoder().items()
        self._special_ids = frozenset(id_ for id_, token in added if token.special)
        unknown = getattr(self._reader.model, "unk_token", None)
        self._unknown_id = self._reader.token_to_id(unknown) if unknown else None

    @property
    def unknown_id(self) -> int | None:
        """The id of what is not in the vocabulary; None if there is none."""
        return self._unknown_id

    def copy(self) -> "Reader":
        """A copy of the tokenizer in the tokenizers library."""
        return type(self._reader).from_str(self._reader.to_str())

    @property
    def marks_words(self) -> bool:
        """Whether a mark in front of words ("▁") stands for the space before them."""
        steps = (self._reader.pre_tokenizer, self._reader.normalizer)
        states = [step.__getstate__() for step in steps if step is not None]
        return any(b"Metaspace" in state or b"Prepend" in state for state in states)

    @property
    def words(self) -> dict[int, str]:
        """The token string of each id."""
        return self._words

    @cached_property
    def _words(self) -> dict[int, str]:
        return {number: word for word, number in self._reader.get_vocab().items()}

    def text(self, ids: Sequence[int]) -> str:
        """The text of ids, without special tokens."""
        return self._reader.decode(list(ids), skip_special_tokens=True)

    def spelled(
        self, ids: Sequence[int], names: Mapping[int, str] = MappingProxyType({})
    ) -> Tokens:
        """Ids that did not come from a text, by what they stand for.

        Args:
            ids: the tokens.
            names: of special ones, before those of the tokenizer.
        """

        def decode(some: list[int]) -> str:
            return self._reader.decode(some, skip_special_tokens=False)

        special_names = {token: str(self._reader.id_to_token(token)) for token in self._special_ids}
        return spelled(ids, decode, {**special_names, **names})

    def encode(self, text: str, pair: str | None = None) -> Tokens:
        check_text(text)
        check_text(pair or "")
        encoding = self._reader.encode(text, pair)
        texts = (text, pair or "")
        spans: list[Span] = []
        for token, sequence, span in zip(
            encoding.ids, encoding.sequence_ids, encoding.offsets, strict=True
        ):
            in_text = sequence is not None and (span[1] > span[0] or token not in self._special_ids)
            spans.append(span if in_text else None)
        starts = {
            (sequence, span[0])
            for sequence, span in zip(encoding.sequence_ids, spans, strict=True)
            if span
        }
        slices = [
            _slice(texts, sequence or 0, span, starts)
            for sequence, span in zip(encoding.sequence_ids, spans, strict=True)
        ]
        return Tokens(
            ids=tuple(encoding.ids),
            labels=self._labels(encoding, slices, spans),
            special=tuple(
                token in self._special_ids - {self._unknown_id} for token in encoding.ids
            ),
            segments=tuple(encoding.type_ids),
            spans=tuple(spans),
        )

    def _labels(
        self, encoding: "Encoding", slices: list[str], spans: list[Span]
    ) -> tuple[str, ...]:
        keys = list(zip(encoding.sequence_ids, spans, strict=True))
        labels = []
        for index, (token, piece) in enumerate(zip(encoding.ids, slices, strict=True)):
            name = encoding.tokens[index]
            if not piece:
                labels.append(name)
            elif token == self._unknown_id:
                labels.append(f"{piece} {name}")
            else:
                labels.append(piece + _part_of_character(keys, index))
        return tuple(labels)


def _slice(texts: tuple[str, str], sequence: int, span: Span, starts: set) -> str:
    """The text a token covers, with the marks behind it that no other token starts at."""
    if span is None:
        return ""
    text, (start, end) = texts[sequence], span
    if end == start:
        return ""
    most = end + len(unspaced(text[end : end + MOST_MARKS]))
    while end < most and (sequence, end) not in starts:
        end += 1
    return text[start:end]


def unspaced(text: str) -> str:
    """The beginning of a text that takes no space of its own: marks and invisible characters."""
    end = 0
    while end < len(text) and unicodedata.category(text[end]) in ("Mn", "Mc", "Me", "Cf"):
        end += 1
    return text[:end]


def _part_of_character(keys: list, index: int) -> str:
    """ " 1/3" for the first of three neighbours that cover the same characters."""
    first = last = index
    while first > 0 and keys[first - 1] == keys[index]:
        first -= 1
    while last + 1 < len(keys) and keys[last + 1] == keys[index]:
        last += 1
    return "" if first == last else f" {index - first + 1}/{last - first + 1}"


def check_text(text: str) -> None:
    """Raises ValueError for text that is not valid Unicode (half of a surrogate pair)."""
    if any(unicodedata.category(c) == "Cs" for c in text):
        raise ValueError("the text has half a character (a lone surrogate): delete it")


def clean(text: str) -> tuple[str, int]:
    """The text without control characters and lone surrogates, and how many there were.

    Tabs and line ends stay, as do the invisible joiners inside emoji and Arabic words.
    """
    kept = [c for c in text if c in "\t\n\r" or unicodedata.category(c) not in ("Cc", "Cs")]
    return "".join(kept), len(text) - len(kept)


def fit(text: str, tokenizer: Tokenizer, limit: int) -> str:
    """The longest beginning of the text, in whole words, that gives at most `limit` tokens."""
    spans = [span for span in tokenizer.encode(text).spans if span is not None]
    if len(spans) > limit:
        blank = re.compile(r"\s|$").search(text, spans[limit][1])
        text = text[: blank.start() if blank else None]  # no longer beginning can fit
    ends = [match.end() for match in re.finditer(r"\S+", text)]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        if len(tokenizer.encode(text[: ends[middle - 1]])) <= limit:
            low = middle
        else:
            high = middle - 1
    return text[: ends[low - 1]] if low else ""


LONGEST = 8  # tokens that one character can be cut into
NOT_WHOLE = "\ufffd"


def spelled(
    ids: Sequence[int], decode: Callable[[list[int]], str], names: Mapping[int, str]
) -> Tokens:
    """Each token by its text; pieces of one character are counted: 🙂 1/4.

    Args:
        ids: of the tokens.
        decode: their text, with U+FFFD at bytes that are no whole character.
        names: of special tokens.
    """
    labels: list[str] = []
    while len(labels) < len(ids):
        start = len(labels)
        if ids[start] in names:
            labels.append(names[ids[start]])
            continue
        count = _pieces(ids[start : start + LONGEST], decode)
        text = decode(list(ids[start : start + count])) or str(ids[start])
        parts = [text] if count == 1 else [f"{text} {i + 1}/{count}" for i in range(count)]
        labels += parts
    tokens = Tokens.of_ids(ids, names)
    return Tokens(tokens.ids, tuple(labels), tokens.special, tokens.segments, tokens.spans)


def tokens_of_ids(
    ids: Sequence[int],
    tokenizer: Tokenizer | None,
    names: Mapping[int, str] = MappingProxyType({}),
) -> Tokens:
    """Ids by what they stand for, where the tokenizer can decode; else labelled with numbers."""
    if isinstance(tokenizer, Decoding):
        return tokenizer.spelled(ids, names)
    return Tokens.of_ids(ids, names)


def _pieces(ids: Sequence[int], decode: Callable[[list[int]], str]) -> int:
    """Number of leading tokens that form whole characters."""
    for count in range(1, len(ids) + 1):
        if NOT_WHOLE not in decode(list(ids[:count])):
            return count
    return 1
