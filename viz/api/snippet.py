"""Python code that prints the weights and the prediction of a view, by the facade alone."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from models.request import Chat, Ids, Picture, Question, Recording, Source, TraceRequest
from viz.api import tracing
from viz.api.entries import TraceEntry

if TYPE_CHECKING:
    from analysis.view import View
    from models.model import Model
    from models.trace import Trace
    from viz.api.predictions import Predictions

HEADSCOPE, PATH, TORCH = "import headscope as hs", "from pathlib import Path", "import torch"


def code(
    entry: TraceEntry,
    site: int | None,
    head: int | str = 0,
    answer: "Predictions | None" = None,
) -> str:
    """Python code that opens the model, traces the input, and prints what is on screen.

    That is the prediction at a token, or its change by edits, and the weights of a head; of a trace
    `t` that no page shows the weights alone.

    Args:
        entry: the trace.
        site: index of the layer; None for the weights of none.
        head: a head, or "mean" or "max" of all.
        answer: the prediction; None without one.
    """
    from analysis.view import View

    request, view = entry.request, entry.view
    weights = [] if site is None else [f"weights = {weights_of(view, site, head)}  # query × key"]
    weights += ["print(weights)"] if weights else []
    if request is None:
        return "\n".join(weights)
    model = tracing.opened(request.model)
    imports: set[str] = set()
    lines = [f"model = hs.load({', '.join(_source(request.model))})"]
    if not request.model.trained:
        lines.append("model = model.untrained()")
    if request.picture is not None and request.picture.changes:
        changes = ", ".join(f"{name}={value!r}" for name, value in request.picture.changes)
        lines.append(f"model = model.with_preprocessing({changes})")
    if request.language:
        lines.append(f"model = model.into({request.language!r})")
    sources = _sources(request)
    for source, name in sources.items():
        given = _written(source.input, model, imports)
        lines.append(f"{name} = hs.trace(model, {given}, hidden=True)")
    written = [_written(request.input, model, imports)]
    if request.target is not None:
        written.append(_written(request.target, model, imports))
    options, printed = _options(request, sources), _printed(model, answer)
    if any("before" in line for line in printed):
        plain = [each for each in options if not each.startswith("edits=")]
        lines.append(f"before = hs.trace(model, {', '.join([*written, *plain])})")
    lines += [f"t = hs.trace(model, {', '.join([*written, *options])})", *printed]
    last = len(view.sites) - 1 if site is None else site
    if isinstance(view, View) and (view.words or last >= len(view.trace.sites)):
        lines.append(f"t = hs.View(t, words={view.words})")  # the trace alone lacks these weights
    library = [*sorted(imports), ""] if imports else []
    return "\n".join([*library, HEADSCOPE, "", *lines, *weights])


def inputs(entry: TraceEntry) -> list[str]:
    """What is traced in that code: the input and, if there is one, the target."""
    request = entry.request
    if request is None:
        return ["text"]
    model, given = tracing.opened(request.model), (request.input, request.target)
    return [_written(each, model, set()) for each in given if each is not None]


def _printed(
    model: "Model",
    answer: "Predictions | None",
) -> list[str]:
    """The lines that print a prediction, or how the edits change it."""
    if answer is not None and answer.change is not None:
        place = -1 if answer.position is None else answer.position
        return [f"print(hs.predict(model, t, {place}, before=before, count=3))"]
    if answer is not None:
        place = "" if answer.position is None else f", {answer.position}"
        return [f"print(hs.predict(model, t{place}))"]
    if model.questions and model.trained:
        return [
            "names = iter(model.classes)",
            "for logits in t.output.values[0].float().split(model.questions):",
            "    shares = zip(logits.softmax(-1).tolist(), names)",
            '    print(*(f"{name} {share:.4f}" for share, name in shares), sep=" · ")',
        ]
    return []


def weights_of(view: "Trace | View", site: int, head: int | str) -> str:
    """The expression for the weights of a head, or of all heads combined."""
    asked = ", ".join(view.address(view.sites[site]).arguments)
    weights = {"mean": f"t.weights({asked}).mean(0)", "max": f"t.weights({asked}).amax(0)"}
    return weights.get(str(head), f"t.weights({asked}, head={head})")


def _source(source: Source) -> list[str]:
    """The arguments of `load`."""
    first = repr(source.name)
    if source.place == "built":
        from models.presets import config_of

        config = config_of(source.name, dict(source.sizes))
        values = ((each, getattr(config, each.name)) for each in fields(config))
        sizes = ", ".join(f"{f.name}={value!r}" for f, value in values if value != f.default)
        first = f"hs.{type(config).__name__}({sizes})"
    options = [first]
    if source.device != "cpu":
        options.append(f"device={source.device!r}")
    if source.door != "auto":
        options.append(f"door={source.door!r}")
    return options


def _written(given: Any, model: "Model", imports: set[str]) -> str:
    """An input or a target as an expression."""
    if isinstance(given, Ids):
        imports.add(TORCH)
        return f"torch.tensor([{list(given.values)}])"
    if isinstance(given, Recording):
        return repr(given.file.name)
    if isinstance(given, Chat):
        from models.tracing import written_out

        whole = written_out(given, model)
        if isinstance(whole, Ids):
            return _written(whole, model, imports)
        answer = f" + {given.answer!r}" if given.answer else ""
        return f"hs.in_template(model, hs.Prompt({given.text!r})){answer}"
    if isinstance(given, Question):
        imports.add(PATH)
        files = ", ".join(f"Path({file.name!r})" for file in given.pictures)
        if not given.video:
            return f"hs.Prompt({given.text!r}, images=[{files}])"
        frames = files if len(given.pictures) == 1 else f"[{files}]"
        return f"hs.Prompt({given.text!r}, video=hs.Video({frames}))"
    if not isinstance(given, Picture):
        return repr(given)
    imports.add(PATH)
    pixels = f"Path({given.file.name!r})"
    if given.text is None:
        return pixels
    text = _written(given.text, model, imports)
    return f"{{'input_ids': {text}, 'pixel_values': {pixels}}}"


class _Name(str):
    """A name in code."""

    def __repr__(self) -> str:
        return self


def _sources(request: TraceRequest) -> dict[TraceRequest, str]:
    """The other passes that edits take from, each with its name in the code."""
    sources = (getattr(edit, "source", None) for edit in request.edits)
    requests = dict.fromkeys(each for each in sources if isinstance(each, TraceRequest))
    return {each: "other" if not n else f"other{n + 1}" for n, each in enumerate(requests)}


def _options(request: TraceRequest, sources: dict[TraceRequest, str]) -> list[str]:
    """The further arguments of `trace`."""
    options = []
    if request.edits:
        written = (_edit(edit, sources) for edit in request.edits)
        options.append(f"edits=[{', '.join(written)}]")
    return options + (["hidden=True"] if request.hidden else [])


def _edit(edit: Any, sources: dict[TraceRequest, str]) -> str:
    """The call that makes an edit; what it takes from another pass by the name of that."""
    source = getattr(edit, "source", None)
    if not isinstance(source, TraceRequest):
        return f"hs.{edit!r}"
    from models.edits.fields import arguments, code_of

    return "hs." + code_of(type(edit), {**arguments(edit), "source": _Name(sources[source])})
