"""Models of the Hugging Face Hub: those in the local cache, and downloading others.

A download fetches only what a model needs: configs, tokenizer, and weights, as safetensors where
the repository has them. Its size is known before it begins.
"""

import errno
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from models.files.errors import CheckpointError, FetchCancelledError, FetchError, first_line
from models.files.folder import Folder
from models.progress import Progress, no_progress

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
WANTED = re.compile(r"[^/]+\.(json|txt|model|spm|jinja)|README\.md")
WEIGHTS = (
    re.compile(r"model(-\d+-of-\d+)?\.safetensors"),
    re.compile(r"pytorch_model(-\d+-of-\d+)?\.bin"),
)
REASONS = {  # by the name of an error's class
    "GatedRepoError": "is gated: accept its terms on the hub and log in first",
    "RepositoryNotFoundError": "is not on the hub, or is private: check the spelling",
    "HfHubHTTPError": "cannot be had: the hub answers with an error; try later",
}
TRANSPORTS = ("httpx", "httpcore", "huggingface_hub", "requests", "urllib3")


class CachedModel(NamedTuple):
    """A model in the local cache, with config and weights."""

    name: str  # repository id
    folder: Folder  # the snapshot with its files
    size: int  # bytes of its files


class DownloadPlan(NamedTuple):
    """What a download fetches."""

    name: str  # repository id
    revision: str  # commit hash
    files: tuple[tuple[str, int], ...]  # names and sizes in bytes
    licence: str = ""  # as the model card states it

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(size for _, size in self.files)


def cached_models() -> tuple[CachedModel, ...]:
    """Every complete model in the cache, by name: the revision of main, else the latest one."""
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
            with suppress(CheckpointError):
                if folder.file("config.json") is not None and folder.weights():
                    models.append(CachedModel(repo.repo_id, folder, chosen.size_on_disk))
    return tuple(models)


def cached_folder(name: str) -> Folder | None:
    """The snapshot of a model in the cache; None if it is missing or incomplete."""
    return next((model.folder for model in cached_models() if model.name == name), None)


def plan_download(name: str) -> DownloadPlan:
    """The files and sizes of a download; one request, nothing is downloaded.

    Raises:
        FetchError: for an unknown model, one without usable weights, or an unreachable hub.
    """
    if not HUB_ID.fullmatch(name):
        raise FetchError(f"{name!r} is no model id: expected something like owner/name")
    from huggingface_hub import HfApi

    try:
        info = HfApi().model_info(name, files_metadata=True)
    except Exception as error:  # a transport can raise anything
        raise describe_error(name, error) from error
    sizes = {part.rfilename: part.size or 0 for part in info.siblings or ()}
    forms = ([each for each in sizes if form.fullmatch(each)] for form in WEIGHTS)
    weights = next(filter(None, forms), [])
    if "config.json" not in sizes or not weights:
        what = "config.json" if weights else "weights that can be opened (model.safetensors)"
        raise FetchError(f"{name} has no {what} on the hub")
    files = tuple(
        (each, sizes[each]) for each in sizes if each in weights or WANTED.fullmatch(each)
    )
    card: Any = getattr(info, "card_data", None) or {}
    return DownloadPlan(name, info.sha or "main", files, str(card.get("license") or ""))


def download(plan: DownloadPlan, *, progress: Progress = no_progress) -> Folder:
    """Downloads the files of a plan into the cache.

    Args:
        plan: from `plan_download`.
        progress: called with the bytes that have arrived and the total; a `FetchCancelledError` of
            it stops the download, and the next one resumes from there.

    Raises:
        FetchError: for an unreachable hub or a file it does not serve.
    """
    from huggingface_hub import snapshot_download

    def report(done: int) -> None:
        progress(min(done, plan.size), plan.size)

    report(0)
    try:
        snapshot = snapshot_download(
            plan.name,
            revision=plan.revision,
            allow_patterns=[name for name, _ in plan.files],
            tqdm_class=_progress_bar(report),
        )
    except FetchCancelledError:
        raise
    except Exception as error:  # a transport can raise anything
        raise describe_error(plan.name, error) from error
    report(plan.size)
    return Folder.at(Path(snapshot), Path(snapshot).parents[1])


def describe_error(name: str, error: BaseException) -> FetchError:
    """An error of huggingface_hub as one line that gives the reason and what to do."""
    if error.__cause__ is not None and "LocalEntryNotFound" in type(error).__name__:
        error = error.__cause__
    kinds = [kind.__name__ for kind in type(error).__mro__]
    why = next((why for kind, why in REASONS.items() if kind in kinds), None)
    if why is None and isinstance(error, OSError) and error.errno == errno.ENOSPC:
        why = "does not fit on this disk: make room"
    if why is None and ("OSError" in kinds or type(error).__module__.startswith(TRANSPORTS)):
        why = "is not here, and the hub cannot be reached: models in the local cache still open"
    return FetchError(f"{name} {why or f'could not be downloaded ({first_line(error)})'}")


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
