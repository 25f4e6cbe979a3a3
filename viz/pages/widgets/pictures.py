"""The choice of a picture: example buttons, a file uploader, and the camera."""

from collections.abc import Mapping
from typing import Any

from models.files.card import Example
from viz.pages import shared
from viz.pages.image.picture import PICTURES, TITLES, opened_image
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls, uploads

UPLOAD = link.sha256("upload")


def take(page: str) -> None:
    """Makes an uploaded file the picture; must be called after `session.enter`."""
    uploads.take(page, UPLOAD.name, opened_image)


def choose(page: str, examples: Mapping[str, Example | None]) -> None:
    """Draws the examples and the uploader; the container must have the key `{page}_pictures`.

    Args:
        page: whose settings `photo` and `upload` are set.
        examples: by the name of their picture; None for a photo without a hint.
    """
    uploaded = has_upload(page)
    for name, example in examples.items():
        controls.button(
            TITLES[name] if example is None else example.name,
            f"{page}_photo_{name.replace('/', '_').removesuffix('.png')}",
            show,
            page,
            name,
            example,
            chosen=not uploaded and session.get(page, "photo") == name,
        )
    if uploaded:
        controls.button("Your picture", f"{page}_photo_own", lambda: None, chosen=True)
        photo = session.get(page, "photo")
        again = photo, examples.get(photo)
        controls.button("✕", f"{page}_photo_remove", show, page, *again, help="Remove your picture")
    uploads.uploader(page, UPLOAD.name, "Or drop a PNG, JPEG, WebP, GIF or BMP")
    uploads.camera(page, UPLOAD.name)


def show(page: str, name: str, example: Example | None = None) -> None:
    """Makes an example the page's picture, and sets its selection."""
    uploads.forget_refusal(page, UPLOAD.name)
    selection = None if example is None else selection_of(example)
    session.assign(page, {"photo": name, "upload": ""}, selection)


def selection_of(example: Example) -> dict[str, Any]:
    """The selection of the view for an example."""
    return {
        "layer": example.layer,
        "head": example.head,
        "token": example.query,
        "direction": "out",
    }


def problems(page: str) -> list[str]:
    """A message if the link's picture is missing, and one if the last file was refused."""
    lines, upload = [], session.get(page, "upload")
    refused = uploads.refused(page, UPLOAD.name)
    if upload and not has_upload(page):
        lines.append(
            f"This link refers to an uploaded picture (SHA-256 {upload[:12]}…): upload the same"
            " file to see it. A photo is shown instead."
        )
    if refused:
        lines.append(f"{refused}. The previous picture is still shown.")
    return lines


def has_upload(page: str) -> bool:
    """Whether the page's picture is an uploaded file."""
    return uploads.data(page, UPLOAD.name) is not None


def current(page: str) -> tuple[bytes, str]:
    """The file of the page's picture, uploaded or shipped with the app, and its SHA-256."""
    data = uploads.data(page, UPLOAD.name)
    if data is not None:
        return data, session.get(page, UPLOAD.name)
    data = PICTURES[session.get(page, "photo")].read_bytes()
    return data, link.digest_of(data)


def name_in_code(page: str) -> str:
    """File name of the page's picture in Python code."""
    if has_upload(page):
        return "picture.png"
    return PICTURES[session.get(page, "photo")].relative_to(shared.ROOT).as_posix()
