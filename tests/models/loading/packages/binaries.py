"""Writers of other programs' binary checkpoints, as their documentation has them."""

import struct
from collections.abc import Mapping, Set

import numpy as np

CT2_TYPES = {"float32": 0, "int8": 1, "int16": 2, "int32": 3, "float16": 4}


def ctranslate2_bytes(
    tensors: Mapping[str, np.ndarray],
    aliases: Mapping[str, str],
    *,
    version: int = 6,
    specification: str = "WhisperSpec",
) -> bytes:
    """A model of CTranslate2."""

    def text(name: str) -> bytes:
        return struct.pack("<H", len(name) + 1) + name.encode() + b"\0"

    out = struct.pack("<I", version) + text(specification) + struct.pack("<II", 3, len(tensors))
    for name, array in tensors.items():
        data = array.tobytes()
        out += text(name) + struct.pack(f"<B{array.ndim}I", array.ndim, *array.shape)
        out += struct.pack("<BI", CT2_TYPES[array.dtype.name], len(data)) + data
    out += struct.pack("<I", len(aliases))
    return out + b"".join(text(alias) + text(name) for alias, name in aliases.items())


def marian_bytes(tensors: Mapping[str, np.ndarray], rounded: Set[str], settings: str = "") -> bytes:
    """A binary model of Marian; matrices that are `rounded` have 8 bits a weight."""
    items: list[tuple[str, int, tuple[int, ...], bytes]] = []
    for name, array in tensors.items():
        if name not in rounded:
            items.append((name, 0x404, array.shape, array.astype("<f4").tobytes()))
            continue
        factor = np.float32(127 / np.abs(array).max())
        whole = np.clip(np.rint(array * factor), -127, 127).astype(np.int8)
        stored = whole if name == "Wemb" else whole.T
        data = stored.tobytes() + struct.pack("<f", factor)
        items.append((name, 0x4101, array.shape, data))
        items.append((f"{name}_QuantMultA", 0x404, (1, 1), struct.pack("<f", 1.0)))
    text = settings.encode() + b"\0"
    items.append(("special:model.yml", 0x101, (len(text),), text))
    filled = [(n, k, s, d + bytes(-len(d) % 256)) for n, k, s, d in items[:-1]] + items[-1:]
    out = struct.pack("<QQ", 1, len(filled))
    for name, kind, shape, data in filled:
        out += struct.pack("<QQQQ", len(name) + 1, kind, len(shape), len(data))
    out += b"".join(name.encode() + b"\0" for name, *_ in filled)
    out += b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in filled)
    padding = -(len(out) + 8) % 256
    out += struct.pack("<Q", padding) + bytes(padding)
    return out + b"".join(data for *_, data in filled)
