"""The views: a folder each, found here. Its `view.py` has

- `VIEW`, its declaration, plain data;
- `answer(request)`: what it shows, as named arrays with their axes and labels;
- `figure(answer, page)`: that on paper, by the parts of `viz.paper`, which is imported inside;
- `asks(request, entry)`: the paths that the browser asks for beside maps and rows of weights, for
  saved pages; and `ENDPOINTS`, the requests that are of this view alone. Without them: none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from viz.api import about, beside, predictions, vector, worth, writing
from viz.api.endpoint import Endpoint, work_of
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
    endpoints: tuple[Endpoint, ...]


def _folder(name: str) -> Folder:
    module = import_module(f"{__name__}.{name}.view")
    asks = getattr(module, "asks", lambda request, entry: [])
    endpoints = getattr(module, "ENDPOINTS", ())
    return Folder(module.VIEW, module.answer, module.figure, asks, endpoints)


_FOLDERS = (_folder(path.parent.name) for path in Path(__file__).parent.glob("*/view.py"))
VIEWS: Mapping[str, Folder] = MappingProxyType(
    {each.form.name: each for each in sorted(_FOLDERS, key=lambda each: each.form.place)}
)
FORMS = tuple(view.form for view in VIEWS.values())
FORM: Mapping[str, Form] = MappingProxyType({form.name: form for form in FORMS})
PICTURED = tuple(form.name for form in FORMS if form.chooses is None)  # one is on the screen
ENDPOINTS = (  # what a trace can be asked for, in the app, on a saved page and in a notebook
    *(endpoint for view in VIEWS.values() for endpoint in view.endpoints),
    *(each for of in (about, beside, predictions, vector, worth, writing) for each in of.ENDPOINTS),
)
EVERY = tuple(form.name for form in FORMS if form.covers == "every")
WHOLE = tuple(form.name for form in FORMS if form.covers == "layers")


def kind_of(option: Option) -> Kind:
    """The kind of an option's values; of the form, those that are on the screen."""
    return words(*PICTURED) if option.name == "form" else option.kind


def forms_of(option: str) -> tuple[str, ...]:
    """The names of the forms on which an option acts."""
    return tuple(form.name for form in FORMS if option in form.options)


def answered(entry: "TraceEntry", path: str) -> Any:
    """The answer to a path such as "map?site=0&head=3"."""
    name, _, query = path.partition("?")
    return work_of(ENDPOINTS, entry, name, parse_qsl(query))[1]()
