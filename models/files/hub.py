"""Models of the Hugging Face hub: those already on this machine, and fetching others.

Only what a model needs is fetched: its configs, its tokenizer, and its weights, as safetensors
where there are any. How much that is is known before the first byte of it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.files.folder import PICKLED, PICKLED_SHARDS, SHARDED, SINGLE, Folder

TRANSPORTS = ("httpx", "httpcore", "huggingface_hub", "requests", "urllib3")


class HubError(ValueError):
    """A model that cannot be had from the hub; the message says why and what to do."""


class CancelledError(HubError):
    """The download was stopped; what came so far is kept and goes on from there."""


def describe_error(name: str, error: Exception) -> HubError:
    """One line that says what went wrong and what to do."""
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return HubError(f"{name} is given out only after its terms are accepted on the hub")
    if isinstance(error, errors.RepositoryNotFoundError | errors.RevisionNotFoundError):
        return HubError(f"{name} is not on the hub, or not for everyone: check how it is spelled")
    if isinstance(error, errors.EntryNotFoundError) and not isinstance(
        error, errors.LocalEntryNotFoundError
    ):
        return HubError(f"{name} lacks a file that it should have: try again later")
    if isinstance(error, errors.HfHubHTTPError) and error.response is not None:
        return HubError(f"the hub answered {error.response.status_code} for {name}: try later")
    if isinstance(error, OSError) and getattr(error, "errno", None) == 28:
        return HubError(f"there is no room left on the disk for {name}")
    away = isinstance(error, OSError) or type(error).__module__.startswith(TRANSPORTS)
    if away:
        return HubError(
            f"the hub cannot be reached for {name}: models that are already on this machine"
            " still open"
        )
    return HubError(f"{name} could not be fetched ({type(error).__name__}: {error!s:.80})")


HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
WANTED = frozenset(
    {"config.json", "preprocessor_config.json", "README.md", "tokenizer.json", "vocab.txt"}
    | {"tokenizer_config.json", "special_tokens_map.json", "vocab.json", "merges.txt"}
    | {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model", "source.spm", "target.spm"}
)
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class CachedModel:
    """A model in the hub's cache on this machine.

    Attributes:
        name: its id.
        folder: where its files are.
        size: bytes of its files.
        complete: whether config and weights are both there.
    """

    name: str
    folder: Folder
    size: int
    complete: bool


@dataclass(frozen=True)
class DownloadPlan:
    """What a download will fetch.

    Attributes:
        name: the model's id.
        revision: the exact version.
        files: names and bytes.
        licence: as the hub states it; empty if it does not.
    """

    name: str
    revision: str
    files: tuple[tuple[str, int], ...]
    licence: str = ""

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(size for _, size in self.files)


def cached_models(cache: Path | None = None) -> tuple[CachedModel, ...]:
    """Every model in the cache, by name."""
    place = _cache(cache)
    if not place.is_dir():
        return ()
    found = (_newest(folder) for folder in sorted(place.glob("models--*")) if folder.is_dir())
    return tuple(model for model in found if model is not None)


def cached_folder(name: str, cache: Path | None = None) -> Folder | None:
    """The folder of a model that is on this machine; None if it is not, or not whole."""
    if not HUB_ID.fullmatch(name):
        return None
    place = _cache(cache) / f"models--{name.replace('/', '--')}"
    found = _newest(place) if place.is_dir() else None
    return found.folder if found is not None and found.complete else None


def plan_download(
    name: str, *, revision: str | None = None, endpoint: str | None = None
) -> DownloadPlan:
    """What fetching a model will take; asks the hub and fetches nothing.

    Raises:
        HubError: for a model that is not there, holds no weights, or a hub out of reach.
    """
    if not HUB_ID.fullmatch(name):
        raise HubError(f"{name!r} is no id of a model: expected something like owner/name")
    from huggingface_hub import HfApi

    try:
        info = HfApi(endpoint=endpoint).model_info(name, revision=revision, files_metadata=True)
    except Exception as error:  # a transport can raise anything
        raise describe_error(name, error) from error
    sizes = {part.rfilename: part.size or 0 for part in info.siblings or ()}
    wanted = [n for n in sizes if n in WANTED]
    weights = _weights(tuple(sizes))
    if "config.json" not in sizes or not weights:
        what = "config.json" if weights else "weights that can be opened (model.safetensors)"
        raise HubError(f"{name} has no {what} on the hub")
    card: Any = getattr(info, "card_data", None) or {}
    return DownloadPlan(
        name,
        info.sha or revision or "main",
        tuple((n, sizes[n]) for n in (*wanted, *weights)),
        str(card.get("license") or ""),
    )


def download(
    what: DownloadPlan,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    cache: Path | None = None,
    endpoint: str | None = None,
) -> Folder:
    """Fetches what a plan names into the hub's cache.

    Args:
        what: from `plan`.
        progress: told bytes so far and bytes in all, whenever some have done.
        cancelled: asked as often; True stops the download.
        cache: where to; None means the hub's own place.
        endpoint: of the hub; None means the public one.

    Raises:
        CancelledError: when it was stopped.
        HubError: for a hub out of reach or a file it will not give.
    """
    from huggingface_hub import hf_hub_download

    done = 0
    for name, size in what.files:
        bar = _bar(done, what.size, progress, cancelled)
        _report(what.size, done, progress, cancelled)
        try:
            hf_hub_download(
                what.name,
                name,
                revision=what.revision,
                cache_dir=cache,
                endpoint=endpoint,
                tqdm_class=bar,
            )
        except CancelledError:
            raise
        except Exception as error:  # a transport can raise anything
            raise describe_error(what.name, error) from error
        done += size
        _report(what.size, done, progress, cancelled)
    return _folder(_cache(cache) / f"models--{what.name.replace('/', '--')}", what.revision)


def download_with_bar(
    name: str, *, cache: Path | None = None, endpoint: str | None = None
) -> Folder:
    """Fetches a model, behind a bar that says how large it is and how far it has done.

    Raises:
        HubError: for a model that is not there, or a hub out of reach.
    """
    from tqdm import tqdm

    what = plan_download(name, endpoint=endpoint)
    with tqdm(total=what.size, unit="B", unit_scale=True, desc=name) as bar:

        def tell(done: int, total: int) -> None:
            bar.update(done - bar.n)

        return download(what, progress=tell, cache=cache, endpoint=endpoint)


# --- inside ---------------------------------------------------------------------------------------


def _report(
    total: int, done: int, progress: Progress | None, cancelled: Callable[[], bool]
) -> None:
    if cancelled():
        raise CancelledError(
            "the download was stopped; it goes on from here when it is asked for again"
        )
    if progress is not None:
        progress(min(done, total), total)


def _bar(before: int, total: int, progress: Progress | None, cancelled: Callable[[], bool]) -> type:
    """A progress bar that draws nothing and tells us."""
    from tqdm import tqdm

    class Bar(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)
            super().__init__(*args, **{**kwargs, "disable": True})
            self.done = int(kwargs.get("initial") or 0)

        def update(self, n: Any = 1) -> None:
            self.done += int(n or 0)
            _report(total, before + self.done, progress, cancelled)

    return Bar


def _weights(names: Sequence[str]) -> tuple[str, ...]:
    """The files with weights that are read first, and their index."""
    for single, index in ((SINGLE, SHARDED), (PICKLED, PICKLED_SHARDS)):
        if single in names:
            return (single,)
        if index in names:
            stem, suffix = Path(single).stem, Path(single).suffix
            shards = re.compile(rf"{re.escape(stem)}-\d+-of-\d+{re.escape(suffix)}")
            return (index, *(name for name in names if shards.fullmatch(name)))
    return ()


def _cache(cache: Path | None) -> Path:
    if cache is not None:
        return cache
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def _newest(place: Path) -> CachedModel | None:
    """The version a repository's main points to, else the one fetched last."""
    pointer, versions = place / "refs" / "main", sorted(place.glob("snapshots/*"))
    name = pointer.read_text(encoding="utf-8").strip() if pointer.is_file() else ""
    chosen = place / "snapshots" / name
    if not name or not chosen.is_dir():
        if not versions:
            return None
        chosen = max(versions, key=lambda version: version.stat().st_mtime)
    folder = _folder(place, chosen.name)
    sizes = [file.stat().st_size for file in chosen.iterdir() if file.is_file()]
    return CachedModel(
        place.name.removeprefix("models--").replace("--", "/"), folder, sum(sizes), _whole(folder)
    )


def _whole(folder: Folder) -> bool:
    try:
        return folder.file("config.json") is not None and bool(folder.weights())
    except ValueError:
        return False


def _folder(place: Path, revision: str) -> Folder:
    """A version of a repository: its files are links into the repository's own store."""
    return Folder.at(place / "snapshots" / revision, place)
