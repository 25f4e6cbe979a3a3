"""A hostile user: random actions at machine speed, after which everything on the page must agree.

`drive` performs seeded actions (type, slide, choose, click an example, move in the view by key and
mouse, hover, drop a file, follow a link, change the page, Back, Forward, reload), waits until the
page is at rest and returns what does not agree:

- the address, opened in a new tab, shows the same controls and the same picture;
- no error box was shown at any time, and the console stayed silent.

What a page has is found by role. Whatever else has to be known of one is a line of `PLACES`.
"""

import io
import json
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import ConsoleMessage, Error, Page, expect

from tests.browser.views import open_lab
from viz import course

ACTIONS = 300
EVERY = 100  # actions between two comparisons
ATTEMPTS = 4  # times as many are tried: not every page has everything
STEP_MS = 700  # an action that cannot begin by then is left out
WAIT_MS = 120_000
NAVIGATIONS = 3  # that may come while the page is waited for
REST_MS = 1200  # a page is at rest when nothing has changed for that long
POLL_MS = 200
WORDS = re.findall(r"\S+", "the cat sat on a mat and it was too tired to cross 🙂 Über <s>")
VIEW = ".headscope[data-trace]"
SIDE = 16  # pixels of a canvas that are compared, along each side
LEVELS = 24  # of 256 by which a pixel may differ: weights on the way are rounded, text is smoothed
CONTROL = "input, textarea, select, [role=slider], [role=radio][aria-checked=true]"
STALE = ".hs-busy, .stale"  # a picture that stays while what is chosen cannot be drawn


@dataclass(frozen=True)
class Place:
    """One page as the driver needs to know it.

    Attributes:
        name: what the page, or the part of the app it belongs to, is called in the bar.
        path: of its address.
        links: queries of links to it that somebody might open.
        avoid: accessible names of what is left alone: it downloads, prints, or takes minutes.
        file: whether a picture can be dropped.
    """

    name: str
    path: str
    links: tuple[str, ...] = ("",)
    avoid: str = r"(?!)"
    file: bool = False


COURSE = "Course"
LESSONS = tuple(lesson.name for lesson in course.COURSE)
PLACES = (
    Place(
        "Explore",
        "/",
        (
            "",
            "input=A+cat+sat+on+a+mat&layer=2&head=4",
            "model=built&dim=16&heads=2&depth=3",
            "model=dates",
            "head=max&token=3&direction=in",
            "words=yes&sinks=hidden",
            "model=built-vit&size=64&heads=2&dim=16&depth=3",
            "model=built-vit&size=80&heads=2&dim=16&depth=2&photo=china&layer=1&head=1",
            "model=digits",
            "model=shapes&layer=1&token=3",
        ),
        avoid=r"^[4-7]$|hub|folder|Fetch|Get \(|Whichever|^transformers$|implementation",
        file=True,
    ),
    Place(
        "Build",
        "/build",
        (
            *("preset=small", "preset=small-decoder&positions=rotary&open=p:relation:32:0"),
            *("preset=small-vit", "preset=smallest", "preset=layer", "preset=gpt2-small"),
        ),
        avoid=r"base|GPT-2|B/16|conv|ViT-|raw|pixels|paper|300|vaswani|Transformer|Run it",
    ),
    Place(COURSE, "/course"),
    *(Place(COURSE, f"/{path}") for path in LESSONS),
)
BY_PATH = {place.path: place for place in PLACES}
PICTURES = re.compile(r"^An? \w+$")  # those that every tab has
AVOID = re.compile(
    r"save|download|copy|projector|print|fullscreen|help for|link to heading|clear", re.I
)

INIT = """() => {
  const seen = new WeakSet();
  const look = () => {
    const boxes = "[data-testid=stException], [data-testid=stDialog]";
    for (const box of document.querySelectorAll(boxes))
      if (!seen.has(box) && box.textContent.trim()) {
        seen.add(box);
        window.reportErrorBox(box.textContent.trim().slice(0, 300));
      }
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true });
  window.__fetching = 0;
  const fetch = window.fetch;
  window.fetch = (...all) => {
    window.__fetching += 1;
    return fetch(...all).finally(() => (window.__fetching -= 1));
  };
}"""

