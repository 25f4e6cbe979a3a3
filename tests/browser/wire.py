"""A client for Streamlit's websocket protocol, without a browser, to send what one would not.

A `Client` holds the state of a page as a browser would: elements by position, widget values, the
address. It sends real protobuf messages with the values of all widgets.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

QUIET_SECONDS = 0.5
REST_SECONDS = 120.0
VALUES = {  # the field of a widget's value, by kind of element
    "text_input": "string_value",
    "text_area": "string_value",
    "selectbox": "string_value",
    "slider": "double_array_value",
    "number_input": "double_value",
    "checkbox": "bool_value",
    "button_group": "string_array_value",
}


@dataclass
class Client:
    """One tab.

    Attributes:
        url: of the server.
        query: of the address.
        path: of the page.
        elements: on the page, by position.
        values: the user's choices, by widget.
        errors: every exception that the server has shown.
    """

    url: str
    query: str = ""
    path: str = ""
    elements: dict[tuple[int, ...], Element] = field(default_factory=dict)
    values: dict[str, WidgetState] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    _runs: int = 0
    _run_of: dict[tuple[int, ...], int] = field(default_factory=dict)  # of each element
    _page_hash: str = ""
    _running: bool = False
    _outbox: "asyncio.Queue[bytes]" = field(default_factory=asyncio.Queue)
    _tasks: "list[asyncio.Task[None]]" = field(default_factory=list)
    _changed: float = 0.0

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator["Client"]:
        """Opens the tab; returns once the page is there, and closes it at the end."""
        stream = f"ws://{urlsplit(self.url).netloc}/_stcore/stream"
        protocol = Subprotocol("streamlit")
        async with connect(
            stream, subprotocols=[protocol], max_size=None, origin=cast(Any, self.url)
        ) as socket:
            works = self._receive(socket), self._transmit(socket)
            tasks = self._tasks = [asyncio.create_task(work) for work in works]
            try:
                self.send()
                await self.rest()
                yield self
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    def send(self, *changes: WidgetState) -> None:
        """Sends the values of all widgets, these among them, and the address."""
        self.values |= {change.id: change for change in changes}
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self.query
        state.page_script_hash = self._page_hash
        state.page_name = self.path
        state.context_info.url = f"{self.url}/{self.path}"
        state.context_info.timezone = "UTC"
        state.context_info.locale = "en"
        state.context_info.color_scheme = "light"
        now = self._widgets()
        now |= {each: value for each, value in self.values.items() if each in now}
        now |= {change.id: change for change in changes}
        state.widget_states.widgets.extend(now.values())
        self._running = True
        self._changed = asyncio.get_running_loop().time()
        self._outbox.put_nowait(message.SerializeToString())

    def find(self, kind: str, label: str = "") -> Iterator[Any]:
        """Elements of a kind, by the beginning of their label."""
        for element in self.elements.values():
            if element.WhichOneof("type") == kind:
                widget = getattr(element, kind)
                if getattr(widget, "label", "").startswith(label):
                    yield widget

    def value(self, kind: str, label: str) -> str:
        """The value of a control, as text."""
        widget = next(self.find(kind, label))
        return str(getattr((self._widgets() | self.values)[widget.id], VALUES[kind])).strip()

    def address(self) -> str:
        """The query that the browser would write: the settings that the server states."""
        links = (props["link"] for _, props in self.props() if isinstance(props.get("link"), dict))
        return urlencode(next(links, None) or {}) or self.query

    def props(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """The browser components with their JSON props."""
        for component in self.find("bidi_component"):
            if component.json:
                (props,) = json.loads(component.json)
                yield component, props

    def view(self) -> dict[str, Any] | None:
        """The props of the attention view, if there is one."""
        return next((props for _, props in self.props() if props.get("trace")), None)

    def type_text(self, words: str) -> None:
        """Types into the first text entry of the page."""
        entry = next(each for each, props in self.props() if props.get("kind") == "entry")
        self.send(WidgetState(id=entry.id, json_value=json.dumps({"value": words})))

    async def rest(self) -> None:
        """Returns when no run is under way and no message has come for a while.

        Raises:
            TimeoutError: if that does not happen.
            RuntimeError: if the server has closed the connection.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + REST_SECONDS
        while self._running or clock() - self._changed < QUIET_SECONDS:
            for task in self._tasks:
                if task.done():
                    task.result()
                    raise RuntimeError(f"{self.url} has closed the connection")
            if clock() > deadline:
                raise TimeoutError(f"{self.url}/{self.path}?{self.query} is not at rest")
            await asyncio.sleep(0.02)

    def _widgets(self) -> dict[str, WidgetState]:
        """The values of widgets that nobody has touched."""
        values = {}
        for element in self.elements.values():
            kind = element.WhichOneof("type") or ""
            widget: Any = getattr(element, kind, None)
            if kind in VALUES and getattr(widget, "id", ""):
                values[widget.id] = _initial(kind, widget)
            elif kind == "bidi_component" and widget.id in self.values:
                values[widget.id] = self.values[widget.id]
        return values

    async def _receive(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for message in socket:
                data = message if isinstance(message, bytes) else message.encode()
                self._take(ForwardMsg.FromString(data))

    async def _transmit(self, socket: ClientConnection) -> None:
        while True:
            await socket.send(await self._outbox.get())

    def _take(self, message: ForwardMsg) -> None:
        self._changed = asyncio.get_running_loop().time()
        match message.WhichOneof("type"):
            case "new_session":
                self._runs += 1
                self._running = True
                self._turn_to(message.new_session.page_script_hash)
            case "navigation" if message.navigation.page_script_hash:
                self._turn_to(message.navigation.page_script_hash)
            case "delta":
                self._place(message)
            case "page_info_changed":
                self.query = message.page_info_changed.query_string
            case "script_finished":
                # a run that ends for another is followed by it
                early = ForwardMsg.FINISHED_EARLY_FOR_RERUN
                self._running = message.script_finished == early
                if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                    self._forget_older()

    def _turn_to(self, page_hash: str) -> None:
        if page_hash != self._page_hash:
            self._page_hash = page_hash
            self.elements.clear()
            self._run_of.clear()

    def _place(self, message: ForwardMsg) -> None:
        path = tuple(message.metadata.delta_path)
        delta = message.delta
        if delta.WhichOneof("type") != "new_element":
            self.elements.pop(path, None)
            return
        element = self.elements[path] = delta.new_element
        self._run_of[path] = self._runs
        kind = element.WhichOneof("type") or ""
        if kind == "exception":
            self.errors.append(f"{element.exception.type}: {element.exception.message}"[:300])
        widget = getattr(element, kind, None)
        if widget is not None and getattr(widget, "set_value", False):
            self.values[widget.id] = _initial(kind, widget)

    def _forget_older(self) -> None:
        """Drops the elements that the last run did not draw, and the values of their widgets."""
        for path in [path for path, run in self._run_of.items() if run != self._runs]:
            del self._run_of[path]
            self.elements.pop(path, None)
        ids = {
            getattr(getattr(element, element.WhichOneof("type") or "", None), "id", "")
            for element in self.elements.values()
        }
        self.values = {each: value for each, value in self.values.items() if each in ids}


def _initial(kind: str, widget: Any) -> WidgetState:
    """The value that the server sets, or the one a widget begins with."""
    value, given = WidgetState(id=widget.id), getattr(widget, "set_value", False)
    if kind in ("text_input", "text_area"):
        value.string_value = widget.value if given else widget.default
    elif kind == "selectbox":
        chosen = widget.options[widget.default] if widget.options else ""
        value.string_value = widget.raw_value if given else chosen
    elif kind == "slider" and widget.type == Slider.SELECT_SLIDER:
        chosen = (widget.options[int(index)] for index in widget.default)
        value.string_array_value.data.extend(widget.raw_value if given else chosen)
    elif kind == "slider":
        value.double_array_value.data.extend(widget.value if given else widget.default)
    elif kind == "number_input":
        value.double_value = widget.value if given else widget.default
    elif kind == "checkbox":
        value.bool_value = widget.value if given else widget.default
    elif kind == "button_group":
        chosen = (widget.options[index].content for index in widget.default)
        value.string_array_value.data.extend(widget.raw_values if given else chosen)
    return value
