// The binary format of viz/pack.py: u32 length | JSON header | sections.

/** @import {Message} from "../types" */

const VERSION = 1;

/** The data of a JSON response. @param {Uint8Array} bytes */
export const jsonOf = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

/**
 * Header and section area of a response. The bytes may be an unaligned view of a larger buffer: the
 * area is copied, so that typed arrays can be laid over it.
 *
 * @param {Uint8Array} bytes
 * @returns {Message}
 */
export function unpack(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(0, true);
  const header = jsonOf(bytes.subarray(4, 4 + length));
  if (header.v !== VERSION) throw new Error(`expected message version ${VERSION}, received ${header.v}`);
  return { header, area: bytes.slice(4 + length) };
}
