// A drawing as a file: the SVG itself, its pixels, or a PDF, which the server makes of it.

import { element, contextOf, offer, savePng } from "./dom.js";

/** @typedef {"svg" | "pdf" | "png"} Format */

const RATIO = 3; // pixels of a PNG for each unit of an SVG

export const FAMILY = "sans-serif"; // of text in a file

/**
 * Offers an SVG as a file.
 *
 * @param {string} svg
 * @param {readonly [number, number]} size in its own units
 * @param {string} name without its suffix
 * @param {Format} format
 * @throws {Error} if the server makes no PDF; its message says why
 */
export async function saveDrawing(svg, size, name, format) {
  const blob = new Blob([svg], { type: "image/svg+xml" });
  if (format === "png") saveAsPng(blob, size, name);
  else offer(format === "svg" ? blob : await pdfOf(blob), name, `.${format}`);
}

/**
 * @param {Blob} svg
 * @param {readonly [number, number]} size
 * @param {string} name
 */
function saveAsPng(svg, [wide, tall], name) {
  const image = new Image();
  image.onload = () => {
    const file = element("canvas");
    [file.width, file.height] = [Math.round(RATIO * wide), Math.round(RATIO * tall)];
    contextOf(file).drawImage(image, 0, 0, file.width, file.height);
    URL.revokeObjectURL(image.src);
    savePng(file, name);
  };
  image.src = URL.createObjectURL(svg);
}

/**
 * @param {Blob} svg
 * @returns {Promise<Blob>}
 */
async function pdfOf(svg) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(`${location.origin}/api/pdf`, { method: "POST", body: svg });
  } catch (error) {
    throw new Error("There is no connection to the server.", { cause: error });
  }
  if (response.ok) return response.blob();
  throw new Error((await response.text()).slice(0, 200));
}
