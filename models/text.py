"""Tokenisation: token ids, and labels for display.

A label is the slice of the user's own text that a token covers: "Über" even where the model reads
"uber". Special tokens keep their name, an unknown piece shows its text and that it is unknown, and
a piece of a character counts itself: 🙂 1/3. Tokens that did not come from a text are labelled with
what they decode to after the tokens before them. `Tokens.texts` is what quotes an input: labels are
not made to be joined.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable
from zlib import crc32

from models.confined import ConfinedReader

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Reader

Span = tuple[int, int] | None
GENERIC_CLASSES = ("PreTrainedTokenizerFast", "TokenizersBackend")  # of transformers
MOST_MARKS = 64  # behind one letter
SPACE = "▁"  # stands for a space in the strings of SentencePiece's vocabularies
SPACES = SPACE + "Ġ"  # and in those of byte-level ones


@dataclass(frozen=True)
class Tokens:
    """The tokens of one item.

    Attributes:
        ids: token ids.
        labels: what each token shows.
        special: whether a token is the tokenizer's own ([CLS], [SEP], …).
        segments: 0 for the first text, 1 for the second of a pair.
        spans: where in its text each token stands, in characters; None for special tokens.
        texts: what each token adds to the text, with the blanks before it: joined they are the
            text. By default the labels of those that are not special, with blanks between them.
    """

    ids: tuple[int, ...]
    labels: tuple[str, ...]
    special: tuple[bool, ...]
    segments: tuple[int, ...]
    spans: tuple[Span, ...]
    texts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.texts:
            blank = "" if any(label.startswith(" ") for label in self.labels) else " "
            pairs = zip(self.labels, self.special, strict=True)
            texts = tuple("" if special else blank + label for label, special in pairs)
            object.__setattr__(self, "texts", texts)

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

    def name(self, id: int) -> str: ...


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
        spans, segments = [span for _, span, _ in pieces], [segment for _, _, segment in pieces]
        return Tokens(
            ids=tuple(self._id(word) for word, _, _ in pieces),
            labels=tuple(word for word, _, _ in pieces),
            special=(False,) * len(pieces),
            segments=tuple(segments),
            spans=tuple(spans),
            texts=_added((text, pair or ""), segments, spans),
        )

    def _id(self, word: str) -> int:
        return self.reserved + crc32(word.casefold().encode()) % (self.vocab - self.reserved)


class FileTokenizer:
    """A tokenizer.json, read as it is except that nothing is cut off and nothing padded.

    Attributes:
        targets: how a translator's tokenizer of transformers reads targets (see
            `models.pretrained.tokenizers`); None where it reads them as it reads sources.
    """

    targets: Any = None

    def __init__(
        self,
        path: Path,
        settings: Mapping[str, Any] = MappingProxyType({}),
        *,
        trusted: bool = False,
    ) -> None:
        """Reads the file.

        Args:
            path: of the tokenizer.json.
            settings: of the tokenizer_config.json beside it, whose `add_prefix_space` counts for
                byte-level vocabularies, unless its class takes the file as it is.
            trusted: whether it may run in this process, see `models.confined`.

        Raises:
            ValueError: for a file that is no tokenizer.
        """
        from tokenizers.pre_tokenizers import ByteLevel

        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ValueError(f"{path.name} is not a readable tokenizer file: {error}") from error
        self.read(text, path.name, trusted)
        prefix, splits = settings.get("add_prefix_space"), self._reader.pre_tokenizer
        as_it_is = settings.get("tokenizer_class") in GENERIC_CLASSES
        if isinstance(prefix, bool) and isinstance(splits, ByteLevel) and not as_it_is:
            splits.add_prefix_space = prefix
            self._reader.pre_tokenizer = splits
            self._coder = self._reader if trusted else ConfinedReader(self._reader.to_str())

    @staticmethod
    def of_json(text: str, name: str, *, trusted: bool = True) -> "FileTokenizer":
        """The tokenizer of a tokenizer.json's contents.

        Args:
            text: of the file.
            name: for the error.
            trusted: False for what comes from a file.

        Raises:
            ValueError: for text that is no tokenizer.
        """
        tokenizer = FileTokenizer.__new__(FileTokenizer)
        tokenizer.read(text, name, trusted)
        return tokenizer

    def read(self, text: str, name: str, trusted: bool) -> None:
        """Reads the contents of a tokenizer.json; see `of_json`."""
        from tokenizers import Tokenizer as Reader

        try:
            confined = None if trusted else ConfinedReader(text)
            self._reader = Reader.from_str(text)
        except Exception as error:  # the library raises bare Exception
            raise ValueError(f"{name} is not a readable tokenizer file: {error}") from error
        self._coder: Reader | ConfinedReader = confined or self._reader
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
        return self._coder.decode(list(ids), skip_special_tokens=True)

    def spelled(
        self, ids: Sequence[int], names: Mapping[int, str] = MappingProxyType({})
    ) -> Tokens:
        """Ids that did not come from a text, by what they stand for.

        Args:
            ids: the tokens.
            names: of special ones, before those of the tokenizer.
        """
        return self._spelling.tokens(ids, names)

    def name(self, id: int) -> str:
        """What a token is called where it stands in no text."""
        return self._spelling.name(id)

    @cached_property
    def _spelling(self) -> "Spelling":
        reader = self._reader
        special = {token: str(reader.id_to_token(token)) for token in self._special_ids}
        decode = partial(self._coder.decode, skip_special_tokens=False)
        return Spelling(decode, reader.id_to_token, reader.token_to_id, special)

    def encode(self, text: str, pair: str | None = None) -> Tokens:
        check_text(text)
        check_text(pair or "")
        encoding, texts = self._coder.encode(text, pair), (text, pair or "")
        ids, names, sequences = encoding.ids, encoding.tokens, encoding.sequence_ids
        special = self._special_ids - {self._unknown_id}
        numbers = [sequence or 0 for sequence in sequences]
        spans: list[Span] = [
            span
            if sequence is not None and (span[1] > span[0] or token not in self._special_ids)
            else None
            for token, sequence, span in zip(ids, sequences, encoding.offsets, strict=True)
        ]
        counts = [""] * len(ids)
        for group in _overlapping(numbers, spans):
            span = spans[group[0]]
            if span and len(group) > 1 and _is_space(names[group[0]]):
                spans[group[0]] = span[0], span[0]  # a space that the tokenizer put in front
                group = group[1:]
            for i, place in enumerate(group):
                counts[place] = _count(i, len(group))
        starts = {(number, span[0]) for number, span in zip(numbers, spans, strict=True) if span}
        labels = []
        for place, (name, span) in enumerate(zip(names, spans, strict=True)):
            covered = _slice(texts, numbers[place], span, starts)
            if covered:
                unknown = ids[place] == self._unknown_id
                labels.append(f"{covered} {name}" if unknown else covered + counts[place])
            else:
                labels.append(" " * len(name) if span and _is_space(name) else name)
        return Tokens(
            ids=tuple(ids),
            labels=tuple(labels),
            special=tuple(token in special for token in ids),
            segments=tuple(encoding.type_ids),
            spans=tuple(spans),
            texts=_added(texts, numbers, spans),
        )


def _is_space(name: str) -> bool:
    """Whether a string of a vocabulary stands for spaces alone."""
    return bool(name) and not name.strip(SPACES)


def _added(texts: Sequence[str], numbers: Sequence[int], spans: Sequence[Span]) -> tuple[str, ...]:
    """The part of its text up to the end of each token that no token before it has; the last one
    has the rest."""
    ends, last, added = dict[int, int](), dict[int, int](), []
    for place, (number, span) in enumerate(zip(numbers, spans, strict=True)):
        start = ends.get(number, 0)
        if span is not None:
            ends[number], last[number] = max(start, span[1]), place
        added.append(texts[number][start : ends.get(number, 0)])
    for number, place in last.items():
        added[place] += texts[number][ends[number] :]
    return tuple(added)


def _overlapping(numbers: Sequence[int], spans: Sequence[Span]) -> list[range]:
    """Neighbours of which each begins before those before it end; a token that is alone, alone."""
    groups: list[range] = []
    end = 0
    for place, (number, span) in enumerate(zip(numbers, spans, strict=True)):
        if place and number == numbers[place - 1] and span and span[0] < end:
            groups[-1] = range(groups[-1].start, place + 1)
            end = max(end, span[1])
        else:
            groups.append(range(place, place + 1))
            end = span[1] if span else 0
    return groups


def _count(place: int, count: int) -> str:
    return f" {place + 1}/{count}" if count > 1 else ""


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
BYTE = re.compile(r"<0x[0-9A-F]{2}>")
# The characters that stand for bytes in byte-level vocabularies (GPT-2): their own, or from 256 on.
PRINTED = [*range(33, 127), *range(161, 173), *range(174, 256)]
BYTES = dict(zip(map(chr, PRINTED), PRINTED, strict=True))
BYTES |= {chr(256 + i): byte for i, byte in enumerate(sorted({*range(256)} - {*PRINTED}))}


@dataclass(frozen=True)
class Spelling:
    """What the ids of a vocabulary stand for.

    Attributes:
        decode: the text of ids, with U+FFFD at bytes that are no whole character.
        word: the string of an id in the vocabulary.
        id: the id of such a string.
        special: names of special tokens.
    """

    decode: Callable[[list[int]], str]
    word: Callable[[int], str | None]
    id: Callable[[str], int | None]
    special: Mapping[int, str]

    def tokens(self, ids: Sequence[int], names: Mapping[int, str]) -> Tokens:
        """Each token by its text; pieces of one character are counted: 🙂 1/4."""
        labels, texts, before = list[str](), list[str](), list[int]()
        names = {**self.special, **names}
        while (start := len(labels)) < len(ids):
            if ids[start] in names:
                labels.append(names[ids[start]])
                texts.append("")
                continue
            group = list(ids[start : start + _pieces(ids[start : start + LONGEST], self.decode)])
            alone, front, both = map(self.decode, (group, before, before + group))
            label = alone if len(group) > 1 else self._alone(group[0])
            if not before and label.startswith(" "):
                label = alone or label  # decoders leave out the space that begins a text
            labels.append(label + _count(0, len(group)))
            labels += [label.lstrip() + _count(i, len(group)) for i in range(1, len(group))]
            follows = NOT_WHOLE not in front and both.startswith(front)
            texts += [both[len(front) :] if follows else alone, *[""] * (len(group) - 1)]
            before = group
        tokens = Tokens.of_ids(ids, names)
        return replace(tokens, labels=tuple(labels), texts=tuple(texts))

    def name(self, id: int) -> str:
        """What a token is called where it stands in no text: no two have the same name."""
        if id in self.special:
            return self.special[id]
        name = self._alone(id)
        for word in (name, name.replace(" ", SPACE)):
            twin = self.id(word)
            if twin not in (None, id) and self._alone(twin) == name:
                return self.word(id) or name
        return name

    def _alone(self, id: int) -> str:
        """The text of a token, with the space that decoders leave out where a text begins."""
        word, text = self.word(id) or str(id), self.decode([id])
        marks = len(word) - len(word.lstrip(SPACE))
        if marks and not text.startswith(SPACE):
            text = " " * marks + ("" if marks == len(word) else text.lstrip(" "))
        return text if text and NOT_WHOLE not in text else _in_bytes(word)


def _in_bytes(word: str) -> str:
    """A string of a byte-level vocabulary as its bytes, <0xF0 0x9F>; others as they are."""
    if BYTE.fullmatch(word) or not word or not BYTES.keys() >= {*word}:
        return word
    return f"<{' '.join(f'0x{BYTES[c]:02X}' for c in word)}>"


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
