"""The two ways to work through the shards of a plan: in this process, or on a Ray cluster.

Both give what each shard leaves behind, in the order of the shards.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from analysis.corpus.plan import Plan, open_shard
from analysis.corpus.state import State
from analysis.corpus.tally import CELLS, tally
from analysis.corpus.texts import Text
from models.run import as_model, load, trace

if TYPE_CHECKING:
    from models.model import Model

Report = Callable[[int], None]
Parts = Iterator[tuple[int, State]]
ENGINES = ("local", "ray")
TOKENS = {"cpu": 2**10, "cuda": 2**15}  # of a batch, at most


class Worker:
    """Holds a model, and reads shards of a plan."""

    def __init__(self, source: "Model | str", plan: Plan, *, alone: bool = True) -> None:
        """Takes a model, or loads what a name or path stands for; `alone` is False on a cluster,
        where each worker has a share of the processors, or a GPU."""
        self.model, self.plan = load(source) if isinstance(source, str) else as_model(source), plan
        threads = plan.settings.threads or (0 if alone else 1)
        if not alone and torch.cuda.is_available():
            self.model.network.to("cuda")
        if threads and self.model.device.type == "cpu":
            torch.set_num_threads(threads)

    def read_shard(self, folder: Path, number: int, report: Report = lambda done: None) -> State:
        """What a shard leaves behind; an exception of the report, after each batch, ends it."""
        state, done = State.empty(self.plan), 0
        for batch in self.batches(open_shard(folder, number)):
            self.read(batch, state)
            done += len(batch)
            report(done)
        state.forget()
        return state

    def batches(self, texts: Sequence[Text]) -> Iterator[list[Text]]:
        """Inputs of equal length together, the short ones first."""
        kind, places = "cuda" if self.model.device.type == "cuda" else "cpu", self.plan.places
        heads = max(place.heads for place in places)
        alone = self.plan.settings.pictures or any(p.where.kind == "cross" for p in places)
        groups: dict[int, list[Text]] = {}
        for text in texts:
            groups.setdefault(max(1, text.tokens), []).append(text)
        for tokens, group in sorted(groups.items()):
            most = max(1, min(TOKENS[kind] // tokens, CELLS[kind] // (heads * tokens**2)))
            step = 1 if alone else most
            for start in range(0, len(group), step):
                yield group[start : start + step]

    def read(self, batch: list[Text], state: State) -> None:
        """Reads a batch; if it is refused, one by one."""
        try:
            if self.plan.settings.pictures:
                t = trace(self.model, Path(batch[0].text))
            else:
                targets = [text.target for text in batch if text.target is not None] or None
                t = trace(self.model, [text.text for text in batch], targets, logits_to_keep=1)
            if len({len(each) for each in t.tokens}) > 1:
                raise ValueError("its tokens are not those that were counted")
        except (OSError, ValueError) as error:
            if len(batch) == 1:
                state.notes[f"refused: {' '.join(str(error).split())}"] += 1
            else:
                for text in batch:
                    self.read([text], state)
            return
        tally(self.plan, state, batch, t)


def local(model: "Model", plan: Plan, folder: Path, shards: Sequence[int], report: Report) -> Parts:
    """Reads some shards of a run here; reports after each batch how many texts of it are read."""
    worker = Worker(model, plan)
    for number in shards:
        yield number, worker.read_shard(folder, number, report)


def on_ray(
    source: "Model | str", plan: Plan, folder: Path, shards: Sequence[int], report: Report
) -> Parts:
    """Reads some shards on a Ray cluster; reports 0 after each.

    Ray starts on this machine where no cluster is named (RAY_ADDRESS). Every machine must see the
    folder of the run. An actor holds the model; it takes `threads` processors, or a GPU where the
    cluster has some. A model that is a name or a path is loaded by each actor.

    Raises:
        ValueError: where Ray is not installed.
    """
    try:
        import ray  # pyright: ignore[reportMissingImports]
        from ray.util import ActorPool  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        message = "ray is not installed: pip install ray, on every machine of the cluster"
        raise ValueError(message) from error
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    resources, threads = ray.cluster_resources(), max(1, plan.settings.threads)
    gpus = int(resources.get("GPU", 0))
    actors = min(gpus or max(1, int(resources.get("CPU", 1)) // threads), len(shards))
    lives = {"max_restarts": 3, "max_task_retries": 3}  # of a worker whose machine dies
    actor = ray.remote(num_cpus=threads, num_gpus=1 if gpus else 0, **lives)(Worker)
    pool: Any = ActorPool([actor.remote(source, plan, alone=False) for _ in range(actors)])
    where = folder.resolve()
    parts = pool.map(lambda each, number: each.read_shard.remote(where, number), shards)
    for number, part in zip(shards, parts, strict=True):
        report(0)
        yield number, part
