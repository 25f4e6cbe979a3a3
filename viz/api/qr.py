"""The link of a room as a QR code."""

from io import BytesIO
from urllib.parse import parse_qs, urlsplit

from viz.api import room
from viz.api.requests import QuestionError

LONGEST = 106  # bytes in a code of 37 × 37 modules, whose error correction is a single block
QUIET_ZONE = 4  # modules, as the standard asks


def svg(link: str, code: str) -> bytes:
    """A picture of a room's link, black on white in every theme, of no fixed size.

    Args:
        link: the whole address, as the presenter's browser knows it.
        code: of the room, which the link must carry.

    Raises:
        QuestionError: it is no link to that room, or too long.
    """
    if len(link.encode()) > LONGEST or not link.isascii():
        raise QuestionError(f"expected an ASCII link of at most {LONGEST} characters")
    try:
        parts = urlsplit(link)
    except ValueError:
        raise QuestionError("expected a link") from None
    if parts.scheme not in ("http", "https") or parse_qs(parts.query) != {room.PARAM: [code]}:
        raise QuestionError("expected a link to this room")
    import segno

    file = BytesIO()
    segno.make_qr(link, error="l", boost_error=False).save(
        file,
        kind="svg",
        border=QUIET_ZONE,
        dark="#000",
        light="#fff",
        omitsize=True,
        xmldecl=False,
        svgclass=None,
        lineclass=None,
    )
    return file.getvalue()
