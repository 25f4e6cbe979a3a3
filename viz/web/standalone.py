"""A self-contained HTML page with a view, its code and its data: for files, notebooks and tests.

The ES modules are embedded as data: URLs in an import map, so nothing is fetched.
"""

import base64
import json
import posixpath
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from typing import Any
from urllib.parse import quote

from viz.web import VIZ, WEB

PREFIX = "headscope/"
REVISION = "page.0"
PLAIN = "".join(set(map(chr, range(32, 127))) - {"%", "#"})  # what a data: URL may hold as it is

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
import {{ open }} from "{prefix}web/standalone.js";
import {{ mount }} from "{prefix}{module}";
open(mount, {props}, {responses});
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
    module = modules_of_kinds()[props["kind"]]
    return _PAGE.format(
        title=escape(title),
        css=(WEB / "views.css").read_text(encoding="utf-8"),
        modules=_script({"imports": _import_map("web/standalone.js", module)}),
        prefix=PREFIX,
        module=module,
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


def modules_of_kinds() -> dict[str, str]:
    """The module of each kind of view, as web/streamlit/kinds.js imports it."""
    code = (WEB / "streamlit/kinds.js").read_text(encoding="utf-8")
    imports = re.findall(r'(\w+): \(\) => import\("([^"]+)"\)', code)
    return {
        kind: posixpath.normpath(posixpath.join("web/streamlit", path)) for kind, path in imports
    }


@cache
def modules_of(kind: str) -> tuple[str, ...]:
    """The modules that a kind of view loads before it is mounted, as paths below `VIZ`."""
    return tuple(_codes(modules_of_kinds()[kind]))


def _import_map(*entries: str) -> dict[str, str]:
    """Names of modules mapped to data: URLs."""
    modules = {}
    for name, code in _codes(*entries).items():
        modules[PREFIX + name] = f"data:text/javascript;charset=utf-8,{quote(code, safe=PLAIN)}"
    return modules


def _codes(*entries: str) -> dict[str, str]:
    """The code of these modules and of everything that they import, dependencies first."""
    codes: dict[str, str] = {}
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen:
            return
        seen.add(name)
        code = _code(name)
        for other in re.findall(rf'(?:\bfrom |\bimport\()"{PREFIX}([^"]+)"', code):
            visit(other)
        for start, end in re.findall(r"\bimport\(`([^`$]+)\$\{[^}]+\}([^`]*)`\)", code):
            for path in sorted(WEB.glob(f"{start.removeprefix('../')}*{end}")):
                visit(path.relative_to(VIZ).as_posix())
        codes[name] = code

    for entry in entries:
        visit(entry)
    return codes


def _code(name: str) -> str:
    """A module without comments at the beginning of lines, and without indentation.

    Its relative imports are rewritten to names with PREFIX.
    """

    def absolute(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2]))
        return f'{match[1]}"{PREFIX}{target}"'

    code = (VIZ / name).read_text(encoding="utf-8")
    code = re.sub(r"^\s*(//.*|/\*\*((?!\*/)[\s\S])*\*/)\n", "", code, flags=re.MULTILINE)
    code = re.sub(r"^ +", "", code, flags=re.MULTILINE)
    return re.sub(r'(\bfrom |\bimport\()"(\.\.?/[^"]+)"', absolute, code)


_BUNDLE = """const modules = {modules};
const urls = {{}};
for (const [name, code] of modules) {{
  const linked = code.replace(/"{prefix}([^"]+)"/g, (_, path) => JSON.stringify(urls[path]));
  urls[name] = URL.createObjectURL(new Blob([linked], {{ type: "text/javascript" }}));
}}
export default (await import(urls[{entry}])).default;
"""


def bundle(entry: str) -> str:
    """One ES module with the default export of a module, for hosts that take a single text.

    Everything that it imports is inside and becomes modules when it runs.
    """
    modules = json.dumps(list(_codes(entry).items()), ensure_ascii=False)
    return _BUNDLE.format(
        modules=modules, prefix=PREFIX.replace("/", "\\/"), entry=json.dumps(entry)
    )
