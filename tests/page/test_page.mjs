// SPDX-License-Identifier: Apache-2.0
// The page of a study in a browser: what it shows is what the study says, and it can be used.
import assert from "node:assert/strict";
import path from "node:path";
import {after, before, test} from "node:test";
import {columnValues, contrast, openPage, startBrowser} from "./browser.mjs";
import {addImages, makeStudy, readJson, simulate, temporaryFolder} from "./program.mjs";

const folder = temporaryFolder();
let browser;
let file;
let study;

before(async () => {
  const dataset = simulate(path.join(folder, "street"), "street", "36x48", (data, where) => {
    addImages(data, where, [36, 48, 3]);
    data.cases.filter((entry) => entry.split === "calibration").slice(0, 2).forEach((entry) => (entry.split = "shift"));
  });
  file = makeStudy(dataset, path.join(folder, "run"), ["none(z)", "none(p)", "ts(z)", "ms(z)", "ms_c(z)", "cms_ap(p)"]);
  study = readJson(path.join(folder, "run", "study.json"));
  browser = await startBrowser();
});
after(() => browser?.close());

/** Of a pipeline, as the page shows them: ACE has its range over repeats. */
function intervals(pipeline) {
  const found = study.statistics.pipelines.find((entry) => entry.pipeline === pipeline).intervals;
  const ace = study.repeats.map((repeat) => repeat.result.pipelines.find((entry) => entry.pipeline === pipeline).mean.ace);
  return {...found, ace: {...found.ace, lower: Math.min(...ace), upper: Math.max(...ace)}};
}

test("loads without a complaint, asks the network for nothing, and can be used within two seconds", async () => {
  const {page, complaints, milliseconds} = await openPage(browser, file);
  await page.waitForSelector("#explorer canvas");
  assert.deepEqual(complaints, []);
  assert.ok(milliseconds < 2000, `${milliseconds} ms`);
  await page.close();
});

test("shows the sections in their order, the verdict first", async () => {
  const {page} = await openPage(browser, file);
  const ids = await page.$$eval("main > section", (sections) => sections.map((section) => section.id));
  assert.deepEqual(ids, ["verdict", "warnings", "results", "matched", "reliability", "tradeoff", "risk", "confusion",
    "free-energy", "flips", "sensitivity", "shift", "cases", "provenance"]);
  assert.match(await page.textContent("#verdict .lead"), /Ship ts\(z\)\./);
  const links = await page.$$eval("nav a", (all) => all.map((a) => a.getAttribute("href")));
  assert.deepEqual(links, ids.map((id) => `#${id}`));
  await page.close();
});

test("has the numbers of study.json in its table and cards", async () => {
  const {page} = await openPage(browser, file);
  const cells = await page.$$eval("#results-table", ([table]) => {
    const names = [...table.tHead.rows[0].cells].map((head) => head.dataset.column);
    return [...table.tBodies[0].rows].flatMap((row) => [...row.cells].flatMap((cell, k) =>
      cell.dataset.lower === undefined ? [] : [{pipeline: row.dataset.pipeline, metric: names[k], ...cell.dataset,
        shown: cell.querySelector(".value").textContent}]));
  });
  assert.ok(cells.length >= 6 * 8, `${cells.length} cells`);
  for (const cell of cells) {
    const wanted = intervals(cell.pipeline)[cell.metric];
    assert.equal(Number(cell.value), wanted.estimate, `${cell.pipeline} ${cell.metric}`);
    assert.equal(cell.lower === "" ? null : Number(cell.lower), wanted.lower);
    assert.equal(cell.upper === "" ? null : Number(cell.upper), wanted.upper);
    const factor = ["accuracy", "dsc", "miou"].includes(cell.metric) ? 100 : 1;
    const decimals = cell.shown.split(".")[1].length;
    assert.ok(Math.abs(Number(cell.shown) - factor * wanted.estimate) <= 0.5 * 10 ** -decimals + 1e-12);
  }
  assert.equal(await page.textContent('.card[data-metric="nll"] b'), intervals("ts(z)").nll.estimate.toFixed(4));
  await page.close();
});

