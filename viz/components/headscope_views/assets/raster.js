// Cells to device pixels. One routine for enlarging (nearest cell) and shrinking (largest cell:
// a peak is never lost), for whole maps and for tiles of them.

/**
 * For each device pixel along an axis: the first and last bin of the part under it, -1 outside.
 * origin: token at the first pixel's left edge; scale: device pixels a token takes.
 */
function bins(count, origin, scale, [start, stop], size) {
  const first = new Int32Array(count).fill(-1);
  const last = new Int32Array(count).fill(-1);
  const bin = (token) => Math.ceil(((token - start + 1) * size) / (stop - start)) - 1;
  for (let i = 0; i < count; i++) {
    let low = Math.floor(origin + (i + 0.5) / scale);
    let high = low;
    if (scale < 1) {
      low = Math.floor(origin + i / scale + 1e-9);
      high = Math.max(low, Math.ceil(origin + (i + 1) / scale - 1e-9) - 1);
    }
    if (high < start || low >= stop) continue;
    first[i] = bin(Math.max(low, start));
    last[i] = bin(Math.min(high, stop - 1));
  }
  return { first, last };
}

/** Draws one part (rows, cols, shape, stride, data) into target, a Uint32Array of width x height. */
export function draw(target, width, height, part, table, { row, col, scaleRow, scaleCol }) {
  const xs = bins(width, col, scaleCol, part.cols, part.shape[1]);
  const ys = bins(height, row, scaleRow, part.rows, part.shape[0]);
  const from = xs.first.findIndex((bin) => bin >= 0);
  if (from < 0) return;
  let to = width;
  while (xs.first[to - 1] < 0) to -= 1;
  const line = new Uint8Array(part.shape[1]);
  for (let y = 0; y < height; y++) {
    if (ys.first[y] < 0) continue;
    const at = y * width;
    if (y && ys.first[y] === ys.first[y - 1] && ys.last[y] === ys.last[y - 1]) {
      target.copyWithin(at + from, at - width + from, at - width + to);
      continue;
    }
    largest(line, part, ys.first[y], ys.last[y]);
    for (let x = from; x < to; x++) {
      let q = line[xs.first[x]];
      for (let bin = xs.first[x] + 1; bin <= xs.last[x]; bin++) if (line[bin] > q) q = line[bin];
      target[at + x] = table[q];
    }
  }
}

function largest(line, { data, stride, shape }, first, last) {
  line.set(data.subarray(first * stride, first * stride + shape[1]));
  for (let row = first + 1; row <= last; row++)
    for (let i = 0, at = row * stride; i < shape[1]; i++, at++)
      if (data[at] > line[i]) line[i] = data[at];
}
