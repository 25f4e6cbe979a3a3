"""Tokenisation: token ids, and labels for display.

A label is the slice of the user's own text that a token covers: "Über" even where the model reads
"uber". Special tokens keep their name, an unknown piece shows its text and that it is unknown, and
a piece of a character counts itself: 🙂 1/3. Tokens that did not come from a text are labelled with
what they decode to after the tokens before them. `Tokens.texts` is what quotes an input: labels are
not made to be joined.
"""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
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
FIRST_LABELS = 12  # labels in a repr
MOST_MARKS = 64  # behind one letter
SPACE = "▁"  # stands for a space in the strings of SentencePiece's vocabularies
SPACES = SPACE + "Ġ"  # and in those of byte-level ones
BRACKETED = re.compile(r"\[[A-Z]+\d*\]|<[^<>\s]+>")  # [CLS], <s>, <|endoftext|>


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

    def __repr__(self) -> str:
        some = " ".join(self.labels[:FIRST_LABELS]) + (" …" if len(self) > FIRST_LABELS else "")
        return f"Tokens({len(self)}: {some!r})"

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


@runtime_checkable
class Tokenizer(Protocol):
    """Anything that turns a text, or a pair of texts, into tokens."""

    def encode(self, text: str, pair: str | None = None) -> Tokens: ...


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
            ids=tuple(
                self.reserved + crc32(word.casefold().encode()) % (self.vocab - self.reserved)
                for word, _, _ in pieces
            ),
            labels=tuple(word for word, _, _ in pieces),
            special=(False,) * len(pieces),
            segments=tuple(segments),
            spans=tuple(spans),
            texts=_added((text, pair or ""), segments, spans),
        )


LONGEST = 8  # tokens that one character can be cut into
NOT_WHOLE = "\ufffd"
BYTE = re.compile(r"<0x[0-9A-F]{2}>")
# The characters that stand for bytes in byte-level vocabularies (GPT-2): their own, or from 256 on.
PRINTED = [*range(33, 127), *range(161, 173), *range(174, 256)]
BYTES = dict(zip(map(chr, PRINTED), PRINTED, strict=True))
BYTES |= {chr(256 + i): byte for i, byte in enumerate(sorted({*range(256)} - {*PRINTED}))}


class Decoding(ABC):
    """A tokenizer that also tells what ids stand for: what those with a vocabulary share.

    Attributes:
        special: names of special tokens.
    """

    special: Mapping[int, str]

    @abstractmethod
    def decode(self, ids: list[int], *, whole: bool) -> str:
        """The text of ids, with special tokens if it is to be whole, and U+FFFD at bytes that are
        no whole character."""

    @abstractmethod
    def vocabulary(self) -> dict[str, int]:
        """The id of each token string."""

    @cached_property
    def words(self) -> dict[int, str]:
        """The token string of each id."""
        return {number: word for word, number in self.vocabulary().items()}

    def word(self, id: int) -> str | None:
        """The string of an id in the vocabulary."""
        return self.words.get(id)

    @abstractmethod
    def id(self, word: str) -> int | None:
        """The id of a string of the vocabulary."""

    def text(self, ids: Sequence[int]) -> str:
        """The text of ids, without special tokens."""
        return self.decode(list(ids), whole=False)

    def spelled(
        self, ids: Sequence[int], names: Mapping[int, str] = MappingProxyType({})
    ) -> Tokens:
        """Ids that did not come from a text, each by its text; pieces of one character are
        counted: 🙂 1/4.

        Args:
            ids: the tokens.
            names: of special ones, before those of the tokenizer.
        """
        labels, texts, before = list[str](), list[str](), list[int]()
        names, decode = {**self.special, **names}, partial(self.decode, whole=True)
        while (start := len(labels)) < len(ids):
            if ids[start] in names:
                labels.append(names[ids[start]])
                texts.append("")
                continue
            group = list(ids[start : start + _pieces(ids[start : start + LONGEST], decode)])
            alone, front, both = map(decode, (group, before, before + group))
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
        word, text = self.word(id) or str(id), self.decode([id], whole=True)
        marks = len(word) - len(word.lstrip(SPACE))
        if marks and not text.startswith(SPACE):
            text = " " * marks + ("" if marks == len(word) else text.lstrip(" "))
        return text if text and NOT_WHOLE not in text else _in_bytes(word)


