"""A package index on this machine, with small wheels in it."""

import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any

from models.files.wheels import Wheel

PROJECT, VERSION = "small-weights", "1.0"
ARCHIVE = "small_weights-1.0-py3-none-any.whl"
FILES = {"small_weights/model.bin": bytes(range(256)) * 40, "small_weights/settings.json": b"{}"}
SPOILED = {"small_weights/__init__.py": b"raise SystemExit('imported')"}


def packed(files: Mapping[str, bytes] = FILES) -> bytes:
    """A wheel with these files."""
    out = BytesIO()
    about = f"{PROJECT.replace('-', '_')}-{VERSION}.dist-info"
    metadata = (
        f"Metadata-Version: 2.1\nName: {PROJECT}\nVersion: {VERSION}\nRequires-Dist: nothing\n"
    )
    tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**files, **SPOILED}.items():
            archive.writestr(name, data)
        archive.writestr(f"{about}/METADATA", metadata)
        archive.writestr(f"{about}/WHEEL", tags)
        archive.writestr(f"{about}/RECORD", "")
    return out.getvalue()


def wheel_of(archive: bytes, inside: Mapping[str, bytes] = FILES, **changes: Any) -> Wheel:
    """What pins it."""
    files = " ".join(f"{name} {sha256(data).hexdigest()}" for name, data in inside.items())
    pinned = {"sha256": sha256(archive).hexdigest(), "size": len(archive), "contents": files}
    return Wheel(**{"source": f"{PROJECT} {VERSION}", **pinned, **changes})


@contextmanager
def serving(archive: bytes, *, sent: int | None = None) -> Iterator[str]:
    """Serves the wheel; the URL of the index.

    Args:
        archive: the wheel.
        sent: so many bytes of it, before the connection is closed; None sends all.
    """

    class Index(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = archive
            if self.path == f"/simple/{PROJECT}/":
                body = f'<a href="/{ARCHIVE}">{ARCHIVE}</a>'.encode()
            elif self.path != f"/{ARCHIVE}":
                self.send_error(404)
                return
            html = self.path.startswith("/simple")
            self.send_response(200)
            self.send_header("Content-Type", "text/html" if html else "application/octet-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if html else body[:sent])

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/simple"
        running.shutdown()
        thread.join()
