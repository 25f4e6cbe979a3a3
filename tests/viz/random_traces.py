"""Traces of random networks over random texts, for properties that hold for all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from analysis.view import View
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.run import Model, Trace, load, trace
from models.seq2seq import Seq2SeqConfig
from models.text import Tokens

SIZES: dict[str, Any] = {"vocab": 31, "dim": 15, "depth": 2, "mlp": 13}
PAIR: dict[str, Any] = {
    "source_vocab": 31,
    "target_vocab": 31,
    "dim": 15,
    "depth": 2,
    "mlp": 13,
    "d_k": 5,
    "d_v": 7,
}


def random_tokens(dice: torch.Generator, count: int, special: bool) -> Tokens:
    """Words of one to three pieces, some sentences; special tokens at both ends."""

    def up_to(most: int) -> int:
        return int(torch.randint(most, (), generator=dice))

    labels, spans, at = [], [], 0
    while len(labels) < count:
        stop = labels and up_to(4) == 0 and labels[-1] != "."
        pieces = (
            ["."] if stop else ["abcdefg"[up_to(7)] * (1 + up_to(2)) for _ in range(1 + up_to(3))]
        )
        at += 0 if stop else 1
        for piece in pieces[: count - len(labels)]:
            labels.append(piece)
            spans.append((at, at + len(piece)))
            at += len(piece)
    ends = ["[CLS]", "[SEP]"] if special else []
    labels[: len(ends) // 2], labels[count - len(ends) // 2 :] = ends[:1], ends[1:]
    marks = tuple(label in ends for label in labels)
    return Tokens(
        ids=tuple(range(4, 4 + count)),
        labels=tuple(labels),
        special=marks,
        segments=(0,) * count,
        spans=tuple(None if mark else span for mark, span in zip(marks, spans, strict=True)),
    )


def random_traces(count: int) -> Iterator[tuple[Model, Any, Any, Trace]]:
    """Some models, what they read, what their decoder reads, and the trace."""
    for seed in range(count):
        dice = torch.Generator().manual_seed(seed)
        tokens = random_tokens(dice, 11 + seed % 3, special=seed % 4 != 3)
        ids, written = torch.tensor([tokens.ids]), None
        if seed % 3 == 2:
            model = load(Seq2SeqConfig(**PAIR, heads=3, seed=seed))
            read = random_tokens(dice, 7, special=False)
            written = torch.tensor([read.ids])
            t = replace(trace(model, ids, written), tokens=(tokens,))
            targets = tuple(
                replace(each, labels=read.labels, spans=read.spans)
                for each in t.target_tokens or ()
            )
            yield model, ids, written, replace(t, target_tokens=targets)
            continue
        kind = (EncoderConfig, DecoderConfig)[seed % 3]
        model = load(kind(**SIZES, heads=3, seed=seed))
        yield model, ids, written, replace(trace(model, ids), tokens=(tokens,))


def views_of(t: Trace) -> Iterator[View]:
    """By tokens and by words."""
    yield from (View(t, words=words) for words in (False, True))


def joined_slowly(
    weights: torch.Tensor, rows: Sequence[Sequence[int]], columns: Sequence[Sequence[int]]
) -> torch.Tensor:
    """Sums over a word's keys, means over its queries."""
    found, known = [], weights.tolist()
    for row in rows:
        found.append([0.0] * len(columns))
        for query in row:
            for j, column in enumerate(columns):
                found[-1][j] += sum(known[query][key] for key in column) / len(row)
    return torch.tensor(found)
