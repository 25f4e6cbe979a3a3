"""A self-contained HTML page with a view, its code and its data: for files, notebooks and tests.

The ES modules are embedded as data: URLs in an import map, so nothing is fetched.
"""

import base64
import json
import posixpath
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).parent / "assets"
PREFIX = "headscope/"
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
<script type="importmap">{modules}</script>
</head>
<body>
<div class="headscope"></div>
<script type="module">
import {{ open }} from "{prefix}standalone.js";
open({props}, {responses});
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
    return _PAGE.format(
        title=escape(title),
        css=(ASSETS / "views.css").read_text(encoding="utf-8"),
        modules=json.dumps({"imports": _modules()}),
        prefix=PREFIX,
        props=_script(defaults() | dict(props)),
        responses=_script(held),
    )


def defaults() -> dict[str, Any]:
    """Default props of an attention view on a standalone page: no link, no saved selection."""
    return {
        "page": "",
        "path": [],
        "trace": "page",
        "made": 0,
        "revision": REVISION,
        "start": {},
        "defaults": {},
        "link": {},
    }


def _script(value: object) -> str:
    """JSON escaped for a script element."""
    return json.dumps(value).replace("<", "\\u003c")


def _modules() -> dict[str, str]:
    """Module names mapped to data: URLs; relative imports are rewritten to names of the map."""
    found = {}
    for path in sorted(ASSETS.rglob("*.js")):
        name = path.relative_to(ASSETS).as_posix()

        def absolute(match: re.Match[str], folder: str = posixpath.dirname(name)) -> str:
            target = posixpath.normpath(posixpath.join(folder, match[2]))
            return f'{match[1]}"{PREFIX}{target}"'

        code = re.sub(
            r'(\bfrom |\bimport\()"(\.\.?/[^"]+)"', absolute, path.read_text(encoding="utf-8")
        )
        encoded = base64.b64encode(code.encode()).decode("ascii")
        found[PREFIX + name] = f"data:text/javascript;base64,{encoded}"
    return found
