"""The component's wrapper: what Streamlit is handed, what comes back, pages without a server."""

import gzip
import json
import re
import subprocess

import pytest
from streamlit.testing.v1 import AppTest

from tests.javascript import node
from viz import web
from viz.web import modules
from viz.web.standalone import page

PROPS = {"kind": "text", "trace": "k3j"}


def script() -> None:
    import streamlit as st
    from headscope_views import view

    found = view("slider", {"label": "Heads", "value": 4}, key="page_heads", on=("value",))
    st.text(f"value {found['value']}")
    view("mode", {"mode": "dark"}, key="page_mode")


def test_streamlit_is_handed_the_props_and_one_packaged_component():
    app = AppTest.from_function(script, default_timeout=30).run()
    assert not app.exception
    slider, mode = (element.proto for element in app.get("bidi_component"))
    assets = {"assets": web.path()}
    assert json.loads(slider.json) == [{"kind": "slider", "label": "Heads", "value": 4} | assets]
    assert json.loads(mode.json) == [{"kind": "mode", "mode": "dark"} | assets]
    for sent in (slider, mode):
        assert sent.component_name == "headscope-views.view"
        assert (sent.js_source_path, sent.css_source_path) == ("main.js", "")
        assert sent.js_content == sent.css_content == ""


def test_what_was_sent_comes_back():
    app = AppTest.from_function(script, default_timeout=30).run()
    assert app.text[0].value == "value None"
    app.session_state["page_heads"] = {"value": 8}
    app.run()
    assert not app.exception
    assert app.text[0].value == "value 8"


def test_a_page_of_its_own_fetches_nothing():
    html = page({"overview": b"bytes"}, PROPS, title="<b>title</b>")
    assert "<title>&lt;b&gt;title&lt;/b&gt;</title>" in html
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|//cdn|@import|url\(", html)
    assert re.findall(r'\b(?:src|href)="', html) == []


def test_text_in_the_props_cannot_leave_the_script():
    html = page(None, {**PROPS, "message": "</script><script>bad()</script>"})
    assert "<script>bad()" not in html
    assert "\\u003c/script>" in html


def test_every_module_imports_only_its_neighbours_and_none_that_imports_it():
    names = [path.relative_to(web.VIZ).as_posix() for path in web.files()]
    scripts = [*web.generated_modules(), *(name for name in names if name.endswith(".js"))]
    loaded = modules.loaded_by(*scripts)
    assert sorted(loaded) == sorted(scripts)
    for place, pieces in enumerate(loaded.values()):
        assert all(piece < place for piece in pieces if isinstance(piece, int))


def test_every_module_is_reached_from_a_host_or_a_lesson():
    lessons = [path.relative_to(web.VIZ).as_posix() for path in web.VIZ.glob("course/*/figure.js")]
    hosts = [f"web/{name}.js" for name in ("streamlit/kinds", "standalone", "notebook")]
    every = {path.relative_to(web.VIZ).as_posix() for path in web.files() if path.suffix == ".js"}
    assert {*every, *web.generated_modules()} == {*modules.loaded_by(*hosts, *lessons)}


PARSED = """const { readFileSync } = require("node:fs");
const { SourceTextModule } = require("node:vm");
const parsed = (path) => new SourceTextModule(readFileSync(path, "utf8")).dependencySpecifiers;
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(parsed)));"""


def test_imports_are_those_that_a_parser_finds():
    paths = [path for path in web.files() if path.suffix == ".js"]
    command = [node(), "--experimental-vm-modules", "--no-warnings", "-e", PARSED]
    asked = json.dumps([*map(str, paths)])
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    for path, parsed in zip(paths, json.loads(done.stdout), strict=True):
        code = path.read_text("utf-8")
        found = {code[start:end] for start, end in modules.imports(code)}
        assert found == set(parsed), path.name


@pytest.mark.parametrize("form", modules.of_forms())
def test_a_text_s_first_picture_takes_at_most_200_kb_of_code(form: str):
    """The modules of its form come with the page, those of the others when they are wanted."""
    text, view = modules.of_kinds()["text"], modules.of_forms()[form]
    first = modules.loaded_by(text, view, late=False)
    assert sum(len(gzip.compress(modules.source(name).encode())) for name in first) <= 200_000
    assert view in modules.loaded_by(text)


def test_modules_that_import_each_other_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(modules, "VIZ", tmp_path)
    for name, code in {"a.js": 'import "./b.js";', "b.js": "import'./a.js'"}.items():
        (tmp_path / name).write_text(code)
    with pytest.raises(ValueError, match=r"a\.js → b\.js → a\.js"):
        modules.loaded_by("a.js")


def test_core_and_views_know_no_streamlit():
    for folder in ("core", "text", "image", "architecture", "controls"):
        for path in (web.WEB / folder).glob("*.js"):
            code = path.read_text(encoding="utf-8")
            assert not re.search(r"data-test|stApp|setStateValue|setTriggerValue", code), path.name
