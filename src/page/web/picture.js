// SPDX-License-Identifier: Apache-2.0
// What the explorer knows of a case, and pictures of it.
import {PlaneReader, levelProbability} from "./planes.js";

/** @typedef {import("./planes.js").Plane} Plane */
/** @typedef {[number, number] | null} Scale */
/** @typedef {{name: string, first: number, reference: number, baseline: number, keeps: boolean}} PipelineInfo */
/**
 * @typedef {{id: string, why: string, height: number, width: number, depth: number, slices: number[], step: number,
 *   rows: number, columns: number, aspect: number, fine: number, coarse: number, leading: number, energy: Scale,
 *   temperatures: Scale[], image: string}} CaseInfo
 */
/**
 * @typedef {{classes: string[], colors: string[], pipelines: PipelineInfo[], chosen: number, sequential: string[],
 *   heat: string[], cases: CaseInfo[]}} ExplorerData
 */
/**
 * Classes are index + 1, 0 where there is none.
 * @typedef {{labels: Plane, predicted: Plane[], energy: Plane | null, confidence: Plane[], temperature: (Plane | null)[],
 *   leading: Plane[], probabilities: Plane[][]}} CaseMaps
 */

/**
 * The planes of a case in the order they are stored in.
 * @param {ExplorerData} data
 * @param {CaseInfo} info
 * @param {Uint8Array} bytes
 * @returns {CaseMaps}
 */
export function readCase(data, info, bytes) {
  const reader = new PlaneReader(bytes);
  /**
   * @param {number} step
   * @param {Plane | null | undefined} [reference]
   */
  const next = (step, reference) =>
    reader.next(info.slices.length, Math.ceil(info.rows / step), Math.ceil(info.columns / step), reference ?? null);
  const labels = next(1);
  /** @type {Plane[]} */
  const decision = [];
  let before = labels;
  data.pipelines.forEach((pipeline, p) => {
    if (pipeline.first === p) before = next(1, before);
    decision.push(pipeline.first === p ? before : decision[pipeline.first]);
  });
  const predicted = data.pipelines.map((pipeline, p) => (pipeline.keeps ? decision[p] : next(1, decision[p])));
  const energy = info.energy ? next(info.fine) : null;
  /** @type {Plane[]} */
  const confidence = [];
  for (const pipeline of data.pipelines) confidence.push(next(info.fine, confidence[pipeline.reference]));
  const temperature = info.temperatures.map((scale) => (scale ? next(info.fine) : null));
  const leading = Array.from({length: info.leading}, () => next(info.coarse));
  const probabilities = leading.map(() => {
    /** @type {Plane[]} */
    const planes = [];
    for (const pipeline of data.pipelines) planes.push(next(info.coarse, planes[pipeline.reference]));
    return planes;
  });
  return {labels, predicted, energy, confidence, temperature, leading, probabilities};
}

/** @typedef {[number, number, number]} Color */

/**
 * @param {string} hex
 * @returns {Color}
 */
export function parseColor(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** @type {Record<string, Color>} */
export const SIGNS = {
  calm: [229, 233, 240], wrong: [214, 80, 45], better: [58, 110, 181], neither: [240, 190, 70], dark: [156, 163, 175],
  light: [190, 195, 204],
};

/**
 * A slice of a plane as a canvas, a pixel per value. `color` gives null where there is nothing: hatched.
 * @param {Plane} plane
 * @param {number} slice
 * @param {(index: number) => Color | null} color
 */
export function paintPlane(plane, slice, color) {
  const canvas = document.createElement("canvas");
  canvas.width = plane.columns;
  canvas.height = plane.rows;
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  const picture = context.createImageData(plane.columns, plane.rows);
  const count = plane.rows * plane.columns;
  for (let i = 0; i < count; ++i) {
    const x = i % plane.columns;
    const y = Math.floor(i / plane.columns);
    const hatch = (x + y) % 4 < 2 ? SIGNS.light : SIGNS.dark;
    const [r, g, b] = color(slice * count + i) ?? hatch;
    picture.data.set([r, g, b, 255], 4 * i);
  }
  context.putImageData(picture, 0, 0);
  return canvas;
}

/**
 * The colour of a position between 0 and 1 on a map.
 * @param {Color[]} map
 * @param {number} position
 */
export function mapColor(map, position) {
  return map[Math.round(Math.min(1, Math.max(0, position)) * (map.length - 1))];
}

/**
 * From blue over pale to orange, for differences between -1 and 1.
 * @param {number} position
 * @returns {Color}
 */
export function differenceColor(position) {
  const end = position < 0 ? SIGNS.better : SIGNS.wrong;
  const share = Math.min(1, Math.abs(position)) ** 0.7;
  const mix = (/** @type {number} */ k) => Math.round(244 + (end[k] - 244) * share);
  return [mix(0), mix(1), mix(2)];
}

/**
 * What a field level stands for; NaN where there is no number.
 * @param {number} level
 * @param {[number, number]} scale
 */
export function fieldValue(level, scale) {
  return level === 255 ? NaN : scale[0] + (scale[1] - scale[0]) * (level / 254);
}

/**
 * The value of a plane at a point of the grid, whose every step-th it has.
 * @param {Plane} plane
 * @param {number} slice
 * @param {number} y
 * @param {number} x
 * @param {number} step
 */
export function valueAt(plane, slice, y, x, step) {
  const row = Math.min(plane.rows - 1, Math.floor(y / step));
  const column = Math.min(plane.columns - 1, Math.floor(x / step));
  return plane.values[(slice * plane.rows + row) * plane.columns + column];
}

/**
 * @param {Plane} plane
 * @param {number} slice
 * @param {number} y
 * @param {number} x
 * @param {number} step
 */
export function probabilityAt(plane, slice, y, x, step) {
  return levelProbability(valueAt(plane, slice, y, x, step));
}
