"""The import arrows and house rules, held true for every file that exists.

A rule is a function from a file (its path and its syntax tree) to complaints "path:line: what".
Each is tried on a snippet that breaks it, then on the whole project.
"""

import ast
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("models", "analysis", "viz", "train", "benchmarks", "notebooks", "tests")
OURS = frozenset(("app", "start", *FOLDERS))
HEAVY = frozenset(("torch", "transformers", "models", "analysis", "train"))
LIGHT = (
    "models.files.card",
    "models.files.errors",
    "models.catalogue",
    "models.presets",
)  # no torch


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

    def at(self, node: ast.stmt | ast.expr | ast.ExceptHandler, what: str) -> str:
        return f"{self.path}:{node.lineno}: {what}"


Rule = Callable[[Source], Iterator[str]]


@dataclass(frozen=True)
class Import:
    """One imported module by its full dotted name, and whether it is imported when called."""

    node: ast.Import | ast.ImportFrom
    module: str
    inside_function: bool

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]

    def of(self, *modules: str) -> bool:
        """Whether this is one of these modules or something inside one."""
        return any(f"{self.module}.".startswith(f"{module}.") for module in modules)


@cache
def imports(source: Source) -> tuple[Import, ...]:
    """Every import that runs: what stands under TYPE_CHECKING does not."""

    def walk(node: ast.AST, inside: bool) -> Iterator[Import]:
        match node:
            case ast.Import():
                yield from (Import(node, alias.name, inside) for alias in node.names)
            case ast.ImportFrom():
                module = absolute(source.path, node)
                yield from (Import(node, f"{module}.{alias.name}", inside) for alias in node.names)
            case ast.If(test=ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                for child in node.orelse:
                    yield from walk(child, inside)
            case _:
                inside = inside or isinstance(
                    node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
                )
                for child in ast.iter_child_nodes(node):
                    yield from walk(child, inside)

    return tuple(walk(source.tree, False))


def absolute(path: str, node: ast.ImportFrom) -> str:
    """The dotted name a `from … import` means, dots at its front resolved."""
    if node.level == 0:
        return node.module or ""
    package = PurePosixPath(path).parts[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


def refuse(source: Source, modules: frozenset[str] | set[str], why: str) -> Iterator[str]:
    for found in imports(source):
        if found.of(*modules):
            yield source.at(found.node, f"imports {found.module}: {why}")


# --- the arrows -------------------------------------------------------------------------------


# they read traces for others, and import what that needs inside functions
TRACE_READERS = ("viz/api", "viz/export", "viz/notebook.py", "viz/__main__.py")


def pictures_know_no_models(source: Source) -> Iterator[str]:
    if source.under("viz") and not source.under("viz/pages", "viz/components", *TRACE_READERS):
        heavy = HEAVY | {"streamlit"}
        yield from refuse(source, heavy, "viz takes arrays and labels, and draws them")


def api_waits_for_models(source: Source) -> Iterator[str]:
    """The server answers before torch is there; what an answer needs is imported for it."""
    if source.under(*TRACE_READERS):
        yield from refuse(source, {"viz.pages", "viz.components"}, "pages use the API")
        for found in imports(source):
            if found.of(*HEAVY) and not found.inside_function:
                yield source.at(found.node, f"imports {found.module} before it is asked for")


def components_know_no_models(source: Source) -> Iterator[str]:
    if source.under("viz/components"):
        yield from refuse(source, HEAVY, "a component takes bytes")


def streamlit_only_at_the_edge(source: Source) -> Iterator[str]:
    edge = ("app.py", "viz/pages", "viz/components", "viz/api/server.py", "tests", "benchmarks")
    if not source.under(*edge):
        yield from refuse(source, {"streamlit"}, "only app.py, pages and components may")


PUBLIC = ("streamlit", "streamlit.components.v2", "streamlit.delta_generator")


def streamlit_by_its_public_names(source: Source) -> Iterator[str]:
    """What starts with an underscore, or lies in an inner module, changes with any release."""
    if source.under("tests", "benchmarks", "notebooks"):
        return
    for node in source.nodes:
        match node:
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] == "streamlit":
                names = [module, *(alias.name for alias in node.names)]
                if module not in PUBLIC or any(name.startswith("_") for name in names):
                    yield source.at(node, f"imports {module}: not a public name of Streamlit")
            case ast.Import():
                for alias in node.names:
                    if alias.name.startswith("streamlit.") and alias.name not in PUBLIC:
                        yield source.at(node, f"imports {alias.name}: not public")
            case ast.Attribute(value, attr) if attr.startswith("_") and not attr.startswith("__"):
                inner = ast.unparse(value)
                if inner.startswith(("st.", "streamlit.")) or inner in ("st", "streamlit"):
                    yield source.at(node, f"uses {inner}.{attr}: not a public name of Streamlit")


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


def one_reader_of_the_link(source: Source) -> Iterator[str]:
    if source.under("viz/pages/state/link_on_entry.py", "tests", "benchmarks"):
        return
    for node in source.nodes:
        match node:
            case ast.Attribute(ast.Name("st"), "query_params"):
                yield source.at(node, "touches the link, which state/link_on_entry.py alone does")


def whole_pages_run(source: Source) -> Iterator[str]:
    """Two runs of parts of one page would need an order of their own."""
    if source.under("tests", "benchmarks"):
        return
    for node in source.nodes:
        match node:
            case ast.Attribute(ast.Name("st"), "fragment"):
                yield source.at(node, "makes a fragment")


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


def transformers_only_behind_its_interface(source: Source) -> Iterator[str]:
    if source.under("models/loading", "models/inputs"):
        for found in imports(source):
            if found.top == "transformers" and not found.inside_function:
                yield source.at(found.node, "imports transformers outside a function")
    elif not source.under("models/pretrained", "tests", "benchmarks", "notebooks"):
        why = "only models/pretrained, models/loading and models/inputs may"
        yield from refuse(source, {"transformers"}, why)


def models_stand_alone(source: Source) -> Iterator[str]:
    if source.under("models"):
        others = {"viz", "analysis", "train", "streamlit", "plotly"}
        yield from refuse(source, others, "models stand on torch alone")


RUN_MODELS = (
    "analysis/target.py",
    "analysis/relevance.py",
    "analysis/faithfulness.py",
    "analysis/perturbation.py",
)


def analysis_reads_traces(source: Source) -> Iterator[str]:
    """Gradients and removed tokens need passes of their own; everything else reads a trace."""
    if source.under("analysis"):
        for found in imports(source):
            runs = ("models.run", "models.inputs") if source.under(*RUN_MODELS) else ()
            reads = ("models.trace", "models.attention", "models.progress")
            allowed = found.of("analysis", *reads, *runs)
            if found.top in OURS | {"streamlit", "plotly", "transformers"} and not allowed:
                why = "analysis reads traces and attention only"
                yield source.at(found.node, f"imports {found.module}: {why}")


def training_knows_no_pictures(source: Source) -> Iterator[str]:
    if source.under("train"):
        yield from refuse(source, {"viz", "streamlit", "plotly"}, "train uses models and analysis")


def nothing_leans_on_tests(source: Source) -> Iterator[str]:
    if not source.under("tests", "benchmarks", "notebooks"):
        leaves = {"tests", "benchmarks", "notebooks"}
        yield from refuse(source, leaves, "nothing depends on it")


def browsers_are_driven_in_one_folder(source: Source) -> Iterator[str]:
    """Its event loop would stay for the tests after it; `make test` runs that folder by itself."""
    if source.under("tests") and not source.under("tests/browser"):
        yield from refuse(source, {"playwright"}, "tests that drive a browser are in tests/browser")


def nobody_imports_the_app(source: Source) -> Iterator[str]:
    if not source.under("tests", "benchmarks"):
        yield from refuse(source, {"app", "start"}, "it is where the program begins")


def first_paint_waits_for_nothing(source: Source) -> Iterator[str]:
    """Importing torch takes a second: pages do it after their first output."""
    if source.under("app.py", "viz/pages"):
        for found in imports(source):
            if found.of(*HEAVY) and not found.of(*LIGHT) and not found.inside_function:
                yield source.at(found.node, f"imports {found.module} before it is called for")


def models_init_is_empty(source: Source) -> Iterator[str]:
    if source.path == "models/__init__.py":
        for found in imports(source):
            yield source.at(
                found.node, f"imports {found.module}: models/__init__.py imports nothing"
            )


# --- the house rules --------------------------------------------------------------------------


def no_print(source: Source) -> Iterator[str]:
    if source.under("train", "benchmarks", "notebooks", "start.py", "tests"):
        return
    for node in source.nodes:
        match node:
            case ast.Call(func=ast.Name("print")):
                yield source.at(node, "prints")


def no_bare_except(source: Source) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield source.at(node, "catches everything, Ctrl-C included: name the exception")


def no_assert_for_users(source: Source) -> Iterator[str]:
    if source.under("models", "viz", "analysis", "train", "app.py", "start.py"):
        for node in source.nodes:
            if isinstance(node, ast.Assert):
                yield source.at(node, "asserts: raise a ValueError with expected and received")


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


# --- every rule, on a snippet that breaks it --------------------------------------------------

BROKEN: list[tuple[Rule, str, str]] = [
    (pictures_know_no_models, "viz/heatmap.py", "import torch"),
    (pictures_know_no_models, "viz/heatmap.py", "from models.trace import Trace"),
    (pictures_know_no_models, "viz/deep/heatmap.py", "def f():\n    import streamlit as st"),
    (pictures_know_no_models, "viz/heatmap.py", "from transformers import AutoModel"),
    (api_waits_for_models, "viz/api/text.py", "import torch"),
    (api_waits_for_models, "viz/api/text.py", "def f():\n    from viz.pages import shared"),
    (streamlit_by_its_public_names, "viz/pages/x.py", "from streamlit.runtime import Runtime"),
    (streamlit_by_its_public_names, "app.py", "import streamlit.web.server"),
    (streamlit_by_its_public_names, "viz/pages/x.py", "from streamlit import _main"),
    (streamlit_by_its_public_names, "viz/pages/x.py", "import streamlit as st\nst.page._hash"),
    (clicks_count, "viz/pages/x.py", "st.button('a', on_click=f)"),
    (one_reader_of_the_link, "viz/pages/x.py", "def f():\n    return st.query_params['a']"),
    (whole_pages_run, "viz/pages/x.py", "@st.fragment\ndef f():\n    pass"),
    (no_test_attributes, "viz/pages/x.py", "X = '[data-" + "testid=x]'"),
    (one_style_sheet, "viz/pages/x.py", "X = '<style>a {}</style>'"),
    (components_know_no_models, "viz/components/headscope_views/__init__.py", "import torch.nn"),
    (streamlit_only_at_the_edge, "models/run.py", "import streamlit.runtime"),
    (transformers_only_behind_its_interface, "models/run.py", "def f():\n    import transformers"),
    (
        transformers_only_behind_its_interface,
        "models/loading/convert/bert.py",
        "import transformers",
    ),
    (models_stand_alone, "models/run.py", "from viz import theme"),
    (models_stand_alone, "models/deep/run.py", "import plotly.graph_objects as go"),
    (analysis_reads_traces, "analysis/rollout.py", "from models.encoder import Encoder"),
    (analysis_reads_traces, "analysis/rollout.py", "from models import run"),
    (analysis_reads_traces, "analysis/rollout.py", "from ..viz import theme"),
    (training_knows_no_pictures, "train/loop.py", "from viz.theme import sequential"),
    (nothing_leans_on_tests, "models/run.py", "from tests.browser import chromium"),
    (browsers_are_driven_in_one_folder, "tests/test_x.py", "from playwright.sync_api import Page"),
    (nobody_imports_the_app, "viz/pages/shared.py", "import start"),
    (first_paint_waits_for_nothing, "app.py", "import torch"),
    (first_paint_waits_for_nothing, "viz/pages/text/page.py", "from models.run import load"),
    (first_paint_waits_for_nothing, "viz/pages/shared.py", "if True:\n    import torch"),
    (models_init_is_empty, "models/__init__.py", "from .run import load"),
    (no_print, "viz/heatmap.py", "print('here')"),
    (no_bare_except, "tests/test_x.py", "try:\n    pass\nexcept:\n    pass"),
    (no_assert_for_users, "models/encoder.py", "assert True"),
    (no_machine_paths, "models/run.py", "PLACE = '" + "/home" + "/ada/model'"),
    (no_machine_paths, "models/run.py", "PLACE = 'C:" + "/Users'"),
    (
        forward_keeps_nothing,
        "models/vit.py",
        "class A:\n    def forward(self, x):\n        self.x = x",
    ),
    (forward_keeps_nothing, "models/vit.py", "def forward(me, x):\n    me.a, b = x"),
]

ALLOWED: list[tuple[Rule, str, str]] = [
    (pictures_know_no_models, "viz/heatmap.py", "import numpy as np\nfrom viz.theme import x"),
    (pictures_know_no_models, "viz/pages/shared.py", "import streamlit"),
    (api_waits_for_models, "viz/api/text.py", "def f():\n    import torch"),
    (streamlit_by_its_public_names, "viz/pages/x.py", "st.session_state.get(self._key)"),
    (streamlit_by_its_public_names, "tests/x.py", "from streamlit.testing.v1 import AppTest"),
    (clicks_count, "viz/pages/x.py", "st.button('a', on_click=session.callback(f), args=(1,))"),
    (clicks_count, "viz/pages/x.py", "st.expander('a', on_change='rerun')"),
    (clicks_count, "viz/pages/x.py", "st.download_button('a', b'', on_click='ignore')"),
    (one_reader_of_the_link, "viz/pages/state/link_on_entry.py", "st.query_params"),
    (one_reader_of_the_link, "viz/api/routes.py", "request.query_params"),
    (pictures_know_no_models, "viz/x.py", "if TYPE_CHECKING:\n    import torch"),
    (
        transformers_only_behind_its_interface,
        "models/loading/convert/bert.py",
        "def f():\n    import transformers",
    ),
    (analysis_reads_traces, "analysis/rollout.py", "from models.trace import Trace"),
    (analysis_reads_traces, "analysis/rollout.py", "from . import entropy"),
    (analysis_reads_traces, "analysis/relevance.py", "from models.run import trace"),
    (first_paint_waits_for_nothing, "viz/pages/shared.py", "def f():\n    import torch"),
    (first_paint_waits_for_nothing, "viz/pages/shared.py", "from models.files.card import Example"),
    (no_print, "train/loop.py", "print('loss')"),
    (no_machine_paths, "start.py", "PATH = '/_stcore/health'"),
    (forward_keeps_nothing, "models/vit.py", "def forward(self, x):\n    y = self.a(x)"),
    (forward_keeps_nothing, "models/vit.py", "def __init__(self, x):\n    self.a = x"),
]

RULES = sorted({rule for rule, _, _ in BROKEN}, key=lambda rule: rule.__name__)


@pytest.mark.parametrize(("rule", "path", "text"), BROKEN)
def test_rule_catches(rule: Rule, path: str, text: str) -> None:
    complaints = list(rule(Source(path, text)))
    assert len(complaints) == 1
    assert re.match(rf"{re.escape(path)}:\d+: ", complaints[0])


@pytest.mark.parametrize(("rule", "path", "text"), ALLOWED)
def test_rule_allows(rule: Rule, path: str, text: str) -> None:
    assert list(rule(Source(path, text))) == []


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
        if not {"build", "node_modules"} & set(path.parts)
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


def imported_modules(source: Source, modules: dict[str, str]) -> Iterator[str]:
    """The modules a file imports, also inside functions; a package stands for its __init__."""
    for found in imports(source):
        name = found.module
        while name and name not in modules:
            name = name.rpartition(".")[0]
        if name and modules[name] != source.path:
            yield name


def circles(sources: Iterable[Source]) -> list[str]:
    """Every import circle among these files, as "a → b → a", found depth first."""
    sources = [*sources]
    modules = {
        source.path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): source.path
        for source in sources
    }
    names = {path: name for name, path in modules.items()}
    edges = {names[s.path]: sorted(set(imported_modules(s, modules))) for s in sources}
    done: set[str] = set()
    found = []

    def visit(module: str, path: list[str]) -> None:
        if module in path:
            found.append(" → ".join([*path[path.index(module) :], module]))
        elif module not in done:
            for other in edges[module]:
                visit(other, [*path, module])
            done.add(module)

    for module in edges:
        visit(module, [])
    return found


def test_circles_are_found() -> None:
    files = [
        Source("models/a.py", "from models.b import x"),
        Source("models/b.py", "def f():\n    from models import a"),
        Source("models/c.py", "from models.a import y"),
    ]
    assert circles(files) == ["models.a → models.b → models.a"]


def test_no_import_circles() -> None:
    assert not circles(sources())


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


def test_readme_is_short() -> None:
    readme = ROOT / "README.md"
    assert len(readme.read_text(encoding="utf-8").splitlines()) < 200


def test_settings_hold_the_theme() -> None:
    from viz.theme import streamlit_theme

    settings = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
    given = {
        (mode, key): value
        for mode, keys in streamlit_theme().items()
        for key, value in keys.items()
    }
    held = {
        (mode, key): value
        for mode, keys in settings["theme"].items()
        for key, value in keys.items()
    }
    differing = sorted(key for key in given.keys() | held.keys() if given.get(key) != held.get(key))
    assert not differing, "config.toml and viz.theme.streamlit_theme() differ here"
