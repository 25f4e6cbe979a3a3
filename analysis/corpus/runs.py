"""Runs a corpus through a model, and keeps what was done if it is killed, stopped or fails."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.circuits import Products, circuit_scores
from analysis.corpus.blocks import READ
from analysis.corpus.engines import ENGINES, local, on_ray
from analysis.corpus.files import FOLDER, read_table, write_json, write_table
from analysis.corpus.manifest import FORMAT, open_manifest
from analysis.corpus.plan import Plan, Planner, cut, forget
from analysis.corpus.progress import Control, Progress, StoppedError, no_control
from analysis.corpus.results import write_results
from analysis.corpus.scales import OF_WEIGHTS
from analysis.corpus.settings import BLOCK, LONGEST, PAIRS, SHARD, Settings
from analysis.corpus.state import Layout, State
from analysis.corpus.texts import Text, check_paths, pictures_of, texts_of
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
    block: int = BLOCK,
    shard: int = SHARD,
    seed: int = 0,
    threads: int = 0,
    device: str | None = None,
    about: str = "",
    append: bool = False,
    pairs: int = PAIRS,
    control: Control = no_control,
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
        block: texts that are sorted by length and added up together; results depend on it within
            rounding.
        shard: texts between two savings, and what one worker takes at a time.
        seed: of the samples.
        threads: of PyTorch, for each worker on processors; 0 for PyTorch's own choice, and one for
            each worker of a Ray cluster.
        device: such as "cuda", of a model that is loaded here; None for the usual one.
        about: what the texts are, for display.
        append: whether to add to a finished run.
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
    settings = Settings(longest=longest, block=block, seed=seed, threads=threads, pairs=pairs)
    sources = list(texts) if isinstance(texts, Sequence) else texts
    if isinstance(sources, list):
        check_paths(source for source in sources if isinstance(source, Path))
    opened = load(model, device=device) if isinstance(model, str) else as_model(model)
    pictures = opened.preprocessing is not None
    settings = replace(settings, pictures=pictures)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    work = _Run(opened, folder, settings, shard, control, about)
    plan = work.planned(_texts(sources, pictures, column, target), append)
    shards = [number for number in plan.shards if number not in work.state.done]
    reading = (
        local(opened, plan, folder, shards, work.report)
        if engine == "local"
        else on_ray(model if isinstance(model, str) else opened, plan, folder, shards, work.report)
    )
    try:
        for number, part in reading:
            work.add(number, part)
    except StoppedError:
        work.finish("stopped")
        return folder
    work.finish("complete")
    return folder


def _texts(
    sources: Iterable[Source], pictures: bool, column: str | None, target: str | None
) -> Iterator[Text]:
    """The texts of files, folders, and texts themselves."""
    for number, source in enumerate(sources, 1):
        if isinstance(source, Text):
            yield source
        elif pictures:
            yield from pictures_of([source])
        elif isinstance(source, Path):
            yield from texts_of([source], column=column, target=target)
        elif source.strip():
            yield Text(f"text {number}", source)


class _Run:
    """One call of `run`."""

    def __init__(
        self,
        model: "Model",
        folder: Path,
        settings: Settings,
        shard: int,
        control: Control,
        about: str,
    ) -> None:
        self.model, self.folder, self.settings = model, folder, settings
        self.shard, self.control, self.about = shard, control, about
        self.path = folder / FOLDER / "state.parquet"
        self.digest = model.weights_digest()
        self.plan: Plan
        self.state: State
        self.corpora: list[dict[str, Any]] = []
        self.began, self.first = 0.0, 0

    def planned(self, texts: Iterator[Text], append: bool) -> Plan:
        """The plan: the one that is there if it is not finished, else a new one."""
        known, plan = open_manifest(self.folder), Plan.open(self.folder)
        finished = known.get("status") == "complete" and (
            plan is None or known["texts"] == plan.texts
        )
        self._check(known, plan)
        if finished and not append:
            raise ValueError(
                f"{self.folder.name} holds a finished run: append to it, or name another folder"
            )
        if finished and (plan is None or not self.path.exists()):
            raise ValueError(f"{self.folder.name} lacks its sums: nothing can be appended to it")
        if plan is None or finished:
            plan = self._new_plan(texts, plan)
        self.plan, self.corpora = plan, list(known.get("corpora", ()))
        if sum(each["texts"] for each in self.corpora) < plan.texts:
            self.corpora.append(_corpus(plan) | {"about": self.about})
        saved = self.path.exists()
        self.state = State.from_table(read_table(self.path)) if saved else State.empty(plan.layout)
        write_json(self.folder / "manifest.json", self._described("running"))
        self.began, self.first = time.monotonic(), self.read_texts
        return plan

    def _check(self, known: dict[str, Any], plan: Plan | None) -> None:
        """Refuses a folder that holds something else."""
        name = self.folder.name
        if not known and any(path.name != FOLDER for path in self.folder.iterdir()):
            raise ValueError(f"{name} is not empty, and holds no run: name another folder")
        if plan is None:
            return
        if plan.model != self.digest:
            raise ValueError(f"{name} holds a run of other weights: name another folder")
        asked, held = self.settings.to_json(), plan.settings.to_json()
        other = [key for key in asked if asked[key] != held[key]]
        other = [key for key in other if key not in ("sampled", "threads")]
        if other:
            raise ValueError(
                f"{name} holds a run with other settings ({', '.join(other)}): name another folder"
            )

    def _new_plan(self, texts: Iterator[Text], earlier: Plan | None) -> Plan:
        tried: list[Text] = []
        if earlier is None:
            layout, scores = self._first_probe(texts, tried)
            (self.folder / FOLDER).mkdir(exist_ok=True)
            write_table(self.folder / FOLDER / "weights.parquet", scores)
        else:
            layout = earlier.layout
        planner = Planner(self.model, self.settings, self.folder, self.digest, self.shard, earlier)
        return planner(self._watched(chain(tried, texts)), layout)

    def _first_probe(self, texts: Iterator[Text], tried: list[Text]) -> "tuple[Layout, Any]":
        """The probe of the first input that the model reads; `tried` is what was taken."""
        problem: Exception = ValueError("the corpus is empty: expected at least one text")
        for text in islice(texts, PROBES):
            tried.append(text)
            try:
                return self._probed(text)
            except (OSError, ValueError) as error:
                problem = error
        raise problem

    def _watched(self, texts: Iterable[Text]) -> Iterator[Text]:
        for number, text in enumerate(texts):
            if number % 256 == 0:
                self.control(Progress(number, None))
            yield text

    def _probed(self, text: Text) -> "tuple[Layout, Any]":
        """The heads, and the scores that do not depend on the text, from one pass."""
        source = Path(text.text) if self.settings.pictures else text.text
        tokenizer = self.model.tokenizer
        if isinstance(source, str) and tokenizer is not None:
            source, _ = cut(source, tokenizer, min(self.settings.longest, self.model.limit))
        probe = trace(self.model, source, text.target, logits_to_keep=1)
        sites = [site for site in probe.sites if site.kind in READ]
        if not sites:
            raise ValueError(f"{self.model.name}: {NO_HEADS}")
        return Layout.of(sites), _scores(probe, Layout.of(sites))

    @property
    def read_texts(self) -> int:
        """Texts of the shards that are in the state."""
        sizes = self.plan.sizes.items()
        return self.plan.before + sum(size for n, size in sizes if n in self.state.done)

    def report(self, done: int) -> None:
        """Tells how far it is."""
        now = self.read_texts + done
        seconds = time.monotonic() - self.began
        fresh = now - self.first
        left = seconds * (self.plan.texts - now) / fresh if fresh > 0 else None
        self.control(Progress(now, self.plan.texts, seconds, left))

    def add(self, number: int, part: State) -> None:
        """Adds a shard, and saves."""
        part.done = {number}
        self.state.merge(part)
        write_table(self.path, self.state.to_table())
        self.report(0)

    def finish(self, status: str) -> None:
        """Writes the results."""
        scores = read_table(self.folder / FOLDER / "weights.parquet")
        write_results(self.folder, self.plan, self.state, scores, self.model.trained)
        write_json(self.folder / "manifest.json", self._described(status))
        if status == "complete":
            forget(self.folder)

    def _described(self, status: str) -> dict[str, Any]:
        """The manifest."""
        return {
            "format": FORMAT,
            "status": status,
            "model": {
                "name": self.model.name,
                "digest": self.digest,
                "trained": self.model.trained,
            },
            "corpora": self.corpora,
            "versions": {name: version(name) for name in ("torch", "transformers")},
            "settings": self.plan.settings.to_json(),
            "heads": self.plan.layout.heads,
            "texts": self.plan.texts,
            "tokens": self.plan.tokens,
            "notes": self.state.notes,
        }


def _corpus(plan: Plan) -> dict[str, Any]:
    return {
        "digest": plan.digest,
        "texts": plan.texts - plan.before,
        "shortened": plan.shortened,
        "too short": plan.empty,
    }


def _scores(trace: "Trace", layout: Layout) -> Any:
    """The scores of the weight matrices of every head; NaN where they are not defined."""
    import pyarrow as pa

    columns = {key: np.full(layout.heads, np.nan) for key in OF_WEIGHTS}
    known: Products = {}
    for place in layout.places:
        scores = circuit_scores(trace, trace.site(place.where), known)[0]
        for key, values in scores.items():
            columns[key][place.slice] = values.cpu().numpy()
    return pa.table({key: pa.array(values) for key, values in columns.items()})
