// SPDX-License-Identifier: Apache-2.0
// The numbers of one pixel.
import {element} from "./element.js";
import {fieldValue, probabilityAt, valueAt} from "./picture.js";

/** @typedef {import("./picture.js").ExplorerData} ExplorerData */
/** @typedef {import("./panels.js").Shown} Shown */
/** @typedef {{x: number, y: number}} GridPoint */
/** @typedef {{name: string, color: string, before: number, after: number}} ReadRow */

/**
 * What the pixel is: where, its label and predictions, the fields that there are.
 * @param {ExplorerData} data
 * @param {Shown} shown
 * @param {GridPoint} point
 */
function describePoint(data, shown, {x, y}) {
  const {info, maps, slice} = shown;
  /** @param {number} index a class plus one */
  const name = (index) => (index > 0 ? data.classes[index - 1] : "–");
  const place = [...(info.slices.length > 1 ? [info.slices[slice]] : []), y * info.step, x * info.step];
  const label = name(valueAt(maps.labels, slice, y, x, 1));
  const from = name(valueAt(maps.predicted[shown.before], slice, y, x, 1));
  const to = name(valueAt(maps.predicted[shown.after], slice, y, x, 1));
  const words = [`pixel (${place.join(", ")}): label ${label}, predicted ${from} before and ${to} after`];
  const temperature = maps.temperature[shown.after];
  const scale = info.temperatures[shown.after];
  if (temperature && scale) words.push(`temperature ${fieldValue(valueAt(temperature, slice, y, x, info.fine), scale).toPrecision(3)}`);
  if (maps.energy && info.energy) words.push(`free energy ${fieldValue(valueAt(maps.energy, slice, y, x, info.fine), info.energy).toPrecision(4)}`);
  return words.join("; ") + storedAt(shown, {x, y});
}

/**
 * Where the probabilities were stored, if that is not the pixel itself.
 * @param {Shown} shown
 * @param {GridPoint} point
 */
function storedAt({info}, {x, y}) {
  if (x % info.coarse === 0 && y % info.coarse === 0) return "";
  const grid = (/** @type {number} */ at) => Math.floor(at / info.coarse) * info.coarse * info.step;
  return ` (probabilities stored at ${grid(y)}, ${grid(x)})`;
}

/**
 * The leading classes before and after.
 * @param {ExplorerData} data
 * @param {Shown} shown
 * @param {GridPoint} point
 * @returns {ReadRow[]}
 */
function readRows(data, {info, maps, slice, before, after}, {x, y}) {
  return maps.leading.map((classes, k) => {
    const index = valueAt(classes, slice, y, x, info.coarse) - 1;
    return {
      name: data.classes[index],
      color: data.colors[index],
      before: probabilityAt(maps.probabilities[k][before], slice, y, x, info.coarse),
      after: probabilityAt(maps.probabilities[k][after], slice, y, x, info.coarse),
    };
  });
}

/**
 * The numbers of a point as a table.
 * @param {ExplorerData} data
 * @param {Shown} shown
 * @param {GridPoint} point
 */
export function readoutTable(data, shown, point) {
  const table = /** @type {HTMLTableElement} */ (element("table", {}));
  table.createCaption().textContent = describePoint(data, shown, point);
  const head = table.createTHead().insertRow();
  for (const text of ["class", data.pipelines[shown.before].name, data.pipelines[shown.after].name, "difference"]) {
    head.append(element("th", {scope: "col"}, text));
  }
  const body = table.createTBody();
  for (const row of readRows(data, shown, point)) {
    const line = body.insertRow();
    const swatch = element("i", {class: "swatch", style: `background:${row.color}`});
    line.append(element("th", {scope: "row"}, swatch, row.name));
    for (const value of [row.before, row.after]) line.append(element("td", {"data-value": String(value)}, value.toFixed(3)));
    const change = row.after - row.before;
    line.append(element("td", {}, (change > 0 ? "+" : "") + change.toFixed(3)));
  }
  return table;
}
