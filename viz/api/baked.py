"""Answers that come with the app: those to what its first pictures ask for.

They are given while the result itself is being computed, which needs PyTorch; then the result
answers. `python -m viz.baked` writes them, and a test compares them with those of the results.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from models.catalogue import entry
from models.request import TraceRequest
from viz.api.tracing import Between

FILE = Path(__file__).with_name("baked.zip")
ID = "the-id-of-a-baked-result"  # in their place, and as long as those of the registry
INDEX = "index.json"


@dataclass(frozen=True)
class Answer:
    """The answer to one request.

    Attributes:
        body: with `ID` in place of the result's id.
        kind: media type.
    """

    body: bytes
    kind: str

    def of(self, id: str) -> bytes:
        """Its body, about the result with this id."""
        return self.body.replace(ID.encode(), id.encode())


Answers = Mapping[str, Answer]  # by what was asked, as `plain` writes it


def plain(path: str) -> str:
    """The last segment of a request's path, with the parameters in alphabetical order."""
    name, _, query = path.partition("?")
    return f"{name}?{urlencode(sorted(parse_qsl(query)))}"


def answers(request: TraceRequest, between: Between) -> Answers:
    """The baked answers about a result; empty for all but a few."""
    return _baked().get(_key(request, between), {})


def write(known: Iterable[tuple[TraceRequest, Between, Answers]]) -> bytes:
    """The file of these answers."""
    index: dict[str, dict[str, tuple[str, str]]] = {}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for request, between, of_request in known:
            named = index[_key(request, between)] = {}
            for asked, answer in of_request.items():
                member = hashlib.sha256(answer.body).hexdigest()[:16]
                named[asked] = member, answer.kind
                archive.writestr(_member(member), answer.body)
        archive.writestr(_member(INDEX), json.dumps(index, indent=1))
    return file.getvalue()


@cache
def _baked() -> dict[str, Answers]:
    with zipfile.ZipFile(FILE) as archive:
        index = json.loads(archive.read(INDEX))
        return {
            key: {
                asked: Answer(archive.read(member), kind)
                for asked, (member, kind) in of_request.items()
            }
            for key, of_request in index.items()
        }


def _key(request: TraceRequest, between: Between) -> str:
    """A digest of what the answers depend on: the request, and the weights of its model."""
    name = request.model.catalogue
    weights = entry(name).sha256 if name else ""
    request = replace(request, model=replace(request.model, stamp=""))
    return hashlib.sha256(repr((request, between, weights)).encode()).hexdigest()


def _member(name: str) -> zipfile.ZipInfo:
    """A member of the file that depends on nothing but its contents."""
    member = zipfile.ZipInfo(name)
    member.compress_type = zipfile.ZIP_DEFLATED
    return member
