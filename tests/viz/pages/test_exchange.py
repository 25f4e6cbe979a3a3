"""The browser gets everything until it shows that it has it; then only what it asked for."""

from types import SimpleNamespace

import pytest

from models.encoder import EncoderConfig
from models.run import load, trace
from viz.pages import explorer

CHOSEN = {"site": 0, "head": 2, "token": 0, "direction": "out", "scale": "fixed"}


class Conversation:
    """The page's end of the wire, with a browser that says what the test wants."""

    def __init__(self, monkeypatch):
        choice = {"layer": 0, "head": 0, "token": 0, "direction": "out", "scale": "fixed"}
        self.state = {f"text_{name}": value for name, value in choice.items()}
        monkeypatch.setattr(explorer, "st", SimpleNamespace(session_state=self.state))
        model = load(EncoderConfig(vocab=53, dim=21, heads=3, depth=2, mlp=13))
        self.trace = trace(model, "a b c")
        self.firsts = 0

    def reply(self, identity, said):
        self.state["text_view"] = {"view": said}
        sent = []
        explorer.exchange(
            "text",
            self.trace,
            identity,
            lambda data, **_: sent.append(data),
            self.first,
            lambda ask: f"answer {ask.get('id')}".encode(),
        )
        return sent[0]

    def first(self, select, *, answer, heard, overruled, type_size):
        self.firsts += 1
        self.told, self.size = (select["head"], overruled), type_size
        return f"everything {answer} {heard}".encode()


@pytest.fixture
def page(monkeypatch):
    return Conversation(monkeypatch)


def asking(number, of, **more):
    return {"said": 5, "trace": of, "ask": {"id": number, "trace": of, **more}}


def test_a_new_trace_is_sent_whole_and_then_questions_are_answered(page):
    assert page.reply("new", {"said": 5, "trace": None}) == b"everything None 5"
    assert page.reply("new", asking(7, "new")) == b"answer 7"
    assert page.firsts == 1


def test_a_question_about_the_old_trace_does_not_push_the_new_one_off_the_wire(page):
    page.reply("old", asking(1, "old"))
    whole = page.reply("new", asking(2, "old"))
    assert page.reply("new", asking(3, "old")) == whole
    assert page.reply("new", {"said": 6, "trace": "old", "ask": None}) == whole
    assert page.firsts == 2  # made once for each trace
    assert page.reply("new", asking(4, "new")) == b"answer 4"


def test_a_browser_that_lost_everything_gets_it_again_once_for_each_question(page):
    page.reply("new", asking(1, "new"))
    assert page.reply("new", asking(2, None, base=True)) == b"everything 2 5"
    assert page.reply("new", asking(2, "new", base=True)) == b"answer 2"


def test_a_page_that_is_left_and_opened_again_keeps_what_was_chosen(page):
    page.reply("new", asking(1, "new") | {"select": CHOSEN})
    assert (page.state["text_head"], page.state["text_token"]) == (2, 0)
    page.reply("new", {})  # the view is made anew, and has said nothing yet
    assert (page.state["text_head"], page.state["text_token"]) == (2, 0)


def test_what_is_held_within_a_smaller_network_is_no_choice_of_the_users(page):
    page.state["text_head"], page.state["text_layer"] = 7, 5
    page.reply("new", {"said": 5, "trace": None})
    held = {"site": 1, "head": 2, "token": 0, "direction": "out", "scale": "fixed"}
    page.reply("new", asking(1, "new") | {"select": held})
    assert (page.state["text_head"], page.state["text_layer"]) == (7, 5)
    page.reply("new", asking(2, "new") | {"select": held | {"head": 1}})
    assert (page.state["text_head"], page.state["text_layer"]) == (1, 1)


def test_what_was_chosen_before_an_example_can_be_chosen_again(page):
    page.reply("new", asking(1, "new") | {"select": CHOSEN})
    page.state["text_head"] = 1  # as an example does
    explorer.overrule("text")
    page.reply("new", asking(2, "new") | {"select": CHOSEN})
    assert page.state["text_head"] == 1
    page.reply("new", asking(3, "new") | {"select": CHOSEN, "overruled": 1})
    assert page.state["text_head"] == 2


def test_larger_type_reaches_a_picture_that_is_there(page):
    page.reply("new", asking(1, "new"))
    page.state["projector"] = True
    assert page.reply("new", asking(2, "new")) == b"everything 2 5"
    assert page.size == explorer.LARGE
    page.reply("new", asking(3, "new"))
    page.state["projector"] = False
    assert page.reply("new", asking(4, "new")) == b"everything 4 5"
    assert page.size == 1


def test_what_was_chosen_before_it_was_overruled_is_void_however_late_it_comes(page):
    page.reply("new", asking(1, "new"))
    page.state["text_head"] = 1  # as an example does
    explorer.overrule("text")
    late = asking(2, "new") | {"select": CHOSEN}
    assert page.reply("new", late) == b"everything 2 5"  # though the browser has this trace
    assert page.told == (1, 1)
    page.reply("new", asking(3, "new") | {"select": CHOSEN, "overruled": 1})
    assert page.state["text_head"] == 2
