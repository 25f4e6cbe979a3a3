"""The browser's modules as one text, for hosts that serve no files: a saved page, a notebook.

The imports of a module are its first statements; eslint checks that. So they are found at its
beginning, by the grammar of imports and comments alone: nothing here has to parse JavaScript.
"""

import base64
import gzip
import json
import posixpath
import re
from functools import cache

from viz.web import VIZ, generated_modules

LEADING = re.compile(
    r"""\s*(?:
        //.*
      | /\*[\s\S]*?\*/
      | import\b[^"'.;()]*["'](?P<module>[^"']+)["'];?
    )""",
    re.VERBOSE,
)
LATE = re.compile(r"""\(\) => import\(["'](?P<module>[^"']+)["']\)""")
# Modules become Blob URLs, each after those that it imports and with their URLs in its text.
_LOAD = """const packed = Uint8Array.from(atob("{packed}"), (letter) => letter.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const urls = [];
for (const pieces of await new Response(unpacked).json()) {{
  const code = pieces.map((piece) => (typeof piece === "number" ? urls[piece] : piece));
  urls.push(URL.createObjectURL(new Blob(code, {{ type: "text/javascript" }})));
}}
const [{names}] = await Promise.all({entries}.map((at) => import(urls[at])));
"""


def source(name: str) -> str:
    """The text of a module, by its path in viz."""
    return generated_modules().get(name) or (VIZ / name).read_text(encoding="utf-8")


def imports(code: str) -> list[tuple[int, int]]:
    """Where a module names the modules that it imports: the first and the end of each place."""
    places, at = [], 0
    while match := LEADING.match(code, at):
        if match["module"]:
            places.append(match.span("module"))
        at = match.end()
    return places


def late_imports(code: str) -> list[tuple[int, int]]:
    """The same of modules that it imports when they are wanted, in a function of each."""
    return [match.span("module") for match in LATE.finditer(code)]


@cache
def of_kinds() -> dict[str, str]:
    """The module of each kind of view, as web/streamlit/kinds.js imports it."""
    return _named_in("web/streamlit/kinds.js")


@cache
def of_forms() -> dict[str, str]:
    """The module of each form of a text, as web/text/forms.js imports it."""
    return _named_in("web/text/forms.js")


def _named_in(name: str) -> dict[str, str]:
    code = source(name)
    named = re.findall(rf"(\w+): {LATE.pattern}", code)
    return {key: _beside(name, path) for key, path in named}


@cache
def loaded_by(*entries: str, late: bool = True) -> dict[str, tuple[str | int, ...]]:
    """These modules and all that they import, by their paths in viz, dependencies first.

    Args:
        entries: paths in viz.
        late: with what they import only when it is wanted.

    Returns:
        The text of each, in pieces; a number between them stands for the module with that place.

    Raises:
        ValueError: for modules that import each other.
    """
    loaded: dict[str, tuple[str | int, ...]] = {}

    def load(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise ValueError(
                f"expected no circle of imports, received {' → '.join(above)} → {name}"
            )
        if name in loaded:
            return
        code, end = source(name), 0
        pieces: list[str | int] = []
        for start, stop in sorted([*imports(code), *(late_imports(code) if late else ())]):
            imported = _beside(name, code[start:stop])
            load(imported, (*above, name))
            pieces += [code[end:start], [*loaded].index(imported)]
            end = stop
        loaded[name] = (*pieces, code[end:])

    for entry in entries:
        load(entry, ())
    return loaded


@cache
def loading(**entries: str) -> str:
    """Code that makes modules of its own text and imports some, by the names of the arguments."""
    loaded = loaded_by(*entries.values())
    text = json.dumps(list(loaded.values()), ensure_ascii=False).encode()
    return _LOAD.format(
        packed=base64.b64encode(gzip.compress(text, mtime=0)).decode("ascii"),
        names=", ".join(entries),
        entries=[[*loaded].index(name) for name in entries.values()],
    )


def _beside(name: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
