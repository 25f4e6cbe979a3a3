"""A self-contained HTML page with a view, its code and its data: for files, notebooks and tests.

Its modules are in it, so nothing is fetched.
"""

import base64
import json
from collections.abc import Mapping
from html import escape
from typing import Any

from viz.web import WEB, modules

REVISION = "page.0"

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
body {{ margin: 0; padding: 16px; background: #ffffff; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #12141b; }} }}
{css}
</style>
</head>
<body>
<div class="headscope"></div>
<script type="module">
{modules}
page.open(view.mount, {props}, {responses});
</script>
</body>
</html>
"""


def page(
    responses: Mapping[str, bytes] | None,
    props: Mapping[str, Any],
    *,
    title: str = "Headscope",
) -> str:
    """A self-contained page.

    Args:
        responses: server responses by path ("overview", "map?site=0&head=3"); None fetches them
            from the server of the page.
        props: of the view, with its "kind"; missing props of an attention view take the values of
            `defaults`.
        title: of the page.

    Returns:
        HTML. Scripts on the page can use `headscope`: `update(props)`, `destroy()` and `events`,
        the events sent so far.
    """
    held = responses and {
        path: base64.b64encode(data).decode("ascii") for path, data in responses.items()
    }
    view = modules.of_kinds()[props["kind"]]
    return _PAGE.format(
        title=escape(title),
        css=(WEB / "views.css").read_text(encoding="utf-8"),
        modules=modules.loading(page="web/standalone.js", view=view),
        props=_script(defaults() | dict(props)),
        responses=_script(held),
    )


def defaults() -> dict[str, Any]:
    """Default props of an attention view on a standalone page: no link, no saved selection."""
    return {
        "page": "",
        "path": [],
        "trace": "page",
        "revision": REVISION,
        "start": {},
        "defaults": {},
        "link": {},
    }


def _script(value: object) -> str:
    """JSON escaped for a script element."""
    return json.dumps(value).replace("<", "\\u003c")
