// The network of a trace as a picture, over the page.

import { html } from "../core/html.js";
import { Button } from "../parts/controls.js";
import { useRef, useState } from "../vendor/hooks.js";
import { Network } from "./build.js";

/** @param {{view: import("../core/state.js").State<any>}} props */
export function WhatIsInIt({ view }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [open, setOpen] = useState(false);
  const source = view.client?.source;
  const show = () => {
    setOpen(true);
    dialog.current?.showModal();
  };
  return html`
    <${Button} text="What is in it" title="The network as one picture, down to one multiplication" onClick=${show} />
    <dialog class="hs-build-dialog" ref=${dialog} aria-label="What is in this network" onClose=${() => setOpen(false)}>
      <${Button} text="Close" title="Back to the page" onClick=${() => dialog.current?.close()} />
      ${open && source && html`<${Network} root=${view.root} source=${source} asked="" record=${() => {}} size=${view.props.type_size ?? 1} />`}
    </dialog>
  `;
}
