"""Writing on: the text of the view becomes the input, and the page knows which part was written."""

from tests.viz.pages import helpers

TEXT = "the cat saw the dog"
WHOLE = f"{TEXT} because it was"
DECODER = {"model": "grammar-next", "input": TEXT}


def told(app):
    props = helpers.view(app, "text")
    return props.get("writes"), props.get("given")


def send(app, id, text, written):
    app.session_state["explore_view"] = {"write": {"id": id, "text": text, "written": written}}
    return helpers.checked(app.run())


def test_a_written_text_is_the_input_until_it_is_typed_anew() -> None:
    app = helpers.run("explore", DECODER)
    assert told(app) == (True, None)
    send(app, "1", WHOLE, len(WHOLE) - len(TEXT))
    assert helpers.setting(app, "explore", "input") == WHOLE
    assert told(app) == (True, 6)
    link = helpers.link(app)
    assert (link["input"], link["written"]) == (WHOLE, str(len(WHOLE) - len(TEXT)))
    assert told(helpers.run("explore", DECODER | link)) == (True, 6)
    helpers.checked(app.run())  # the same message is still there
    helpers.choose(app, "explore", "input", "the dog")
    assert told(app) == (True, None)
    assert "written" not in helpers.link(app)


def test_what_is_no_text_of_a_decoder_is_not_gone_on_with() -> None:
    assert told(helpers.run("explore", {"model": "grammar", "input": "the cat"})) == (None, None)
    app = helpers.run("explore", DECODER)
    for id, (text, count) in enumerate([("", 3), (WHOLE, 0), (WHOLE, 99), (4, 2)]):
        send(app, str(id), text, count)
        assert helpers.setting(app, "explore", "input") == TEXT
