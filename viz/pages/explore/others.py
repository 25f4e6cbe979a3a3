"""Other models whose heads can be compared with a head of the open one."""

from typing import Any

from models.catalogue import catalogue, is_here
from models.request import TraceRequest
from viz.api import tracing


def props(request: TraceRequest) -> dict[str, Any]:
    """Props of the view: models that read the same text, whether others can be named, the text."""
    if not isinstance(request.input, str) or request.target is not None:
        return {}
    here = [
        {"value": f"catalogue:{each.name}", "title": each.title}
        for each in catalogue()
        if each.reads == "text" and each.kind in ("encoder", "decoder") and is_here(each)
        if each.name != request.model.catalogue
    ]
    return {"others": here, "named": not tracing.public(), "text": request.input}
