"""The real server in a real browser: it comes up, keeps its policy, and the console is silent."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from playwright.sync_api import Browser
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

pytestmark = pytest.mark.browser


def test_the_start_page_keeps_its_policy_and_asks_no_other_server(
    browser: Browser, app_url: str
) -> None:
    page = browser.new_page()  # that has fetched nothing before
    asked: list[str] = []
    problems: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    answer = page.goto(app_url)
    assert answer is not None
    assert "script-src 'self' 'sha256-" in answer.headers["content-security-policy"]
    page.locator(".headscope[data-painted]").wait_for(timeout=60_000)
    page.wait_for_load_state("networkidle")
    page.close()
    own = (app_url, app_url.replace("http:", "ws:"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(own)] == []
    assert problems == []


def test_no_message_is_replaced_by_one_that_the_browser_may_just_have_dropped(app_url: str) -> None:
    with ThreadPoolExecutor(1) as beside:  # Playwright keeps this thread's event loop
        first, second = beside.submit(asyncio.run, two_runs(app_url, "positions")).result()
    lengths = [message.ByteSize() for message in first]
    assert max(lengths) > 20_000  # the chart
    assert [message.WhichOneof("type") for message in second].count("ref_hash") == 0
    assert max(message.ByteSize() for message in second) == max(lengths)


async def two_runs(url: str, page: str) -> list[list[ForwardMsg]]:
    """The messages of two runs of a page; the browser says that it still has the first run's."""
    stream = url.replace("http:", "ws:") + "/_stcore/stream"
    options = {"subprotocols": [Subprotocol("streamlit")], "max_size": None, "origin": url}
    async with connect(stream, **cast(Any, options)) as socket:
        runs: list[list[ForwardMsg]] = []
        for _ in range(2):
            request = BackMsg()
            request.rerun_script.page_name = page
            known = [message.hash for run in runs for message in run if message.hash]
            request.rerun_script.cached_message_hashes.extend(known)
            await socket.send(request.SerializeToString())
            runs.append([])
            while not runs[-1] or runs[-1][-1].WhichOneof("type") != "script_finished":
                runs[-1].append(ForwardMsg.FromString(cast(bytes, await socket.recv())))
        return runs
