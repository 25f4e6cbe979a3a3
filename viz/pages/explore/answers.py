"""What a model answers to the page's input, in a line."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from models.text import Decoding
from viz.pages.explore import compute
from viz.pages.shared import plain
from viz.pages.widgets import cards

if TYPE_CHECKING:
    from analysis.telling import Telling
    from models.card import Card, Example
    from models.model import Model
    from models.trace import Trace

END = "[END]"
ENDS = ("[BEGIN]", END)  # tokens around a text, which are not predicted
GIVEN = "Given that target, the likeliest tokens are"


def of_text(name: str, model: "Model", trace: "Trace", *, given: bool) -> None:
    """What a model answers or writes; nothing where it gives no tokens.

    Args:
        name: of the model in the catalogue; "" for any other.
        model: open.
        trace: of the text.
        given: whether the decoder's target was given.
    """
    if trace.answer is not None:
        _said(model, trace, given)
        return
    known = compute.vocabulary_of(model, trace) if model.trained else None
    if known is None:
        return
    if known.kind == "seq2seq":
        _written(model, trace, given)
    elif known.kind == "encoder" and (card := cards.card(name)):
        _answered(card, trace)


def of_picture(name: str, trace: "Trace", example: "Example | None", title: str = "") -> None:
    """The answers of a trained network to each question, with probabilities, beside the truth.

    Args:
        name: of the network in the catalogue.
        trace: of its pass.
        example: the picture, if it is one of the network's examples.
        title: names the picture or the network, where there are two.
    """
    card = cards.card(name)
    if card is None or not card.questions:
        return
    sizes = [len(question.classes) for question in card.questions]
    answers = compute.class_probabilities(trace, sizes)
    parts = [
        f"{plain(question.title)} {_ranked(question.classes, shares)}"
        for question, shares in zip(card.questions, answers, strict=True)
    ]
    if example is not None and example.answers:
        parts.append(f"Truth: **{plain(', '.join(example.answers))}**")
    joined = " · ".join(parts)
    st.markdown(f"{plain(title)}: {joined}" if title else joined)


def reason(chosen: "Telling", trace: "Trace") -> str:
    """Why a model without examples opens on a head."""
    site, where = chosen.site, f"Layer {chosen.site.layer}, head {chosen.head}"
    query = trace.query_labels(site)[chosen.query]
    if trace.answer is not None and trace.key_pictures(site):
        return (
            f"What to look at: {where}: of the heads that look much at the picture, the one that"
            " looks at the fewest places while the model writes the chosen word."
        )
    key = trace.key_labels(site)[chosen.key]
    if trace.sound is not None and site.kind == "cross":
        written = trace.query_labels(site)[chosen.query + 1].strip()
        return (
            f"What to look at: {where} follows the recording: while the model writes “{written}” it"
            f" listens most at {key}."
        )
    name = _name(query, chosen, trace)
    if not chosen.stands_out:
        return (
            f"What to look at: no head stands out. The sharpest for {name} is layer {site.layer},"
            f" head {chosen.head}: its largest weight is {chosen.weight:.2g}, an even share"
            f" {chosen.even:.2g}."
        )
    if trace.key_grid(site) is not None:
        return (
            f"What to look at: {where}: of the heads that rest on no single patch, the one in which"
            f" {name} looks most sharply."
        )
    return (
        f"What to look at: {where}: “{query}” gives {chosen.weight:.2f} of its attention to"
        f" “{key}”. Of the heads that do not rest on a sink, it is the sharpest for this token."
    )


def _name(label: str, chosen: "Telling", trace: "Trace") -> str:
    """The token that looks, as the picture names it; any other in quotes."""
    grid = trace.query_grid(chosen.site)
    if grid is None:
        return f"“{label}”"
    return "the class token" if grid.prefix else f"patch {chosen.query}"


def _ranked(names: Sequence[str], shares: Any) -> str:
    """The likeliest class, and in brackets its probability and the other likely ones."""
    best = max(range(len(shares)), key=shares.__getitem__)
    others = ", ".join(
        f"{name} {_percent(share)}"
        for number, (name, share) in enumerate(zip(names, shares, strict=True))
        if share >= 0.01 and number != best
    )
    rest = f"; {plain(others)}" if others else ""
    return f"**{plain(names[best])}** ({_percent(shares[best])}{rest})"


def _answered(card: "Card", trace: "Trace") -> None:
    """The likeliest token of each position, of a model trained to answer there."""
    names, labels = card.target_tokens or card.tokens, trace.tokens[0].labels
    if not names:
        return
    ids = [
        id for id, label in zip(compute.top_ids(trace), labels, strict=True) if label not in ENDS
    ]
    words = [names[id] for id in ids]
    if words and words[-1] == END:
        words.pop()
    joined = ("" if all(len(word) == 1 for word in words) else " ").join(words)
    st.markdown(f"The model answers: **{plain(joined)}**")


def _written(model: "Model", trace: "Trace", given: bool) -> None:
    """What an encoder–decoder wrote, or would have written at each token of a target."""
    reader = model.target_tokenizer or model.tokenizer
    if trace.target_tokens is None or not isinstance(reader, Decoding):
        return
    ids = compute.top_ids(trace) if given else trace.target_tokens[0].ids[1:]
    lead = GIVEN if given else "The model writes"
    letters = [reader.spelled([id]).labels[0] for id in ids]
    text = "".join(letters) if all(len(each) == 1 for each in letters) else reader.text(ids)
    st.markdown(f"{lead}: {f'**{plain(text.strip())}**' if text.strip() else 'nothing.'}")


def _said(model: "Model", trace: "Trace", given: bool) -> None:
    """The answer to a question about pictures."""
    reader = model.tokenizer
    if trace.answer is None or not isinstance(reader, Decoding):
        return
    tokens = trace.tokens[0][trace.answer :]
    text = reader.text(tokens.ids).strip() or " ".join(tokens.labels)
    lead = "The answer that was given" if given else "The model answers"
    st.markdown(f"{lead}: {f'**{plain(text)}**' if text else 'nothing.'}")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
