"""Python code that reproduces the weights of a view in a notebook."""

from typing import TYPE_CHECKING

from viz.pages.shared import BUILT, Choice

if TYPE_CHECKING:
    from analysis.view import View
    from models.trace import Trace


def code(
    choice: Choice,
    text: str | tuple[str, str],
    target: str,
    trace: "Trace",
    site: int,
    head: int | str,
    view: "View | None" = None,
) -> str:
    """Python code that loads the model, traces the text, and reads the weights."""
    source = f"load({choice.model!r})"
    imports = "from models.run import load, trace\n"
    if choice.model == BUILT:
        fields = ", ".join(f"{name}={value!r}" for name, value in choice.sizes.items())
        source = f"load(EncoderConfig({fields}))"
        imports = "from models.encoder import EncoderConfig\n" + imports
    request = f"{text!r}, {target!r}" if target else repr(text)
    lines = [f"model = {source}", f"t = trace(model, {request})"]
    shown = trace if view is None else view
    if view is not None and needs_view(view, site):
        imports = "from analysis.view import View\n" + imports
        lines.append(view_line(view))
    return "\n".join([imports, *lines, f"{weights_of(shown, site, head)}  # query × key"])


def needs_view(view: "View", index: int) -> bool:
    """Whether the trace alone does not give the weights of a site."""
    return not view.is_plain or index >= len(view.trace.sites)


def view_line(view: "View") -> str:
    """The line that makes a view of the trace `t`."""
    sentences = ", sentences=True" if view.sentences else ""
    return f"t = View(t, words={view.words}, special={view.special!r}{sentences})"


def weights_of(trace: "Trace | View", index: int, head: int | str) -> str:
    """The expression for the weights of a head, or of all heads combined."""
    asked = ", ".join(trace.address(trace.sites[index]).arguments)
    weights = {"mean": f"t.weights({asked}).mean(0)", "max": f"t.weights({asked}).amax(0)"}
    return weights.get(str(head), f"t.weights({asked}, head={head})")
