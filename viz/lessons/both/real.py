"""The alignment of a translator: the word of the source that each written word is taken from."""

from typing import Any

from viz.lessons import real

MODEL = "translate"
SENTENCE = "The cat sat on the black chair because it was tired."
LAYER, HEAD = 1, 0  # trained to align words


@real.of(MODEL)
def alignment() -> dict[str, Any]:
    """The weights of the aligning head, a row for each token that is written."""
    trace = real.traced(MODEL, SENTENCE)
    site = next(each for each in trace.sites if (each.kind, each.layer) == ("cross", LAYER))
    written = [*trace.query_labels(site)[1:], "end"]
    return {
        "source": [real.word(label) for label in trace.key_labels(site)[:-1]] + ["end"],
        "written": [*map(real.word, written)],
        "weights": trace.weights(site.layer, HEAD, kind="cross").tolist(),
    }
