"""Example texts of the pretrained models, whose tours say what to look at.

Models trained for the app bring their own. Tests check every number against its model.
"""

from typing import Any

from models.card import Example


def weight(share: float, *, kind: str = "self", **place: int) -> dict[str, Any]:
    """The weight that an example points out: of which layer, head, query and key."""
    return {"weight": share, "kind": kind, **place}


MINILM = (
    Example(
        "Who is “it”?",
        "The animal didn't cross the street because it was too tired.",
        **weight(0.68, layer=3, head=1, query=10, key=2),
    ),
    Example(
        "Subject far from its verb",
        "The keys to the cabinet are on the table.",
        **weight(0.79, layer=3, head=1, query=6, key=2),
    ),
    Example(
        "One word back",
        "To be or not to be, that is the question.",
        **weight(1.00, layer=0, head=2, query=11, key=10),
    ),
    Example(
        "bank: two meanings",
        "The bank by the river is flooded, but the bank in town is open.",
        **weight(0.91, layer=2, head=9, query=11, key=2),
    ),
    Example(
        "“not” … “like”",
        "I did not like the film, but my sister loved it.",
        **weight(0.98, layer=2, head=1, query=3, key=4),
    ),
    Example(
        "Same question",
        "How old are you? What is your age?",
        **weight(0.69, layer=2, head=9, query=2, key=9),
    ),
    Example(
        "A head with nothing to do",
        "She opened the window because the room was warm.",
        **weight(0.87, layer=4, head=5, query=4, key=0),
    ),
    Example(
        "Word pieces",
        "Zoë's supercalifragilistic 🙂 café.",
        **weight(1.00, layer=0, head=2, query=5, key=4),
    ),
)
SMOLLM2 = (
    Example(
        "Who gets it?",
        "When Mary and John went to the store, John gave a drink to",
        **weight(0.69, layer=23, head=0, query=13, key=1, kind="causal"),
    ),
    Example(
        "It comes again",
        "magnet violet cobalt planet magnet violet cobalt",
        **weight(0.95, layer=18, head=6, query=7, key=4, kind="causal"),
    ),
    Example(
        "Subject far from its verb",
        "The keys to the cabinet are",
        **weight(0.59, layer=9, head=7, query=5, key=1, kind="causal"),
    ),
    Example(
        "An open bracket",
        "print((1 + 2) * (3 + 4",
        **weight(0.92, layer=26, head=6, query=12, key=8, kind="causal"),
    ),
)
TRANSLATE = (
    Example(
        "A black chair",
        "The cat sat on the black chair because it was tired.",
        **weight(0.97, layer=1, head=0, query=7, key=6, kind="cross"),
        form="lines",
    ),
)
TRANSLATE_BACK = (
    Example(
        "Uma cadeira preta",
        "O gato sentou-se na cadeira preta porque estava cansado.",
        **weight(0.94, layer=1, head=0, query=5, key=8, kind="cross"),
        form="lines",
    ),
)
EXAMPLES = {
    "minilm": MINILM,
    "smollm2": SMOLLM2,
    "translate": TRANSLATE,
    "translate-pt": TRANSLATE_BACK,
}