# The elements of the page and of the shadow roots in it, in order.
DEEP = (
    """
const deep = function* (root) {
  for (const e of root.querySelectorAll("*")) {
    yield e;
    if (e.shadowRoot) yield* deep(e.shadowRoot);
  }
};
const all = [...deep(document)];
const within = (e, selector) => {
  for (let at = e; at; at = at.parentElement ?? at.getRootNode().host ?? null)
    if (at.matches?.(selector)) return at;
  return null;
};
const visible = (e) => e.checkVisibility({ visibilityProperty: true });
const words = (e) => (e.innerText ?? e.textContent ?? "").replace(/\\s+/g, " ").trim();
const small = (canvas) => {
  const context = new OffscreenCanvas(SIDE, SIDE).getContext("2d");
  context.imageSmoothingQuality = "high";
  context.fillStyle = "grey";
  context.fillRect(0, 0, SIDE, SIDE);
  context.drawImage(canvas, 0, 0, SIDE, SIDE);
  return [...context.getImageData(0, 0, SIDE, SIDE).data];
};
// what is shown; with `quick` not what was drawn, but which drawing it is
const state = (quick) => {
  const shown = (selector) => all.filter((e) => e.matches(selector) && visible(e));
  const on = (e) => (e.type === "checkbox" || e.type === "radio" ? e.checked : e.value);
  const controls = shown("CONTROL")
    .filter((e) => !within(e, "VIEW") && within(e, "main, [data-testid=stMain]"))
    .filter((e) => e.type !== "file")
    .map((e) => [
      e.getAttribute("aria-label") || e.labels?.[0]?.innerText || words(e),
      e.getAttribute("aria-valuenow") ?? on(e) ?? null,
    ]);
  const views = shown("[data-painted]")
    .filter((e) => !e.matches("STALE") && ![...deep(e)].some((inner) => inner.matches("STALE")))
    .map((e) => {
      const { painted, ...data } = e.dataset;
      if (quick) return [data, painted];
      const canvases = [...deep(e), ...(e.shadowRoot ? deep(e.shadowRoot) : [])]
        .filter((c) => c.localName === "canvas" && c.width && c.height && visible(c))
        .map((c) => [c.width, c.height, small(c)]);
      return [data, canvases];
    });
  const series = (d) => [d.type, d.z, d.x, d.y];
  const charts = shown(".js-plotly-plot").map((e) => JSON.stringify((e.data ?? []).map(series)));
  return { controls, views, charts, alerts: shown("[data-testid=stAlert]").map(words) };
};
""".replace("VIEW", VIEW)
    .replace("STALE", STALE)
    .replace("CONTROL", CONTROL)
    .replace("SIDE", str(SIDE))
)
STATE = f"() => {{ {DEEP} return state(false); }}"
RESTS = f"""([rest]) => {{
  {DEEP}
  const app = document.querySelector("[data-test-script-state]");
  const busy =
    !app ||
    window.__fetching > 0 ||
    app.getAttribute("data-test-script-state") !== "notRunning" ||
    (app.getAttribute("data-test-connection-state") ?? "CONNECTED") !== "CONNECTED" ||
    !all.some((e) => e.matches("h1, h2, h3, h4")) ||
    all.some(
      (e) =>
        e.matches("[data-testid=stSpinner], [data-testid=stSkeleton], [data-stale=true]") ||
        (e.matches("[aria-busy=true], .hs-loading, .hs-dim") && visible(e)),
    );
  const now = busy ? null : location.href + JSON.stringify(state(true));
  const kept = (window.__rest ??= {{}});
  if (now === null || kept.now !== now) Object.assign(kept, {{ now, at: performance.now() }});
  return now !== null && performance.now() - kept.at > rest;
}}"""


@dataclass
class Drive:
    """One run of the driver, and what it found.

    Attributes:
        seed: of the actions.
        done: how many actions were performed, by name.
        compared: how often the page was compared with its address.
        log: every action with what it acted on.
        left_out: actions that could not begin, and why.
        problems: what did not agree or was reported; empty if all is well.
    """

    seed: int
    done: dict[str, int] = field(default_factory=dict)
    compared: int = 0
    log: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def watch(page: Page, problems: list[str]) -> None:
    """Collects error boxes, console errors and page errors of a page from now on."""

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error" and not _expected(message):
            problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    page.on("console", heard)
    page.on("pageerror", lambda error: problems.append(f"page error: {error.stack or error}"))
    page.expose_function("reportErrorBox", lambda text: problems.append(f"error box: {text}"))
    page.add_init_script(f"({INIT})()")


