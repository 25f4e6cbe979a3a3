"""Reads a corpus: text files, JSON lines, CSV, Parquet, folders of them, standard input, pictures.

Every reader gives texts one by one, with the file and the line that each comes from, and complains
in one line about what it cannot read.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STDIN = "-"
COLUMNS = ("text", "sentence", "content", "body")  # where no column is named
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff")


@dataclass(frozen=True)
class Text:
    """One text of a corpus.

    Attributes:
        source: file and line.
        text: the text; of a picture, its path.
        target: what an encoder–decoder is to write; None for what it writes itself.
    """

    source: str
    text: str
    target: str | None = None


def texts_of(
    sources: Sequence[str | Path], *, column: str | None = None, target: str | None = None
) -> Iterator[Text]:
    """The texts of files, folders and standard input ("-"), in order; empty ones are left out.

    Args:
        sources: files by their suffix (.txt: one text a line; .jsonl, .csv, .parquet), or folders,
            whose files are read in the order of their names.
        column: the column or key that holds the text.
        target: the column that holds what an encoder–decoder is to write.

    Raises:
        ValueError: for a file that cannot be read, and a column that is not there.
        OSError: for a file that is not there.
    """
    for source in sources:
        if str(source) == STDIN:
            yield from _lines(sys.stdin, "standard input")
            continue
        for path in _files(Path(source), tuple(READERS)):
            reader = READERS.get(path.suffix.lower())
            if reader is None:
                expected = ", ".join(READERS)
                raise ValueError(f"{path.name}: expected a folder or one of {expected}")
            try:
                for text in reader(path, column, target):
                    if text.text.strip():
                        yield text
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{path.name}: expected UTF-8, received byte 0x{error.object[error.start]:02x}:"
                    " convert it first (iconv -t utf-8)"
                ) from error


def pictures_of(sources: Sequence[str | Path]) -> Iterator[Text]:
    """The pictures of files and folders, in the order of their names.

    Raises:
        ValueError: for a file that is no picture, by its suffix.
        OSError: for a file that is not there.
    """
    for source in sources:
        for path in _files(Path(source), PICTURES):
            if path.suffix.lower() not in PICTURES:
                raise ValueError(f"{path.name}: expected a picture ({', '.join(PICTURES)})")
            yield Text(path.name, str(path.resolve()))


def check_paths(sources: Iterable[Path]) -> None:
    """Refuses what is not there, before anything is opened.

    Raises:
        OSError: for a file that is not there.
    """
    for source in sources:
        if str(source) != STDIN and not source.exists():
            raise FileNotFoundError(f"{source}: there is no such file or folder")


def _files(source: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """A file itself; of a folder, the files in it and below it that can be read."""
    check_paths([source])
    if not source.is_dir():
        return [source]
    paths = [path for path in sorted(source.rglob("*")) if path.suffix.lower() in suffixes]
    if not paths:
        raise ValueError(f"{source.name}: expected files that end in {', '.join(suffixes)}")
    return paths


def _lines(file: Iterable[str], name: str) -> Iterator[Text]:
    for number, line in enumerate(file, 1):
        if line.strip():
            yield Text(f"{name}:{number}", line.strip())


def _of_txt(path: Path, column: str | None, target: str | None) -> Iterator[Text]:
    with path.open(encoding="utf-8-sig") as file:
        yield from _lines(file, path.name)


def _of_jsonl(path: Path, column: str | None, target: str | None) -> Iterator[Text]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            place = f"{path.name}:{number}"
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ValueError(f"{place}: expected one JSON value a line: {error}") from error
            if isinstance(row, str):
                yield Text(place, row)
            elif isinstance(row, dict):
                yield _of_row(place, row, column, target)
            else:
                received = type(row).__name__
                raise ValueError(f"{place}: expected a string or an object, received {received}")


def _of_csv(path: Path, column: str | None, target: str | None) -> Iterator[Text]:
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        try:
            for row in rows:
                yield _of_row(f"{path.name}:{rows.line_num}", row, column, target)
        except csv.Error as error:
            raise ValueError(
                f"{path.name}:{rows.line_num}: not readable as CSV: {error}"
            ) from error


def _of_parquet(path: Path, column: str | None, target: str | None) -> Iterator[Text]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except pa.ArrowException as error:
        first = str(error).splitlines()[0]
        raise ValueError(f"{path.name}: not readable as Parquet: {first}") from error
    with file:
        name = _column(path.name, file.schema_arrow.names, column)
        wanted = (
            [name]
            if target is None
            else [name, _column(path.name, file.schema_arrow.names, target)]
        )
        number = 0
        for batch in file.iter_batches(columns=wanted):
            for row in batch.to_pylist():
                number += 1
                yield _of_row(f"{path.name}:{number}", row, name, target)


def _of_row(place: str, row: Mapping[str, Any], column: str | None, target: str | None) -> Text:
    """The text of a row with named columns."""
    names = [str(name) for name in row if name is not None]
    text = row[_column(place, names, column)]
    goal = None if target is None else row[_column(place, names, target)]
    for each in (text, goal):
        if each is not None and not isinstance(each, str):
            raise ValueError(f"{place}: expected text, received {type(each).__name__}")
    return Text(place, text or "", goal)


def _column(place: str, names: Sequence[str], column: str | None) -> str:
    """The column that holds the text: the one named, or the usual one, or the only one."""
    if column is not None:
        if column in names:
            return column
        raise ValueError(f"{place}: expected a column {column!r}, received {', '.join(names)}")
    usual = [name for name in COLUMNS if name in names]
    if usual or len(names) == 1:
        return (usual or list(names))[0]
    raise ValueError(f"{place}: which column holds the text? Name one of {', '.join(names)}")


Reader = Callable[[Path, str | None, str | None], Iterator[Text]]
READERS: dict[str, Reader] = {
    ".txt": _of_txt,
    ".jsonl": _of_jsonl,
    ".csv": _of_csv,
    ".parquet": _of_parquet,
}
