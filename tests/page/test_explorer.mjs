// SPDX-License-Identifier: Apache-2.0
// Looking at cases: pixels are what `apply` writes, and pictures, slices and keys work.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import {after, before, test} from "node:test";
import {openPage, pointAt, readOut, startBrowser, waitForCase} from "./browser.mjs";
import {addImages, makeStudy, readFloats, readJson, segcal, simulate, temporaryFolder} from "./program.mjs";

const folder = temporaryFolder();
const PIPELINES = ["none(z)", "none(p)", "ts(z)", "ms(z)", "lts(z, epochs=30)"];
// Half a step of the code at its widest, (π/2)/100/2, and a little of float32.
const TOLERANCE = 0.00786;
let browser;
const pages = {};

before(async () => {
  const street = simulate(path.join(folder, "street"), "street", "36x48", (data, where) => addImages(data, where, [36, 48, 3]));
  const brain = simulate(path.join(folder, "brain"), "brain", "12x20x16", (data) => data.cases.forEach((entry) => (entry.spacing = [3, 2, 1])));
  for (const [name, dataset] of Object.entries({street, brain}))
    pages[name] = makeStudy(dataset, path.join(folder, `${name}-run`), PIPELINES);
  browser = await startBrowser();
});
after(() => browser?.close());

const dataOf = (page) => page.$eval("#explorer-data", (node) => JSON.parse(node.textContent));

/** What `apply` writes for a pipeline of the study, by case. */
function applied(name, pipeline) {
  const run = path.join(folder, `${name}-run`);
  const fit = readJson(path.join(run, "study.json")).repeats[0].fits[pipeline];
  const out = path.join(folder, `${name}-applied-${pipeline}`);
  let model = path.join(run, fit.model);
  if (fit.model === "") {
    model = path.join(folder, "baseline.json");
    segcal("fit", path.join(folder, name), "-p", fit.pipeline, "-o", model);
  }
  if (!fs.existsSync(out)) segcal("apply", model, path.join(folder, name), "-o", out);
  return (id) => readFloats(path.join(out, `${id}.npy`));
}

async function checkPixels(name, beforeIndex, afterIndex) {
  const {page} = await openPage(browser, pages[name]);
  const data = await dataOf(page);
  const info = data.cases[0];
  await waitForCase(page, info.id);
  await page.selectOption('[data-explorer="before"]', String(beforeIndex));
  await page.selectOption('[data-explorer="after"]', String(afterIndex));
  const wanted = [beforeIndex, afterIndex].map((p) => applied(name, p)(info.id));
  const slice = info.slices[Number(await page.inputValue('[data-explorer="slice"]'))];
  const points = [[0, 0], [4, 6], [10, 12], [info.rows - 2, info.columns - 2]].map((yx) => yx.map((v) => v - (v % info.coarse)));
  for (const [y, x] of points) {
    await pointAt(page, "labels", info, y, x);
    const rows = await readOut(page);
    assert.equal(rows.length, Math.min(3, data.classes.length));
    for (const row of rows) {
      const c = data.classes.indexOf(row.name);
      row.values.forEach((value, k) => {
        const {shape, values} = wanted[k];
        const voxels = shape.slice(1).reduce((a, b) => a * b);
        const plane = info.depth > 1 ? slice * info.height * info.width : 0;
        const exact = values[c * voxels + plane + y * info.step * info.width + x * info.step];
        assert.ok(Math.abs(value - exact) <= TOLERANCE, `${name} ${row.name} at ${y}, ${x}: ${value}, apply ${exact}`);
      });
    }
    assert.ok(Math.max(...rows.map((row) => row.values[1])) > 1 / data.classes.length, "the winning class is shown");
  }
  await page.close();
}

test("reads the probabilities that apply writes, before and after", () => checkPixels("street", 0, 3));
test("reads them for every pipeline, as for methods that look at neighbours", () => checkPixels("street", 1, 4));
test("reads them in slices of volumes", () => checkPixels("brain", 0, 2));

test("shows the pictures that a case has, and others of another case", async () => {
  const {page, complaints} = await openPage(browser, pages.street);
  const data = await dataOf(page);
  assert.equal(data.cases.length, 4);
  assert.deepEqual(data.cases.map((info) => info.why.split(", ")[0]).slice(0, 3), ["typical", "best", "worst"]);
  await waitForCase(page, data.cases[0].id);
  const panels = () => page.$$eval("#explorer canvas", (all) => all.map((canvas) => canvas.dataset.panel));
  assert.deepEqual(await panels(), ["image", "labels", "prediction after", "errors after", "confidence before", "confidence after",
    "after less before", "flips", "free energy"]);
  await page.selectOption('[data-explorer="after"]', {label: PIPELINES[4]});
  assert.ok((await panels()).includes("temperature after"));
  const pixels = () => page.$eval('canvas[data-panel="labels"]', (canvas) => canvas.toDataURL());
  const first = await pixels();
  await page.selectOption('[data-explorer="case"]', "2");
  await waitForCase(page, data.cases[2].id);
  assert.notEqual(await pixels(), first);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("moves through slices, and shows pixels as tall as they are", async () => {
  const {page} = await openPage(browser, pages.brain);
  const info = (await dataOf(page)).cases[0];
  await waitForCase(page, info.id);
  assert.equal(info.aspect, 2);
  assert.equal(info.slices.length, 12);
  const {width, height} = await page.$eval('canvas[data-panel="labels"]', ({width, height}) => ({width, height}));
  assert.ok(Math.abs(height / width - (2 * info.rows) / info.columns) < 0.02, `${width} x ${height}`);
  const label = () => page.getAttribute('canvas[data-panel="labels"]', "aria-label");
  assert.match(await label(), /slice 6$/);
  await page.fill('[data-explorer="slice"]', "0");
  assert.match(await label(), /slice 0$/);
  await page.focus('canvas[data-panel="labels"]');
  await page.keyboard.press("]");
  assert.match(await label(), /slice 1$/);
  assert.equal(await page.evaluate(() => document.activeElement.dataset.panel), "labels");
  await page.close();
});

test("moves one cursor and one zoom over all pictures by keys", async () => {
  const {page} = await openPage(browser, pages.street);
  const info = (await dataOf(page)).cases[0];
  await waitForCase(page, info.id);
  const caption = () => page.textContent("#explorer .read caption");
  assert.match(await caption(), /^pixel \(18, 24\)/);
  await page.focus('canvas[data-panel="confidence after"]');
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowUp");
  assert.match(await caption(), /^pixel \(8, 25\)/);
  const picture = (panel) => page.$eval(`canvas[data-panel="${panel}"]`, (canvas) => canvas.toDataURL());
  const before = [await picture("labels"), await picture("free energy")];
  await page.keyboard.press("+");
  const zoomed = [await picture("labels"), await picture("free energy")];
  assert.notEqual(zoomed[0], before[0]);
  assert.notEqual(zoomed[1], before[1]);
  await page.keyboard.press("0");
  assert.deepEqual([await picture("labels"), await picture("free energy")], before);
  await page.close();
});
