"""Every page shows its first text before it asks for torch."""

import subprocess
import sys

import pytest

import start

PAGES = sorted(
    path.relative_to(start.ROOT).as_posix()
    for path in (start.ROOT / "viz" / "pages").glob("*/*.py")
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
app = AppTest.from_file("app.py", default_timeout=60).run()
if sys.argv[1] != "viz/pages/explore/text.py":
    app.switch_page(sys.argv[1]).run()
assert app.markdown[0].value, "no heading"
assert len(app.text_input) + len(app.slider), "nothing to type or to move"
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
