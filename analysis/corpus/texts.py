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
        number: in the corpus, once that is planned.
        tokens: their number, likewise.
    """

    source: str
    text: str
    target: str | None = None
    number: int = 0
    tokens: int = 0


def texts_of(
    sources: Iterable[str | Path | Text],
    *,
    pictures: bool = False,
    column: str | None = None,
    target: str | None = None,
) -> Iterator[Text]:
    """The inputs of a corpus, in order; empty texts are left out.

    Args:
        sources: texts, and paths: of files by their suffix (.txt: one text a line; .jsonl, .csv,
            .parquet), of folders, whose files are read in the order of their names, or "-" for
            standard input.
        pictures: whether files are pictures.
        column: the column or key that holds the text.
        target: the column that holds what an encoder–decoder is to write.

    Raises:
        ValueError: for a file that cannot be read, and a column that is not there.
        OSError: for a file that is not there.
    """
    for number, source in enumerate(sources, 1):
        if isinstance(source, Text):
            yield source
        elif pictures:
            yield from _pictures(Path(source))
        elif isinstance(source, str):
            yield from _texts("text", iter([(number, {"text": source})]), None, None)
        elif str(source) == STDIN:
            yield from _texts("standard input", _lines(sys.stdin), column, target)
        else:
            yield from _of_files(source, column, target)


def _of_files(source: Path, column: str | None, target: str | None) -> Iterator[Text]:
    for path in _files(source, tuple(READERS)):
        try:
            rows = READERS[path.suffix.lower()](path)
            yield from _texts(path.name, rows, column, target)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{path.name}: expected UTF-8, received byte 0x{error.object[error.start]:02x}:"
                " convert it first (iconv -t utf-8)"
            ) from error


def _pictures(source: Path) -> Iterator[Text]:
    for path in _files(source, PICTURES):
        yield Text(path.name, str(path.resolve()))


def _files(source: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """A file itself; of a folder, the files in it and below it that can be read."""
    if not source.exists():
        raise FileNotFoundError(f"{source}: there is no such file or folder")
    every = sorted(source.rglob("*")) if source.is_dir() else [source]
    paths = [path for path in every if path.suffix.lower() in suffixes]
    if not paths:
        raise ValueError(f"{source.name}: expected files that end in {', '.join(suffixes)}")
    return paths


Rows = Iterator[tuple[int, Mapping[str, Any]]]  # number of the line, and the value of each column


def _lines(file: Iterable[str]) -> Rows:
    for number, line in enumerate(file, 1):
        yield number, {"text": line.strip()}


def _of_txt(path: Path) -> Rows:
    with path.open(encoding="utf-8-sig") as file:
        yield from _lines(file)


def _of_jsonl(path: Path) -> Rows:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            place = f"{path.name}:{number}"
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ValueError(f"{place}: expected one JSON value a line: {error}") from error
            if not isinstance(row, str | dict):
                received = type(row).__name__
                raise ValueError(f"{place}: expected a string or an object, received {received}")
            yield number, {"text": row} if isinstance(row, str) else row


def _of_csv(path: Path) -> Rows:
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        try:
            for row in rows:
                yield rows.line_num, row
        except csv.Error as error:
            line = f"{path.name}:{rows.line_num}"
            raise ValueError(f"{line}: not readable as CSV: {error}") from error


def _of_parquet(path: Path) -> Rows:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            batches = (batch.to_pylist() for batch in file.iter_batches())
            yield from enumerate((row for batch in batches for row in batch), 1)
    except pa.ArrowException as error:
        first = str(error).splitlines()[0]
        raise ValueError(f"{path.name}: not readable as Parquet: {first}") from error


READERS: dict[str, Callable[[Path], Rows]] = {
    ".txt": _of_txt,
    ".jsonl": _of_jsonl,
    ".csv": _of_csv,
    ".parquet": _of_parquet,
}


def _texts(file: str, rows: Rows, column: str | None, target: str | None) -> Iterator[Text]:
    """The texts of rows with named columns, but for empty ones."""
    for number, row in rows:
        place, names = f"{file}:{number}", [str(name) for name in row if name is not None]
        text = row[_column(place, names, column)]
        goal = None if target is None else row[_column(place, names, target)]
        for each in (text, goal):
            if each is not None and not isinstance(each, str):
                raise ValueError(f"{place}: expected text, received {type(each).__name__}")
        if text and text.strip():
            yield Text(place, text, goal)


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
