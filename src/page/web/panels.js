// SPDX-License-Identifier: Apache-2.0
// The pictures that the explorer shows side by side.
import {SIGNS, differenceColor, mapColor, paintPlane, parseColor} from "./picture.js";
import {levelProbability} from "./planes.js";

/** @typedef {import("./picture.js").ExplorerData} ExplorerData */
/** @typedef {import("./picture.js").CaseInfo} CaseInfo */
/** @typedef {import("./picture.js").CaseMaps} CaseMaps */
/** @typedef {import("./picture.js").Color} Color */
/** @typedef {import("./planes.js").Plane} Plane */
/**
 * A picture: its source covers the grid of the case from the top left, `step` grid points a pixel.
 * @typedef {{name: string, scale: string, ramp: string, source: CanvasImageSource, step: number,
 *   part?: [number, number, number, number]}} Picture
 */
/**
 * A case, a slice of it, and the two pipelines it is seen through.
 * @typedef {{info: CaseInfo, maps: CaseMaps, image: HTMLImageElement | null, slice: number, before: number,
 *   after: number}} Shown
 */
/**
 * @typedef {(name: string, plane: Plane, step: number, color: (index: number) => Color | null, scale?: string,
 *   ramp?: string) => void} Add
 */

/**
 * @param {Color[]} map
 */
function rampOf(map) {
  const stops = map.filter((_, i) => i % 24 === 0 || i === map.length - 1).map((color) => `rgb(${color.join(" ")})`);
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

export class Panels {
  /** @param {ExplorerData} data */
  constructor(data) {
    this.data = data;
    this.colors = data.colors.map(parseColor);
    this.sequential = data.sequential.map(parseColor);
    this.heat = data.heat.map(parseColor);
  }

  /**
   * Pictures of what is shown; those without content are left out.
   * @param {Shown} shown
   */
  make(shown) {
    const {info, maps, slice, image} = shown;
    /** @type {Picture[]} */
    const pictures = [];
    /** @type {Add} */
    const add = (name, plane, step, color, scale = "", ramp = "") => {
      pictures.push({name, scale, ramp, step, source: paintPlane(plane, slice, color)});
    };
    if (image) {
      pictures.push({name: "image", scale: "", ramp: "", step: 1, source: image, part: [0, slice * info.rows, info.columns, info.rows]});
    }
    const labels = maps.labels.values;
    const from = maps.predicted[shown.before].values;
    const to = maps.predicted[shown.after].values;
    /** @param {Uint8Array} classes */
    const classColor = (classes) => (/** @type {number} */ i) => (classes[i] > 0 ? this.colors[classes[i] - 1] : null);
    add("labels", maps.labels, 1, classColor(labels));
    add("prediction after", maps.predicted[shown.after], 1, classColor(to));
    add("errors after", maps.labels, 1, (i) => (labels[i] === 0 ? null : labels[i] === to[i] ? SIGNS.calm : SIGNS.wrong), "red: wrong");
    this.addConfidence(shown, add);
    add("flips", maps.labels, 1, (i) => {
      if (from[i] === to[i]) return SIGNS.calm;
      if (labels[i] === 0) return SIGNS.dark;
      return to[i] === labels[i] ? SIGNS.better : from[i] === labels[i] ? SIGNS.wrong : SIGNS.neither;
    }, "blue mended, red broken");
    this.addField("temperature after", maps.temperature[shown.after], info.temperatures[shown.after], info.fine, add);
    this.addField("free energy", maps.energy, info.energy, info.fine, add);
    return pictures;
  }

  /**
   * @param {Shown} shown
   * @param {Add} add
   */
  addConfidence({maps, info, before, after}, add) {
    const lowest = Math.floor(10 / this.data.classes.length) / 10;
    const ramp = rampOf(this.sequential);
    const scale = `${lowest} to 1`;
    const from = maps.confidence[before];
    const to = maps.confidence[after];
    /** @param {Plane} plane */
    const color = (plane) => (/** @type {number} */ i) =>
      mapColor(this.sequential, (levelProbability(plane.values[i]) - lowest) / (1 - lowest));
    add("confidence before", from, info.fine, color(from), scale, ramp);
    add("confidence after", to, info.fine, color(to), scale, ramp);
    const map = Array.from({length: 240}, (_, i) => differenceColor(i / 119.5 - 1));
    add("after less before", to, info.fine,
      (i) => differenceColor((levelProbability(to.values[i]) - levelProbability(from.values[i])) / 0.5),
      "−0.5 to 0.5", rampOf(map));
  }

  /**
   * @param {string} name
   * @param {Plane | null} plane
   * @param {[number, number] | null} scale
   * @param {number} step
   * @param {Add} add
   */
  addField(name, plane, scale, step, add) {
    if (!plane || !scale) return;
    const text = `${scale[0].toPrecision(3)} to ${scale[1].toPrecision(3)}`;
    add(name, plane, step,
      (i) => (plane.values[i] === 255 ? null : mapColor(this.heat, plane.values[i] / 254)), text, rampOf(this.heat));
  }
}
