// Painting a plot: axes with ticks, dots, and the scale of their colours.

import { ticksOf } from "../core/ticks.js";
import { fontOf, shortened } from "../painting/lettering.js";

/** @import {Range, Theme} from "../types" */
/** @import {Dot, Plot} from "./dots.js" */

/**
 * What is painted on.
 *
 * @typedef {object} Paper
 * @property {CanvasRenderingContext2D} context in CSS pixels
 * @property {Plot} plot
 * @property {number} unit size of type
 * @property {string} family of the type
 * @property {Theme} theme
 */

const FAINTEST = 0.14; // share of the colour scale that is left out: too close to the background
const FAINT = 0.18; // opacity of dots that do not stand out
const MANY = 300; // dots from which they are drawn smaller
const TICK_EVERY = { x: 60, y: 36 }; // pixels
const INSIDE = 9; // pixels between the frame and the dots at the ends of the axes

/**
 * The rectangle of a plot within its canvas.
 *
 * @param {number} width
 * @param {number} height
 * @param {number} unit
 * @returns {Plot}
 */
export function plotOf(width, height, unit) {
  const sides = [46, 3, 50, 42]; // a scale of colours stands above it
  const [left, right, top, bottom] = sides.map((side) => (side + INSIDE) * unit);
  return { left, top, width: width - left - right, height: height - top - bottom };
}

/**
 * The colour of a share of the scale, dots of every share being visible.
 *
 * @param {Theme} theme
 * @param {number} share 0 to 1
 */
export function colourAt({ ramp }, share) {
  const i = 3 * Math.round(255 * (FAINTEST + (1 - FAINTEST) * share));
  return `rgb(${ramp[i]} ${ramp[i + 1]} ${ramp[i + 2]})`;
}

const radiusOf = (count) => (count > MANY ? 3.5 : 5);

/**
 * Grid, ticks and names of the axes.
 *
 * @param {Paper} paper
 * @param {Range} across
 * @param {Range} up
 * @param {{x: string, y: string, ticks: boolean}} names
 */
export function paintAxes({ context, plot, unit, family, theme }, across, up, { x, y, ticks }) {
  const { left, top, width, height } = plot;
  const bottom = top + height;
  const pad = INSIDE * unit;
  const [start, end] = [left - pad, left + width + pad];
  const [over, under] = [top - pad, bottom + pad];
  context.font = fontOf(unit, family, 12);
  context.lineWidth = 1;
  context.strokeStyle = theme.line;
  context.fillStyle = theme.muted;
  /** @type {(range: Range, length: number, every: number) => {at: number, text: string}[]} */
  const places = (range, length, every) => {
    const steps = ticksOf(range, Math.max(2, Math.floor(length / (every * unit)) + 1));
    const scale = length / (range[1] - range[0]);
    return steps.map(({ value, text }) => ({ at: (value - range[0]) * scale, text }));
  };
  context.beginPath();
  if (ticks) {
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const { at, text } of places(across, width, TICK_EVERY.x)) {
      const here = Math.round(left + at) + 0.5;
      context.moveTo(here, over);
      context.lineTo(here, under);
      context.fillText(text, here, under + 5 * unit);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const { at, text } of places(up, height, TICK_EVERY.y)) {
      const here = Math.round(bottom - at) + 0.5;
      context.moveTo(start, here);
      context.lineTo(end, here);
      context.fillText(text, start - 6 * unit, here);
    }
  }
  context.rect(start + 0.5, over + 0.5, end - start - 1, under - over - 1);
  context.stroke();
  context.fillStyle = theme.text;
  context.textBaseline = "alphabetic";
  context.textAlign = "right";
  context.fillText(shortened(context, `${x} →`, width), end, under + 36 * unit);
  context.textAlign = "left";
  context.fillText(shortened(context, `↑ ${y}`, width), 2, over - 8 * unit);
}

/**
 * Dots in their colours; those without one are hollow.
 *
 * @param {Paper} paper
 * @param {Dot[]} dots
 * @param {(string | null)[]} colours
 * @param {boolean[]} faint
 */