class FileTokenizer(Decoding):
    """A tokenizer.json, read as it is except that nothing is cut off and nothing padded.

    Attributes:
        unknown_id: the id of what is not in the vocabulary; None if there is none.
        targets: how a translator's tokenizer of transformers reads targets (see
            `models.pretrained.tokenizers`); None where it reads them as it reads sources.
    """

    targets: Any = None

    def __init__(
        self,
        source: Path | str,
        settings: Mapping[str, Any] = MappingProxyType({}),
        *,
        name: str = "tokenizer.json",
        trusted: bool = False,
    ) -> None:
        """Reads the file.

        Args:
            source: its path, or its contents.
            settings: of the tokenizer_config.json beside it, whose `add_prefix_space` counts for
                byte-level vocabularies, unless its class takes the file as it is.
            name: of contents, for the error.
            trusted: whether it may run in this process, see `models.confined`.

        Raises:
            ValueError: for what is no tokenizer.
        """
        from tokenizers import Tokenizer as Reader
        from tokenizers.pre_tokenizers import ByteLevel

        try:
            text = source if isinstance(source, str) else source.read_text(encoding="utf-8")
            confined = None if trusted else ConfinedReader(text)
            self._reader = Reader.from_str(text)
        except Exception as error:  # the library raises bare Exception
            name = name if isinstance(source, str) else source.name
            raise ValueError(f"{name} is not a readable tokenizer file: {error}") from error
        prefix, splits = settings.get("add_prefix_space"), self._reader.pre_tokenizer
        as_it_is = settings.get("tokenizer_class") in GENERIC_CLASSES
        if isinstance(prefix, bool) and isinstance(splits, ByteLevel) and not as_it_is:
            splits.add_prefix_space = prefix
            self._reader.pre_tokenizer = splits
            confined = None if trusted else ConfinedReader(self._reader.to_str())
        self._coder: Reader | ConfinedReader = confined or self._reader
        self._reader.no_truncation()
        self._reader.no_padding()
        added = self._reader.get_added_tokens_decoder().items()
        self.special = {id: token.content for id, token in added if token.special}
        unknown = getattr(self._reader.model, "unk_token", None)
        self.unknown_id: int | None = self._reader.token_to_id(unknown) if unknown else None

    def copy(self) -> "Reader":
        """A copy of the tokenizer in the tokenizers library."""
        return type(self._reader).from_str(self._reader.to_str())

    @property
    def marks_words(self) -> bool:
        """Whether a mark in front of words ("▁") stands for the space before them."""
        steps = (self._reader.pre_tokenizer, self._reader.normalizer)
        states = [step.__getstate__() for step in steps if step is not None]
        return any(b"Metaspace" in state or b"Prepend" in state for state in states)

    def vocabulary(self) -> dict[str, int]:
        return self._reader.get_vocab()

    def decode(self, ids: list[int], *, whole: bool) -> str:
        return self._coder.decode(ids, skip_special_tokens=not whole)

    def word(self, id: int) -> str | None:
        return self._reader.id_to_token(id)

    def id(self, word: str) -> int | None:
        return self._reader.token_to_id(word)

    def encode(self, text: str, pair: str | None = None) -> Tokens:
        check_text(text)
        check_text(pair or "")
        encoding, texts = self._coder.encode(text, pair), (text, pair or "")
        ids, names, sequences = encoding.ids, encoding.tokens, encoding.sequence_ids
        special = self.special.keys() - {self.unknown_id}
        numbers = [sequence or 0 for sequence in sequences]
        spans: list[Span] = [
            span
            if sequence is not None and (span[1] > span[0] or token not in self.special)
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
                unknown = ids[place] == self.unknown_id
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
    if len(spans) > limit:  # no longer beginning can fit
        blank = re.compile(r"\s|$").search(text, spans[limit][1])
        text = text[: blank.start() if blank else None]
    ends = [match.end() for match in re.finditer(r"\S+", text)]
    fits = (text[:end] for end in reversed(ends) if len(tokenizer.encode(text[:end])) <= limit)
    return next(fits, "")


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


def named_items(given: Any, counts: Sequence[int]) -> tuple[Tokens, ...]:
    """Tokens that somebody names; equal names are equal tokens.

    Args:
        given: strings, or a list of strings for each item; None numbers them.
        counts: tokens of each item.

    Raises:
        ValueError: for anything else, or another number of tokens.
    """
    if given is None:
        given = [[str(place) for place in range(count)] for count in counts]
    items = [] if isinstance(given, str) or not isinstance(given, Iterable) else [*given]
    items = [items] if items and all(isinstance(each, str) for each in items) else items
    listed = [[*each] if isinstance(each, Iterable) else [] for each in items]
    texts = all(isinstance(label, str) for labels in listed for label in labels)
    if not texts or [*map(len, listed)] != [*counts]:
        expected = f"{' and '.join(map(str, counts))} strings, a list for each item"
        raise ValueError(f"tokens: expected {expected}, received {given!r:.60}")
    return tuple(map(_named, listed))


def _named(labels: list[str]) -> Tokens:
    count = len(labels)
    texts = tuple(" " + each[1:] if each.startswith(tuple(SPACES)) else each for each in labels)
    special = tuple(bool(BRACKETED.fullmatch(each)) for each in labels)
    return Tokens(tuple(map(labels.index, labels)), texts, special, (0,) * count, (None,) * count)


def _pieces(ids: Sequence[int], decode: Callable[[list[int]], str]) -> int:
    """Number of leading tokens that form whole characters."""
    for count in range(1, len(ids) + 1):
        if NOT_WHOLE not in decode(list(ids[:count])):
            return count
    return 1
