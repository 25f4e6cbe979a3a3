"""What a model answers to the page's input, in a line, where the view does not say it."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from analysis.percent import percent
from models.text import Decoding
from viz.api.samples import card_of
from viz.pages import compute
from viz.pages.shared import plain

if TYPE_CHECKING:
    from models.card import Example
    from models.model import Model
    from models.trace import Trace

END = "[END]"
ENDS = ("[BEGIN]", END)  # tokens around a text, which are not predicted


def of_text(name: str, model: "Model", trace: "Trace", *, given: bool) -> None:
    """The answer to a question about pictures, or the likeliest token of each position.

    Args:
        name: of the model in the catalogue; "" for any other.
        model: open.
        trace: of the text.
        given: whether the answer was given.
    """
    reader, card = model.tokenizer, card_of(name)
    lead, words = "The model answers", ""
    if trace.answer is not None and isinstance(reader, Decoding):
        lead = "The answer that was given" if given else lead
        tokens = trace.tokens[0][trace.answer :]
        words = reader.text(tokens.ids).strip() or " ".join(tokens.labels) or "nothing"
    elif card is not None and (known := compute.vocabulary_of(model, trace)):
        names = card.target_tokens or card.tokens
        if known.kind == "encoder" and names:
            pairs = zip(compute.top_ids(trace), trace.tokens[0].labels, strict=True)
            predicted = [names[id] for id, label in pairs if label not in ENDS]
            predicted = predicted[:-1] if predicted[-1:] == [END] else predicted
            words = ("" if all(len(each) == 1 for each in predicted) else " ").join(predicted)
    if words:
        st.markdown(f"{lead}: **{plain(words)}**")


def of_picture(name: str, trace: "Trace", example: "Example | None", title: str = "") -> None:
    """The answers of a trained network to each question, with probabilities, beside the truth.

    Args:
        name: of the network in the catalogue.
        trace: of its pass.
        example: the picture, if it is one of the network's examples.
        title: names the picture or the network, where there are two.
    """
    card = card_of(name)
    if card is None or not card.questions:
        return
    sizes = [len(question.classes) for question in card.questions]
    answers = zip(card.questions, compute.class_probabilities(trace, sizes), strict=True)
    parts = [f"{plain(each.title)} {_ranked(each.classes, shares)}" for each, shares in answers]
    if example is not None and example.answers:
        parts.append(f"Truth: **{plain(', '.join(example.answers))}**")
    lead = f"{plain(title)}: " if title else ""
    st.markdown(lead + " · ".join(parts))


def _ranked(names: Sequence[str], shares: Sequence[float]) -> str:
    """The likeliest class, and in brackets its probability and the other likely ones."""
    best, *others = sorted(zip(shares, names, strict=True), key=lambda each: -each[0])

    def sentences() -> Iterator[str]:
        yield percent(best[0], ".1f")
        if likely := [f"{name} {percent(share, '.1f')}" for share, name in others if share >= 0.01]:
            yield plain(", ".join(likely))

    return f"**{plain(best[1])}** ({'; '.join(sentences())})"
