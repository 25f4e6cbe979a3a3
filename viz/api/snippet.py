"""Python code that prints the weights and the prediction of a view."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from models.request import Chat, Ids, Picture, Question, Recording, Several, Source, TraceRequest

if TYPE_CHECKING:
    from analysis.view import View
    from models.model import Model
    from models.trace import Trace

TRACE = "from models.run import load, trace"


def code(
    request: TraceRequest,
    model: "Model",
    view: "Trace | View",
    site: int,
    head: int | str,
    answer: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """Python code that opens the model, traces the input, and prints what is on screen.

    That is the prediction at a token, or its change by edits, and the weights of a head.

    Args:
        request: of the trace.
        model: of the request, open.
        view: the trace, or a view of it.
        site: index of the layer.
        head: a head, or "mean" or "max" of all.
        answer: of the `predictions` route; {} without a prediction.
    """
    imports = {TRACE}
    lines = [f"model = load({', '.join(_source(request.model, imports))})"]
    if not request.model.trained:
        imports.add("from models.loading.untrained import untrained")
        lines.append("model = untrained(model)")
    lines += _picture_lines(request.picture, model, imports)
    sources = _sources(request)
    for source, name in sources.items():
        given = _written(source.input, model, imports)
        lines.append(f"{name} = trace(model, {given}, hidden=True)")
    written = [_written(request.input, model, imports)]
    if request.target is not None:
        written.append(_written(request.target, model, imports))
    options = _options(request, sources, imports)
    several = isinstance(request.input, Several)
    if several:
        imports.add("from models.averaged import averaged")
        passes = f"trace(model, {', '.join(['text', *options])}) for text in {written[0]}"
        lines.append(f"t = averaged([{passes}])")
    else:
        printed = _printed(request, model, view, answer, imports)
        if any("before" in line for line in printed):
            plain = [each for each in options if not each.startswith("edits=")]
            lines.append(f"before = trace(model, {', '.join([*written, *plain])})")
        lines += [f"t = trace(model, {', '.join([*written, *options])})", *printed]
    if needs_view(view, site):
        imports.add("from analysis.view import View")
        lines.append(view_line(view))
    lines += [f"weights = {weights_of(view, site, head)}  # query × key", "print(weights)"]
    library = sorted(each for each in imports if each in LIBRARIES)
    ours = sorted(imports.difference(library))
    return "\n".join([*library, *([""] if library else []), *ours, "", *lines])


def _printed(
    request: TraceRequest,
    model: "Model",
    view: "Trace | View",
    answer: Mapping[str, Any],
    imports: set[str],
) -> list[str]:
    """The lines that print a prediction, or what the edits change in the output."""
    place = answer.get("position", -1)
    if answer.get("change"):
        imports |= {"from analysis.outputs import change", "from analysis.target import name_of"}
        return [
            f"moved = change(before, t, {place}, count=3)",
            "for id, *shares in zip(moved.ids, moved.before, moved.after):",
            '    print(name_of(model, t.output, id) or id, "%.4f → %.4f" % tuple(shares))',
            'print("KL %.4f nats" % moved.kl)',
        ]
    if answer:
        imports.add("from analysis.predictions import predict")
        return [f"print(predict(model, t{f', {place}' if 'position' in answer else ''}))"]
    if model.questions and model.trained:
        imports.add("from analysis.outputs import class_probabilities")
        return [
            "names = iter(model.classes)",
            f"for shares in class_probabilities(t, {model.questions}):",
            '    print(*(f"{name} {share:.4f}" for share, name in zip(shares, names)), sep=" · ")',
        ]
    return _distance(view, imports) if request.edits and model.trained else []


def _distance(view: "Trace | View", imports: set[str]) -> list[str]:
    """The line that prints how far the edits move an embedding; none for other outputs."""
    from analysis.target import EMBEDDINGS
    from analysis.view import View

    trace = view.trace if isinstance(view, View) else view
    if trace.output.name not in EMBEDDINGS or len(trace.tokens) > 1:
        return []
    imports.add("from analysis.effects import EmbeddingDistance")
    token = ", 0" if trace.prefix else ""
    return [f'print("1 − cosine of the embeddings %.4g" % EmbeddingDistance(before{token})(t))']


PATH, TORCH = "from pathlib import Path", "import torch"
LIBRARIES = (PATH, TORCH)


def needs_view(view: "Trace | View", site: int) -> bool:
    """Whether the trace alone does not give the weights of a site."""
    from analysis.view import View

    return isinstance(view, View) and (not view.is_plain or site >= len(view.trace.sites))


def view_line(view: Any) -> str:
    """The line that makes a view of the trace `t`."""
    sentences = ", sentences=True" if view.sentences else ""
    return f"t = View(t, words={view.words}, special={view.special!r}{sentences})"


def weights_of(view: "Trace | View", site: int, head: int | str) -> str:
    """The expression for the weights of a head, or of all heads combined."""
    asked = ", ".join(view.address(view.sites[site]).arguments)
    weights = {"mean": f"t.weights({asked}).mean(0)", "max": f"t.weights({asked}).amax(0)"}
    return weights.get(str(head), f"t.weights({asked}, head={head})")


def _source(source: Source, imports: set[str]) -> list[str]:
    """The arguments of `load`."""
    first = repr(source.name)
    if source.place == "built":
        from models.presets import config_of

        config = type(config_of(source.name, dict(source.sizes)))
        imports.add(f"from {config.__module__} import {config.__name__}")
        sizes = ", ".join(f"{name}={value!r}" for name, value in source.sizes)
        first = f"{config.__name__}({sizes})"
    options = [first]
    if source.device != "cpu":
        options.append(f"device={source.device!r}")
    if source.door != "auto":
        options.append(f"door={source.door!r}")
    return options


def _picture_lines(picture: Picture | None, model: "Model", imports: set[str]) -> list[str]:
    """The lines that prepare a picture whose preprocessing is changed, or that is not in colour."""
    if picture is None or not (picture.changes or _recoloured(model)):
        return []
    imports |= {
        PATH,
        "from models.inputs.pictures import processed",
        "from models.preprocessing import changed",
    }
    changes = ", ".join(f"{name}={value!r}" for name, value in picture.changes)
    lines = [
        f"preprocessing = changed(model.preprocessing{changes and ', '}{changes})",
        f"seen = processed(preprocessing, Path({picture.file.name!r}))",
    ]
    if _recoloured(model) == 1:
        lines.append("pixels = seen.pixels.mean(1, keepdim=True)  # grey")
    elif _recoloured(model):
        imports.add(TORCH)
        lines.append(
            "pixels = torch.nn.functional.pad(seen.pixels,"
            f" (0, 0, 0, 0, 0, {_recoloured(model)} - seen.pixels.shape[1]))"
        )
    return lines


def _recoloured(model: "Model") -> int:
    """The channels of a model of ours that reads no colours; 0 for one that reads three."""
    from models.tracing import channels

    count = channels(model)
    return 0 if count == 3 else count


def _written(given: Any, model: "Model", imports: set[str]) -> str:
    """An input or a target as an expression."""
    if isinstance(given, Ids):
        imports.add(TORCH)
        return f"torch.tensor([{list(given.values)}])"
    if isinstance(given, Recording):
        return repr(given.file.name)
    if isinstance(given, Several):
        return f"[{', '.join(_written(each, model, imports) for each in given.texts)}]"
    if isinstance(given, Chat):
        from models.tracing import written_out

        whole = written_out(given, model)
        if isinstance(whole, Ids):
            return _written(whole, model, imports)
        imports.add("from models.inputs.prompt import Prompt, in_template")
        answer = f" + {given.answer!r}" if given.answer else ""
        return f"in_template(model, Prompt({given.text!r})){answer}"
    if isinstance(given, Question):
        imports |= {PATH, "from models.inputs.prompt import Prompt"}
        files = ", ".join(f"Path({file.name!r})" for file in given.pictures)
        if not given.video:
            return f"Prompt({given.text!r}, images=[{files}])"
        imports.add("from models.inputs.video import Video")
        frames = files if len(given.pictures) == 1 else f"[{files}]"
        return f"Prompt({given.text!r}, video=Video({frames}))"
    if not isinstance(given, Picture):
        return repr(given)
    if given.changes or _recoloured(model):
        pixels = "pixels" if _recoloured(model) else "seen.pixels"
    else:
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


def _options(
    request: TraceRequest, sources: dict[TraceRequest, str], imports: set[str]
) -> list[str]:
    """The further arguments of `trace`."""
    options = []
    if request.edits:
        imports |= _imports_of(request.edits)
        written = (_edit(edit, sources) for edit in request.edits)
        options.append(f"edits=[{', '.join(written)}]")
    return options + (["hidden=True"] if request.options.hidden else [])


def _imports_of(edits: Iterable[Any]) -> set[str]:
    """The lines that import edits; one that `models.edits` does not name comes from its module."""
    from models import edits as package

    homes: dict[str, set[str]] = {}
    for kind in map(type, edits):
        home = package.__name__ if hasattr(package, kind.__name__) else kind.__module__
        homes.setdefault(home, set()).add(kind.__name__)
    return {f"from {home} import {', '.join(sorted(names))}" for home, names in homes.items()}


def _edit(edit: Any, sources: dict[TraceRequest, str]) -> str:
    """The call that makes an edit; what it takes from another pass by the name of that."""
    source = getattr(edit, "source", None)
    if not isinstance(source, TraceRequest):
        return repr(edit)
    from models.edits.fields import arguments, code_of

    return code_of(type(edit), {**arguments(edit), "source": _Name(sources[source])})
