"""One HTML page that holds a view, its code and its data: for files, notebooks and tests.

The ES modules travel as data: addresses in an import map, so nothing is fetched from anywhere.
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
        responses: what the server would answer, by path ("overview", "map?site=0&head=3"); None:
            they are fetched from the server that the page comes from.
        props: of the view, with its "kind"; what an attention view needs and is not given here has
            the value it has where no Streamlit is.
        title: of the page.

    Returns:
        HTML. A script on the page finds the view as `headscope`: `update(props)`, `destroy()` and
        `events`, what it has sent.
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
    """Props of an attention view on a page of its own: no link is written, nothing is kept."""
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
    """JSON that can stand in a script element."""
    return json.dumps(value).replace("<", "\\u003c")


def _modules() -> dict[str, str]:
    """Module names to data: addresses; relative imports become names of the same map."""
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