export function paintDots({ context, unit, theme }, dots, colours, faint) {
  const radius = radiusOf(dots.length) * unit;
  context.lineWidth = 1;
  context.strokeStyle = theme.muted;
  dots.forEach((dot, i) => {
    if (!dot) return;
    context.globalAlpha = faint[i] ? FAINT : 1;
    context.beginPath();
    context.arc(dot.x, dot.y, radius, 0, 2 * Math.PI);
    context.fillStyle = colours[i] ?? theme.background;
    context.fill();
    context.stroke();
  });
  context.globalAlpha = 1;
}

/**
 * Names beside dots, on the right or on the left; one that would cover another name or a named dot
 * is left out.
 *
 * @param {Paper} paper
 * @param {{dot: Dot, name: string, chosen: boolean}[]} named
 */
export function paintNames({ context, plot, unit, family, theme }, named) {
  context.font = fontOf(unit, family, 11);
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 3 * unit;
  context.strokeStyle = theme.background;
  context.fillStyle = theme.text;
  const [high, radius] = [13 * unit, 6 * unit];
  /** @type {{x: number, y: number, end: number}[]} */
  const taken = named.flatMap(({ dot }) =>
    dot ? [{ x: dot.x - radius, y: dot.y, end: dot.x + radius }] : [],
  );
  for (const { dot, name, chosen } of named) {
    if (!dot) continue;
    const width = context.measureText(name).width;
    const gap = (chosen ? 13 : 8) * unit; // beside its ring
    const isFree = (left) =>
      left >= 0 &&
      left + width <= plot.left + plot.width + INSIDE * unit &&
      !taken.some(
        (each) => left < each.end && left + width > each.x && Math.abs(dot.y - each.y) < high,
      );
    const x = [dot.x + gap, dot.x - gap - width].find(isFree);
    if (x === undefined) continue;
    taken.push({ x, y: dot.y, end: x + width });
    context.strokeText(name, x, dot.y);
    context.fillText(name, x, dot.y);
  }
}

/**
 * The line on which both axes have the same value.
 *
 * @param {Paper} paper
 */
export function paintDiagonal({ context, plot, theme }) {
  const { left, top, width, height } = plot;
  context.strokeStyle = theme.muted;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(left, top + height);
  context.lineTo(left + width, top);
  context.stroke();
}

/**
 * The scale of the colours, above the plot, with the smallest and the largest value.
 *
 * @param {Paper} paper
 * @param {string} title
 * @param {[string, string]} ends
 */
export function paintLegend({ context, plot, unit, family, theme }, title, [low, high]) {
  context.font = fontOf(unit, family, 12);
  context.fillStyle = theme.text;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const y = 12 * unit;
  const gap = 6 * unit;
  const length = 90 * unit;
  const ends = [low, high].map((text) => context.measureText(text).width);
  const room = plot.left + plot.width - length - ends[0] - ends[1] - 5 * gap;
  const name = shortened(context, `● ${title}`, room);
  let x = 2;
  context.fillText(name, x, y);
  x += context.measureText(name).width + 2 * gap;
  context.fillStyle = theme.muted;
  context.fillText(low, x, y);
  x += ends[0] + gap;
  const colours = context.createLinearGradient(x, 0, x + length, 0);
  for (let i = 0; i <= 8; i++) colours.addColorStop(i / 8, colourAt(theme, i / 8));
  context.fillStyle = colours;
  context.fillRect(x, y - 5 * unit, length, 10 * unit);
  context.strokeStyle = theme.line;
  context.strokeRect(x + 0.5, y - 5 * unit + 0.5, length - 1, 10 * unit - 1);
  context.fillStyle = theme.muted;
  context.fillText(high, x + length + gap, y);
}

/**
 * Places a tooltip beside a dot, within the picture where it fits.
 *
 * @param {HTMLElement} tip
 * @param {{x: number, y: number}} dot
 * @param {HTMLElement} stage
 * @param {number} gap between them
 */
export function placeTip(tip, { x, y }, stage, gap) {
  const { clientWidth: wide, clientHeight: high } = stage;
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = x > wide / 2 ? x - gap - width : x + gap;
  const top = y > high / 2 ? y - gap - height : y + gap;
  tip.style.transform = `translate(${Math.max(0, Math.min(left, wide - width))}px, ${top}px)`;
}
