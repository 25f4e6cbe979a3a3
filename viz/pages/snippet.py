"""The lines of Python that give a picture's numbers in a notebook."""

from typing import Any

import streamlit as st

from viz.pages.shared import Choice


def show(choice: Choice, text: str, select: dict[str, Any]) -> None:
    """A folded box with the lines, ready to copy; the highlighter is only loaded for readers."""
    box = st.expander("The same in Python", key="snippet", on_change="rerun")
    if box.open:
        box.code(code(choice, text, select), language="python")


def code(choice: Choice, text: str, select: dict[str, Any]) -> str:
    """Loads the model, traces the text, and reads the weights that are shown."""
    source = f"load({choice.model!r})"
    imports = "from models.run import load, trace\n"
    if choice.model == "built":
        fields = ", ".join(f"{name}={value!r}" for name, value in choice.sizes.items())
        source = f"load(EncoderConfig({fields}))"
        imports = "from models.encoder import EncoderConfig\n" + imports
    site, head = select["site"], select["head"]
    weights = {
        "mean": f"t.weights(layer={site}).mean(0)",
        "max": f"t.weights(layer={site}).amax(0)",
    }
    shown = weights.get(head, f"t.weights(layer={site}, head={head})")
    return f"{imports}\nmodel = {source}\nt = trace(model, {text!r})\n{shown}  # query × key"
