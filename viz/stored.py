"""Answers that come with the app, for where computing them needs what is not there.

A JSON file beside what it belongs to holds them: `real.json` of a lesson what its functions answer,
for machines without its model; `opening.json` of Explore what the view asks for its first pictures,
for the seconds in which PyTorch is imported. `python -m viz.store` writes both. A file that is
missing or damaged holds none: then they are computed.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from threading import Semaphore
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

PATH = "/stored"
NOTHING: Mapping[str, Any] = {"models": {}, "answers": {}}
served = Semaphore(0)  # released by each response, for a page that lets the browser paint first


@cache
def read(file: Path) -> Mapping[str, Any]:
    """The digests of a file's "models", and its "answers" by what is asked."""
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
        return held if isinstance(held["answers"], dict) and held["models"] else NOTHING
    except (OSError, ValueError, LookupError, TypeError):
        return NOTHING


def write(file: Path, command: str, models: Mapping[str, str], answers: Mapping[str, Any]) -> None:
    """Writes a file, with a line for each answer."""
    head = json.dumps({"command": command, "models": models}, indent=1)[:-2]
    lines = ",\n".join(f"{_short(asked)}:{_short(answer)}" for asked, answer in answers.items())
    file.write_text(f'{head},\n "answers": {{\n{lines}\n }}\n}}\n', encoding="utf-8")


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# ---- responses to the browser


def response(body: bytes, kind: str) -> dict[str, str]:
    """A response as a stored answer: its media type, its digest, and its body."""
    digest = hashlib.sha256(body).hexdigest()
    return {"kind": kind, "sha256": digest, "body": base64.b85encode(body).decode()}


@cache
def _responses(file: Path, subject: str) -> Mapping[str, tuple[str, bytes, str]]:
    """Name, body and media type of the responses about a subject; {} if any is damaged."""
    responses = {}
    try:
        for asked, each in read(file)["answers"].get(subject, {}).items():
            body = base64.b85decode(each["body"])
            if hashlib.sha256(body).hexdigest() != each["sha256"]:
                return {}
            responses[asked] = each["sha256"], body, each["kind"]
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}
    return responses


def paths(file: Path, subject: str) -> dict[str, str]:
    """Where the browser gets the responses about a subject, by what it asks."""
    return {asked: f"{PATH}/{name}" for asked, (name, _, _) in _responses(file, subject).items()}


def route(file: Path) -> "Route":
    """The route of a file's responses, for the app's server."""
    from starlette.responses import Response
    from starlette.routing import Route

    async def serve(request: "Request") -> "Response":
        of_all = [_responses(file, subject).values() for subject in read(file)["answers"]]
        bodies = {name: (body, kind) for each in of_all for name, body, kind in each}
        body, kind = bodies.get(request.path_params["name"], (b"", "text/plain"))
        served.release()
        headers = {"Cache-Control": "no-store"}
        return Response(body, 200 if body else 404, headers, kind)

    return Route(f"{PATH}/{{name}}", serve)
