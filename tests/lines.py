"""Lines by room, and the ceilings that they stay below.

    make lines        # or python -m tests.lines

Prints lines, lines of code (neither blank, comment nor docstring) and characters of every room.
Fails above a ceiling of `[tool.headscope.ceilings]` in pyproject.toml, and when a count of lines is
more than 500 below its ceiling, which is then to be lowered: the count only falls.
"""

import ast
import io
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
COUNTED = (
    *(".py", ".pyi"),
    *(".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx"),
    *(".css", ".html"),
)
VENDORED = "viz/web/vendor"
COURSE = (".md", ".json")  # texts and stored answers of the course
COURSE_FOLDER = "viz/course"
MOST_BELOW = 500  # lines of a count below its ceiling
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

# Each room, its budget in lines at the end, and what belongs to it: the longest path that fits.
VIEWS = "viz/web"
ROOMS: dict[str, tuple[int, tuple[str, ...]]] = {
    "facade and start": (600, ("headscope.py", "app.py", "start.py", "setup.py")),
    "models/attention": (1800, ("models/attention",)),
    "models: own networks": (3000, ("models",)),
    "models: trace, run, request, tokens": (
        2700,
        tuple(
            f"models/{name}.py"
            for name in (
                *("trace", "run", "request", "tracing", "where", "text", "output"),
                *("own_origin", "stream", "progress"),
                *("verify", "averaged"),
            )
        ),
    ),
    "models/edits": (1500, ("models/edits",)),
    "models/inputs": (
        2400,
        ("models/inputs", "models/preprocessing.py", "models/image.py", "models/picture_grid.py"),
    ),
    "models/pretrained": (4300, ("models/pretrained",)),
    "models/loading": (
        2400,
        (
            *("models/loading", "models/files", "models/catalogue.py", "models/fetch.py"),
            *("models/card.py", "models/model.py"),
        ),
    ),
    "analysis": (6500, ("analysis",)),
    "analysis/corpus": (2300, ("analysis/corpus",)),
    "viz/views": (
        10800,
        (
            "viz/views",
            *(f"{VIEWS}/{name}" for name in ("text", "image", "methods", "corpus")),
        ),
    ),
    "viz/web": (6500, ("viz/web", "viz/components")),
    "viz/course": (
        7600,
        (
            *("viz/course", "viz/pages/lessons"),
            *(f"{VIEWS}/{name}" for name in ("story", "scene")),
        ),
    ),
    "viz/build": (
        3500,
        (
            *("viz/build", "viz/pages/build", "viz/amounts.py"),
            f"{VIEWS}/build",
        ),
    ),
    "viz/api": (2500, ("viz/api",)),
    "viz/pages": (2800, ("viz/pages",)),
    "viz: theme, files, command, notebook": (1900, ("viz", "viz/export")),
    "train": (1500, ("train",)),
    "benchmarks": (2800, ("benchmarks",)),
    "notebooks": (500, ("notebooks",)),
    "tests": (34500, ("tests",)),
}


@dataclass(frozen=True)
class Count:
    """What files hold.

    Attributes:
        lines: all of them.
        code: those that are neither blank, comment nor docstring.
        characters: of the text.
    """

    lines: int = 0
    code: int = 0
    characters: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(
            self.lines + other.lines, self.code + other.code, self.characters + other.characters
        )


def main() -> int:
    """Prints the table and what breaks a ceiling. Returns the exit status."""
    files = tracked()
    by_room = rooms(files)
    outside = sum((count for room, count in by_room.items() if room != "tests"), Count())
    course = sum(
        (ROOT / path).stat().st_size
        for path in files
        if path.endswith(COURSE) and within(path, (COURSE_FOLDER,))
    )
    print("\n".join(table(by_room, outside)))
    print(f"\nMarkdown and JSON of the course: {course:,} bytes")
    problems = [*broken(outside, by_room["tests"], course, ceilings())]
    print("\n".join(problems) if problems else "All ceilings hold.")
    return 1 if problems else 0


def ceilings() -> dict[str, int]:
    """The most that there may be, as pyproject.toml says."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["tool"]["headscope"]["ceilings"]


def broken(outside: Count, tests: Count, course: int, most: dict[str, int]) -> Iterator[str]:
    """A sentence for each ceiling that does not hold, or that is to be lowered."""
    counts = {
        "lines outside tests": outside.lines,
        "lines of tests": tests.lines,
        "characters outside tests": outside.characters,
        "characters of tests": tests.characters,
        "bytes of the course": course,
    }
    for name, count in counts.items():
        ceiling = most[name.replace(" ", "-")]
        if count > ceiling:
            yield f"{name}: {count:,}, above the ceiling of {ceiling:,}: make something smaller"
        elif name.startswith("lines") and count < ceiling - MOST_BELOW:
            yield f"{name}: {count:,}, far below the ceiling of {ceiling:,}: lower it"


def tracked() -> list[str]:
    """The paths that git tracks and that are here.

    Raises:
        CalledProcessError: where this is no checkout.
    """
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    paths = listed.stdout.decode().split("\0")
    return [path for path in paths if path and (ROOT / path).is_file()]


def rooms(files: list[str]) -> dict[str, Count]:
    """What each room holds.

    Raises:
        ValueError: for a counted file that belongs to no room.
    """
    homes = {place: room for room, (_, places) in ROOMS.items() for place in places}
    counts = dict.fromkeys(ROOMS, Count())
    for path in files:
        if path.endswith(COUNTED) and not within(path, (VENDORED,)):
            places = [path, *(str(parent) for parent in PurePosixPath(path).parents)]
            home = next((homes[place] for place in places if place in homes), None)
            if home is None:
                raise ValueError(f"{path}: expected a room for it in tests/lines.py")
            counts[home] += counted(path, (ROOT / path).read_text(encoding="utf-8"))
    return counts


def within(path: str, folders: tuple[str, ...]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def counted(path: str, text: str) -> Count:
    """Lines, lines of code and characters of a file."""
    lines = text.count("\n")
    code = _python_code(text) if path.endswith((".py", ".pyi")) else _other_code(text)
    return Count(lines, code, len(text))


def _python_code(text: str) -> int:
    """Lines with a token that is no comment, less those of docstrings."""
    idle = {
        *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
        *(tokenize.ENCODING, tokenize.ENDMARKER),
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in idle:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return len(lines)


def _other_code(text: str) -> int:
    """Lines that are neither blank nor, from their first character on, of a comment."""
    code, inside = 0, ""
    for line in map(str.strip, text.splitlines()):
        if not inside and line.startswith(("/*", "<!--")):
            inside = "*/" if line.startswith("/*") else "-->"
            inside = "" if inside in line[2:] else inside
        elif inside:
            inside = "" if inside in line else inside
        elif line and not line.startswith("//"):
            code += 1
    return code


def table(by_room: dict[str, Count], outside: Count) -> Iterator[str]:
    """A line for each room, and the sum outside tests."""
    rows = [(room, by_room[room], ROOMS[room][0]) for room in ROOMS]
    budget = sum(most for room, _, most in rows if room != "tests")
    rows.insert(-1, ("outside tests", outside, budget))
    yield f"{'':37}{'lines':>9}{'code':>9}{'characters':>12}{'budget':>9}"
    for room, count, most in rows:
        sizes = f"{count.lines:9,}{count.code:9,}{count.characters:12,}{most:9,}"
        yield f"{room:37}{sizes}"


if __name__ == "__main__":
    sys.exit(main())
