// The last states of the patches: their principal components as colours, and how like the chosen patch each is.

import { useAnswer } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { capital } from "../../web/core/labels.js";
import { pathOf } from "../../web/core/sources.js";
import { pixelsOf } from "../../web/painting/pixels.js";
import { useMemo } from "../../web/vendor/hooks.js";
import { PatchMap } from "../../web/image/map.js";

/** @import {PatchState} from "../../web/image/state.js" */

const COLOURED = 230; // opacity of a patch's colour, of 255
const COMPONENTS =
  "The last hidden states of the patches as colours: their first three principal components are red, green and blue.";
const LIKENESS =
  "The cosine of each patch’s last hidden state and that of the framed one. Click another patch, or walk with the arrow keys.";
const DOUBTS = [
  "Equal colours mean similar features, not one object.",
  "Similar features are not yet one object: patches of one texture are alike as well.",
];
const COSINES = ["−1", "−0.25", "0", "+0.25", "+1"]; // the square root on both sides of 0

/** @param {{state: PatchState}} props */
export const Features = ({ state }) => html`
  <section class="hs-section hs-model" aria-label="Features of the patches">
    <div class="hs-model-parts hs-over-parts hs-two">
      <${Components} state=${state} />
      <${Likeness} state=${state} />
    </div>
  </section>
`;

const Part = ({ title, says, doubt, read, children }) => html`
  <section class="hs-section">
    <h3 class="hs-heading">${title}</h3>
    ${children}
    <p class="hs-read" aria-live="polite">${read}</p>
    <p class="hs-sentence">${says}</p>
    <p class="hs-doubt">${doubt}</p>
  </section>
`;

function Components({ state }) {
  const { base, pointed } = state;
  const { answer, ...reply } = useAnswer(state, "components", "components", "Computing");
  const drawn = useMemo(() => answer && componentsOf(state, answer), [answer, base]);
  const patch = (pointed ?? -1) - state.prefix;
  const levels = ["red", "green", "blue"].map((name, i) => `${name} ${answer?.colours[3 * patch + i]}`);
  const read =
    answer && patch >= 0
      ? `${capital(state.nameOf(pointed ?? 0))}: ${levels.join(", ")} of 255`
      : "Point at a patch to read its colour.";
  return html`
    <${Part} ...${{ title: drawn?.caption, says: COMPONENTS, doubt: DOUBTS[0], read }}>
      <${PatchMap} ...${{ state, drawn, ...reply }} />
    <//>
  `;
}

function componentsOf({ base }, { colours, explained }) {
  const pixels = Uint32Array.from(
    { length: colours.length / 3 },
    (_, i) => (COLOURED << 24) | (colours[3 * i + 2] << 16) | (colours[3 * i + 1] << 8) | colours[3 * i],
  );
  const shares = explained.map((share) => `${(100 * share).toFixed(0)}\u00a0%`).join(", ");
  const caption = `Features: ${pixels.length} patches, ${shares} of their variance`;
  const label = `${caption}, ${base.model}. Arrow keys choose a patch.`;
  return { pixels, framed: null, scale: null, label, caption };
}

function Likeness({ state }) {
  const token = state.compared;
  const { base, bothWays, pointed } = state;
  const { answer, ...reply } = useAnswer(state, "similar", pathOf("similar", { token }), "Computing");
  const drawn = useMemo(() => {
    if (!answer) return null;
    const caption = `Like ${state.nameOf(token)}`;
    const numberAt = (share) => COSINES[Math.round(4 * share)];
    return {
      pixels: pixelsOf(answer.values, { ramp: bothWays, top: 1, isSigned: true }),
      framed: token,
      scale: { ramp: bothWays, numberAt, words: "cosine" },
      label: `${caption}, ${base.model}. Arrow keys choose a patch.`,
      caption,
    };
  }, [answer, base, bothWays]);
  const value = answer?.values[(pointed ?? -1) - state.prefix];
  const read =
    value === undefined
      ? "Point at a patch to read its cosine; click to compare with it."
      : `${capital(state.nameOf(pointed ?? 0))}: ${value.toFixed(3)}`;
  return html`
    <${Part} ...${{ title: drawn?.caption, says: LIKENESS, doubt: DOUBTS[1], read }}>
      <${PatchMap} ...${{ state, drawn, ...reply }} />
    <//>
  `;
}
