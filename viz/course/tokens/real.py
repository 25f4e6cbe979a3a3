"""A text as SmolLM2 cuts it: byte-level pieces, and the rows of its table."""

from typing import Any

from viz.course import real

MODEL = "smollm2"


@real.of(MODEL)
def pieces(text: str) -> dict[str, Any]:
    """The pieces and ids of a text, the table's size, and the piece nearest to each by its row.

    Args:
        text: that is cut.
    """
    from models.lessons.tokens import nearest

    model = real.opened(MODEL, "own")
    if model.tokenizer is None:
        raise ValueError(f"expected a model that reads text, received {MODEL}")
    table = model.network.get_parameter("embedding.tokens.weight").detach()
    reader: Any = model.tokenizer
    cut = reader.encode(text)
    return {
        "pieces": [visible(label) for label in cut.labels],
        "ids": [*cut.ids],
        "nearest": [visible(reader.text([int(nearest(table, id, 1)[1])])) for id in cut.ids],
        "vocab": table.shape[0],
        "dim": table.shape[1],
        "share": table.numel() / sum(each.numel() for each in model.network.parameters()),
    }


def visible(piece: str) -> str:
    """A piece whose spaces and line breaks can be seen."""
    return piece.replace(" ", "␣").replace("\n", "↵")
