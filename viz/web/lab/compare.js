// Compare: a second text or picture, or another model, beside this one.

import { html } from "../core/html.js";
import { Button, Field, Menu } from "../parts/controls.js";
import { useRef } from "../vendor/hooks.js";

const LONGEST = 2000; // characters of a second text

/** @param {{state: any, ask: (asked: import("../core/edits.js").Asked) => void}} props */
export function Compare({ state, ask }) {
  const { beside, compares } = state.props;
  return html`
    ${compares && html`<${SecondText} ...${{ state, ask }} />`}
    ${
      beside &&
      html`<${Field} name=${state.base.patches ? "Beside it" : "Another model"}>
        <${Menu}
          name="Compare with"
          title="Each has a layer and a head of its own"
          labels=${beside.titles.map(([, title]) => title)}
          index=${beside.titles.findIndex(([name]) => name === beside.chosen)}
          onChoose=${(index) => ask({ do: "compare", value: beside.titles[index][0] })}
        />
      <//>`
    }
  `;
}

function SecondText({ state, ask }) {
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const title = state.props.other?.title ?? "";
  const show = (/** @type {string} */ second) => ask({ do: "second", second });
  const press = (event) => {
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    show(field.current?.value.trim() ?? "");
  };
  return html`
    <textarea
      key=${title}
      class="hs-select hs-lab-wide"
      rows="2"
      maxlength=${LONGEST}
      aria-label="Second text"
      placeholder="another text, through the same model"
      ref=${field}
      onKeyDown=${press}
      defaultValue=${title}
    />
    <div class="hs-lab-row">
      <${Button} title="Show the second text beside this one" onClick=${() => show(field.current?.value.trim() ?? "")}>
        Show beside
      <//>
      ${title && html`<${Button} title="Show one text alone" onClick=${() => show("")}>Remove<//>`}
    </div>
  `;
}
