"""Models of the Hugging Face Hub: those in the local cache, and downloading others.

A download fetches only what a model needs: configs, tokenizer, and weights, as safetensors where
the repository has them. Its size is known before it begins.
"""

import errno
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from models.files.folder import PICKLED, PICKLED_SHARDS, SHARDED, SINGLE, Folder

TRANSPORTS = ("httpx", "httpcore", "huggingface_hub", "requests", "urllib3")
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
WANTED = frozenset(
    {"config.json", "README.md", "preprocessor_config.json", "processor_config.json"}
    | {"tokenizer.json", "vocab.txt"}
    | {"tokenizer_config.json", "special_tokens_map.json", "vocab.json", "merges.txt"}
    | {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model", "source.spm", "target.spm"}
)
Progress = Callable[[int, int], None]


class HubError(ValueError):
    """A model that cannot be downloaded; the message gives the reason and what to do."""


class CancelledError(HubError):
    """The download was cancelled; what has arrived is kept, and the next download resumes."""


@dataclass(frozen=True)
class CachedModel:
    """A model in the local cache.

    Attributes:
        name: repository id.
        folder: the snapshot with its files.
        size: bytes of its files.
        complete: whether config and weights are both there.
    """

    name: str
    folder: Folder
    size: int
    complete: bool


@dataclass(frozen=True)
class DownloadPlan:
    """What a download fetches.

    Attributes:
        name: repository id.
        revision: commit hash.
        files: names and sizes in bytes.
        licence: as stated in the model card; empty if it is not.
    """

    name: str
    revision: str
    files: tuple[tuple[str, int], ...]
    licence: str = ""

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(size for _, size in self.files)


def cached_models() -> tuple[CachedModel, ...]:
    """Every model in the cache, by name: the revision of main, else the latest one."""
    from huggingface_hub import constants, scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        cache_info = scan_cache_dir(constants.HF_HUB_CACHE)
    except CacheNotFound:
        return ()
    models = []
    for repo in sorted(cache_info.repos, key=lambda repo: repo.repo_id):
        if repo.repo_type == "model" and repo.revisions:
            chosen = max(repo.revisions, key=lambda r: ("main" in r.refs, r.last_modified))
            folder = Folder.at(chosen.snapshot_path, repo.repo_path)  # files link to its blobs
            complete = _is_complete(folder)
            models.append(CachedModel(repo.repo_id, folder, chosen.size_on_disk, complete))
    return tuple(models)


def cached_folder(name: str) -> Folder | None:
    """The snapshot of a model in the cache; None if it is missing or incomplete."""
    models = (model for model in cached_models() if model.name == name and model.complete)
    return next((model.folder for model in models), None)


def plan_download(name: str) -> DownloadPlan:
    """The files and sizes of a download; one request, nothing is downloaded.

    Raises:
        HubError: for an unknown model, one without usable weights, or an unreachable hub.
    """
    if not HUB_ID.fullmatch(name):
        raise HubError(f"{name!r} is no model id: expected something like owner/name")
    from huggingface_hub import HfApi

    try:
        info = HfApi().model_info(name, files_metadata=True)
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
        info.sha or "main",
        tuple((n, sizes[n]) for n in (*wanted, *weights)),
        str(card.get("license") or ""),
    )


def download(
    plan: DownloadPlan,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Folder:
    """Downloads the files of a plan into the cache.

    Args:
        plan: from `plan_download`.
        progress: called with the bytes that have arrived and the total.
        cancelled: checked whenever bytes arrive; True stops the download.

    Raises:
        CancelledError: if the download was cancelled.
        HubError: for an unreachable hub or a file it does not serve.
    """
    from huggingface_hub import snapshot_download

    def report(done: int) -> None:
        if cancelled():
            raise CancelledError("the download was cancelled; the next one resumes from here")
        if progress is not None:
            progress(min(done, plan.size), plan.size)

    report(0)
    try:
        snapshot = snapshot_download(
            plan.name,
            revision=plan.revision,
            allow_patterns=[name for name, _ in plan.files],
            tqdm_class=_progress_bar(report),
        )
    except CancelledError:
        raise
    except Exception as error:  # a transport can raise anything
        raise describe_error(plan.name, error) from error
    report(plan.size)
    return Folder.at(Path(snapshot), Path(snapshot).parents[1])


def describe_error(name: str, error: BaseException) -> HubError:
    """An error of huggingface_hub as one line that gives the reason and what to do."""
    from huggingface_hub import errors

    if isinstance(error, errors.LocalEntryNotFoundError) and error.__cause__ is not None:
        return describe_error(name, error.__cause__)
    if isinstance(error, errors.GatedRepoError):
        return HubError(f"{name} is gated: accept its terms on the hub and log in first")
    if isinstance(error, errors.RepositoryNotFoundError | errors.RevisionNotFoundError):
        return HubError(f"{name} is not on the hub, or is private: check the spelling")
    if isinstance(error, errors.EntryNotFoundError) and not isinstance(
        error, errors.LocalEntryNotFoundError
    ):
        return HubError(f"{name} lacks a file that the hub lists: try again later")
    if isinstance(error, errors.HfHubHTTPError) and error.response is not None:
        return HubError(f"the hub answered {error.response.status_code} for {name}: try later")
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return HubError(f"there is not enough disk space for {name}")
    if isinstance(error, OSError) or type(error).__module__.startswith(TRANSPORTS):
        return HubError(
            f"the hub cannot be reached for {name}: models in the local cache still open"
        )
    return HubError(f"{name} could not be downloaded ({type(error).__name__}: {error!s:.80})")


# --- inside ---------------------------------------------------------------------------------------


def _progress_bar(report: Callable[[int], None]) -> type:
    """A tqdm class that draws nothing and reports the bytes of all files together."""
    from huggingface_hub.utils import tqdm

    lock = Lock()  # files arrive in several threads

    class Bar(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.counts = kwargs.get("name") == "huggingface_hub.snapshot_download"
            self.done = 0
            super().__init__(*args, **{**kwargs, "disable": True})

        def update(self, n: Any = 1) -> None:
            if self.counts:
                with lock:
                    self.done += int(n or 0)
                    report(self.done)

    return Bar


def _weights(names: Sequence[str]) -> tuple[str, ...]:
    """The files with the weights, safetensors first, and their index."""
    for single, index in ((SINGLE, SHARDED), (PICKLED, PICKLED_SHARDS)):
        if single in names:
            return (single,)
        if index in names:
            stem, suffix = Path(single).stem, Path(single).suffix
            shards = re.compile(rf"{re.escape(stem)}-\d+-of-\d+{re.escape(suffix)}")
            return (index, *(name for name in names if shards.fullmatch(name)))
    return ()


def _is_complete(folder: Folder) -> bool:
    try:
        return folder.file("config.json") is not None and bool(folder.weights())
    except ValueError:
        return False
