// All layers together over a picture: where a method leads from the answer or from a patch, or what speaks
// for a class.

import { useAnswer } from "../../web/core/hooks.js";
import { html } from "../../web/core/html.js";
import { capital, legible } from "../../web/core/labels.js";
import { pathOf } from "../../web/core/sources.js";
import { explainedIn, MethodChoices } from "../../web/methods/choices.js";
import { Faithful } from "../../web/methods/faithful.js";
import { largest, methodOf, number, together } from "../../web/methods/methods.js";
import { numbersOf, pixelsOf, signedVeilOf, veilOf } from "../../web/painting/over.js";
import { Switch, Field } from "../../web/parts/controls.js";
import { useMemo } from "../../web/vendor/hooks.js";
import { PatchMap } from "../../web/image/map.js";

/** @import {PatchState} from "../../web/image/state.js" */

const UNEXPLAINED =
  "Methods that explain a class, and tests by its probability, need a model that gives classes.";
const FOLLOWED = [
  { value: "answer", label: "The answer", title: "Followed from what the model’s answer is read from" },
  {
    value: "token",
    label: "The chosen patch",
    title: "Followed from the patch that is chosen: click another one",
  },
];

/** @param {{state: PatchState}} props */
export function OverPatches({ state }) {
  const { followed, tested, method } = state.selection;
  const info = methodOf(method);
  const Method = info.kind === "relevance" ? RelevancePart : RowPart;
  return html`
    <section class="hs-section hs-model" aria-label="All layers over the picture">
      <div class="hs-row">
        <${MethodChoices} ...${{ state, always: tested === "yes" }} />
        ${
          info.kind !== "relevance" &&
          html`<${Field} name="from">
          <${Switch}
            ...${{ name: "Followed from", chosen: followed, choices: FOLLOWED }}
            onChoose=${(next) => state.select({ followed: next })}
          />
        <//>`
        }
      </div>
      <div class="hs-model-parts hs-over-parts">
        <${Method} key=${info.kind} ...${{ state, info }} />
      </div>
      ${state.base.explains === "nothing" && html`<p class="hs-doubt">${UNEXPLAINED}</p>`}
    </section>
  `;
}

/** The row of a method from the answer or from a token. */
function RowPart({ state, info, ...others }) {
  const { site, head, followed, token } = state.selection;
  const asked = {
    ...(info.of === "tower" ? { site: 0, head: "mean" } : { site, head }),
    method: info.name,
    index: followed === "token" ? (token ?? 0) : undefined,
  };
  const { answer, ...reply } = useAnswer(state.view, "over", pathOf("model_row", asked), "Computing");
  const of = `from ${answer?.reads ?? state.nameOf(token ?? 0)}`;
  const numbers = answer && { values: answer.values, of, more: "" };
  const framed = followed === "token" ? undefined : null;
  const isTested = info.of === "tower" && followed !== "token";
  return html`<${Part} ...${{ state, info, numbers, ...reply, framed, isTested, ...others }} />`;
}

/** What speaks for a class. */
function RelevancePart({ state, info, ...others }) {
  const { output } = state.selection;
  const path = pathOf("relevance", { method: info.name, output: output || undefined });
  const { answer, reason, isRefused } = useAnswer(state.view, "relevance", path, "Computing");
  const numbers = answer && {
    values: answer.values,
    of: `of ${answer.name ? `“${legible(answer.name)}”` : `output ${answer.id}`}`,
    more: `${capital(explainedIn(answer))} ${number(answer.value)}. ${together(answer)}`,
  };
  return html`<${Part} ...${{ state, info, numbers, reason, isRefused, framed: null, isTested: true, ...others }} />`;
}

/** One method's numbers over the picture. */
function Part({ state, info, numbers, reason, isRefused, framed, isTested }) {
  const { base, pointed } = state;
  const list = numbers?.values ?? [];
  const of = info.of === "head" ? ` (${state.siteName()}, ${state.headName()})` : "";
  const title = numbers ? `${info.title} ${numbers.of}${of}` : info.title;
  const drawn = useMemo(
    () => (numbers ? drawnOf(state, numbers.values, { info, title, framed }) : null),
    [numbers?.values, title, framed, state.ramp, base],
  );
  const isSigned = drawn?.scale.ramp === state.bothWays;
  const meaning = isSigned ? "Orange speaks for it, blue against it." : "Brighter = more.";
  const more = numbers
    ? [numbers.more, beforePatches(state, list), meaning].filter(Boolean).join(" ")
    : isRefused
      ? capital(reason)
      : "";
  const read =
    pointed === null
      ? "Point at a patch to read its number; click to choose it."
      : `${capital(state.nameOf(pointed))}: ${number(list[pointed] ?? 0)}`;
  return html`
    <section class="hs-section">
      <h3 class="hs-heading">${title}</h3>
      <div class="hs-over-columns">
        <div class="hs-over-map">
          <${PatchMap} ...${{ state, drawn, reason, isRefused }} />
          ${
            numbers &&
            html`<p class=${pointed === null ? "hs-read hs-muted" : "hs-read"} aria-live="polite">${read}</p>`
          }
        </div>
        <div>
          <p class="hs-sentence">${info.shows}</p>
          <p class="hs-read hs-muted">${more}</p>
          <p class="hs-doubt">${`${info.doubt} ${info.source}.`}</p>
          ${
            isTested &&
            base.explains === "classes" &&
            html`<${Faithful} ...${{ state, pictured: true, method: info.name }} />`
          }
        </div>
      </div>
    </section>
  `;
}

function drawnOf(state, list, { info, title, framed }) {
  const { base, bothWays, ramp } = state;
  const { shape, places } = state.grid();
  const patches = Float32Array.from(places, (place) => list[place]);
  const kind = patches.some((value) => value < 0) ? "signed" : "root";
  const top = largest(patches);
  const table = kind === "signed" ? signedVeilOf(bothWays) : veilOf(ramp);
  const words = info.kind === "relevance" ? "relevance" : "";
  return {
    pixels: pixelsOf(patches, { table, top, kind }),
    framed,
    scale: { ramp: kind === "signed" ? bothWays : ramp, numberAt: numbersOf(top, kind), words },
    label: `${title}, ${base.model}: ${shape.join(" × ")} patches. Arrow keys choose a patch.`,
  };
}

/** What the tokens before the patches hold, as a sentence. */
function beforePatches(state, values) {
  const { prefix } = state;
  if (!prefix) return "";
  const named = values.slice(0, Math.min(prefix, 5)).map((value, i) => `${state.nameOf(i)} ${number(value)}`);
  return `Not on the picture: ${named.join(", ")}${prefix > named.length ? ", …" : ""}.`;
}
