// The adapter to Streamlit: called again whenever data or theme change, cleaned up at unmount.

const instances = new WeakMap();

/** A component's default export from a view's `mount`. */
export const adapt = (mount) =>
  function ({ parentElement, data, setStateValue }) {
    const root = parentElement.querySelector(".headscope");
    const known = instances.get(root);
    if (known) {
      known.send = setStateValue;
      known.view.update(data === known.data ? null : data);
      known.data = data;
      return known.cleanup;
    }
    const made = { data, send: setStateValue };
    const turn = inTurn((event) => made.send("view", event));
    made.view = mount(root, data, turn.say);
    made.cleanup = () => {
      turn.stop();
      made.view.destroy();
      instances.delete(root);
    };
    instances.set(root, made);
    return made.cleanup;
  };

const STATE = "data-test-script-state";
const RUNS = ["running", "rerunRequested", "stopRequested"];
const LONGEST = 1000; // milliseconds
const idle = window.requestIdleCallback
  ? (go) => requestIdleCallback(go, { timeout: LONGEST })
  : (go) => setTimeout(go, 50);

// While the app runs, what a view says waits, and the newest counts. Said at once, it would be
// answered before the browser hears that the run is over, and what that run has taken off the page
// would stay there. After the run it waits until the controls have heard of their new values: what a
// view says carries those of all controls along, and old ones would undo what the run has chosen.
function inTurn(send) {
  const app = document.querySelector(`[${STATE}]`);
  const runs = () => RUNS.includes(app?.getAttribute(STATE));
  let settled = !runs();
  let event = null;
  const observer = new MutationObserver(() => {
    settled = false;
    idle(go);
  });
  if (app) observer.observe(app, { attributeFilter: [STATE] });

  function go() {
    settled = !runs();
    if (settled && event !== null) say(event);
  }

  function say(newest) {
    event = newest;
    if (!settled || runs()) return;
    event = null;
    send(newest);
  }

  function stop() {
    event = null;
    observer.disconnect();
  }

  return { say, stop };
}