test("sorts by any column, both ways", async () => {
  const {page} = await openPage(browser, file);
  const button = page.locator('#results-table th[data-column="nll"] button');
  const losses = study.pipelines.map((entry) => intervals(entry.pipeline).nll.estimate);
  assert.deepEqual(await columnValues(page, "nll"), losses);
  await button.click();
  assert.deepEqual(await columnValues(page, "nll"), [...losses].sort((a, b) => a - b));
  assert.equal(await page.getAttribute('th[data-column="nll"]', "aria-sort"), "ascending");
  await button.press("Enter");
  assert.deepEqual(await columnValues(page, "nll"), [...losses].sort((a, b) => b - a));
  assert.equal(await page.getAttribute('th[data-column="nll"]', "aria-sort"), "descending");
  await page.close();
});

test("filters by name and by what a pipeline guarantees", async () => {
  const {page} = await openPage(browser, file);
  const shown = () => page.$$eval("#results-table tbody tr", (rows) => rows.filter((row) => !row.hidden).map((row) => row.dataset.pipeline));
  await page.fill('[data-filter="text"]', "MS");
  assert.deepEqual(await shown(), ["ms(z)", "ms_c(z)", "cms_ap(p)"]);
  await page.check('[data-filter="invariant"]');
  assert.deepEqual(await shown(), ["ms_c(z)", "cms_ap(p)"]);
  await page.check('[data-filter="keeps"]');
  assert.deepEqual(await shown(), ["cms_ap(p)"]);
  assert.equal(await page.textContent("#results .count"), "1 of 6 pipelines");
  await page.close();
});

