// A button that copies the link to what is shown.

import { html } from "../core/html.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/hooks.js";
import { mounting } from "./control.js";

const DONE_MS = 2000;

/** @param {{label: string}} props */
function CopyLink({ label }) {
  const [isCopied, setCopied] = useState(false);
  const [link, setLink] = useState(""); // that is copied by hand
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    const timer = setTimeout(() => setCopied(false), DONE_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  useLayoutEffect(() => field.current?.select(), [link]);
  const copy = () =>
    Promise.resolve(location.href)
      .then((href) => navigator.clipboard.writeText(href))
      .then(() => setCopied(true))
      .catch(() => setLink(location.href)); // without HTTPS the clipboard is closed to pages
  return html`
    <button type="button" class="hs-button hs-copy-link" title=${label} aria-live="polite" onClick=${copy}>
      ${isCopied ? "Copied" : label}
    </button>
    ${link && html`<input class="hs-entry" readonly aria-label="The link" value=${link} ref=${field} />`}
  `;
}

export const mount = mounting(CopyLink);
