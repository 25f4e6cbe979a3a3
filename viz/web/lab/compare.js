// Compare: a second text or picture, or another model, beside this one; and runs that are kept by name.

import { html } from "../core/html.js";
import { Button, Field, Menu } from "../parts/controls.js";
import { useRef } from "../vendor/hooks.js";

const LONGEST = 2000; // characters of a second text

/** @param {{state: any, ask: (asked: import("../core/edits.js").Asked) => void}} props */
export function Compare({ state, ask }) {
  const { beside, compares, runs } = state.props;
  const titles = beside?.titles ?? [];
  return html`
    ${compares && html`<${SecondText} ...${{ state, ask }} />`}
    ${
      titles.length > 1 &&
      html`<${Field} name=${state.base.patches ? "Beside it" : "Another model"}>
        <${Menu}
          name="Compare with"
          title="Each has a layer and a head of its own"
          labels=${titles.map(([, title]) => title)}
          index=${titles.findIndex(([name]) => name === beside.chosen)}
          onChoose=${(index) => ask({ do: "compare", value: titles[index][0] })}
        />
      <//>`
    }
    ${runs && html`<${Runs} ...${{ ask, ...runs }} />`}
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

/** The kept runs: each opens at a click; beside each other in a table. */
function Runs({ ask, kept, compared }) {
  const name = useRef(/** @type {HTMLInputElement | null} */ (null));
  const keep = () => {
    ask({ do: "keep", value: name.current?.value ?? "" });
    if (name.current) name.current.value = "";
  };
  return html`
    <h4 class="hs-lab-heading">Runs</h4>
    <p class="hs-doubt">Model, input and edits of now, kept in the link.</p>
    <ul class="hs-lab-changed">
      ${kept.map(
        ({ name: run, here }) => html`
          <li>
            <button type="button" class="hs-lab-link" aria-pressed=${here} onClick=${() => ask({ do: "open", value: run })}>
              ${run}
            </button>
            <button type="button" class="hs-lab-link" aria-label=${`Forget ${run}`} onClick=${() => ask({ do: "forget", value: run })}>
              Forget
            </button>
          </li>
        `,
      )}
    </ul>
    <div class="hs-lab-row">
      <input class="hs-select hs-lab-grow" type="text" maxlength="40" aria-label="Name of this run" placeholder="a name" ref=${name} />
      <${Button} title="Keep this run" onClick=${keep}>Keep<//>
    </div>
    ${
      kept.length > 0 &&
      html`<${Button}
        title="Inputs, edits and predictions of the kept runs side by side"
        aria-pressed=${Boolean(compared)}
        onClick=${() => ask({ do: "compared", value: compared ? "no" : "yes" })}
      >
        Compare runs
      <//>`
    }
    ${compared && html`<${Table} ...${compared} />`}
  `;
}

function Table({ names, rows }) {
  return html`
    <div class="hs-scroller" tabindex="0" role="region" aria-label="Runs side by side">
      <table class="hs-lab-table">
        <thead>
          <tr>
            <td></td>
            ${names.map((name) => html`<th scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${Object.entries(rows).map(
            ([name, cells]) => html`
              <tr>
                <th scope="row">${name}</th>
                ${cells.map((cell) => html`<td>${cell}</td>`)}
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
    <p class="hs-doubt">KL is how far each prediction is from the first run’s, in nats; 1 − cosine likewise.</p>
  `;
}
