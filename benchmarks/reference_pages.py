"""Minimal reference pages, written to a folder with the app's settings."""

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# A minimal Streamlit page.
HELLO = """\
import streamlit as st

st.write("hello")
"""

# A minimal interactive picture: a canvas on a plain page that fetches one byte per cell from a
# plain server. With `?kept=yes` the bytes are already in memory.
CANVAS = '''\
import socket
import sys

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

PAGE = """<!doctype html>
<main data-testid="stMain"><p>bare</p></main>
<canvas tabindex="0" style="width: 560px; height: 560px; image-rendering: pixelated"></canvas>
<script>
  const canvas = document.querySelector("canvas");
  const query = new URLSearchParams(location.search);
  const side = Number(query.get("side") ?? 32);
  let number = 0;
  async function bytes() {
    const answer = await fetch(`/bytes?side=${side}&number=${number}`);
    return new Uint8Array(await answer.arrayBuffer());
  }
  function draw(data) {
    canvas.width = canvas.height = side;
    const image = new ImageData(side, side);
    const cells = new Uint32Array(image.data.buffer);
    for (let i = 0; i < cells.length; i++) cells[i] = 0xff000000 | ((data[i] + number) * 0x10101);
    canvas.getContext("2d").putImageData(image, 0, 0);
    canvas.dataset.painted = canvas.dataset.head = Number(canvas.dataset.painted ?? 0) + 1;
  }
  let kept;
  const show = async () => draw(query.has("kept") ? (kept ??= await bytes()) : await bytes());
  canvas.onkeydown = () => {
    number += 1;
    if (kept) draw(kept);
    else show();
  };
  show();
</script>"""


async def page(_):
    return HTMLResponse(PAGE)


async def cells(request):
    side, number = (int(request.query_params[name]) for name in ("side", "number"))
    drawn = np.random.default_rng(number).integers(0, 256, (side, side), np.uint8)
    return Response(drawn.tobytes(), media_type="application/octet-stream")


async def health(_):
    return Response("ok")


listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
routes = [Route("/bare", page), Route("/bytes", cells), Route("/_stcore/health", health)]
server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="warning"))
server.run(sockets=[listening])
'''


def command(folder: Path, port: int) -> tuple[list[str], Path]:
    """The command of the canvas page, and where it runs."""
    return [sys.executable, "canvas.py", str(port)], folder


def write(folder: Path) -> None:
    """hello.py and canvas.py, beside a copy of the app's .streamlit/config.toml."""
    (folder / "hello.py").write_text(HELLO, encoding="utf-8")
    (folder / "canvas.py").write_text(CANVAS, encoding="utf-8")
    settings = folder / ".streamlit"
    settings.mkdir()
    shutil.copy(ROOT / ".streamlit" / "config.toml", settings / "config.toml")
