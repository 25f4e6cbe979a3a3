// Parts of a text: one of the two texts of a pair, what was brushed, and the way back.

import { html } from "../core/html.js";
import { Button, Quoted, Switch } from "../parts/controls.js";
import { BLOCKS, parsed } from "../text/span.js";

/** The texts of a pair, or of a joint map, that attend and are attended to. */
export function Blocks({ state }) {
  const { query, key } = state.texts();
  if (query.second === undefined && key.second === undefined) return null;
  const names = state.site().kind === "joint" ? ["source", "target"] : ["A", "B"];
  const choices = BLOCKS.map((value) => {
    const [from, to] = [...value].map((side) => names[side === "a" ? 0 : 1]);
    return value === "all"
      ? { value, label: "All", title: "Both texts" }
      : { value, label: `${from} → ${to}`, title: `From ${from} to ${to}` };
  });
  const choose = (block) => state.select({ block });
  return html`<${Switch} name="Texts of the pair" choices=${choices} chosen=${state.selection.block} onChoose=${choose} />`;
}

/** What is brushed, or of a recording left out; and the way back. */
export function Spans({ state }) {
  const [rows, columns] = [parsed(state.selection.rows), parsed(state.selection.columns)];
  const unheard = state.unheard();
  if (!rows && !columns && !unheard) return null;
  const clear = () => state.select({ rows: "", columns: "" });
  const { query, key } = state.labels();
  const span = (what, range, labels) => {
    if (!range || range[0] >= labels.length) return null;
    const last = Math.min(range[1], labels.length) - 1;
    return html`${`${what} ${range[0]}–${last} `}<${Quoted} label=${labels[range[0]]} /> … <${Quoted} label=${labels[last]} />${" "}`;
  };
  return html`
    <div class="hs-aid">
      <span class="hs-count">
        ${unheard ? `without ${unheard.toFixed(1)} s of padding` : [span("queries", rows, query), span("keys", columns, key)]}
      </span>
      ${!unheard && html`<${Button} text="×" title="Show all tokens again" onClick=${clear} />`}
    </div>
  `;
}
