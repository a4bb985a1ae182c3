// SPDX-License-Identifier: Apache-2.0
// A page in headless Chromium that must neither complain nor ask the network for anything.
import assert from "node:assert/strict";
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const require = createRequire(process.env.SEGCAL_PAGE_ENV + "/");
const {chromium} = require("playwright-core");

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

export async function startBrowser() {
  return chromium.launch({executablePath: process.env.SEGCAL_CHROMIUM, headless: true, args: FLAGS});
}

/** Opens a file; `complaints` has what the page said and asked for, `milliseconds` until it could be used. */
export async function openPage(browser, file, {width = 1200, dark = false} = {}) {
  const page = await browser.newPage({viewport: {width, height: 900}, colorScheme: dark ? "dark" : "light"});
  const complaints = [];
  page.on("console", (message) => complaints.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => document.documentElement.dataset.ready !== undefined);
  const milliseconds = Number(await page.evaluate(() => document.documentElement.dataset.ready));
  return {page, complaints, milliseconds};
}

/** The values of table cells in a column of the main table, as they are from top to bottom. */
export function columnValues(page, metric) {
  return page.$$eval("#results-table", ([table], name) => {
    const heads = [...table.tHead.rows[0].cells];
    const column = heads.findIndex((head) => head.dataset.column === name);
    return [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => Number(row.cells[column].dataset.value));
  }, metric);
}

/** Waits until the explorer shows a case. */
export async function waitForCase(page, id) {
  await page.waitForFunction((wanted) => document.getElementById("explorer")?.dataset.case === wanted, id);
}

/** Moves the pointer to the middle of a pixel of a panel. */
export async function pointAt(page, panel, info, y, x) {
  const canvas = page.locator(`canvas[data-panel="${panel}"]`);
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + ((x + 0.5) / info.columns) * box.width, box.y + ((y + 0.5) / info.rows) * box.height);
}

/** What the read-out shows: class, probabilities before and after. */
export function readOut(page) {
  return page.$$eval("#explorer .read tbody tr", (rows) => rows.map((row) => ({
    name: row.cells[0].textContent,
    values: [...row.cells].slice(1, 3).map((cell) => Number(cell.dataset.value)),
  })));
}

/** Relative luminance contrast of two css colours. */
export function contrast(first, second) {
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map(Number).map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [low, high] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  assert.ok(Number.isFinite(low) && Number.isFinite(high));
  return (high + 0.05) / (low + 0.05);
}
