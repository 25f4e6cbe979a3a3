"""Long texts and files by their digest."""

from collections import OrderedDict

import pytest

from viz.pages.state import attachments
from viz.pages.state.params import digest_of


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "_kept", OrderedDict())


def test_what_is_kept_is_found_by_its_digest() -> None:
    digest = attachments.keep(b"a file")
    assert digest == digest_of(b"a file")
    assert attachments.find(digest) == b"a file"
    assert attachments.text(digest) == "a file"
    assert attachments.find(digest_of("never kept")) is None
    assert attachments.text(digest_of("never kept")) is None


def test_the_least_recently_used_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = attachments.keep(b"x" * 1009), attachments.keep(b"y" * 1009)
    monkeypatch.setattr(attachments, "MAX_BYTES", 2 * 1009)
    assert attachments.find(first) is not None
    attachments.keep(b"z" * 1009)
    assert attachments.find(first) is not None
    assert attachments.find(second) is None


def test_whoever_has_the_most_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "MAX_BYTES", 4 * 1009)
    picture = attachments.keep(b"picture" * 13, "somebody")
    files = [attachments.keep(bytes([n]) * 1009, "else") for n in range(1, 6)]
    assert attachments.find(picture) is not None
    assert [attachments.find(each) is not None for each in files] == [False] * 2 + [True] * 3
