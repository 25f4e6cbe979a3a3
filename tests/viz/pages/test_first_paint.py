"""Every page shows its first text before it asks for torch."""

import subprocess
import sys

import pytest
import serve

import start

PAGES = sorted(
    path.relative_to(start.ROOT).as_posix()
    for section in serve.SECTIONS
    for path in (start.ROOT / "viz" / "pages").glob(f"{section}/*.py")
    if path.name != "__init__.py"
)
WITHOUT_TORCH = """
import sys, threading
asked = []
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in ("torch", "transformers"):
            asked.append(name)
            raise ImportError(name + " is not there yet")
sys.meta_path.insert(0, Blocked())
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=60)
if sys.argv[1] != "viz/pages/text/page.py":
    app.switch_page(sys.argv[1])
app.run()
assert app.markdown[0].value, "no heading"
kinds = (app.text_input, app.text_area, app.slider, app.number_input, app.get("button_group"))
assert sum(map(len, kinds)), "nothing to type or to move"
for thread in threading.enumerate():
    if thread.name == "warm-up":
        thread.join()
assert asked[:1] == ["torch"], asked
"""


@pytest.mark.parametrize("script", PAGES)
def test_first_text_comes_without_torch(script):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, script],
        cwd=start.ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
