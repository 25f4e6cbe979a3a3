"""Files are whole, as they were, or not there."""

import errno
from pathlib import Path

import pytest
import torch

import headscope as hs
from analysis.corpus.files import write_json, write_table
from models.whole_file import OutputError, whole, write_whole
from tests.full_disk import disk_with_room_for

WRITERS = {
    "x.json": lambda path: write_json(path, ["x" * 1009]),
    "x.parquet": lambda path: write_table(path, table()),
    **{
        f"x.{kind}": lambda path: hs.export(traced(), path, view="atlas") for kind in ("svg", "npz")
    },
    "x.csv": lambda path: hs.export(traced(), path, layer=0, head=1),
}


def table():
    import pyarrow as pa

    return pa.table({"x": torch.rand(1009).numpy()})


def traced():
    config = hs.EncoderConfig(vocab=31, dim=15, heads=3, depth=2, mlp=13)
    return hs.trace(hs.load(config), torch.arange(11)[None])


@pytest.mark.parametrize("before", [None, b"before"], ids=["new", "there"])
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_nothing_new(name: str, before: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / name
    if before is not None:
        path.write_bytes(before)
    with disk_with_room_for(500), pytest.raises(OutputError, match=r"^output: .*too large") as said:
        WRITERS[name](path)
    assert (said.value.errno, said.value.filename) == (errno.EFBIG, str(path))
    assert [each.read_bytes() for each in tmp_path.iterdir()] == (
        [] if before is None else [before]
    )
    WRITERS[name](path)
    assert [each.name for each in tmp_path.iterdir()] == [name]


def interrupted(path: Path) -> None:
    with whole(path) as beside:
        beside.write_text("half")
        raise KeyboardInterrupt


def test_an_interruption_leaves_nothing_and_a_link_stays_one(tmp_path: Path) -> None:
    link, target = tmp_path / "link.txt", tmp_path / "target.txt"
    link.symlink_to(target)
    with pytest.raises(KeyboardInterrupt):
        interrupted(link)
    assert [each.name for each in tmp_path.iterdir()] == ["link.txt"]
    write_whole(link, "all")
    assert link.is_symlink()
    assert target.read_text() == "all"
    with pytest.raises(OutputError, match=r"^output: .*no/file\.txt: No such"):
        write_whole(tmp_path / "no" / "file.txt", b"nowhere")
