"""A text on its way into MiniLM: pieces, ids, rows of the table, and a row's neighbours."""

import re
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from viz.course import real
from viz.course.boards import Board, board, panel

MOST = 12  # tokens that the picture has room for
FEATURES = 12  # shown of each row
AROUND = 3  # rows of the table shown on either side of the chosen one
NEAREST = 6


def numbers(text: str, token: int) -> dict[str, Any]:
    """Every number from the text to the rows of the table."""
    ids = list(real.encoded("minilm", text, most=MOST).ids)
    token, table, names = min(token, len(ids) - 1), _table(), _names()
    id, (vocab, dim) = ids[token], table.shape
    low = max(0, min(id - AROUND, vocab - 2 * AROUND - 1))

    def row(id: int) -> dict[str, Any]:
        return {"id": id, "piece": names[id], "row": table[id, :FEATURES]}

    closest = zip(*(each.tolist() for each in nearest(table, id, NEAREST)), strict=True)
    return {
        "words": words(text),
        "bytes": list(text.encode("utf-8")),
        "pieces": [names[each] for each in ids],
        "ids": ids,
        "count": len(ids),
        "word_count": len(words(text)),
        "byte_count": len(text.encode("utf-8")),
        "token": token,
        "piece": names[id],
        "id": id,
        "twins": [at for at, each in enumerate(ids) if each == id],
        "vocab": vocab,
        "dim": dim,
        "parameters": table.numel(),
        "around": [row(each) for each in range(low, low + 2 * AROUND + 1)],
        "x": table[ids][:, :FEATURES],  # what one-hot vectors · table gives, too
        "nearest": [row(at) | {"similarity": share} for share, at in closest],
    }


def words(text: str) -> list[str]:
    """Runs of letters and digits, and every other sign alone; spaces separate."""
    return re.findall(r"\w+|[^\w\s]", text)


def nearest(table: Tensor, id: int, count: int) -> tuple[Tensor, Tensor]:
    """Cosine similarity and id of the rows most similar to one, without itself."""
    similarities = F.normalize(table, dim=-1) @ F.normalize(table[id], dim=0)
    closest = similarities.index_fill(0, torch.tensor([id]), -torch.inf).topk(count)
    return closest.values, closest.indices


def _table() -> Tensor:
    """MiniLM's table of token embeddings."""
    return real.opened("minilm").network.get_parameter("tokens.weight").detach()


def _names() -> dict[int, str]:
    """The token of each id."""
    reader: Any = real.opened("minilm").tokenizer
    return reader.words


def beside(text: str) -> Board:
    """A text as MiniLM and as SmolLM2 cut it."""
    names, theirs = _names(), pieces(text)
    mine = [(names[id], str(id)) for id in real.encoded("minilm", text).ids]
    others = zip(theirs["pieces"], map(str, theirs["ids"]), theirs["nearest"], strict=True)
    columns = [[*mine], [*others]]
    longest = max(map(len, columns))
    for rows in columns:
        rows += [[None] * len(rows[0])] * (longest - len(rows))
    return board(
        [
            panel("MiniLM", columns[0], cols=("piece", "id")),
            panel("SmolLM2", columns[1], cols=("piece", "id", "nearest row")),
        ],
        count=len(theirs["ids"]),
        other=len(mine),
        vocab=theirs["vocab"],
        dim=theirs["dim"],
        parameters=theirs["vocab"] * theirs["dim"],
        share=theirs["share"],
        **real.about("smollm2", input=text),
    )


@real.of("smollm2")
def pieces(text: str) -> dict[str, Any]:
    """SmolLM2's pieces and ids, its table's size, and the piece nearest to each by its row."""
    model: Any = real.opened("smollm2")
    table = model.network.get_parameter("embedding.tokens.weight").detach()
    cut = real.encoded("smollm2", text, most=MOST + 2)
    closest = [int(nearest(table, id, 1)[1]) for id in cut.ids]
    return {
        "pieces": [*map(visible, cut.labels)],
        "ids": cut.ids,
        "nearest": [visible(model.tokenizer.text([id])) for id in closest],
        "vocab": table.shape[0],
        "dim": table.shape[1],
        "share": table.numel() / sum(each.numel() for each in model.network.parameters()),
    }


def visible(piece: str) -> str:
    """A piece whose spaces and line breaks can be seen."""
    return piece.replace(" ", "␣").replace("\n", "↵")


BOARDS = {"beside": beside}