def _expected(message: ConsoleMessage) -> bool:
    """Whether the page is not to blame: a result is gone, a text is refused, a page was left."""
    url = message.location.get("url", "")
    gone = "/api/trace/" in url and re.search(r"status of (404|410)", message.text)
    refused = "/api/figure/" in url and "status of 400" in message.text  # what was typed
    below = re.search(r"/\w+/_stcore/", url)  # what Streamlit asks below a page before the root
    left = "WebSocket is closed before the connection is established" in message.text
    again = "file upload - CanceledError" in message.text  # another file was dropped over it
    return bool(gone or refused or below or left or again)


BLUR = """() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    at?.blur?.();
}"""


def rest(page: Page, *, first: str = "() => {}") -> None:
    """Returns when no run, request or repaint is under way and nothing has changed for a while.

    Args:
        page: to wait for.
        first: what is evaluated on it before, again on a document that takes its place.
    """
    for left in range(NAVIGATIONS, -1, -1):
        try:
            page.wait_for_load_state("networkidle", timeout=WAIT_MS)
            page.evaluate(first)
            page.evaluate("() => { window.__rest = null; }")
            page.wait_for_function(RESTS, arg=[REST_MS], polling=POLL_MS, timeout=WAIT_MS)
            return
        except Error as error:  # Back may only now have left the document
            if not left or "context was destroyed" not in str(error):
                raise


def state(page: Page) -> dict[str, Any]:
    """Values of all controls, data attributes and canvases of all views, charts, alerts."""
    return page.evaluate(STATE)


def drive(
    page: Page, url: str, seed: int, actions: int = ACTIONS, places: tuple[Place, ...] = PLACES
) -> Drive:
    """Performs the actions of a seed, and compares.

    Args:
        page: a new page.
        url: of the app.
        seed: of everything random.
        actions: how many.
        places: the pages to visit.
    """
    run = Drive(seed)
    watch(page, run.problems)
    user = User(page, url, run, places)
    page.goto(url)
    expect(page.get_by_role("heading", level=4).first).to_be_visible(timeout=WAIT_MS)
    for number in range(ATTEMPTS * actions):
        user.act(random.Random(f"{seed}/{number}"))
        done = sum(run.done.values())
        if done >= min(actions, EVERY * (run.compared + 1)):
            _compare(page, run, random.Random(f"{seed}/{number}"))
        if done >= actions:
            break
    return run


