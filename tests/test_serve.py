"""The headers around every answer."""

import pytest

import serve


def test_inline_scripts_are_named_by_hash() -> None:
    page = '<script>\nhello\n</script><script type="module" src="./x.js"></script>'
    assert serve.inline_script_hashes(page) == serve.inline_script_hashes(
        "<script>\nhello\n</script>"
    )
    # sha256 of nothing, as every table of test vectors gives it
    empty = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    assert serve.inline_script_hashes("<script></script>") == [empty]


def test_nothing_comes_from_elsewhere() -> None:
    policy = serve.security_headers([])["Content-Security-Policy"]
    sources = {word for part in policy.split("; ") for word in part.split()[1:]}
    assert sources == {
        "'self'",
        "'none'",
        "'unsafe-inline'",
        "data:",
        "blob:",
        "ws://127.0.0.1:*",
        "ws://localhost:*",
    }
    assert "script-src 'self';" in policy + ";"


def test_every_answer_carries_the_headers() -> None:
    sent = []

    async def app(scope, receive, send) -> None:
        headers = [(b"x-content-type-options", b"wrong"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def send(message) -> None:
        sent.append(message)

    async def receive():
        return {}

    wrapped = serve.WithHeaders(app, {"X-Content-Type-Options": "nosniff"})
    with pytest.raises(StopIteration):  # it never waits, so one step runs all of it
        wrapped({"type": "http"}, receive, send).send(None)
    assert sent[0]["headers"] == [
        (b"content-type", b"text/plain"),
        (b"x-content-type-options", b"nosniff"),
    ]


def test_the_page_is_told_where_its_server_is() -> None:
    page = serve.with_addresses("<head><script>first</script></head>")
    told, first = page.split("</script><script>")
    assert "BACKEND_BASE_URL:location.origin+'/'" in told
    assert first == "first</script></head>"
    assert len(serve.inline_script_hashes(page)) == 2


def test_every_page_has_an_address() -> None:
    assert "text" in serve.page_names()
    assert "__init__" not in serve.page_names()
