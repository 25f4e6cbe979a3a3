"""One HTML page that holds a view, its code and its bytes: for files, notebooks and tests.

The ES modules travel as data: addresses in an import map, so nothing is fetched from anywhere.
"""

import base64
import json
import re
from html import escape
from pathlib import Path

ASSETS = Path(__file__).parent / "assets"
PREFIX = "headscope/"

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
import {{ mount }} from "{prefix}{view}.js";
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const root = document.querySelector(".headscope");
const events = [];
const listen = {listen} ? (event) => events.push(structuredClone(event)) : null;
const view = mount(root, bytes("{data}"), listen);
window.headscope = {{ events, update: (text) => view.update(bytes(text)), destroy: view.destroy }};
</script>
</body>
</html>
"""


def page(
    data: bytes, *, view: str = "explorer", title: str = "Headscope", listen: bool = False
) -> str:
    """A self-contained page.

    Args:
        data: a message of viz/pack.py.
        view: which module's `mount` to use: explorer, atlas, matrix or tokens.
        listen: whether the view may ask for more; its events are then in `headscope.events`, and
            `headscope.update(base64)` takes the answer. Without it the view shows what it has.
    """
    return _PAGE.format(
        title=escape(title),
        css=(ASSETS / "explorer.css").read_text(encoding="utf-8"),
        modules=json.dumps({"imports": _modules()}),
        prefix=PREFIX,
        view=view,
        listen="true" if listen else "false",
        data=base64.b64encode(data).decode(),
    )


def _modules() -> dict[str, str]:
    """Module names to data: addresses; relative imports become names of the same map."""
    found = {}
    for path in sorted(ASSETS.glob("*.js")):
        code = re.sub(r'from "\./', f'from "{PREFIX}', path.read_text(encoding="utf-8"))
        encoded = base64.b64encode(code.encode()).decode()
        found[PREFIX + path.name] = f"data:text/javascript;base64,{encoded}"
    return found
