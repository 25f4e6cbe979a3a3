"""The headers around every answer."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest

import serve


def test_inline_scripts_are_named_by_hash() -> None:
    page = '<script>\nhello\n</script><script type="module" src="./x.js"></script>'
    assert serve.inline_script_hashes(page) == serve.inline_script_hashes(
        "<script>\nhello\n</script>"
    )
    # sha256 of nothing, as every table of test vectors gives it
    empty = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    assert serve.inline_script_hashes("<script></script>") == [empty]


def test_nothing_comes_from_elsewhere() -> None:
    policy = serve.security_headers([])["Content-Security-Policy"]
    sources = {word for part in policy.split("; ") for word in part.split()[1:]}
    assert sources == {
        "'self'",
        "'none'",
        "'unsafe-inline'",
        "data:",
        "blob:",
        "ws://127.0.0.1:*",
        "ws://localhost:*",
    }
    assert "script-src 'self';" in policy + ";"


def test_every_answer_carries_the_headers() -> None:
    sent = []

    async def app(scope, receive, send) -> None:
        headers = [(b"x-content-type-options", b"wrong"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def send(message) -> None:
        sent.append(message)

    async def receive():
        return {}

    wrapped = serve.WithHeaders(app, {"X-Content-Type-Options": "nosniff"})
    with pytest.raises(StopIteration):  # it never waits, so one step runs all of it
        wrapped({"type": "http"}, receive, send).send(None)
    assert sent[0]["headers"] == [
        (b"content-type", b"text/plain"),
        (b"x-content-type-options", b"nosniff"),
    ]


def test_the_page_is_told_where_its_server_is() -> None:
    page = serve.with_addresses("<head><script>first</script></head>")
    told, first = page.split("</script><script>")
    assert "BACKEND_BASE_URL:location.origin+'/'" in told
    assert first == "first</script></head>"
    assert len(serve.inline_script_hashes(page)) == 2


def test_every_page_has_an_address() -> None:
    assert "text" in serve.page_names()
    assert "__init__" not in serve.page_names()


# --- the last messages of a run -------------------------------------------------------------------


class Ended:
    """A runner whose script has ended: it takes no more requests."""

    def request_rerun(self, data) -> bool:
        return False


def session(monkeypatch, loop, begun) -> Any:
    """A session of Streamlit's with a runner that has ended, and what begins in it."""
    from streamlit.runtime.app_session import AppSession, AppSessionState

    monkeypatch.setattr(AppSession, "_create_scriptrunner", lambda self, data: begun.append(data))
    serve.deliver_last_messages()
    monkeypatch.delattr(AppSession, "__del__")  # it would shut down what never ran
    made: Any = AppSession.__new__(AppSession)
    made._event_loop, made._scriptrunner = loop, Ended()
    made._state = AppSessionState.APP_NOT_RUNNING
    return made


def test_a_run_begins_when_the_one_before_has_said_everything(monkeypatch) -> None:
    said, begun = [], []

    async def events() -> None:
        made = session(monkeypatch, asyncio.get_running_loop(), begun)

        def last_message() -> None:
            said.append(list(begun))
            made._scriptrunner = None

        made._create_scriptrunner("change")
        made._event_loop.call_soon(last_message)
        assert begun == []
        for _ in range(100):
            await asyncio.sleep(0.001)

    asyncio.run(events())
    assert said == [[]]  # nothing had begun when the last message was said
    assert begun == ["change"]


def test_events_that_wait_are_handled_in_the_order_in_which_they_came(monkeypatch) -> None:
    begun: list[str] = []

    async def events() -> None:
        made = session(monkeypatch, asyncio.get_running_loop(), begun)
        made._create_scriptrunner("older")
        made._scriptrunner = None  # its last message is delivered
        made._create_scriptrunner("newer")
        await asyncio.sleep(0.05)

    asyncio.run(events())
    assert begun == ["older", "newer"]


def test_a_first_run_begins_at_once_and_a_closed_session_begins_none(monkeypatch) -> None:
    from streamlit.runtime.app_session import AppSessionState

    begun: list[str] = []
    made = session(monkeypatch, None, begun)
    made._scriptrunner = None
    made._create_scriptrunner("first")
    made._state = AppSessionState.SHUTDOWN_REQUESTED
    made._create_scriptrunner("too late")
    assert begun == ["first"]


def test_a_run_that_ended_is_told_as_it_ended_when_a_fragment_follows(monkeypatch) -> None:
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

    def said(text: str) -> ForwardMsg:
        message = ForwardMsg()
        message.metadata.delta_path[:] = [0, 0]
        message.delta.fragment_id = "view"
        message.delta.new_element.markdown.body = text
        return message

    monkeypatch.setattr(AppSession, "_clear_queue", AppSession._clear_queue)
    serve.keep_what_was_said()
    made = session(monkeypatch, None, [])
    made._browser_queue = ForwardMsgQueue()
    ended = ForwardMsg(script_finished=ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
    for message in (said("first"), ended):
        made._browser_queue.enqueue(message)
    made._clear_queue(["view"])
    made._browser_queue.enqueue(said("second"))
    assert made._browser_queue.flush() == [said("first"), ended, said("second")]

    made._browser_queue.enqueue(said("of a page that is left"))
    made._clear_queue(None)
    assert made._browser_queue.flush() == []


def test_a_page_that_is_left_does_not_come_back_by_what_it_still_says(monkeypatch) -> None:
    from streamlit.proto.ClientState_pb2 import ClientState
    from streamlit.runtime.app_session import AppSession

    asked: list[tuple[str, str]] = []

    def ask(_, told: ClientState) -> None:
        asked.append((told.page_script_hash, told.fragment_id))

    monkeypatch.setattr(AppSession, "request_rerun", ask)
    serve.leave_for_good()
    made = session(monkeypatch, None, [])
    for page, fragment in (("", ""), ("one", "view"), ("two", ""), ("one", "view"), ("two", "box")):
        made.request_rerun(ClientState(page_script_hash=page, fragment_id=fragment))
    assert asked == [("", ""), ("one", "view"), ("two", ""), ("two", "box")]


def test_what_is_imported_ahead_is_there_and_small() -> None:
    code = f"""
import importlib, sys
for name in {serve.FIRST_PAGE}:
    importlib.import_module(name)
assert "numpy" in sys.modules and "viz.pages.text.reading" in sys.modules
large = {{"torch", "pandas", "transformers"}} & set(sys.modules)
assert not large, large
"""
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=serve.ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
