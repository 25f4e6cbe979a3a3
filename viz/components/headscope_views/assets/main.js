// The one Streamlit component: it shows what its data, the props, name as their kind. Everything
// else comes from a path that names its version, and stays in the browser's cache. A view is mounted
// once its style sheet applies, because views measure themselves.

/** @import {Host, Mount, Mounted} from "../../../web/types" */

/** @typedef {{kind: string, assets: string} & Record<string, unknown>} Props */

/**
 * @typedef {object} Call what Streamlit calls a component with
 * @property {ParentNode} parentElement
 * @property {[Props]} data
 * @property {(name: string, value: unknown) => void} setStateValue
 * @property {(name: string, value: unknown) => void} setTriggerValue
 */

/** What is shown in one element. */
class Instance {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Call | null} the latest */
    this.call = null;
    this.kind = "";
    /** @type {Mounted<any> | null} */
    this.mounted = null;
    /** @type {Host} */
    this.host = {
      set: (name, value) => this.call?.setStateValue(name, value),
      trigger: (name, value) => this.call?.setTriggerValue(name, value),
    };
  }

  /** @param {Call} call */
  update(call) {
    this.call = call;
    const [props] = call.data;
    const { kind, assets } = props;
    if (kind === this.kind) {
      this.mounted?.update(props);
      return;
    }
    this.stop();
    this.kind = kind;
    Promise.all([load(assets, kind), style(this.root, assets)]).then(
      ([{ mount }]) => {
        if (this.kind !== kind || this.mounted || !this.call) return;
        this.mounted = mount(this.root, this.call.data[0], this.host);
        this.root.ariaBusy = "false";
      },
      () => {
        this.kind = ""; // tried again with the next props
        this.root.ariaBusy = "false";
        this.root.textContent = "A part of this page could not be loaded. Reload the page.";
      },
    );
  }

  stop() {
    this.mounted?.destroy();
    this.mounted = null;
    this.kind = "";
  }
}

/**
 * @param {string} assets the path of this version's modules
 * @param {string} kind
 * @returns {Promise<{mount: Mount<any>}>}
 */
async function load(assets, kind) {
  const { KINDS } = await import(`${location.origin}${assets}/web/streamlit/kinds.js`);
  return KINDS[kind]();
}

/** @type {Map<string, Promise<CSSStyleSheet>>} by path; all views share one */
const sheets = new Map();

/**
 * Applies the style sheet of the views to the shadow root.
 *
 * @param {HTMLElement} root
 * @param {string} assets
 */
async function style(root, assets) {
  const within = root.getRootNode();
  if (!(within instanceof ShadowRoot)) return;
  const path = `${assets}/web/views.css`;
  if (!sheets.has(path)) sheets.set(path, fetchSheet(path));
  try {
    within.adoptedStyleSheets = [await /** @type {Promise<CSSStyleSheet>} */ (sheets.get(path))];
  } catch (error) {
    sheets.delete(path); // tried again with the next props
    throw error;
  }
}

/** @param {string} path */
async function fetchSheet(path) {
  const response = await fetch(`${location.origin}${path}`);
  if (!response.ok) throw new Error(`${path}: status ${response.status}`);
  return new CSSStyleSheet().replace(await response.text());
}

/** @type {WeakMap<HTMLElement, Instance>} */
const instances = new WeakMap();

/**
 * Called with new data and when the theme changes; the function it returns is called when the
 * component goes away, and also when newer data overtake a call while the element stays.
 *
 * @param {Call} call
 */
export default function show(call) {
  const root = /** @type {HTMLElement} */ (call.parentElement.querySelector(".headscope"));
  const instance = instances.get(root) ?? new Instance(root);
  instances.set(root, instance);
  instance.update(call);
  return () =>
    setTimeout(() => {
      if (root.isConnected) return;
      instance.stop();
      instances.delete(root);
    });
}
