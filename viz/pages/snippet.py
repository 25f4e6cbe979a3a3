"""The lines of Python that give a picture's numbers in a notebook."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.pages.shared import Choice

if TYPE_CHECKING:
    from analysis.view import View
    from models.trace import Trace


def show(
    choice: Choice,
    text: str,
    target: str,
    trace: "Trace",
    select: dict[str, Any],
    seen: "View | None" = None,
) -> None:
    """A folded box with the lines, ready to copy; the highlighter is only loaded for readers."""
    box = st.expander("The same in Python", key="snippet", on_change="rerun")
    if box.open:
        box.code(code(choice, text, target, trace, select, seen), language="python")


def code(
    choice: Choice,
    text: str,
    target: str,
    trace: "Trace",
    select: dict[str, Any],
    seen: "View | None" = None,
) -> str:
    """Loads the model, traces the text, and reads the weights that are shown."""
    source = f"load({choice.model!r})"
    imports = "from models.run import load, trace\n"
    if choice.model == "built":
        fields = ", ".join(f"{name}={value!r}" for name, value in choice.sizes.items())
        source = f"load(EncoderConfig({fields}))"
        imports = "from models.encoder import EncoderConfig\n" + imports
    given = f"{text!r}, {target!r}" if target else repr(text)
    lines = [f"model = {source}", f"t = trace(model, {given})"]
    if seen is not None:
        imports = "from analysis.view import View\n" + imports
        lines.append(f"t = View(t, words={seen.words}, special={seen.special!r})")
    return "\n".join([imports, *lines, f"{weights_of(trace, select)}  # query × key"])


def weights_of(trace: "Trace", select: dict[str, Any]) -> str:
    """The call that gives the weights that are shown."""
    site, head = trace.sites[select["site"]], select["head"]
    same = [each for each in trace.sites if each.layer == site.layer]
    asked = f"layer={site.layer}"
    if len({each.kind for each in same}) > 1:
        asked += f", kind={site.kind!r}"
    if sum(each.kind == site.kind for each in same) > 1:
        asked += f", tower={site.tower!r}"
    weights = {"mean": f"t.weights({asked}).mean(0)", "max": f"t.weights({asked}).amax(0)"}
    return weights.get(head, f"t.weights({asked}, head={head})")
