"""The files of a run: written whole or not at all, and read with care.

The manifest says what was read, by which model, and how.
"""

import errno
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.files.objects import read_object
from models.whole_file import whole, write_whole

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

FOLDER = "work"  # in that of a run: what it needs to go on
MAX_VALUES = 1 << 26  # of a table
FORMAT = "headscope corpus 1"
SHAPE = {  # what is read of a manifest, with its types
    "status": str,
    "model.name": str,
    "model.digest": str,
    "settings.pictures": bool,
    "texts": int,
    "tokens": int,
    "corpora": list,
}


def write_table(path: Path, table: "pa.Table") -> None:
    """Writes a Parquet file; the old one stays until the new one is complete.

    Raises:
        OSError: if there is no room.
    """
    import pyarrow.parquet as pq

    with whole(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def write_json(path: Path, value: Any) -> None:
    """Writes a JSON file; the old one stays until the new one is complete."""
    write_whole(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def reason_of(problem: object) -> str:
    """Why a run ended, in one line."""
    if isinstance(problem, OSError) and problem.errno == errno.ENOSPC:
        return "the disk is full: make room, then go on with the run; what was saved is kept"
    return " ".join(str(problem).split()) or type(problem).__name__


def read_table(path: Path) -> "pa.Table":
    """Reads a Parquet file.

    Raises:
        ValueError: for a file that is none, or has too many values.
        OSError: for a file that is not there.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if _values_in(pq.read_metadata(path)) > MAX_VALUES:
            raise ValueError(f"{path.name}: expected at most {MAX_VALUES:,} values")
        return pq.read_table(path)
    except pa.ArrowException as error:
        first = str(error).splitlines()[0]
        raise ValueError(f"{path.name}: not readable as Parquet: {first}") from error


def _values_in(metadata: "pq.FileMetaData") -> int:
    """The values of a table, told by its last bytes: a small file can stand for a huge table."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return sum(group.column(n).num_values for group in groups for n in range(group.num_columns))


def manifest_of(folder: Path, *, needed: bool = True) -> dict[str, Any]:
    """The manifest of the folder of a run; empty for a folder without one where none is needed.

    Raises:
        ValueError: for a folder without one, and for one that is not of a run.
    """
    if not (folder / "manifest.json").exists():
        if needed:
            raise ValueError(f"{folder.name}: expected the folder of a run, with a manifest.json")
        return {}
    try:
        manifest = read_object(folder / "manifest.json")
    except ValueError as error:
        raise ValueError(f"{folder.name}: {error}") from error
    if manifest.get("format") != FORMAT:
        raise ValueError(f"{folder.name}: expected a run of this program ({FORMAT})")
    for name, kind in SHAPE.items():
        value: Any = manifest
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if not isinstance(value, kind):
            received = f"expected {kind.__name__}, received {type(value).__name__}"
            raise ValueError(f"{folder.name}: manifest.json: {name}: {received}")
    if not all(isinstance(corpus, dict) for corpus in manifest["corpora"]):
        raise ValueError(f"{folder.name}: manifest.json: corpora: expected objects")
    return manifest
