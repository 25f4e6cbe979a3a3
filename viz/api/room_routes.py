"""The routes of rooms: every message is validated here before it changes anything."""

import json
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from viz.api import qr, requests, room
from viz.api.registry import UnknownError
from viz.api.requests import QuestionError
from viz.api.room import Room, Rooms, Screen
from viz.api.routes import guarded

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

MAX_BODY = 4096  # bytes
MAX_TEXT = 240  # characters of a question
MAX_CHOICE = 80
MAX_FIGURE = 1500  # characters of the inputs of a figure
MAX_TOKEN = 64
MAX_STEPS = 100
CHOICES = range(2, 6)
HEARTBEAT_SECONDS = 15.0  # a stream that is silent for longer is taken for dead on its way
NO_STORE = {"Cache-Control": "no-store"}
LOOPBACK = ("localhost", "127.0.0.1")

Read = Callable[[Any], Any]


def routes(allowed_hosts: Callable[[], Iterable[str]], pages: Collection[str]) -> "list[Route]":
    """The routes, for the app's server; they find nothing unless the environment says ROOM=1.

    Args:
        allowed_hosts: returns the allowed host names; empty for all.
        pages: names of the lessons.
    """
    from starlette.responses import JSONResponse, Response, StreamingResponse
    from starlette.routing import Route

    async def closed(request: "Request") -> "Response":
        raise UnknownError(request.url.path)

    if not room.is_open():
        return [
            Route("/api/room{rest:path}", guarded(closed, allowed_hosts), methods=["GET", "POST"])
        ]
    rooms = Rooms()
    shown_fields = {"page": page(pages), "step": whole(MAX_STEPS), "steps": whole(MAX_STEPS)}
    changes = {**CHANGES, "show": Change(show, {"key": token, **shown_fields}, SHOWN_TOO)}

    async def opening(request: "Request") -> "Response":
        room = rooms.open(screen_of(**read(await body_of(request), shown_fields, SHOWN_TOO)))
        host = shared_host(request.headers.get("host", ""), allowed_hosts())
        answer = {"code": room.code, "key": room.key, "host": host}
        return JSONResponse(answer, headers=NO_STORE)

    async def changing(request: "Request") -> "Response":
        room = rooms.get(request.path_params["code"])
        change = changes.get(request.path_params["change"])
        if change is None:
            raise UnknownError(request.path_params["change"])
        message = read(await body_of(request), change.required, change.optional)
        return JSONResponse(change.make(room, **message) or {}, headers=NO_STORE)

    async def listening(request: "Request") -> "Response":
        room = rooms.get(request.path_params["code"])
        name = token(request.query_params.get("member"))
        room.member(name)
        headers = {**NO_STORE, "X-Accel-Buffering": "no"}
        return StreamingResponse(events(room, name), 200, headers, "text/event-stream")

    async def qr_code(request: "Request") -> "Response":
        code = rooms.get(request.path_params["code"]).code
        picture = qr.svg(request.query_params.get("link", ""), code)
        return Response(picture, headers=NO_STORE, media_type="image/svg+xml")

    return [
        Route("/api/room", guarded(opening, allowed_hosts), methods=["POST"]),
        Route("/api/room/{code}/events", guarded(listening, allowed_hosts), methods=["GET"]),
        Route("/api/room/{code}/qr", guarded(qr_code, allowed_hosts), methods=["GET"]),
        Route("/api/room/{code}/{change}", guarded(changing, allowed_hosts), methods=["POST"]),
    ]


async def events(room: Room, name: str) -> AsyncIterator[bytes]:
    """What a member is told, as server-sent events: now, and whenever it has changed."""
    sent = b""
    with room.listening(name):
        while room.open and name in room.members:
            seen = json.dumps(room.seen_by(name), ensure_ascii=False).encode()
            if seen != sent:
                sent = seen
                yield b"data: " + seen + b"\n\n"
                continue  # it may have changed while this was sent
            if not await room.change(HEARTBEAT_SECONDS):
                yield b": still here\n\n"
    yield b"event: end\ndata: {}\n\n"


