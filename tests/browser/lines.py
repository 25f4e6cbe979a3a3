"""The line between a page and the app, which a test can hold: websocket both ways, and the API."""

from playwright.sync_api import Page, WebSocketRoute
from streamlit.proto.BackMsg_pb2 import BackMsg


class Line:
    """What goes from a page to the app and back over the websocket.

    While `hold_in` the browser does not get what the app sends, while `hold_out` the app does not
    get what the browser sends; `go_on` delivers all of it in its order.
    """

    def __init__(self, page: Page) -> None:
        self.hold_in = self.hold_out = False
        self.runs: list[BackMsg] = []  # everything that asked for a run
        self._in: list[bytes] = []
        self._out: list[bytes] = []
        page.route_web_socket("**/_stcore/stream", self._connect)

    def _connect(self, browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()

        def from_browser(message: str | bytes) -> None:
            assert isinstance(message, bytes)
            run = BackMsg.FromString(message)
            if run.WhichOneof("type") == "rerun_script":
                self.runs.append(run)
            if self.hold_out:
                self._out.append(message)
            else:
                server.send(message)

        def from_server(message: str | bytes) -> None:
            assert isinstance(message, bytes)
            if self.hold_in:
                self._in.append(message)
            else:
                browser.send(message)

        browser.on_message(from_browser)
        server.on_message(from_server)
        self._browser, self._server = browser, server

    def go_on(self) -> None:
        """Delivers what had to wait, and holds nothing any more."""
        self.hold_in = self.hold_out = False
        out, self._out = self._out, []
        for message in out:
            self._server.send(message)
        waiting, self._in = self._in, []
        for message in waiting:
            self._browser.send(message)
