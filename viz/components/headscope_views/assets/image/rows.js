// One row of weights of every head: worked out from what was sent, and added up.

/** Bytes as they are for eight bits; for six, four values from three bytes. */
export function unpackBits(packed, count, bits) {
  if (bits === 8) return packed;
  const values = new Uint8Array(count + 4);
  for (let i = 0, at = 0; i < count; i += 4, at += 3) {
    const [a, b, c] = [packed[at], packed[at + 1], packed[at + 2]];
    values[i] = a >> 2;
    values[i + 1] = ((a & 3) << 4) | (b >> 4);
    values[i + 2] = ((b & 15) << 2) | (c >> 6);
    values[i + 3] = c & 63;
  }
  return values;
}

/** A layer as it came, ready to be read. */
export function layerOf(layer, area) {
  const [heads, queries, keys] = layer.shape;
  const levels = 2 ** layer.bits - 1;
  return {
    ...layer,
    maxima: new Float32Array(area.buffer, layer.maxima, heads * queries),
    data: unpackBits(area.subarray(layer.at), heads * queries * keys, layer.bits),
    square: Float32Array.from({ length: 256 }, (_, q) => (q / levels) ** 2),
  };
}

/** What one query gives to all keys, or one key gets, from quantised weights. */
export function roughRow({ shape, maxima, data, square }, head, cell, axis) {
  const [, queries, keys] = shape;
  const values = new Float32Array(axis === "key" ? queries : keys);
  if (axis === "key")
    for (let q = 0, at = head * queries; q < queries; q++, at++)
      values[q] = maxima[at] * square[data[at * keys + cell]];
  else
    for (let k = 0, row = head * queries + cell; k < keys; k++)
      values[k] = maxima[row] * square[data[row * keys + k]];
  return values;
}

/** The heads' rows, then their mean and their largest. */
export function withMeanAndMax(heads) {
  const [mean, max] = [new Float32Array(heads[0].length), new Float32Array(heads[0].length)];
  for (const head of heads)
    for (let i = 0; i < head.length; i++) {
      mean[i] += head[i] / heads.length;
      if (head[i] > max[i]) max[i] = head[i];
    }
  return [...heads, mean, max];
}

/**
 * How much goes to the class token, the registers and the patches (or comes from them).
 * Where cells hold several patches, a cell's largest weight counts for each of them.
 */
export function massOf(values, { prefix, grid, query_labels: labels }, factor, axis) {
  const named = labels[0] === "class" ? 1 : 0;
  let [first, registers, patches] = [0, 0, 0];
  for (let i = 0; i < prefix; i++) {
    if (i < named) first += values[i];
    else registers += values[i];
  }
  if (factor === 1) for (let i = prefix; i < values.length; i++) patches += values[i];
  else if (axis === "query") patches = Math.max(0, 1 - first - registers);
  else patches = spreadMass(values, prefix, grid, factor);
  return { first, registers, patches, whole: first + registers + patches, named };
}

function spreadMass(values, prefix, grid, factor) {
  const [down, across] = grid.map((size) => Math.ceil(size / factor));
  let sum = 0;
  for (let i = prefix; i < values.length; i++) {
    const [row, col] = [Math.floor((i - prefix) / across), (i - prefix) % across];
    const high = row === down - 1 ? grid[0] - row * factor : factor;
    const wide = col === across - 1 ? grid[1] - col * factor : factor;
    sum += values[i] * high * wide;
  }
  return sum;
}
