"""The two ways to work through the shards of a plan: in this process, or on a Ray cluster.

Both hand the same bytes to the same `Worker` and get the same tables back.
"""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.corpus.files import FOLDER
from analysis.corpus.plan import Plan
from analysis.corpus.state import State
from analysis.corpus.worker import Worker
from models.run import as_model, load

if TYPE_CHECKING:
    import pyarrow as pa

    from models.model import Model

Report = Callable[[int], None]
Parts = Iterator[tuple[int, State]]
ENGINES = ("local", "ray")


def local(model: "Model", plan: Plan, folder: Path, shards: Sequence[int], report: Report) -> Parts:
    """Reads some shards here, in order.

    Args:
        model: the model.
        plan: of the run.
        folder: of the run.
        shards: their numbers.
        report: called after each batch with how many texts of the shard are read.
    """
    import pyarrow.parquet as pq

    worker = Worker(model, plan.scheme)
    for number in shards:
        table = pq.read_table(folder / FOLDER / plan.shards[number])
        yield number, State.from_table(worker(table, report))


def on_ray(
    source: "Model | str", plan: Plan, folder: Path, shards: Sequence[int], report: Report
) -> Parts:
    """Reads some shards on a Ray cluster, in any order.

    Ray starts on this machine where no cluster is named (RAY_ADDRESS). Every machine must see the
    folder of the run. An actor holds the model; it takes `threads` processors, or a GPU where the
    cluster has some.

    Args:
        source: the model; a name or a path is loaded by each actor.
        plan: of the run.
        folder: of the run.
        shards: their numbers.
        report: called after each shard with 0.

    Raises:
        ValueError: where Ray is not installed.
    """
    try:
        import ray  # pyright: ignore[reportMissingImports]
        import ray.data  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        message = "ray is not installed: pip install ray, on every machine of the cluster"
        raise ValueError(message) from error
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    resources, threads = ray.cluster_resources(), max(1, plan.settings.threads)
    gpus = int(resources.get("GPU", 0))
    actors = gpus or max(1, int(resources.get("CPU", 1)) // threads)
    paths = [str((folder / FOLDER / plan.shards[number]).resolve()) for number in shards]
    batches: Any = ray.data.read_binary_files(paths, include_paths=True).map_batches(
        Actor,
        fn_constructor_args=(source, plan.to_json()),
        batch_size=1,
        batch_format="pyarrow",
        concurrency=(1, min(actors, len(shards))),
        num_cpus=threads,
        num_gpus=1 if gpus else 0,
    )
    for batch in batches.iter_batches(batch_size=1, batch_format="pyarrow"):
        for row in batch.to_pylist():
            report(0)
            yield row["shard"], State.from_table(_unpacked(row["part"]))


class Actor:
    """A worker on a machine of the cluster."""

    def __init__(self, source: "Model | str", plan: dict[str, Any]) -> None:
        import torch

        model = load(source) if isinstance(source, str) else as_model(source)
        parsed = Plan.from_json(plan)
        torch.set_num_threads(max(1, parsed.settings.threads))
        if torch.cuda.is_available():
            model.network.to("cuda")
        self.worker = Worker(model, parsed.scheme)

    def __call__(self, batch: "pa.Table") -> "pa.Table":
        """One row a shard: its number, and what it leaves behind."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        numbers, parts = [], []
        for row in batch.to_pylist():
            table = pq.read_table(io.BytesIO(row["bytes"]))
            named = re.search(r"(\d+)\.parquet$", row["path"])
            numbers.append(int(named.group(1)) if named else -1)
            parts.append(_packed(self.worker(table)))
        columns = [pa.array(numbers, pa.int64()), pa.array(parts, pa.large_binary())]
        return pa.table(columns, ["shard", "part"])


def _packed(table: "pa.Table") -> bytes:
    import pyarrow as pa

    into = io.BytesIO()
    with pa.ipc.new_stream(into, table.schema) as writer:
        writer.write_table(table)
    return into.getvalue()


def _unpacked(data: bytes) -> "pa.Table":
    import pyarrow as pa

    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()
