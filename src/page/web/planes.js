// SPDX-License-Identifier: Apache-2.0
// Reads what src/page/planes.cc writes; docs/report.md describes the code.

/**
 * The bytes of an element that holds base64 of a deflated stream.
 * @param {string} id
 * @returns {Promise<Uint8Array>}
 */
export async function unpackElement(id) {
  const text = document.getElementById(id)?.textContent ?? "";
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * The probability that a stored level stands for.
 * @param {number} level
 */
export function levelProbability(level) {
  return Math.sin((Math.PI / 2) * (level / 100)) ** 2;
}

/**
 * A stack of slices of one number, [slice][row][column].
 * @typedef {{slices: number, rows: number, columns: number, values: Uint8Array}} Plane
 */

/** Takes planes one after the other from the bytes of a case. */
export class PlaneReader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /**
   * The next plane, which was stored against `reference`.
   * @param {number} slices
   * @param {number} rows
   * @param {number} columns
   * @param {Plane | null} reference
   * @returns {Plane}
   */
  next(slices, rows, columns, reference) {
    const count = slices * rows * columns;
    const stored = this.bytes.subarray(this.at, this.at + count);
    this.at += count;
    const values = new Uint8Array(count);
    const difference = new Int16Array(count);
    for (let i = 0; i < count; ++i) {
      const x = i % columns;
      const y = Math.floor(i / columns) % rows;
      const left = x > 0 ? difference[i - 1] : 0;
      const above = y > 0 ? difference[i - columns] : 0;
      const corner = x > 0 && y > 0 ? difference[i - columns - 1] : 0;
      const base = reference ? reference.values[i] : 0;
      values[i] = base + predict(left, above, corner) + stored[i];
      difference[i] = values[i] - base;
    }
    return {slices, rows, columns, values};
  }
}

/**
 * The median edge predictor.
 * @param {number} left
 * @param {number} above
 * @param {number} corner
 */
function predict(left, above, corner) {
  if (corner >= Math.max(left, above)) return Math.min(left, above);
  if (corner <= Math.min(left, above)) return Math.max(left, above);
  return left + above - corner;
}
