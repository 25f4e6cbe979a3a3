"""The views in a notebook: the same code as in the app, on anywidget.

Data goes over the notebook's own channel. Saved with its widgets' state, a notebook without a
kernel shows what its views hold; where no widgets are shown, a picture.
nbconvert's HTML takes the picture, which needs no network, with
`--NbConvertBase.display_data_priority="['image/png', 'text/html']"`.
"""

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from viz import routes  # noqa: F401  which know every endpoint
from viz.api.endpoint import QuestionError, UnknownError, answered
from viz.export.files import page_of, request_of
from viz.export.page import asked, props_of
from viz.views import EVERY
from viz.views.request import Heads, Request
from viz.web import WEB, modules, standalone

if TYPE_CHECKING:
    from analysis.view import View
    from models.trace import Site, Trace, Where

DPI = 100  # of the picture in a saved notebook
FIRST = ("overview", "map?", "layer?", "photo")  # answers that the widget holds from the start


class Explorer(anywidget.AnyWidget):
    """A view of a trace.

    Attributes:
        props: of the view.
        held: the answers it starts with, by path: a saved widget shows them without a kernel.
    """

    _esm = f"{modules.loading(widget='web/notebook.js')}export default widget.default;\n"
    _css = (WEB / "views.css").read_text(encoding="utf-8")
    props = traitlets.Dict().tag(sync=True)
    held = traitlets.Dict().tag(sync=True)

    def __init__(self, request: Request, view: str, pictured: str | None = None) -> None:
        self.request, self.view, self.pictured = request, view, pictured or view
        self.entry = request.entry
        first = [path for path in asked(request, view)[0] if path.startswith(FIRST)]
        held = {path: answered(self.entry, path) for path in first}
        props = standalone.defaults() | props_of(request, view)
        super().__init__(props=props, held=held)
        self.on_msg(self.receive)

    def receive(self, _: object, message: Any, __: object) -> None:
        """Sends the answer to a request of the view."""
        if isinstance(message, dict) and "path" in message:
            status, content = answer(self.entry, str(message["path"]))
            reply: dict[str, Any] = {"id": message.get("id"), "status": status}
            if isinstance(content, bytes):
                self.send(reply, [content])
            else:
                self.send(reply | {"reason": content})

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and a picture for where widgets are not shown."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        from viz import paper

        data, metadata = bundle
        every = self.pictured in EVERY
        page = page_of(replace(self.request, every=every), self.pictured)
        picture = base64.b64encode(paper.file([page], ".png", DPI)).decode("ascii")
        return {**data, "image/png": picture, "text/plain": page[1].title}, metadata


def explore(
    t: "Trace | View | Any",
    tokens: Any = None,
    *,
    view: str | None = None,
    layer: "int | Site | Where" = 0,
    head: Heads = None,
    **options: Any,
) -> Explorer:
    """An interactive view of a trace, as the last value of a cell.

    Args:
        t: a trace, or a view of it by words; or weights, as for `from_weights`.
        tokens: of weights.
        view: as for `export`; "atlas" shows every head beside the matrix. None chooses "image" for
            the trace of a picture, else "atlas"; the picture for where no widgets are shown is then
            that of the head, if one is given.
        layer: shown first; or a site or its address.
        head: shown first; several for lines; None is head 0.
        options: as for `export`; without `picture` patches lie on grey.

    Raises:
        ValueError: for a view, layer, head or token that is not there.
    """
    from models.given import as_trace

    t = as_trace(t, tokens)
    name = view or ("atlas" if getattr(t, "grid", None) is None else "image")
    request = request_of(t, name, layer, 0 if head is None else head, **options)
    of_head = name == "atlas" and view is None and head is not None
    return Explorer(request, name, "matrix" if of_head else None)


def answer(entry: Any, path: str) -> tuple[int, bytes | str]:
    """The answer of the API to a path, with its HTTP status; text for a refusal."""
    try:
        return 200, answered(entry, path)
    except UnknownError:
        return 404, "there is no such route"
    except QuestionError as error:
        return 400, " ".join(str(error).split())
    except ValueError as error:
        return 500, " ".join(str(error).split())
