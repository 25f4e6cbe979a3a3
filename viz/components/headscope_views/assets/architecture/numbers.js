// How a network's numbers are written: sizes, shapes, and how much room text takes.

const QUANTITIES = ["parameters", "FLOPs", "memory"];
const STEPS = ["", " k", " M", " G", " T"];
const BINARY = [" B", " KiB", " MiB", " GiB", " TiB"];

/** Three digits and a unit: 1,234,567 → "1.23 M"; memory in binary steps. */
export function short(value, quantity = "parameters") {
  const [base, units] = quantity === "memory" ? [1024, BINARY] : [1000, STEPS];
  let step = 0;
  while (value >= 999.5 && step < units.length - 1) {
    value /= base;
    step += 1;
  }
  const digits = step === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return value.toFixed(digits) + units[step];
}

/** All three numbers in one line. */
export function numbers(part) {
  return QUANTITIES.map((name) => `${short(total(part, name), name)} ${name}`).join(" · ");
}

/** Of all copies of a part. */
export function total(part, quantity) {
  return part.times * part[quantity.toLowerCase()];
}

/** “100 × 300”, or “100 tokens × 300 dim” where there is room. */
export function shape(axes, room, measure) {
  const plain = axes.map(([, size]) => size.toLocaleString("en")).join(" × ");
  const named = axes.map(([name, size]) => `${size.toLocaleString("en")} ${name}`).join(" × ");
  return measure(named) <= room ? named : plain;
}

const context = document.createElement("canvas").getContext("2d");

/** A function that measures text in a font, and one that cuts it to a width. */
export function measuring(font) {
  const measure = (text) => {
    context.font = font;
    return context.measureText(text).width;
  };
  const fit = (text, width) => {
    if (measure(text) <= width) return text;
    let kept = text;
    while (kept && measure(`${kept}…`) > width) kept = kept.slice(0, -1);
    return kept ? `${kept}…` : "";
  };
  return { measure, fit };
}
