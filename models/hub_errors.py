"""What can go wrong with the hub, in one line each."""

TRANSPORTS = ("httpx", "httpcore", "huggingface_hub", "requests", "urllib3")


class HubError(ValueError):
    """A model that cannot be had from the hub; the message says why and what to do."""


class CancelledError(HubError):
    """The download was stopped; what came so far is kept and goes on from there."""


def explained(name: str, error: Exception) -> HubError:
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
