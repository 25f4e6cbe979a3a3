"""A link to Explore in words: model, layer, head and input."""

from collections.abc import Mapping
from typing import Any

from viz.api.preview import Preview
from viz.pages.explore import sizes, source
from viz.pages.explore.page import params_of
from viz.pages.state import params as link
from viz.pages.state.session import APP_NAMES

MOST = 120  # characters of an input
POOLED = {"mean": "the mean of all heads", "max": "the maximum of all heads"}
BUILT = {"encoder": "an encoder", "vit": "a vision transformer"}
READ = {"image": "a picture", "sound": "a recording"}


def preview(query: Mapping[str, str]) -> Preview | None:
    """What a link shows; None for one that chooses nothing."""
    params = params_of(query)
    if not {each.name for each in params} - APP_NAMES & query.keys():
        return None
    values, _ = link.read(params, query)
    place = values["place"]
    chosen = values[source.NAMES[place]]
    if not chosen:
        return Preview("A model of your own", "Open a checkpoint, and see what every head does.")
    kind = sizes.KINDS.get(chosen) if place == "catalogue" else None
    model = f"{BUILT[kind]} of random weights" if kind else source.titled(place, chosen)
    head = _head(values)
    where = f"{head} of {model}" if head else f"every head of {model}"
    title = f"{model} · {head}" if head else model
    return Preview(title, f"What {where} attends to{_input(place, chosen, query, values)}")


def _head(values: Mapping[str, Any]) -> str:
    """Layer and head; "" where the trace chooses them."""
    layer, head = values["layer"], values["head"]
    if layer is None or head is None:
        return ""
    return f"layer {layer}, {POOLED.get(head) or f'head {head}'}"


def _input(place: str, chosen: str, query: Mapping[str, str], values: Mapping[str, Any]) -> str:
    """The end of a sentence that names the input: what it is, or the text itself."""
    reads = source.READS[chosen] if place == "catalogue" else "text"
    if reads != "text":
        return f" in {READ[reads]}."
    if place != "catalogue" and "input" not in query:
        return "."  # the model may read something else
    text = " ".join(values["input"].split())
    return f": “{text}”" if len(text) <= MOST else f": “{text[:MOST]}…”"
