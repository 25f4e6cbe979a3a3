"""The lines of Python that give a picture's numbers in a notebook."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.pages.shared import Choice

if TYPE_CHECKING:
    from models.trace import Trace


def show(choice: Choice, text: str, target: str, trace: "Trace", select: dict[str, Any]) -> None:
    """A folded box with the lines, ready to copy; the highlighter is only loaded for readers."""
    box = st.expander("The same in Python", key="snippet", on_change="rerun")
    if box.open:
        box.code(code(choice, text, target, trace, select), language="python")


def code(choice: Choice, text: str, target: str, trace: "Trace", select: dict[str, Any]) -> str:
    """Loads the model, traces the text, and reads the weights that are shown."""
    source = f"load({choice.model!r})"
    imports = "from models.run import load, trace\n"
    if choice.model == "built":
        fields = ", ".join(f"{name}={value!r}" for name, value in choice.sizes.items())
        source = f"load(EncoderConfig({fields}))"
        imports = "from models.encoder import EncoderConfig\n" + imports
    site, head = trace.sites[select["site"]], select["head"]
    several = sum(each.layer == site.layer for each in trace.sites) > 1
    asked = f"layer={site.layer}" + (f", kind={site.kind!r}" if several else "")
    weights = {"mean": f"t.weights({asked}).mean(0)", "max": f"t.weights({asked}).amax(0)"}
    shown = weights.get(head, f"t.weights({asked}, head={head})")
    given = f"{text!r}, {target!r}" if target else repr(text)
    return f"{imports}\nmodel = {source}\nt = trace(model, {given})\n{shown}  # query × key"
