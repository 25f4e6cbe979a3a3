// Lets keys click a lesson's buttons and links, and shows the picture when a link has changed it.
// Called again on every change of data or theme: the listeners are made once.

const CLICKS = {
  ArrowRight: ".st-key-lesson_forward button",
  ArrowLeft: ".st-key-lesson_back button",
  n: ".st-key-lesson_next a",
  p: ".st-key-lesson_previous a",
};
// where a key has a meaning of its own: typing, moving a slider, choosing, walking through a picture
const BUSY =
  "input, textarea, select, [contenteditable=true], [role=slider], [role=radio], [role=tab]," +
  " [role=option], [role=menuitem], .js-plotly-plot, canvas";
const TRIES = "[class*='st-key-lesson_tries'] a";
const STEPS = "[class*='st-key-lesson_step_']";
const FOLLOWED = 4000; // milliseconds in which the page has settled
let listening = false;

// The listeners stay: between two lessons there is a moment without this component, and a key that
// is pressed then would be lost. On other pages there is nothing that they could click.
export default function () {
  if (listening) return;
  listening = true;
  document.addEventListener("keydown", hear);
  document.addEventListener("click", look);
  document.documentElement.dataset.lessonKeys = "heard";
}

// What a link to try has changed may be far above it: the first control that it sets comes into view,
// and stays there while the page grows or shrinks, unless the reader does something.
function look(event) {
  const link = event.target instanceof Element && event.target.closest(TRIES);
  if (!link) return;
  const { pathname, searchParams } = new URL(link.href);
  const name = pathname.split("/").pop();
  const controls = [...searchParams.keys()].map((key) => `.st-key-${name}_${key}`);
  const show = () => {
    const places = [...controls, STEPS].map((place) => document.querySelector(place));
    const found = places.find((place) => place?.getClientRects().length);
    if (!found) return;
    found.style.scrollMarginTop = "5.5rem"; // the menu lies over the top of the page
    found.scrollIntoView({ block: "start" });
  };
  const page = link.closest("[class*='st-key-lesson_page']") ?? document.body;
  const sizes = new ResizeObserver(show);
  const parts = new MutationObserver(show); // a control may take the place of one of the same size
  sizes.observe(page);
  parts.observe(page, { childList: true, subtree: true });
  unlessDisturbed(() => [sizes, parts].forEach((watch) => watch.disconnect()));
  show();
}

function hear(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const from = event.composedPath()[0];
  if (from instanceof Element && from.closest(BUSY)) return;
  const wanted = CLICKS[event.key] ?? CLICKS[event.key.toLowerCase()];
  if (!wanted) return;
  const found = document.querySelector(wanted);
  if (!found) clickSoon(wanted);
  else if (!found.disabled) {
    event.preventDefault();
    found.click();
  }
}

// A key pressed while the lesson is being drawn, its title there and its links not yet, waits for
// what it clicks, unless the reader does something else.
function clickSoon(wanted) {
  const drawn = new MutationObserver(() => {
    const found = document.querySelector(wanted);
    if (!found) return;
    stop();
    if (!found.disabled) found.click();
  });
  drawn.observe(document.body, { childList: true, subtree: true });
  const stop = unlessDisturbed(() => drawn.disconnect());
}

// Ends something after a while, or at once when the reader does anything.
function unlessDisturbed(end) {
  const done = new AbortController();
  const stop = () => {
    done.abort();
    clearTimeout(timer);
    end();
  };
  const timer = setTimeout(stop, FOLLOWED);
  for (const kind of ["wheel", "touchstart", "pointerdown", "keydown"])
    document.addEventListener(kind, stop, { passive: true, signal: done.signal });
  return stop;
}