async def body_of(request: "Request") -> bytes:
    """The body of a request.

    Raises:
        QuestionError: it is too long.
    """
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise QuestionError(f"expected at most {MAX_BODY} bytes")
    return body


def shared_host(host: str, allowed: Iterable[str]) -> str:
    """The host and port at which others find this server.

    Args:
        host: the Host header of the presenter's own request.
        allowed: host names of this server, the one to share first.
    """
    name, colon, port = host.partition(":")
    others = [each for each in allowed if each not in LOOPBACK and "*" not in each]
    return f"{others[0]}{colon}{port}" if name in LOOPBACK and others else host


# --- messages ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One kind of message to a room.

    Attributes:
        make: makes the change, given the room and the fields; returns the answer.
        required: readers of the fields.
        optional: of those that may be absent.
    """

    make: Callable[..., Any]
    required: Mapping[str, Read] = field(default_factory=dict)
    optional: Mapping[str, Read] = field(default_factory=dict)


def show(room: Room, key: str, **fields: Any) -> None:
    room.show(key, screen_of(**fields))


def join(room: Room, key: str | None = None) -> dict[str, str]:
    return {"member": room.join(key)}


def read(
    body: bytes, required: Mapping[str, Read], optional: Mapping[str, Read] | None = None
) -> Any:
    """The validated fields of a message in JSON.

    Raises:
        QuestionError: it is no JSON object, or a field is missing, unknown or invalid.
    """
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise QuestionError("expected JSON") from None
    readers = {**required, **(optional or {})}
    if not isinstance(message, dict) or not required.keys() <= message.keys() <= readers.keys():
        raise QuestionError(f"expected an object with {', '.join(required) or 'no fields'}")
    return {name: readers[name](value) for name, value in message.items()}


def token(value: Any) -> str:
    """A code, key or member."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_TOKEN or not value.isascii():
        raise QuestionError("expected a code")
    return value


def whole(high: int) -> Read:
    """A whole number from 0 to `high`."""

    def reading(value: Any) -> int:
        if type(value) is not int or not 0 <= value <= high:
            raise QuestionError(f"expected a whole number from 0 to {high}")
        return value

    return reading


def text(longest: int) -> Read:
    """One line of plain text."""

    def reading(value: Any) -> str:
        if not isinstance(value, str) or len(value) > longest:
            raise QuestionError(f"expected a text of at most {longest} characters")
        return " ".join(requests.sentence(value.replace("\n", " ")).split())

    return reading


def choices(value: Any) -> tuple[str, ...]:
    """Labels of answers."""
    if not isinstance(value, list) or len(value) not in CHOICES:
        raise QuestionError(f"expected {CHOICES[0]} to {CHOICES[-1]} choices")
    labels = tuple(text(MAX_CHOICE)(label) for label in value)
    if not all(labels):
        raise QuestionError("expected a label for every choice")
    return labels


def page(names: Collection[str]) -> Read:
    """The name of a lesson."""

    def reading(value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            raise QuestionError("expected the name of a lesson")
        return value

    return reading


def flag(value: Any) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise QuestionError("expected true or false")
    return value


def screen_of(page: str, step: int, steps: int, **more: Any) -> Screen:
    """What the presenter shows, with a step that exists."""
    if step >= max(steps, 1):
        raise QuestionError(f"expected a step below {max(steps, 1)}")
    return Screen(page, step, steps, **more)


SHOWN_TOO = {"figure": text(MAX_FIGURE), "elsewhere": flag}


KEY = {"key": token}
CHANGES = {
    "join": Change(join, {}, KEY),
    "ask": Change(Room.ask, {**KEY, "text": text(MAX_TEXT), "choices": choices}),
    "reveal": Change(Room.reveal, KEY),
    "dismiss": Change(Room.dismiss, KEY),
    "answer": Change(
        Room.answer,
        {"member": token, "question": whole(10**6), "choice": whole(CHOICES[-1] - 1)},
    ),
    "end": Change(Room.end, KEY),
}
