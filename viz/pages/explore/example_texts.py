"""Example texts of the pretrained models, with hints on where to look.

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
        "Layer 3, head 1: “it” gives 0.68 of its attention to “animal”. Change “tired” to “wide”"
        " and it drops to 0.28: the weight moves mostly to [CLS], and “street” gets only 0.12.",
        **weight(0.68, layer=3, head=1, query=10, key=2),
    ),
    Example(
        "Keys … are",
        "The keys to the cabinet are on the table.",
        "Layer 3, head 1: “are” looks past its neighbour “cabinet” to its subject, “keys” (0.79).",
        **weight(0.79, layer=3, head=1, query=6, key=2),
    ),
    Example(
        "One word back",
        "To be or not to be, that is the question.",
        "Layer 0, head 2: a bright line just under the diagonal. Every token looks at the one"
        " before it, whatever the words are: this head reads positions.",
        **weight(1.00, layer=0, head=2, query=11, key=10),
    ),
    Example(
        "Two banks",
        "The bank by the river is flooded, but the bank in town is open.",
        "Layer 2, head 9: the second “bank” looks at the first (0.91), and the “the” before"
        " it at the first “The”: this head finds the same word again.",
        **weight(0.91, layer=2, head=9, query=11, key=2),
    ),
    Example(
        "Not like",
        "I did not like the film, but my sister loved it.",
        "Layer 2, head 1: “not” gives 0.98 to “like”, the word it negates. Then look at “it” in"
        " layer 3, head 1: it finds “film” over a distance.",
        **weight(0.98, layer=2, head=1, query=3, key=4),
    ),
    Example(
        "Same question",
        "How old are you? What is your age?",
        "Layer 2, head 9: “old” looks at “age” (0.69); in layer 2, head 4 it is the other way"
        " round. The model was trained to recognise that both questions mean the same.",
        **weight(0.69, layer=2, head=9, query=2, key=9),
    ),
    Example(
        "Resting heads",
        "She opened the window because the room was warm.",
        "Layer 4, head 5: one bright column. Nearly all tokens look at [CLS], where a head rests"
        " when it finds nothing to attend to: not every head means something.",
        **weight(0.87, layer=4, head=5, query=4, key=0),
    ),
    Example(
        "Word pieces",
        "Zoë's supercalifragilistic 🙂 café.",
        "One rare word is six tokens, and 🙂 is one the model does not know ([UNK]). Layer 0,"
        " head 2 shows each piece looking at the piece before it.",
        **weight(1.00, layer=0, head=2, query=5, key=4),
    ),
)
SMOLLM2 = (
    Example(
        "Who gets it?",
        "When Mary and John went to the store, John gave a drink to",
        "Layer 23, head 0: the last “to” gives 0.69 of its attention to “Mary”, the name that is"
        " missing. Without this head she is less likely to be next.",
        **weight(0.69, layer=23, head=0, query=13, key=1, kind="causal"),
    ),
    Example(
        "It comes again",
        "magnet violet cobalt planet magnet violet cobalt",
        "Layer 18, head 6: the second “cobalt” gives 0.95 to “planet”, the word that came after the"
        " first one. This is an induction head: it copies what followed before.",
        **weight(0.95, layer=18, head=6, query=7, key=4, kind="causal"),
    ),
    Example(
        "Keys … are",
        "The keys to the cabinet are",
        "Layer 9, head 7: “are” gives 0.59 to its subject “keys”, past its neighbour “cabinet”.",
        **weight(0.59, layer=9, head=7, query=5, key=1, kind="causal"),
    ),
    Example(
        "An open bracket",
        "print((1 + 2) * (3 + 4",
        "Layer 26, head 6: the last “4” gives 0.92 to the bracket that is still open. Without this"
        " head “)” is more likely to be next: where a head looks does not tell what it does.",
        **weight(0.92, layer=26, head=6, query=12, key=8, kind="causal"),
    ),
)
TRANSLATE = (
    Example(
        "A black chair",
        "The cat sat on the black chair because it was tired.",
        "Layer 1 of the decoder, head 0: after “na” it writes “cadeira” and gives 0.97 to “chair”;"
        " after “cadeira” it writes “preta” and gives 0.93 to “black”. The lines cross, as the"
        " words do. This head was trained to align words: the others, one click away, were not.",
        **weight(0.97, layer=1, head=0, query=7, key=6, kind="cross"),
        form="lines",
    ),
)
TRANSLATE_BACK = (
    Example(
        "Uma cadeira preta",
        "O gato sentou-se na cadeira preta porque estava cansado.",
        "Layer 1 of the decoder, head 0: after “the” it writes “black” and gives 0.94 to “preta”;"
        " after “black” it writes “chair” and gives 0.99 to “cadeira”. The lines cross, as the"
        " words do. This head was trained to align words: the others, one click away, were not.",
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
