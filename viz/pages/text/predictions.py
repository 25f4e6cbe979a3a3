"""What a network predicts: the next token, the masked one, or a whole answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.pages.shared import Choice, plain
from viz.pages.state import session
from viz.pages.widgets import cards, entry

if TYPE_CHECKING:
    from analysis.predictions import Vocabulary
    from models.model import Model
    from models.trace import Trace

END = "[END]"
ENDS = ("[BEGIN]", END)  # tokens around a text, which are not predicted
CONTINUATIONS = 3  # that are named in a line
LIKELIEST = "Given that target, the likeliest tokens are"
MEANS = {  # what the probabilities at a token predict
    "encoder": "what the model answers at",
    "decoder": "what comes after",
    "seq2seq": "what is written after",
}


def vocabulary_of(model: "Model", trace: "Trace") -> "Vocabulary | None":
    """Of any model; None if it predicts no tokens of its own tokenizer."""
    from analysis.predictions import vocabulary_of

    return vocabulary_of(model, trace)


def target_entry(page: str, choice: Choice) -> None:
    """The target entry of an encoder–decoder."""
    if kind_of(choice) == "seq2seq":
        entry.text(
            page,
            "target",
            "Target (leave empty to generate)",
            placeholder="Target (leave empty to generate)",
            bare=True,
            width=280,
        )


def target(page: str, choice: Choice) -> str:
    """The target text of the decoder; "" generates it."""
    return session.get(page, "target").strip() if kind_of(choice) == "seq2seq" else ""


def answer(choice: Choice, trace: "Trace", target: str) -> None:
    """The output of a model that predicts one token per position, or generates a text."""
    from analysis.outputs import top_ids

    names = _names(choice)
    if not names or kind_of(choice) == "decoder":
        return
    if kind_of(choice) == "encoder":
        labels = _targets(trace)[0].labels
        ids = [id for id, label in zip(top_ids(trace), labels, strict=True) if label not in ENDS]
    else:
        ids = list(top_ids(trace))
    words = [names[id] for id in ids]
    if words and words[-1] == END:
        words.pop()
    joined = ("" if all(len(word) == 1 for word in words) else " ").join(words)
    verb = "The model answers" if kind_of(choice) == "encoder" else "The model writes"
    lead = LIKELIEST if target else verb
    st.markdown(f"{lead}: **{plain(joined)}**")


def written(model: "Model", trace: "Trace", target: object) -> None:
    """What an encoder–decoder wrote, or would have written at each token of a target."""
    from analysis.outputs import top_ids
    from models.text import Decoding

    reader = model.target_tokenizer or model.tokenizer
    if trace.target_tokens is None or not isinstance(reader, Decoding):
        return
    if vocabulary_of(model, trace) is None:
        return
    ids = top_ids(trace) if target is not None else trace.target_tokens[0].ids[1:]
    lead = "The model writes" if target is None else LIKELIEST
    letters = [reader.spelled([id]).labels[0] for id in ids]
    text = "".join(letters) if all(len(each) == 1 for each in letters) else reader.text(ids)
    st.markdown(f"{lead}: **{plain(text.strip() or '∅')}**")


def continued(known: "Vocabulary | None", trace: "Trace") -> None:
    """The likeliest tokens after the text of a causal model."""
    from analysis.outputs import likeliest

    if known is None or known.kind != "decoder":
        return
    found = likeliest(trace, -1, count=CONTINUATIONS)
    shares = zip(found.ids, found.probabilities, strict=True)
    said = [f"**{plain(known.name(id).strip() or '␣')}** {percent(share)}" for id, share in shares]
    st.markdown(f"The model continues with {', '.join(said)}")


def percent(share: float) -> str:
    """Two digits: "31 %", "4.2 %"."""
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %"


def at(
    known: "Vocabulary | None", trace: "Trace", site: int, direction: str, token: int | None
) -> dict[str, Any]:
    """The predictions at a token as an API response; {} for outputs without names."""
    from analysis.outputs import likeliest

    if known is None:
        return {}
    place = _place(trace, site, direction, token)
    found = likeliest(trace, known.place if place is None else place)
    label = _targets(trace)[0].labels[found.place]
    return {
        "title": f"{trace.model} · {MEANS[known.kind]} “{label}” (position {found.place})",
        "labels": [known.name(number) for number in found.ids],
        "ids": list(found.ids),
        "position": found.place,
        "probabilities": list(found.probabilities),
        "note": "The softmax of the logits at this position; it sums to 1 over the vocabulary.",
    }


def classes(model: "Model", trace: "Trace", names: Sequence[str]) -> dict[str, Any]:
    """The likeliest classes of a classifier as an API response; {} for other networks.

    Args:
        model: that answers.
        trace: of its answer.
        names: of its classes; others are numbered.
    """
    from analysis.outputs import likeliest

    logits = trace.output.values
    if trace.output.name != "logits" or logits.ndim != 2 or logits.shape[1] < 2:
        return {}
    count = logits.shape[1]
    several = model.multi_label
    named = len(names) == count
    found = likeliest(trace, independent=several)
    how = (
        "The sigmoid of each logit: the input may belong to several classes."
        if several
        else f"The softmax of the logits; it sums to 1 over the {count:,} classes."
    )
    return {
        "title": f"{trace.model} · the likeliest of {count:,} classes",
        "labels": [names[id] if named else f"class {id}" for id in found.ids],
        "ids": list(found.ids),
        "probabilities": list(found.probabilities),
        "note": how if named else f"{how} The model's config states no names.",
    }


def has_predictions(choice: Choice) -> bool:
    """Whether the ids of the output have names."""
    return bool(_names(choice))


def _targets(trace: "Trace") -> Any:
    return trace.tokens if trace.target_tokens is None else trace.target_tokens


def _place(trace: "Trace", site: int, direction: str, token: int | None) -> int | None:
    """The selected token if it belongs to the predicted text, else None."""
    found = trace.sites[site]
    texts = trace.queries(found) if direction == "out" else trace.keys(found)
    return token if texts is _targets(trace) else None


def _names(choice: Choice) -> tuple[str, ...]:
    """The tokens of the output vocabulary; () if unknown."""
    card = cards.card(choice.model)
    return () if card is None else card.target_tokens or card.tokens


def kind_of(choice: Choice) -> str:
    kinds = {entry.name: entry.kind for entry in cards.readers()}
    return kinds.get(choice.model, "encoder")
