// The diagram as the text of an SVG file that stands alone.

import { FAMILY } from "../core/drawing_file.js";
import { SPACE, svg } from "../core/svg.js";

/**
 * Every text says where its line is: no style sheet goes with the file.
 *
 * @param {SVGSVGElement} picture as it is drawn, in light colours
 * @param {string} background
 * @param {string} title
 * @param {string} description
 * @returns {{text: string, size: [number, number]}}
 */
export function written(picture, background, title, description) {
  const [width, height] = [picture.width.baseVal.value, picture.height.baseVal.value];
  picture.setAttribute("xmlns", SPACE);
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("font-family", FAMILY);
  for (const style of picture.querySelectorAll("style")) style.remove();
  for (const text of picture.querySelectorAll("text")) text.setAttribute("dominant-baseline", "middle");
  const ground = svg("rect", { width, height, fill: background });
  picture.prepend(svg("title", {}, title), svg("desc", {}, description), ground);
  return { text: new XMLSerializer().serializeToString(picture), size: [width, height] };
}