class User:
    """The actions; each picks what it acts on, and waits for nothing."""

    def __init__(self, page: Page, url: str, run: Drive, places: tuple[Place, ...]) -> None:
        self.page, self.url, self.run, self.places = page, url, run, places

    @property
    def place(self) -> Place:
        path = re.sub(r"^https?://[^/]*|[?#].*$", "", self.page.url) or "/"
        return BY_PATH.get(path, PLACES[0])

    def act(self, random: random.Random) -> None:
        """One action; what is not there is left out."""
        (name,) = random.choices([*WEIGHTS], [*WEIGHTS.values()])
        try:
            if not self.page.url.startswith(self.url):  # back, before the first page
                self.page.goto(self.url, wait_until="commit")
            if name in PLAIN:
                what = self._plain(random, *PLAIN[name][1:])
            else:
                what = getattr(self, name)(random)
        except Error as error:
            if self.page.is_closed():
                raise
            what = None
            self.run.left_out.append(f"{name}: {str(error).splitlines()[0]}")
        if what is not None:
            self.run.done[name] = self.run.done.get(name, 0) + 1
            self.run.log.append(f"{name} {what} @ {self.page.url.removeprefix(self.url)}")

    def type(self, random: random.Random) -> str | None:
        box = self._press(random, BOXES)
        if box is None:
            return None
        text = " ".join(random.choices(WORDS, k=random.randint(1, 8)))
        keys = self.page.keyboard
        if box["type"] == "number":
            keys.press(random.choice(("ArrowUp", "ArrowDown")))
            return f"{box['name']} by one"
        if random.random() < 0.5:
            keys.press("ControlOrMeta+a")
        if random.random() < 0.5:
            keys.type(text[:4])
        else:
            keys.insert_text(text)
        if random.random() < 0.4:
            keys.press("Enter")
        return f"{text!r} into {box['name']}"

    def choose(self, random: random.Random) -> str | None:
        box = self._press(random, "input[role=combobox]")
        if box is None:
            return None
        options = self.page.get_by_role("option").all_inner_texts()
        avoid = re.compile(self.place.avoid, re.I)
        fit = [number for number, name in enumerate(options) if not avoid.search(name.strip())]
        if not fit:
            self.page.keyboard.press("Escape")
            return None
        number = random.choice(fit)
        self.page.get_by_role("option").nth(number).click(timeout=STEP_MS)
        return f"{options[number]} of {box['name']}"

    def hover(self, random: random.Random) -> str:
        self.page.mouse.move(random.uniform(0, 1200), random.uniform(60, 880))
        return ""

    def open(self, random: random.Random) -> str:
        """A link somebody sent, of any page."""
        place = self._somewhere(random)
        link = place.path + (f"?{query}" if (query := random.choice(place.links)) else "")
        self.page.goto(self.url + link, wait_until="commit")
        return link

    def menu(self, random: random.Random) -> str | None:
        name = self._somewhere(random).name
        self.page.get_by_role("link", name=name, exact=True).first.click(timeout=STEP_MS)
        return name

    def back(self, random: random.Random) -> str:
        way = "back" if random.random() < 0.75 else "forward"
        self.page.evaluate(f"history.{way}()")
        return way

    def reload(self, random: random.Random) -> str:
        self.page.reload(wait_until="commit")
        return ""

    def drop(self, random: random.Random) -> str | None:
        chooser = self.page.locator("input[type=file]")
        if not self.place.file or not chooser.count():
            return None
        chooser.first.set_input_files(picture(random), timeout=STEP_MS)  # pyright: ignore[reportArgumentType]
        return "a picture"

    def _somewhere(self, random: random.Random) -> Place:
        """A page; lessons, of which there are many, no more often than the others."""
        others = [place for place in self.places if place.name != COURSE]
        return random.choice(others if others and random.random() < 0.6 else self.places)

    def _plain(self, random: random.Random, what: str, where: str, keys: str) -> str | None:
        """Some presses of one of these keys, or a click."""
        if not keys:
            found = self._press(random, what, where, anywhere=bool(where))
            return found["name"] if found else None
        found, key, times = self._pick(random, what, where), "", random.randint(1, 3)
        if found is None:
            return None
        for _ in range(times):
            self.page.keyboard.press(key := random.choice(keys.split()))
        return f"{found['name']} by {key} × {times}"

    def _press(
        self, random: random.Random, what: str, where: str = "", *, anywhere: bool = False
    ) -> dict[str, Any] | None:
        """A click on one of these, in the middle or anywhere."""
        found = self._pick(random, what, where)
        if found is None:
            return None
        across, down = (random.random(), random.random()) if anywhere else (0.5, 0.5)
        x = found["left"] + 2 + across * (found["width"] - 4)
        y = found["top"] + 2 + down * (found["height"] - 4)
        self.page.mouse.click(x, y)
        return found

    def _pick(self, random: random.Random, what: str, where: str = "") -> dict[str, Any] | None:
        """One of these in the middle of the window, with the focus; None if there is none.

        Args:
            random: chooses.
            what: a CSS selector.
            where: of what surrounds it; of the page's controls if empty.
        """
        avoid = f"{AVOID.pattern}|{self.place.avoid}"
        return self.page.evaluate(PICK, [what, where, avoid, random.random()])


