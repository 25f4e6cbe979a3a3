"""The Models page's card: what a model is, and every tensor in it."""

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from viz.architecture import short
from viz.pages.models import checkpoint
from viz.pages.models.checkpoint import PAGE, Source
from viz.pages.shared import plain
from viz.pages.state import params as link

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from models.loading.summary import Part
    from models.model import Model

PARAMS = (link.text("find", ""), link.text("tensor", ""))
TOKENS = 1000  # what a pass keeps is said for so many
MOST = 2000  # rows of the table


class Numbers(NamedTuple):
    """One tensor in the table."""

    name: str
    shape: str
    dtype: str
    numbers: int
    mean: float
    std: float
    low: float
    high: float


def line(model: "Model") -> None:
    """What is open."""
    st.caption(plain(_line(model, _parameters(model))))


def show(source: Source, model: "Model") -> None:
    """The card, and the tensors, each folded away until asked for."""
    card = st.expander("Model card", key=f"{PAGE}_card", on_change="rerun")
    if card.open:
        with card:
            st.html(f'<div class="models-card"><table>{_rows(source, model)}</table></div>')
    tensors = st.expander("Its tensors", key=f"{PAGE}_tensors", on_change="rerun")
    if tensors.open:
        with tensors:
            _tensors(source, model)


def _line(model: "Model", parameters: int) -> str:
    """What is open, in a line."""
    from models.loading import summary as facts

    sizes = "; ".join(_sizes(part) for part in facts.parts(model))
    door = "our network" if model.door == "own" else "transformers’ code"
    return f"{model.name}: {facts.family(model)}, {short(parameters)} parameters, {sizes}, {door}."


def _sizes(part: "Part") -> str:
    heads = "" if part.heads is None else f" of {part.heads} heads"
    width = "" if part.dim is None else f", width {part.dim:,}"
    name = f"{part.name} " if part.name else ""
    return f"{name}{part.layers or '?'} layers{heads}{width}"


def _parameters(model: "Model") -> int:
    return sum(weights.numel() for weights in model.network.parameters())


def _rows(source: Source, model: "Model") -> str:
    """The card as rows of a table; nothing of the checkpoint's is taken for HTML."""
    told = facts_of(source, model, _parameters(model))
    return "".join(f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in told.items())


def facts_of(source: Source, model: "Model", parameters: int) -> dict[str, str]:
    """Everything on the card, by name."""
    from models.loading import summary as facts

    found = facts.parts(model)
    weights = next(model.network.parameters())
    return {
        "Family": facts.family(model),
        "Run by": "our network" if model.door == "own" else "transformers’ own code",
        "Parameters": f"{parameters:,}",
        "Layers": _each(found, "layers"),
        "Heads": _heads(found),
        "Width": _each(found, "dim"),
        "Feed-forward": _each(found, "mlp"),
        "Positions": _each(found, "positions"),
        "Reads at most": f"{model.limit:,} tokens",
        "Tokenizer": _tokenizer(model),
        "Licence": _licence(source),
        "Numbers": f"{str(weights.dtype).removeprefix('torch.')} on {model.device.type}",
        "Memory": _memory(model),
        "Left out": ", ".join(model.left_out[:20]) or "nothing",
    }


def _each(parts: "tuple[Part, ...]", name: str) -> str:
    """A size of every part; once where there is one part."""
    values = [(part.name, getattr(part, name)) for part in parts]
    said = ["not stated" if value is None else str(value) for _, value in values]
    if len(set(said)) == 1:
        return said[0]
    return ", ".join(f"{part} {value}" for (part, _), value in zip(values, said, strict=True))


def _heads(parts: "tuple[Part, ...]") -> str:
    shared = [part for part in parts if part.kv_heads != part.heads]
    if not shared:
        return _each(parts, "heads")
    return f"{_each(parts, 'heads')} of queries, {_each(parts, 'kv_heads')} of keys and values"


def _tokenizer(model: "Model") -> str:
    if model.tokenizer is None:
        return "none" if model.preprocessing is not None else "none here: it reads ids"
    words = getattr(model.tokenizer, "words", None)
    return "words" if words is None else f"{len(words):,} pieces"


def _licence(source: Source) -> str:
    from models.catalogue import entry
    from models.loading import summary as facts

    if source.place == "catalogue":
        return entry(source.name).licence
    try:
        return facts.licence(checkpoint.folder(source)) or "not stated in its files"
    except ValueError:
        return "not known: its files are gone"


def _memory(model: "Model") -> str:
    from models.cost import memory_check as room
    from models.loading import summary as facts

    weights, kept = facts.weights_bytes(model), facts.trace_bytes(model, TOKENS)
    free = room.available_memory(str(model.device))
    left = "" if free is None else f"; {short(free, 'memory')} free now"
    return (
        f"{short(weights, 'memory')} of weights; a pass keeps about {short(kept, 'memory')} for"
        f" {TOKENS:,} tokens{left}"
    )


# --- tensors --------------------------------------------------------------------------------------


def _tensors(source: Source, model: "Model") -> None:
    """A table that can be searched, and the histogram of one."""
    state = st.session_state
    st.text_input(
        "Names that contain",
        key=f"{PAGE}_find",
        live=True,
        persist_state="session",
        placeholder="query, norm, layer.3 …",
    )
    rows = numbers(source, model)
    found = [row for row in rows if state[f"{PAGE}_find"].strip().lower() in row.name.lower()]
    st.caption(f"{len(found):,} of {len(rows):,} tensors.")
    if not found:
        return
    st.dataframe(_columns(found[:MOST]), hide_index=True, key=f"{PAGE}_table", height=320)
    names = [row.name for row in found]
    if state[f"{PAGE}_tensor"] not in names:
        state[f"{PAGE}_tensor"] = names[0]
    st.selectbox("Histogram of", names, key=f"{PAGE}_tensor", persist_state="session")
    chosen = state[f"{PAGE}_tensor"]
    st.plotly_chart(_histogram(model, chosen), key=f"{PAGE}_histogram")


def _columns(rows: list[Numbers]) -> dict[str, list[Any]]:
    titles = ("tensor", "shape", "dtype", "numbers", "mean", "std", "min", "max")
    return {title: [row[i] for row in rows] for i, title in enumerate(titles)}


def numbers(source: Source, model: "Model") -> tuple[Numbers, ...]:
    """Every tensor of the model with what it holds."""
    with st.spinner("Looking at every number …"):
        return _numbers(source, id(model), model)


@st.cache_resource(max_entries=4, show_spinner=False)
def _numbers(source: Source, identity: int, _model: "Model") -> tuple[Numbers, ...]:
    from analysis.tensors import summary

    return tuple(
        Numbers(
            name,
            " × ".join(map(str, tensor.shape)) or "one number",
            str(tensor.dtype).removeprefix("torch."),
            tensor.numel(),
            *summary(tensor),
        )
        for name, tensor in _named(_model)
    )


def _named(model: "Model") -> list[tuple[str, Any]]:
    return [*model.network.named_parameters(), *model.network.named_buffers()]


def _histogram(model: "Model", name: str) -> "Figure":
    from analysis.tensors import histogram
    from viz.histogram import counts

    tensor = dict(_named(model))[name]
    found, edges = histogram(tensor)
    return counts(found.numpy(), edges.numpy(), title=f"{model.name} · {name}", x="value")
