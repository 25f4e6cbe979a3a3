"""A client for Streamlit's websocket protocol, without a browser."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

QUIET_SECONDS = 0.2
REST_SECONDS = 120.0


@dataclass
class Client:
    """One tab.

    Attributes:
        url: of the server.
        query: of the address.
        path: of the page.
        components: the page's browser components, the newest of each id.
        errors: every exception that the server has shown.
    """

    url: str
    query: str = ""
    path: str = ""
    components: dict[str, Any] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    _page_hash: str = ""
    _socket: ClientConnection = field(init=False)

    @asynccontextmanager
    async def connected(self) -> AsyncIterator["Client"]:
        """Opens the tab; returns once the page is there, and closes it at the end."""
        stream = f"ws://{urlsplit(self.url).netloc}/_stcore/stream"
        protocol = Subprotocol("streamlit")
        async with connect(
            stream, subprotocols=[protocol], max_size=None, origin=cast(Any, self.url)
        ) as self._socket:
            await self.send()
            yield self

    async def send(self) -> None:
        """Asks for a run; returns when the page is at rest."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self.query
        state.page_script_hash = self._page_hash
        state.page_name = self.path
        state.context_info.url = f"{self.url}/{self.path}"
        state.context_info.timezone = "UTC"
        state.context_info.locale = "en"
        state.context_info.color_scheme = "light"
        await self._socket.send(message.SerializeToString())
        running = True
        while True:
            patience = REST_SECONDS if running else QUIET_SECONDS
            try:
                data = await asyncio.wait_for(self._socket.recv(decode=False), patience)
            except TimeoutError:
                if running:
                    raise
                return
            running = self._take(ForwardMsg.FromString(data), running)

    def _take(self, message: ForwardMsg, running: bool) -> bool:
        """Notes what a message says; returns whether a run is under way."""
        match message.WhichOneof("type"):
            case "new_session":
                self._page_hash = message.new_session.page_script_hash
                return True
            case "navigation" if message.navigation.page_script_hash:
                self._page_hash = message.navigation.page_script_hash
            case "delta":
                element = message.delta.new_element
                if element.HasField("exception"):
                    shown = element.exception
                    self.errors.append(f"{shown.type}: {shown.message}"[:300])
                elif element.HasField("bidi_component"):
                    self.components[element.bidi_component.id] = element.bidi_component
            case "script_finished":  # a run that ends for another is followed by it
                return message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
        return running