BOXES = (
    "textarea, input:not([role=combobox], [type=file], [type=checkbox], [type=radio], [type=range])"
)
PICK = f"""([what, where, avoid, share]) => {{
  {DEEP}
  const no = new RegExp(avoid, "i");
  const named = (e) =>
    (e.getAttribute("aria-label") || e.labels?.[0]?.innerText || e.innerText || "").trim();
  const found = all.filter(
    (e) =>
      e.matches(what) &&
      (where ? within(e, where) : within(e, "main, [data-testid=stMain]") && !within(e, "VIEW")) &&
      visible(e) &&
      !e.disabled &&
      !no.test(named(e)),
  );
  if (!found.length) return null;
  const one = found[Math.floor(share * found.length)];
  one.scrollIntoView({{ block: "center" }});
  one.focus({{ preventScroll: true }});
  const {{ left, top, width, height }} = one.getBoundingClientRect();
  return {{ left, top, width, height, type: one.type ?? "", name: named(one).slice(0, 40) }};
}}""".replace("VIEW", VIEW)
ARROWS = "ArrowLeft ArrowRight ArrowUp ArrowDown"
PLAIN = {  # how often, what one of is chosen, within what, and the keys it gets; a click without
    "slide": (14, "[role=slider], input[type=range]", "", "ArrowLeft ArrowRight"),
    "switch": (8, "[role=radio]", "", ""),
    "press": (14, "button:not([role=radio])", "", ""),
    "follow": (3, "a[href]", "", ""),
    "view_key": (12, "[tabindex='0']", VIEW, f"{ARROWS} Enter"),
    "view_mouse": (8, "canvas, button", VIEW, ""),
    "view_list": (5, "select", VIEW, "m 0 1 2 3 4 5 6 7 8 9"),
}
WEIGHTS = {
    "type": 14,
    "choose": 6,
    "hover": 4,
    "open": 2,
    "menu": 4,
    "back": 3,
    "reload": 1,
    "drop": 3,
} | {name: weight for name, (weight, *_) in PLAIN.items()}


def picture(random: random.Random) -> dict[str, Any]:
    """A small PNG of random pixels."""
    from PIL import Image

    file = io.BytesIO()
    size = (random.randint(20, 60), random.randint(20, 60))
    Image.frombytes("RGB", size, random.randbytes(3 * size[0] * size[1])).save(file, "PNG")
    return {"name": "mine.png", "mimeType": "image/png", "buffer": file.getvalue()}


def _compare(page: Page, run: Drive, random: random.Random) -> None:
    """The page at rest beside its own address in a new tab; perhaps after one more step back."""
    run.compared += 1
    still(page)
    way = random.choice((None, "back", "reload"))
    if way is not None:
        run.log.append(f"at rest: {way}")
        page.evaluate("history.back()") if way == "back" else page.reload()
        rest(page)
    if "compare=upload" in page.url:  # another tab has no such file
        open_lab(page, "Compare")
        page.get_by_label("Compare with").select_option("nothing")
        page.wait_for_url(lambda address: "compare=upload" not in address, timeout=WAIT_MS)
        still(page)
    if "upload=" in page.url:  # nor this one
        page.get_by_role("main").get_by_role("button", name=PICTURES).first.click()
        page.wait_for_url(lambda address: "upload=" not in address, timeout=WAIT_MS)
        still(page)
    address, here = page.url, state(page)
    other = page.context.new_page()
    problems: list[str] = []
    watch(other, problems)
    other.goto(address)
    still(other)
    run.problems += [f"in a new tab: {problem}" for problem in problems]
    if other.url != address:
        run.problems.append(f"address: {address} becomes {other.url} in a new tab")
    run.problems += differences(here, state(other))
    other.close()


def still(page: Page) -> None:
    """Takes the pointer and the focus away, and returns when the page is at rest."""
    page.mouse.move(0, 0)
    rest(page, first=BLUR)


def differences(here: dict[str, Any], there: dict[str, Any]) -> list[str]:
    """What two states differ in, one line each."""
    found = []
    for name in ("controls", "charts", "alerts"):
        mine, others = (Counter(map(json.dumps, each[name])) for each in (here, there))
        if mine != others:
            found.append(f"{name}: {[*mine - others]} is {[*others - mine]} in a new tab"[:1500])
    if len(here["views"]) != len(there["views"]):
        count = len(here["views"])
        return [*found, f"views: {count} is {len(there['views'])} in a new tab"]
    for (mine, drawn), (others, drawn_there) in zip(here["views"], there["views"], strict=True):
        if mine != others:
            found.append(f"view: {mine} is {others} in a new tab")
        if not _alike(drawn, drawn_there):
            sizes = [[canvas[:2] for canvas in each] for each in (drawn, drawn_there)]
            found.append(f"picture of {mine}: is another one in a new tab, of {sizes}")
    return found


def _alike(these: list[Any], those: list[Any]) -> bool:
    """Whether canvases of the same sizes show the same, by their pixels when made small."""
    if [canvas[:2] for canvas in these] != [canvas[:2] for canvas in those]:
        return False
    pairs = (zip(this[2], that[2], strict=True) for this, that in zip(these, those, strict=True))
    return all(abs(a - b) <= LEVELS for pair in pairs for a, b in pair)
