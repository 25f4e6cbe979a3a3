"""Small vocabularies, made as those of well-known models are."""

from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import NllbTokenizer

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")  # of translators, in their order
PIECES = (*SPECIAL, "▁", *"abcdehinoty", "▁i")


def nllb(**options: Any) -> NllbTokenizer:
    """As of NLLB: a code of the language around every text."""
    return NllbTokenizer(vocab={piece: id for id, piece in enumerate(PIECES)}, merges=[], **options)


def llama() -> Tokenizer:
    """As of Llama 2: a space is put in front, "▁" alone decodes to nothing, bytes have tokens."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁abcdehinoty", "▁i", "▁▁"]
    vocab, merges = {piece: id for id, piece in enumerate(pieces)}, [("▁", "i"), ("▁", "▁")]
    made = Tokenizer(models.BPE(vocab, merges, byte_fallback=True, unk_token="<unk>"))
    marks = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    made.normalizer = normalizers.Sequence(marks)  # type: ignore[assignment]
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    made.decoder = decoders.Sequence([*steps, decoders.Strip(" ", 1, 0)])  # type: ignore[assignment]
    return made


def t5() -> Tokenizer:
    """As of T5 and XLM-R: a text is split at white space, and each word begins with "▁"."""
    pieces = [(piece, -1.0) for piece in ("<unk>", *"▁😀日本éabcdehintoy/12")]
    made = Tokenizer(models.Unigram(pieces, 0))
    split = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    made.pre_tokenizer = pre_tokenizers.Sequence(split)  # type: ignore[assignment]
    made.decoder = decoders.Metaspace()  # type: ignore[assignment]
    return made


def gpt2(*more: tuple[str, str]) -> Tokenizer:
    """As of GPT-2: the first piece of a character may hold the space before it as well."""
    merges = [("Ġ", "ð"), ("Ġð", "Ł"), ("Ġ", "æ"), ("Ġ", "i"), *more]
    pieces = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *map("".join, merges)]
    made = Tokenizer(models.BPE({piece: id for id, piece in enumerate(pieces)}, merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment]
    made.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    return made
