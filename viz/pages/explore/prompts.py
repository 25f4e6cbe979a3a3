"""Several prompts, one a line of the text, as the mean of their weights."""

from models.text import clean
from viz.pages import shared
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

ONE, MEAN = "one", "mean"
MOST = 100  # prompts
PARAMS = (link.choice("prompts", ONE, (ONE, MEAN)),)
HELP = (
    "Several lines are one text, or prompts whose mean is shown: that of the weights of each head,"
    " over prompts with the same number of tokens"
)


def choose() -> None:
    """Draws the choice; nothing for a text of one line."""
    count = len(_lines())
    if count < 2:
        return
    titles = {ONE: "This text", MEAN: f"Mean of {min(count, MOST)} prompts"}
    controls.choice(PAGE, "prompts", "Prompts", titles, HELP, collapsed=True)
    if is_mean() and count > MOST:
        shared.notice(f"{count:,} prompts: the mean is that of the first {MOST}.")


def is_mean() -> bool:
    """Whether the mean over several prompts is shown."""
    return session.get(PAGE, "prompts") == MEAN and len(_lines()) > 1


def listed() -> list[str]:
    """The prompts of the input, at most `MOST`."""
    return _lines()[:MOST]


def _lines() -> list[str]:
    lines = clean(session.get(PAGE, "input"))[0].splitlines()
    return [each for each in map(str.strip, lines) if each]
