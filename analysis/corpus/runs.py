"""Runs a corpus through a model, and keeps what was done if it is killed, stopped or fails."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.circuits import OF_WEIGHTS, Known, circuit_scores
from analysis.corpus.engines import ENGINES, local, on_ray
from analysis.corpus.files import FOLDER, FORMAT, manifest_of, write_json
from analysis.corpus.plan import (
    LONGEST,
    PAIRS,
    SHARD,
    Place,
    Plan,
    Settings,
    cut,
    forget,
    places_of,
    planned,
)
from analysis.corpus.results import write_results
from analysis.corpus.state import State
from analysis.corpus.texts import Text, texts_of
from analysis.corpus.watched import Control, Progress, StoppedError
from analysis.heads import KINDS
from models.run import as_model, load, trace

if TYPE_CHECKING:
    from models.model import Model
    from models.trace import Trace

Source = str | Path | Text
PROBES = 8  # inputs that may be refused before the first that is read
NO_HEADS = "no layer of it has attention weights over its own tokens"


def corpus(
    model: "Model | str",
    texts: Iterable[Source],
    out: str | Path,
    *,
    engine: str = "local",
    column: str | None = None,
    target: str | None = None,
    longest: int = LONGEST,
    shard: int = SHARD,
    threads: int = 0,
    device: str | None = None,
    about: str = "",
    pairs: int = PAIRS,
    control: Control = lambda progress: None,
) -> Path:
    """Reads a corpus once, and writes what every head does into a folder of Parquet files.

    A run that was killed goes on after its last shard when it is called again.

    Args:
        model: a model, or what `load` takes.
        texts: texts (str), and files, folders or standard input (`Path`, `Path("-")`); for a model
            that reads pictures, their files and folders.
        out: the folder.
        engine: "local" or "ray".
        column: of files with columns, the one that holds the text.
        target: the column that holds what an encoder–decoder is to write.
        longest: tokens of a text that are read, at most.
        shard: texts between two savings, and what one worker takes at a time.
        threads: of PyTorch, for each worker on processors; 0 for PyTorch's own choice, and one for
            each worker of a Ray cluster.
        device: such as "cuda", of a model that is loaded here; None for the usual one.
        about: what the texts are, for display.
        pairs: of tokens that are kept of each head, those with the most weight.
        control: called after each batch. It may wait, to pause, and raise `StoppedError`, to end
            the run with what was read; after any other exception too, the next call goes on there.

    Returns:
        The folder.

    Raises:
        ValueError: for a corpus that cannot be read, and a folder that holds another run.
        OSError: for files that are not there, and a full disk.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine: expected one of {ENGINES}, received {engine!r}")
    settings = Settings(longest=longest, threads=threads, pairs=pairs)
    opened = load(model, device=device) if isinstance(model, str) else as_model(model)
    settings = replace(settings, pictures=opened.preprocessing is not None)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    every = texts_of(texts, pictures=settings.pictures, column=column, target=target)
    run = _Run(opened, folder, about, control)
    run.prepare(every, settings, shard)
    shards = [number for number in range(len(run.plan.sizes)) if number not in run.state.done]
    source = model if engine == "ray" and isinstance(model, str) else opened
    read: Any = local if engine == "local" else on_ray
    status = "complete"
    try:
        for number, part in read(source, run.plan, folder, shards, run.report):
            run.add(number, part)
    except StoppedError:
        status = "stopped"
    write_results(folder, run.plan, run.state)
    run.describe(status)
    if status == "complete":
        forget(folder)
    return folder


