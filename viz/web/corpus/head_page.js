// One head over a corpus: what it does in a sentence, examples, its numbers, its tokens, and the heads most like it.

import { contextOf } from "../core/dom.js";
import { useAnswer, useNewest } from "../core/hooks.js";
import { html } from "../core/html.js";
import { intervalOf, percent } from "../core/ticks.js";
import { legible } from "../core/labels.js";
import { pathOf } from "../core/sources.js";
import { Button } from "../parts/controls.js";
import { paintThumbnail } from "../text/scale.js";
import { useLayoutEffect, useMemo, useRef } from "../vendor/hooks.js";
import { Examples, PictureParts } from "./examples.js";
import { HeadList } from "./lists.js";

/** @import {CorpusHead, Theme} from "../types" */
/** @import {CorpusState} from "./corpus.js" */

const PICTURE = 112; // CSS pixels of the mean weights
const UNTRAINED = "The network is untrained, so its heads get no sentence.";
const UNREAD = "The corpus has no input for this head.";

/** @param {{state: CorpusState, theme: Theme, name: string}} props */
export function HeadPage({ state, theme, name }) {
  const { site } = state.selection;
  const of = { site, head: state.head };
  const { answer, ...reply } = useAnswer(state, "head", pathOf("head", of), "Reading");
  const newest = useNewest(Boolean(answer), () => answer && { head: answer, spot: of }, [answer]);
  const { answer: alike } = useAnswer(state, "alike", answer && pathOf("alike", of));
  const step = (by) => {
    const spots = state.spots();
    const place = spots.findIndex((spot) => spot.site === site && spot.head === state.head);
    state.select(spots[(place + by + spots.length) % spots.length]);
  };
  const page = useMemo(
    () =>
      newest &&
      html`<${Page} key=${`${newest.spot.site} ${newest.spot.head}`} ...${{ state, theme, ...newest }} />`,
    [newest, theme],
  );
  return html`
    <div class="hs-row">
      <h3 class="hs-heading hs-corpus-name">${name}</h3>
      ${newest?.head.link && html`<a class="hs-corpus-explore" href=${newest.head.link}>This head in Explore</a>`}
      <span class="hs-spring"></span>
      <div class="hs-switch" role="group" aria-label="Other heads">
        <${Button} text="‹" title="Previous head" onClick=${() => step(-1)} />
        <${Button} text="›" title="Next head" onClick=${() => step(1)} />
      </div>
    </div>
    <p class="hs-sentence" role="status" hidden=${!reply.reason}>${reply.reason}</p>
    <div class=${answer ? "" : "hs-dim"}>${page}</div>
    ${
      alike &&
      html`
        <${Heading} text="The heads most like it" />
        <p class="hs-doubt">
          What they share of mean weights, of the tokens that draw weight, and of the numbers: 1 for the same.
        </p>
        <${HeadList} ...${{ state, heads: alike.heads, textOf: (value) => value.toFixed(3) }} />
        ${alike.there && html`<${InOther} heads=${alike.there} />`}
      `
    }
  `;
}

/** @param {{state: CorpusState, theme: Theme, head: CorpusHead, spot: {site: number, head: number}}} props */
function Page({ state, theme, head, spot }) {
  const { pictures } = state.base.run;
  const inputs = pictures ? "pictures" : "texts";
  const isCrossed = state.site(spot.site).kind === "cross";
  const { there } = head;
  return html`
    <div class="hs-corpus-top">
      <div class="hs-corpus-map">
        <${MeanWeights} ...${{ state, theme, spot }} />
        ${
          head.grid &&
          html`<${PictureParts} ...${{ shares: head.grid, width: PICTURE, theme }} />
            <div class="hs-doubt">Where on the pictures</div>`
        }
      </div>
      <p class="hs-corpus-sentence">
        ${head.sentence ?? (head.items ? UNTRAINED : UNREAD)}
      </p>
    </div>
    <${Heading} text="Examples, by strength" />
    <p class="hs-doubt">
      Drawn evenly over the corpus. The framed ${pictures ? "patch" : "token"} is the query, shades are its weights.
    </p>
    <${Examples} ...${{ examples: head.examples, isCrossed, theme }} />
    ${
      there &&
      html`
        <${Heading} text="The same head in B" />
        <p>${there.sentence ?? "B has no sentence for it."}</p>
        <${Examples} ...${{ examples: there.examples, isCrossed, theme }} />
      `
    }
    <${Heading} text="Its numbers" />
    <p class="hs-doubt">${`Each is the mean over ${inputs}, with its 95\u00a0% interval.`}</p>
    <${MeanNumbers} ...${{ state, head }} />
    <${Tokens} head=${head} />
  `;
}

const Heading = ({ text }) => html`<h4 class="hs-heading hs-corpus-heading">${text}</h4>`;

function MeanWeights({ state, theme, spot: { site, head } }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const part = state.maps.thumb(site, head);
  const pixels = Math.round(PICTURE * (devicePixelRatio || 1));
  useLayoutEffect(() => {
    if (!canvas.current || !part) return;
    canvas.current.width = canvas.current.height = pixels;
    const place = { left: 0, top: 0, wide: pixels, high: pixels };
    paintThumbnail(contextOf(canvas.current), { part, top: part.max || 1, ramp: theme.ramp }, place);
  });
  const style = { width: `${PICTURE}px`, height: `${PICTURE}px` };
  const label = "Mean weights of the first 16 tokens: rows attend, columns are attended to";
  return html`
    ${part && html`<canvas class="hs-thumb" role="img" aria-label=${label} style=${style} ref=${canvas} />`}
    ${part && html`<div class="hs-doubt">Mean weights, first 16 tokens</div>`}
  `;
}

function MeanNumbers({ state, head: { numbers, there } }) {
  const row = (mean) => {
    const measure = state.numbers?.measure(mean.key);
    const other = there?.numbers.find(({ key }) => key === mean.key);
    return html`
      <tr title=${measure?.about}>
        <th scope="row">${measure?.title ?? mean.key}</th>
        <td>${intervalOf(mean)}</td>
        ${other && html`<td>in B ${intervalOf(other)}</td>`}
      </tr>
    `;
  };
  return html`
    <table class="hs-token-table">
      <tbody>
        ${numbers.map(row)}
      </tbody>
    </table>
  `;
}

function Tokens({ head: { keys, queries, pairs } }) {
  const lists = [
    { title: "Keys that draw most", rows: keys, textOf: percent },
    { title: "Queries that give most", rows: queries, textOf: percent },
    { title: "Pairs, by summed weight", rows: pairs, textOf: (weight) => weight.toFixed(1) },
  ].filter(({ rows }) => rows.length);
  if (!lists.length) return null;
  const table = ({ title, rows, textOf }) => html`
    <table class="hs-token-table">
      <caption>${title}</caption>
      <tbody>
        ${rows.map(
          ({ label, value }) =>
            html`<tr><th scope="row"><bdi>${legible(label)}</bdi></th><td>${textOf(value)}</td></tr>`,
        )}
      </tbody>
    </table>
  `;
  return html`<${Heading} text="Its tokens" /><div class="hs-token-tables">${lists.map(table)}</div>`;
}

/** The heads of the second run that are most like this one; as links, where its page is there. */
const InOther = ({ heads }) => html`
  <${Heading} text="The heads of B most like it" />
  <ol class="hs-in-b">
    ${heads.map(
      ({ name, link, value }) =>
        html`<li>${link ? html`<a href=${link}>${name}</a>` : name} ${value.toFixed(3)}</li>`,
    )}
  </ol>
`;
