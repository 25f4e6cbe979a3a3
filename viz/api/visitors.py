"""Who asks: ids that this server gives its visitors, signed so that nobody can make one up."""

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request

HEADER = "x-headscope-session"
_SECRET = secrets.token_bytes(32)


def issued() -> str:
    """The id of a new visitor."""
    name = secrets.token_urlsafe(9)
    return f"{name}.{_signature(name)}"


def visitor_of(request: "Request") -> str:
    """Who sent a request: an id of this server, else the address of the connection."""
    id = request.headers.get(HEADER, "")
    name, _, signature = id.partition(".")
    if hmac.compare_digest(signature.encode(), _signature(name).encode()):
        return id
    return request.client.host if request.client else ""


def _signature(name: str) -> str:
    return hmac.new(_SECRET, name.encode(), hashlib.sha256).hexdigest()