class _Run:
    """One call of `corpus`."""

    def __init__(self, model: "Model", folder: Path, about: str, control: Control) -> None:
        self.model, self.folder, self.about, self.control = model, folder, about, control
        self.path = folder / FOLDER / "state.npz"
        self.plan: Plan
        self.state: State
        self.began, self.first = 0.0, 0

    def prepare(self, texts: Iterator[Text], settings: Settings, shard: int) -> None:
        """Takes up the plan that is there, or makes one."""
        plan, digest = Plan.open(self.folder), self.model.weights_digest()
        self._check(plan, settings, digest)
        if plan is None:
            tried: list[Text] = []
            probe = self._probe(texts, tried, settings)
            places = places_of([site for site in probe.sites if site.kind in KINDS])
            plan = Plan(settings, places, (), _scores(probe, places), digest)
            every = self._watched(chain(tried, texts))
            plan = planned(plan, self.model, self.folder, every, shard)
        self.plan = plan
        self.state = State.open(self.path, plan)
        self.describe("running")
        self.began, self.first = time.monotonic(), self.read_texts

    def _check(self, plan: Plan | None, settings: Settings, digest: str) -> None:
        """Refuses a folder that holds something else."""
        name, known = self.folder.name, manifest_of(self.folder, needed=False)
        if known.get("status") == "complete":
            raise ValueError(f"{name} holds a finished run: name another folder")
        if not known and any(path.name != FOLDER for path in self.folder.iterdir()):
            raise ValueError(f"{name} is not empty, and holds no run: name another folder")
        if plan is None:
            return
        if plan.model != digest:
            raise ValueError(f"{name} holds a run of other weights: name another folder")
        pairs = zip(asdict(settings).items(), asdict(plan.settings).values(), strict=True)
        other = [key for (key, asked), held in pairs if asked != held and key != "threads"]
        if other:
            raise ValueError(
                f"{name} holds a run with other settings ({', '.join(other)}): name another folder"
            )

    def _probe(self, texts: Iterator[Text], tried: list[Text], settings: Settings) -> "Trace":
        """A pass of the first input that the model does not refuse; `tried` is what was taken."""
        problem: Exception = ValueError("the corpus is empty: expected at least one text")
        for text in islice(texts, PROBES):
            tried.append(text)
            try:
                source: Any = Path(text.text)
                if not settings.pictures:
                    source, _ = cut(text.text, self.model, settings.longest)
                probe = trace(self.model, source, text.target, logits_to_keep=1)
            except (OSError, ValueError) as error:
                problem = error
                continue
            if any(site.kind in KINDS for site in probe.sites):
                return probe
            problem = ValueError(f"{self.model.name}: {NO_HEADS}")
        raise problem

    def _watched(self, texts: Iterable[Text]) -> Iterator[Text]:
        for number, text in enumerate(texts):
            if number % 256 == 0:
                self.control(Progress(number, None))
            yield text

    @property
    def read_texts(self) -> int:
        """Texts of the shards that are in the state."""
        return sum(self.plan.sizes[number] for number in self.state.done)

    def report(self, done: int) -> None:
        """Tells how far it is."""
        now, total = self.read_texts + done, self.plan.texts
        seconds, fresh = time.monotonic() - self.began, now - self.first
        self.control(Progress(now, total, seconds * (total - now) / fresh if fresh > 0 else None))

    def add(self, number: int, part: State) -> None:
        """Adds a shard, and saves."""
        part.done = {number}
        self.state.merge(part)
        self.state.save(self.path)
        self.report(0)

    def describe(self, status: str) -> None:
        """Writes the manifest."""
        model, plan = self.model, self.plan
        read = {"texts": plan.texts, "shortened": plan.shortened, "too short": plan.empty}
        manifest = {
            "format": FORMAT,
            "status": status,
            "model": {"name": model.name, "digest": plan.model, "trained": model.trained},
            "corpora": [read | {"about": self.about}],
            "versions": {name: version(name) for name in ("torch", "transformers")},
            "settings": asdict(plan.settings),
            "heads": plan.heads,
            "texts": plan.texts,
            "tokens": plan.tokens,
            "notes": self.state.notes,
        }
        write_json(self.folder / "manifest.json", manifest)


def _scores(trace: "Trace", places: Sequence[Place]) -> dict[str, list[float]]:
    """The scores of the weight matrices of every head; NaN where they are not defined."""
    columns = {key: np.full(sum(place.heads for place in places), np.nan) for key in OF_WEIGHTS}
    known: Known = {}
    for place in places:
        scores = circuit_scores(trace, trace.site(place.where), known)[0]
        for key, values in scores.items():
            columns[key][place.slice] = values.cpu().numpy()
    return {key: values.tolist() for key, values in columns.items()}
