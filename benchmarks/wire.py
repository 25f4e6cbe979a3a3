"""A client for Streamlit's websocket protocol, without a browser, to simulate many users.

A `Client` holds the state of a page as a browser would: elements by position, widget values, the
address. It sends real protobuf messages with the values of all widgets. Both directions can be
delayed; the order is kept.
"""

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator, Callable, Iterator
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
    "button": "trigger_value",
}


@dataclass
class Client:
    """One person's tab.

    Attributes:
        url: of the server.
        query: the address's query, as the person's browser has it.
        delay: seconds until the next message arrives, for each direction; None: at once.
        elements: what is on the page, by place.
        values: what the person chose, by widget.
        errors: every exception that the server has shown.
        sent: how many messages went out, received: bytes that came in.
    """

    url: str
    query: str = ""
    path: str = ""
    delay: Callable[[], float] | None = None
    elements: dict[tuple[int, ...], Element] = field(default_factory=dict)
    values: dict[str, WidgetState] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    sent: int = 0
    received: int = 0
    runs: int = 0
    page_hash: str = ""
    running: bool = False
    pages: dict[str, str] = field(default_factory=dict)  # hash by url path
    _owner: dict[tuple[int, ...], tuple[int, str]] = field(default_factory=dict)
    _fragments: tuple[str, ...] = ()
    _outbox: "asyncio.Queue[tuple[float, bytes]]" = field(default_factory=asyncio.Queue)
    _inbox: "asyncio.Queue[tuple[float, bytes]]" = field(default_factory=asyncio.Queue)
    _tasks: "list[asyncio.Task[None]]" = field(default_factory=list)
    _changed: float = 0.0
    _on_their_way: int = 0  # messages, in both directions

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator["Client"]:
        """Opens the tab; returns once the page is there, and closes it at the end."""
        parts = urlsplit(self.url)
        stream = f"ws://{parts.netloc}/_stcore/stream"
        protocol = Subprotocol("streamlit")
        async with connect(
            stream, subprotocols=[protocol], max_size=None, origin=cast(Any, self.url)
        ) as socket:
            tasks = self._tasks = [
                asyncio.create_task(work)
                for work in (self._hear(socket), self._deliver(), self._post(socket))
            ]
            try:
                self.send()
                await self.rest()
                yield self
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    # ---- out

    def send(self, *changes: WidgetState, page: str | None = None, fragment: str = "") -> None:
        """Sends the values of all widgets, these among them, and the address."""
        for change in changes:
            if not (change.trigger_value or change.json_trigger_value):
                self.values[change.id] = change
        self.post(self.compose(*changes, page=page, fragment=fragment))

    def compose(self, *changes: WidgetState, page: str | None = None, fragment: str = "") -> bytes:
        """The message that says how everything stands, from what has arrived so far."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self.query
        state.page_script_hash = self.page_hash if page is None else ""
        state.page_name = self.path if page is None else page
        state.fragment_id = fragment
        state.context_info.url = f"{self.url}/{self.path}"
        state.context_info.timezone = "UTC"
        state.context_info.locale = "en"
        state.context_info.color_scheme = "light"
        now = dict(self._widgets())
        now |= {each: value for each, value in self.values.items() if each in now}
        now |= {change.id: change for change in changes}
        state.widget_states.widgets.extend(now.values())
        return message.SerializeToString()

    def post(self, message: bytes) -> None:
        """Sends a message that was composed, perhaps long ago."""
        self.sent += 1
        self.running = True
        self._changed = asyncio.get_running_loop().time()
        self._on_their_way += 1
        self._outbox.put_nowait((self._due(), message))

    def go(self, path: str, query: str = "") -> None:
        """Another page, as the menu opens it."""
        self.path, self.query = path, query
        self.send(page=path)

    # ---- what is on the page

    def find(self, kind: str, label: str = "") -> Iterator[Any]:
        """Elements of a kind, by the beginning of their label."""
        for element in self.elements.values():
            if element.WhichOneof("type") == kind:
                found = getattr(element, kind)
                if getattr(found, "label", "").startswith(label):
                    yield found

    def fragment(self, widget: str) -> str:
        """The fragment that a widget belongs to; empty if it belongs to the whole page."""
        for path, element in self.elements.items():
            found = getattr(element, element.WhichOneof("type") or "", None)
            if getattr(found, "id", "") == widget:
                return self._owner[path][1]
        return ""

    def shown(self) -> dict[str, Any]:
        """The value of every control by its label, and the trace that is shown."""
        found: dict[str, Any] = {}
        values = dict(self._widgets()) | self.values
        for element in self.elements.values():
            kind = element.WhichOneof("type") or ""
            widget = getattr(element, kind, None)
            if kind in VALUES and kind != "button" and widget is not None:
                value = values[widget.id]
                name = value.WhichOneof("value") or VALUES[kind]
                found[f"{kind} {widget.label}"] = str(getattr(value, name)).strip()
        for component, props in self.props():
            if props.get("kind") in ("entry", "slider"):
                now = json.loads(values[component.id].json_value) if component.id in values else {}
                found[f"{props['kind']} {props['label']}"] = now.get("value", props["value"])
        view = self.view()
        if view is not None:
            found["trace"] = view["trace"]
        return found

    def address(self) -> str:
        """The query that the browser would write: what the server says of the settings."""
        for _, props in self.props():
            if isinstance(props.get("link"), dict):
                return urlencode(props["link"])
        return self.query

    def props(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """The browser components with their JSON props."""
        for component in self.find("bidi_component"):
            text = component.json or component.mixed.json
            if text:
                with contextlib.suppress(ValueError):
                    props = json.loads(text)
                    if isinstance(props, dict):
                        yield component, props

    def view(self) -> dict[str, Any] | None:
        """The props of the attention view, if there is one."""
        return next((props for _, props in self.props() if props.get("trace")), None)

    async def rest(self, seconds: float = QUIET_SECONDS, *, most: float = REST_SECONDS) -> None:
        """Returns when no run is under way and nothing has come for so long.

        Raises:
            TimeoutError: if that does not happen.
            RuntimeError: if the server has closed the connection.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + most
        while self.running or self._pending() or clock() - self._changed < seconds:
            for task in self._tasks:
                if task.done():
                    task.result()
                    raise RuntimeError(f"{self.url} has closed the connection")
            if clock() > deadline:
                raise TimeoutError(f"{self.url}/{self.path}?{self.query} is not at rest")
            await asyncio.sleep(0.02)

    def _pending(self) -> bool:
        """Whether a message is on its way: one that is late has left its queue."""
        return self._on_their_way > 0

    def _widgets(self) -> Iterator[tuple[str, WidgetState]]:
        """The values that widgets have when nobody has touched them."""
        for element in self.elements.values():
            kind = element.WhichOneof("type") or ""
            found: Any = getattr(element, kind, None)
            if kind in VALUES and kind != "button" and getattr(found, "id", ""):
                yield found.id, _untouched(kind, found)
            elif kind == "bidi_component" and found.id in self.values:
                yield found.id, self.values[found.id]

    # ---- in

    def _due(self) -> float:
        now = asyncio.get_running_loop().time()
        return now + (self.delay() if self.delay else 0.0)

    async def _hear(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for message in socket:
                data = message if isinstance(message, bytes) else message.encode()
                self.received += len(data)
                self._on_their_way += 1
                self._inbox.put_nowait((self._due(), data))

    async def _deliver(self) -> None:
        async for data in _in_order(self._inbox):
            self._take(ForwardMsg.FromString(data))
            self._on_their_way -= 1

    async def _post(self, socket: ClientConnection) -> None:
        async for data in _in_order(self._outbox):
            await socket.send(data)
            self._on_their_way -= 1

    def _take(self, message: ForwardMsg) -> None:
        self._changed = asyncio.get_running_loop().time()
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.runs += 1
            self.running = True
            session = message.new_session
            self._fragments = tuple(message.metadata.run.fragment_ids)
            if not self._fragments and session.page_script_hash != self.page_hash:
                self.page_hash = session.page_script_hash
                self.elements.clear()
                self._owner.clear()
        elif kind == "navigation":
            self.pages = {
                page.url_pathname: page.page_script_hash for page in message.navigation.app_pages
            }
            if message.navigation.page_script_hash:
                if message.navigation.page_script_hash != self.page_hash:
                    self.elements.clear()
                    self._owner.clear()
                self.page_hash = message.navigation.page_script_hash
        elif kind == "delta":
            self._place(message)
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "script_finished":
            # a run that ends for another is followed by it
            self.running = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
            if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                self._forget(lambda owner: owner[0] != self.runs)
            elif message.script_finished == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY:
                fragments, runs = self._fragments, self.runs
                self._forget(lambda owner: owner[0] != runs and owner[1] in fragments)

    def _place(self, message: ForwardMsg) -> None:
        path = tuple(message.metadata.delta_path)
        delta = message.delta
        if delta.WhichOneof("type") != "new_element":
            self.elements.pop(path, None)
            return
        element = delta.new_element
        self.elements[path] = element
        self._owner[path] = (self.runs, delta.fragment_id)
        kind = element.WhichOneof("type") or ""
        if kind == "exception":
            self.errors.append(f"{element.exception.type}: {element.exception.message}"[:300])
        found = getattr(element, kind, None)
        if getattr(found, "set_value", False) and found is not None:
            self.values[found.id] = _set(kind, found)

    def _forget(self, gone: Callable[[tuple[int, str]], bool]) -> None:
        for path in [path for path, owner in self._owner.items() if gone(owner)]:
            del self._owner[path]
            self.elements.pop(path, None)
        there = {
            getattr(getattr(element, element.WhichOneof("type") or "", None), "id", "")
            for element in self.elements.values()
        }
        self.values = {each: value for each, value in self.values.items() if each in there}


async def _in_order(queue: "asyncio.Queue[tuple[float, bytes]]") -> AsyncIterator[bytes]:
    """What a queue holds when it is due, never overtaking what came before."""
    while True:
        due, data = await queue.get()
        wait = due - asyncio.get_running_loop().time()
        if wait > 0:
            await asyncio.sleep(wait)
        yield data


def _untouched(kind: str, found: Any) -> WidgetState:
    """The value a widget begins with."""
    value = WidgetState(id=found.id)
    if kind in ("text_input", "text_area"):
        value.string_value = found.default
    elif kind == "selectbox":
        value.string_value = found.options[found.default] if found.options else ""
    elif kind == "slider":
        if found.type == Slider.SELECT_SLIDER:
            value.string_array_value.data.extend(found.options[int(at)] for at in found.default)
        else:
            value.double_array_value.data.extend(found.default)
    elif kind == "number_input":
        value.double_value = found.default
    elif kind == "checkbox":
        value.bool_value = found.default
    elif kind == "button_group":
        value.string_array_value.data.extend(found.options[at].content for at in found.default)
    return value


def _set(kind: str, found: Any) -> WidgetState:
    """The value the server gives a widget."""
    value = WidgetState(id=found.id)
    if kind in ("text_input", "text_area"):
        value.string_value = found.value
    elif kind == "selectbox":
        value.string_value = found.raw_value
    elif kind == "slider":
        if found.type == Slider.SELECT_SLIDER:
            value.string_array_value.data.extend(found.raw_value)
        else:
            value.double_array_value.data.extend(found.value)
    elif kind == "number_input":
        value.double_value = found.value
    elif kind == "checkbox":
        value.bool_value = found.value
    elif kind == "button_group":
        value.string_array_value.data.extend(found.raw_values)
    return value


def changed(kind: str, found: Any, random: random.Random, text: str = "") -> WidgetState:
    """Another value of a widget, as a person would choose it."""
    value = WidgetState(id=found.id)
    if kind in ("text_input", "text_area"):
        value.string_value = text
    elif kind == "selectbox":
        value.string_value = random.choice(list(found.options))
    elif kind == "slider":
        steps = int((found.max - found.min) / (found.step or 1))
        if found.type == Slider.SELECT_SLIDER:
            value.string_array_value.data.append(random.choice(list(found.options)))
            return value
        value.double_array_value.data.append(found.min + random.randint(0, steps) * found.step)
    elif kind == "number_input":
        value.double_value = float(random.randint(int(found.min), min(int(found.max), 99)))
    elif kind == "checkbox":
        value.bool_value = random.random() < 0.5
    elif kind == "button_group":
        value.string_array_value.data.append(random.choice(list(found.options)).content)
    elif kind == "button":
        value.trigger_value = True
    return value


def component_choice(props: dict[str, Any], random: random.Random, text: str) -> Any:
    """Another value of a text entry or a slider of the app's own."""
    if props["kind"] == "entry":
        return text
    steps = int((props["max"] - props["min"]) / props["step"])
    return random.choice(
        props.get("allowed") or [props["min"] + props["step"] * n for n in range(steps + 1)]
    )


def component_value(component: Any, **values: Any) -> WidgetState:
    """What a browser component sets as its state."""
    return WidgetState(id=component.id, json_value=json.dumps(values))


def component_event(component: Any, name: str, value: Any) -> WidgetState:
    """What a browser component triggers."""
    trigger = f"$$STREAMLIT_INTERNAL_KEY_{component.id}__events"
    return WidgetState(id=trigger, json_trigger_value=json.dumps([{"event": name, "value": value}]))