test("pins rows and shows how they differ", async () => {
  const {page} = await openPage(browser, file);
  assert.equal(await page.isHidden("#pinned"), true);
  await page.click('#results-table tr[data-pipeline="none(z)"]');
  await page.focus('#results-table tr[data-pipeline="ts(z)"] .pin');
  await page.keyboard.press("Enter");
  const rows = await page.$$eval("#pinned tbody tr", (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.deepEqual(rows.map((row) => row[0]), ["none(z)", "ts(z)"]);
  const difference = intervals("ts(z)").nll.estimate - intervals("none(z)").nll.estimate;
  assert.equal(rows[1][4], (difference > 0 ? "+" : "") + difference.toFixed(4));
  await page.click('#results-table tr[data-pipeline="none(z)"]');
  assert.equal(await page.$$eval("#pinned tbody tr", (all) => all.length), 1);
  await page.close();
});

test("switches family, metric and the published differences", async () => {
  const {page} = await openPage(browser, file);
  const title = () => page.$eval("#matched svg title", (node) => node.textContent);
  assert.match(await title(), /^Even pairs: paired differences in NLL; none\(z\) → none\(p\)/);
  await page.selectOption('#matched [data-choice="family"]', {label: "Odd pairs"});
  await page.waitForSelector('#matched [data-shown="1|nll|0"]');
  const drawn = () => page.$$eval("#matched svg text", (texts) => texts.map((text) => text.textContent));
  assert.match(await title(), /^Odd pairs.*none\(p\) → ts\(z\).*ms\(z\) → ms_c\(z\)/);
  assert.ok(!(await drawn()).includes("Cityscapes"));
  await page.check('#matched [data-choice="published"]');
  await page.waitForSelector('#matched [data-shown="1|nll|1"]');
  assert.ok((await drawn()).includes("Cityscapes"));
  assert.ok((await drawn()).includes("-0.0763 [-0.1251, -0.0278]"), "as Table 9 of the paper prints it");
  await page.selectOption('#matched [data-choice="metric"]', "ece");
  await page.waitForSelector('#matched [data-shown="1|ece|1"]');
  await page.close();
});

test("switches what reliability is of, and which pipelines", async () => {
  const {page} = await openPage(browser, file);
  await page.selectOption('#reliability [data-choice="view"]', {label: `class ${study.data.classes[1]}`});
  await page.selectOption('#reliability [data-choice="after"]', {label: "cms_ap(p)"});
  await page.waitForFunction(() => [...document.querySelectorAll("#reliability .pair text")].some((text) => text.textContent === "cms_ap(p)"));
  const drawn = await page.$$eval("#reliability .pair text", (texts) => texts.map((text) => text.textContent));
  assert.ok(drawn.includes("none(z)"));
  assert.ok(drawn.includes(`class ${study.data.classes[1]}`));
  await page.close();
});

test("shows everything on paper", async () => {
  // The width of A4 with Chromium's margins of 1 cm.
  const {page} = await openPage(browser, file, {width: 718});
  await page.emulateMedia({media: "print"});
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await page.waitForSelector("#explorer canvas");
  const cut = await page.evaluate(() => {
    const wide = [...document.querySelectorAll("table, pre, svg, canvas, .card")].filter((node) => node.getBoundingClientRect().width > 0);
    const edge = document.querySelector("main").getBoundingClientRect().right + 1;
    const out = wide.filter((node) => node.getBoundingClientRect().right > edge || node.scrollWidth > node.clientWidth + 1 && node.tagName === "PRE");
    return {seen: wide.length, out: out.map((node) => `${node.tagName} ${node.closest("section")?.id} ${node.getBoundingClientRect().right}`)};
  });
  assert.ok(cut.seen > 20, `${cut.seen}`);
  assert.deepEqual(cut.out, []);
  const closed = () => page.$$eval("details", (all) => all.filter((part) => !part.open).length);
  assert.equal(await page.$$eval("details:not([data-print])", (all) => all.filter((part) => !part.open).length), 0);
  const before = await closed();
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.ok((await closed()) > before);
  await page.close();
});

test("prints to PDF and fits a phone", async () => {
  const {page} = await openPage(browser, file);
  const pdf = await page.pdf({format: "A4"});
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.ok(pdf.length > 20000);
  await page.close();
  const {page: narrow} = await openPage(browser, file, {width: 375});
  await narrow.waitForSelector("#explorer canvas");
  assert.ok((await narrow.evaluate(() => document.documentElement.scrollWidth)) <= 375);
  await narrow.close();
});

test("names every figure and every control, and has one heading per section", async () => {
  const {page} = await openPage(browser, file);
  await page.waitForSelector("#explorer canvas");
  const unnamed = await page.evaluate(() => {
    const bad = [];
    for (const svg of document.querySelectorAll("svg")) if (!svg.querySelector("title")?.textContent) bad.push("svg");
    for (const canvas of document.querySelectorAll("#explorer canvas")) if (!canvas.getAttribute("aria-label")) bad.push("canvas");
    for (const input of document.querySelectorAll("input, select")) if (!input.closest("label")?.textContent?.trim()) bad.push(input.outerHTML);
    for (const section of document.querySelectorAll("section")) if (section.querySelectorAll("h2").length !== 1) bad.push(section.id);
    for (const table of document.querySelectorAll("table")) if (!table.caption?.textContent) bad.push("table");
    return bad;
  });
  assert.deepEqual(unnamed, []);
  assert.equal(await page.$$eval("h1", (all) => all.length), 1);
  await page.close();
});

for (const dark of [false, true]) {
  test(`has a contrast of at least 4.5 in ${dark ? "dark" : "light"}`, async () => {
    const {page} = await openPage(browser, file, {dark});
    const colors = await page.evaluate(() => {
      /** The first colour behind an element that is not see-through. */
      const behind = (node) => {
        for (let at = node; at; at = at.parentElement) {
          const color = getComputedStyle(at).backgroundColor;
          if (!/, 0\)$|transparent/.test(color)) return color;
        }
        return "rgb(255, 255, 255)";
      };
      const found = [];
      for (const node of document.querySelectorAll("h1, h2, p, li, a, td, th, caption, figcaption, summary, dt, dd, code, label span, select")) {
        if (!node.textContent.trim() || node.closest(".confusion, .skip")) continue;
        found.push([node.tagName + "." + node.className, getComputedStyle(node).color, behind(node)]);
      }
      for (const text of document.querySelectorAll("svg text"))
        found.push(["svg " + text.getAttribute("fill"), getComputedStyle(text).fill, behind(text)]);
      return found;
    });
    assert.ok(colors.length > 200);
    const weak = colors.filter(([, text, back]) => contrast(text, back) < 4.5).filter(([name]) => name !== "svg #ffffff");
    assert.deepEqual(weak, []);
    await page.close();
  });
}
