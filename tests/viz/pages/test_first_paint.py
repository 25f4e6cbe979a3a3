"""Every page shows its heading and its controls before it asks for torch."""

import subprocess
import sys

import start
from viz.pages.frame import registry

FRAME = start.ROOT / "viz" / "pages" / "frame" / "main.py"
# `asked` is what was blocked; a page that needs torch to go on ends there, with that exception
WITHOUT_TORCH = """
import json
import sys
asked = []

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in ("torch", "transformers"):
            asked.append(name)
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocked())
import app
import streamlit as st
st.set_option("client.showErrorDetails", "full")
from streamlit.testing.v1 import AppTest
KINDS = ("selectbox", "number_input", "button_group", "toggle", "text_input", "button",
         "page_link", "bidi_component")

def check(page):
    asked.clear()
    page.run()
    views = [json.loads(each.proto.json)[0] for each in page.get("bidi_component")]
    steps = [step for each in views if each["kind"] == "story" for step in each["steps"]]
    told = [step["title"] for step in steps if step["prose"]]  # a lesson's headings are its steps'
    headings = [text.value for text in page.markdown if text.value.startswith("####")]
    assert headings or told and len(told) == len(steps), "no heading"
    failed = [found.message for found in page.exception]
    assert failed in ([], ["torch is blocked"]), failed
    assert not failed or asked[0] == "torch", asked
    assert sum(len(page.get(kind)) for kind in KINDS) > 1, "nothing to move or to follow"

check(AppTest.from_file(sys.argv[1], default_timeout=60))
for call in sys.argv[2:]:
    module, *arguments = call.split()
    script = f"from {module} import page\\npage(*{arguments})"
    try:
        check(AppTest.from_string(script, default_timeout=60))
    except AssertionError as error:
        raise SystemExit(f"{call}: {error}")
"""


def test_the_first_text_of_every_page_comes_without_torch() -> None:
    calls = [" ".join([each.module, *each.arguments]) for each in registry.ENTRIES.values()]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, str(FRAME), *calls],
        cwd=start.ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
