"""The two pages the app is measured against, written into a folder with the app's own settings."""

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]

# The least a Streamlit page can be.
HELLO = """\
import streamlit as st

st.write("hello")
"""

# The least a picture under a control can be: one slider, one canvas, one byte a cell.
CANVAS = '''\
import numpy as np
import streamlit as st

DRAW = """
export default function ({ parentElement, data }) {
  const canvas = parentElement.querySelector("canvas");
  const side = Math.sqrt(data.length);
  canvas.width = canvas.height = side;
  const image = new ImageData(side, side);
  const cells = new Uint32Array(image.data.buffer);
  for (let i = 0; i < cells.length; i++) cells[i] = 0xff000000 | (data[i] * 0x10101);
  canvas.getContext("2d").putImageData(image, 0, 0);
  canvas.dataset.painted = canvas.dataset.head = Number(canvas.dataset.painted ?? 0) + 1;
}
"""
HTML = '<canvas style="width: 560px; height: 560px; image-rendering: pixelated"></canvas>'
canvas = st.components.v2.component("bare_canvas", html=HTML, js=DRAW)


@st.fragment
def page() -> None:
    side = int(st.query_params.get("side", "32"))
    head = st.slider("head", 0, 500, key="head")
    cells = np.random.default_rng(head).integers(0, 256, (side, side), np.uint8)
    canvas(data=cells.tobytes(), key="canvas")


page()
'''


def write(folder: Path) -> None:
    """hello.py and canvas.py, beside a copy of the app's .streamlit/config.toml."""
    (folder / "hello.py").write_text(HELLO, encoding="utf-8")
    (folder / "canvas.py").write_text(CANVAS, encoding="utf-8")
    settings = folder / ".streamlit"
    settings.mkdir()
    shutil.copy(ROOT / ".streamlit" / "config.toml", settings / "config.toml")
