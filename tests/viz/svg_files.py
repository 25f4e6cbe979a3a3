"""What an SVG file shows, by a reader of XML."""

import base64
import io
from xml.etree import ElementTree

import numpy as np
from PIL import Image

SVG = "{http://www.w3.org/2000/svg}"
ABOUT = ".//{http://purl.org/dc/elements/1.1/}description"
LINK = "{http://www.w3.org/1999/xlink}href"


def texts(file: bytes) -> list[str]:
    """All that is written in it, line by line."""
    return [element.text or "" for element in ElementTree.fromstring(file).iter(f"{SVG}text")]


def about(file: bytes) -> str:
    """What its metadata say that it shows."""
    return " ".join((ElementTree.fromstring(file).findtext(ABOUT) or "").split())


def pictures(file: bytes) -> list[np.ndarray]:
    """Its pictures, uint8 "row col 3"."""
    links = [str(each.get(LINK)) for each in ElementTree.fromstring(file).iter(f"{SVG}image")]
    opened = (Image.open(io.BytesIO(base64.b64decode(link.split(",")[1]))) for link in links)
    return [np.asarray(each.convert("RGB")) for each in opened]
