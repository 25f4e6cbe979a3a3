// A token on its way up the residual stream, step by step: what each part adds, and the word predicted from there.

import { html } from "../core/html.js";
import { legible } from "../core/labels.js";
import { useReply } from "../core/hooks.js";
import { pathOf } from "../core/sources.js";
import { figures } from "../core/ticks.js";
import { Button, Menu } from "../parts/controls.js";
import { useEffect, useState } from "../vendor/hooks.js";

/** @import {Part} from "../answers" */
/** @import {Source} from "../types" */

/** @type {Part[]} */
const NONE = [];
const STEP_MS = 500; // for which each part is in sight while it plays

/** @param {{source: Source, labels: string[]}} props */
export function Follow({ source, labels }) {
  const [chosen, setToken] = useState(-1); // none
  const token = chosen < labels.length ? chosen : -1; // another network may read fewer
  const reply = useReply(source, token < 0 ? null : pathOf("follow", { token }));
  /** @type {Part[]} */
  const parts = reply && !reply.why ? reply : NONE;
  const [at, setAt] = useState(0);
  const [plays, setPlays] = useState(false);
  useEffect(() => setAt(0), [reply]);
  useEffect(() => {
    if (!plays) return undefined;
    const timer = setTimeout(() => (at + 1 < parts.length ? setAt(at + 1) : setPlays(false)), STEP_MS);
    return () => clearTimeout(timer);
  }, [plays, at, parts]);
  const names = ["Follow a token …", ...labels.map((label, n) => `${n} ${legible(label)}`)];
  const part = parts[at];
  const most = Math.max(1e-9, ...parts.map(({ stream }) => stream));
  return html`
    <section class="hs-build-follow" aria-label="Follow a token up the stream">
      <div class="hs-row">
        <${Menu} name="Follow a token" title="What each part of the network adds to the vector of one token" labels=${names} index=${token + 1} onChoose=${(index) => setToken(index - 1)} />
        ${
          parts.length > 0 &&
          html`
            <${Button} text="‹" title="The part before" disabled=${at === 0} onClick=${() => setAt(at - 1)} />
            <${Button} text=${plays ? "Pause" : "Play"} title="Go up part by part" onClick=${() => (at + 1 < parts.length || setAt(0), setPlays(!plays))} />
            <${Button} text="›" title="The next part" disabled=${at + 1 >= parts.length} onClick=${() => setAt(at + 1)} />
          `
        }
        ${token >= 0 && !parts.length && html`<span class="hs-muted" role="status">${reply?.why || "Following …"}</span>`}
      </div>
      ${
        part &&
        html`
          <div class="hs-build-bars" aria-hidden="true">
            ${parts.map(
              ({ name, stream }, n) =>
                html`<i class=${n === at ? "hs-build-now" : ""} style=${{ height: `${(100 * stream) / most}%` }} title=${name} onPointerEnter=${() => setAt(n)}></i>`,
            )}
          </div>
          <p class="hs-read" aria-live="polite">
            <b>${part.name}</b>${` adds a vector of length ${figures(part.size)}; the stream is then ${figures(part.stream)} long.`}
            ${` ${directionOf(part.direction)}`}
            ${part.word && html` Had the network ended here, it would predict <b>“${legible(part.word)}”</b> ${` (${(100 * part.chance).toFixed(0)} %).`}`}
          </p>
        `
      }
    </section>
  `;
}

/** The direction of a part's vector, beside that of the final stream. */
function directionOf(cosine) {
  const number = cosine.toFixed(2).replace("-", "−");
  if (cosine > 0.1) return `It points the same way as the final stream (cosine ${number}).`;
  if (cosine < -0.1) return `It points against the final stream (cosine ${number}).`;
  return `It is nearly perpendicular to the final stream (cosine ${number}).`;
}
