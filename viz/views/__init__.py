"""The views: a folder each, found here. Its `view.py` has

- `VIEW`, its declaration, plain data;
- `answer(request)`: what it shows, as named arrays with their axes and labels;
- `figure(answer, page)`: that on paper, by the parts of `viz.paper`, which is imported inside;
- `asks(request, entry)`: the paths that the browser asks for beside maps and rows of weights, for
  saved pages; without it none;
- and `@endpoint`s, the requests that are of this view alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from viz.selection import Form, Option
from viz.values import Kind, words
from viz.views.answer import Answer
from viz.views.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
    from viz.paper import Page


@dataclass(frozen=True)
class Folder:
    """What the folder of a view holds; see above."""

    form: Form
    answer: Callable[[Request], Answer]
    figure: Callable[[Any, "Page"], None]
    asks: Callable[[Request, "TraceEntry"], list[str]]


def _folder(name: str) -> Folder:
    modules = {path.stem for path in Path(__file__).parent.glob(f"{name}/*.py")} - {"__init__"}
    module = {each: import_module(f"{__name__}.{name}.{each}") for each in modules}["view"]
    asks = getattr(module, "asks", lambda request, entry: [])
    return Folder(module.VIEW, module.answer, module.figure, asks)


for _ in ("about", "beside", "predictions", "text", "worth", "writing"):
    import_module(f"viz.api.{_}")  # requests that are of no view alone
_FOLDERS = (_folder(path.parent.name) for path in Path(__file__).parent.glob("*/view.py"))
VIEWS: Mapping[str, Folder] = MappingProxyType(
    {each.form.name: each for each in sorted(_FOLDERS, key=lambda each: each.form.place)}
)
FORMS = tuple(view.form for view in VIEWS.values())
FORM: Mapping[str, Form] = MappingProxyType({form.name: form for form in FORMS})
PICTURED = tuple(form.name for form in FORMS if form.chooses is None)  # one is on the screen
EVERY = tuple(form.name for form in FORMS if form.covers == "every")
WHOLE = tuple(form.name for form in FORMS if form.covers == "layers")


def kind_of(option: Option) -> Kind:
    """The kind of an option's values; of the form, those that are on the screen."""
    return words(*PICTURED) if option.name == "form" else option.kind


def forms_of(option: str) -> tuple[str, ...]:
    """The names of the forms on which an option acts."""
    return tuple(form.name for form in FORMS if option in form.options)
