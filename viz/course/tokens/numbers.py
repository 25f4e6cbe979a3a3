"""A text on its way into MiniLM: pieces, ids, rows of the table, and a row's neighbours."""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from viz.course.boards import Board, board, panel
from viz.course.inputs import InputError
from viz.course.real import about
from viz.course.tokens import real
from viz.course.trained import encoded, network

if TYPE_CHECKING:
    from torch import Tensor

MODEL = "minilm"
MOST = 12  # tokens that the picture has room for
FEATURES = 12  # shown of each row
AROUND = 3  # rows of the table shown on either side of the chosen one
NEAREST = 6


def numbers(text: str, token: int) -> dict[str, Any]:
    """Every number from the text to the rows of the table.

    Args:
        text: that is cut.
        token: index of the chosen token; the last one where there are fewer.

    Raises:
        InputError: for a text of too many tokens.
    """
    import torch

    from models.lessons import tokens

    ids = list(encoded(MODEL, text).ids)
    if len(ids) > MOST:
        raise InputError(f"text: expected at most {MOST} tokens, received {len(ids)}")
    token = min(token, len(ids) - 1)
    table, names = _table(), _names()
    id, (vocab, dim) = ids[token], table.shape
    low = max(0, min(id - AROUND, vocab - 2 * AROUND - 1))
    around = list(range(low, low + 2 * AROUND + 1))
    words, codes = tokens.words(text), tokens.utf8(text)
    return {
        "text": text,
        "words": words,
        "bytes": codes,
        "pieces": [names[each] for each in ids],
        "ids": ids,
        "count": len(ids),
        "word_count": len(words),
        "byte_count": len(codes),
        "token": token,
        "piece": names[id],
        "id": id,
        "twins": [at for at, each in enumerate(ids) if each == id],
        "vocab": vocab,
        "dim": dim,
        "parameters": table.numel(),
        "around": [{"id": each, "piece": names[each], "row": _row(each)} for each in around],
        "x": tokens.rows(table, torch.tensor(ids))[:, :FEATURES].tolist(),
        "nearest": _nearest(id),
    }


@lru_cache(maxsize=256)
def _nearest(id: int) -> list[dict[str, Any]]:
    """The rows most similar to one by cosine, the most similar first."""
    from models.lessons import tokens

    similarities, ids = tokens.nearest(_table(), id, NEAREST)
    return [
        {"id": each, "piece": _names()[each], "similarity": similarity, "row": _row(each)}
        for each, similarity in zip(ids.tolist(), similarities.tolist(), strict=True)
    ]


def _row(id: int) -> list[float]:
    return _table()[id, :FEATURES].tolist()


@cache
def _table() -> "Tensor":
    """MiniLM's table of token embeddings."""
    return network(MODEL).network.get_parameter("tokens.weight").detach()


@cache
def _names() -> dict[int, str]:
    """The token of each id."""
    from models.text import FileTokenizer

    reader = network(MODEL).tokenizer
    if not isinstance(reader, FileTokenizer):
        raise ValueError(f"expected a tokenizer with a file, received {type(reader).__name__}")
    return reader.words


def beside(values: Mapping[str, Any]) -> Board:
    """A text as MiniLM and as SmolLM2 cut it."""
    text = values["text"]
    mine, theirs = list(encoded(MODEL, text).ids), real.pieces(text)
    if len(theirs["ids"]) > MOST + 2:
        received = len(theirs["ids"])
        raise InputError(f"text: expected at most {MOST + 2} tokens, received {received}")
    names = _names()
    columns = (
        [names[each] for each in mine],
        [str(each) for each in mine],
        theirs["pieces"],
        [str(each) for each in theirs["ids"]],
        theirs["nearest"],
    )
    longest = max(map(len, columns))
    padded = [[*column, *[None] * (longest - len(column))] for column in columns]
    rows = [list(row) for row in zip(*padded, strict=True)]
    return board(
        [
            panel("MiniLM", [row[:2] for row in rows], cols=("piece", "id")),
            panel("SmolLM2", [row[2:] for row in rows], cols=("piece", "id", "nearest row")),
        ],
        count=len(theirs["ids"]),
        other=len(mine),
        vocab=theirs["vocab"],
        dim=theirs["dim"],
        parameters=theirs["vocab"] * theirs["dim"],
        share=theirs["share"],
        **about(real.MODEL, input=text),
    )


BOARDS = {"beside": beside}
