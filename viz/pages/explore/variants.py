"""The page's model in another form: untrained, by the other implementation, without an adapter."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from models.request import Source
from viz.api import tracing
from viz.pages import compute

UNTRAINED, DOOR, ADAPTER = "weights:random", "door", "adapter:none"
FORMS = (UNTRAINED, f"{DOOR}:own", f"{DOOR}:transformers", ADAPTER)
CODE = {"own": "Headscope’s code", "transformers": "the library’s code"}


def titles(source: Source, name: str) -> Mapping[str, str]:
    """The forms that a model has beside its own, by their names in a link.

    Args:
        source: of the open model, stamped.
        name: of it.
    """
    if source.place == "built" or not source.trained:
        return {}
    known = {UNTRAINED: f"{name}, untrained"}
    try:
        folder, door = tracing.folder(source), tracing.opened(source).door
        adapted = compute.adapter.settings_of(folder) is not None
    except ValueError:  # its files went after it was opened: nothing else opens from them
        return {}
    if adapted:
        return {ADAPTER: f"{name}, without its adapter", **known}
    others = (other for other in compute.doors(folder) if other != door)
    return known | {f"{DOOR}:{other}": f"{name}, {CODE[other]}" for other in others}


def source_of(form: str, source: Source) -> Source:
    """The model in this form.

    Raises:
        ValueError: if the base model of its adapter is not on this machine.
    """
    if form == UNTRAINED:
        return replace(source, trained=False)
    if form != ADAPTER:
        return replace(source, door=form.partition(":")[2])
    base = compute.adapter.base_of(compute.adapter.settings_of(tracing.folder(source)) or {})
    return replace(source, place="folder", name=str(Path(base.path)), door="transformers", stamp="")
