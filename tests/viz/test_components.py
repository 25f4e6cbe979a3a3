"""The component's wrapper: what Streamlit is handed, what comes back, pages without a server."""

import json
import re

from streamlit.testing.v1 import AppTest

from viz import web
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


IMPORTED = re.compile(r'(?:^(?:import|export|\}).*from |import\()"([^"\n]+)"', re.M)


def test_every_module_is_packaged_and_imports_only_its_neighbours():
    modules = [path for path in web.files() if path.suffix == ".js"]
    assert {path.parent.name for path in modules} >= {"core", "text", "image", "streamlit"}
    for path in modules:
        for target in IMPORTED.findall(path.read_text("utf-8")):
            assert target.startswith("."), f"{path.name} imports {target}"
            assert (path.parent / target).resolve().is_relative_to(web.VIZ)
            found = path.parent / (f"{target}.d.ts" if target.endswith("/types") else target)
            assert found.exists(), f"{path.name} imports {target}"


def test_core_and_views_know_no_streamlit():
    for folder in ("core", "text", "image", "architecture", "controls"):
        for path in (web.WEB / folder).glob("*.js"):
            code = path.read_text(encoding="utf-8")
            assert not re.search(r"data-test|stApp|setStateValue|setTriggerValue", code), path.name
