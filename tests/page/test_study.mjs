// SPDX-License-Identifier: Apache-2.0
// From a data set to its page as people do it: segcal compare, then segcal report.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import {after, before, test} from "node:test";
import {openPage, startBrowser, waitForCase} from "./browser.mjs";
import {readJson, segcal, simulate, temporaryFolder} from "./program.mjs";

const COLORS = ["#804080", "#f423e8", "#464646", "#102030"];
const folder = temporaryFolder();
const run = path.join(folder, "run");
const file = path.join(folder, "report.html");
let browser;
let study;

before(async () => {
  const dataset = simulate(path.join(folder, "street"), "street", "36x48", (data) => {
    data.colors = data.classes.map((_, k) => COLORS[k % COLORS.length]);
  });
  segcal("compare", dataset, "-p", "ts(z)", "-p", "ts(p)", "-p", "cms_ap(p)", "--repeats", "2", "--search", "2", "--replicates", "50",
    "--ece-bins", "10,20", "-o", run);
  segcal("report", run, "-o", file, "--cases", "2");
  study = readJson(path.join(run, "study.json"));
  browser = await startBrowser();
});
after(() => browser?.close());

test("the page of a study that compare made shows its verdict and its numbers", async () => {
  const {page, complaints} = await openPage(browser, file);
  const lead = await page.textContent("#verdict .lead");
  assert.ok(lead.includes(study.recommendation.pipeline), lead);
  const verdict = await page.textContent("#verdict");
  for (const text of [...study.recommendation.reasons, ...study.recommendation.commands]) assert.ok(verdict.includes(text), text);
  const warnings = await page.textContent("#warnings");
  for (const text of study.recommendation.warnings) assert.ok(warnings.includes(text), text);
  const shown = await page.$$eval("#results-table tbody tr", (rows) => rows.map((row) => row.dataset.pipeline));
  assert.deepEqual(shown, study.pipelines.map((entry) => entry.pipeline));
  const losses = await page.$$eval("#results-table", ([table]) => {
    const column = [...table.tHead.rows[0].cells].findIndex((head) => head.dataset.column === "nll");
    return [...table.tBodies[0].rows].map((row) => Number(row.cells[column].dataset.value));
  });
  assert.deepEqual(losses, study.statistics.pipelines.map((entry) => entry.intervals.nll.estimate));
  const ids = await page.$$eval("main > section", (sections) => sections.map((section) => section.id));
  for (const id of ["matched", "risk", "sensitivity", "cases", "provenance"]) assert.ok(ids.includes(id), `${id} of ${ids}`);
  assert.match(await page.textContent("#provenance"), /segcal compare/);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("its explorer shows test cases in the data set's colours", async () => {
  const {page} = await openPage(browser, file);
  const data = JSON.parse(await page.textContent("#explorer-data"));
  assert.deepEqual(data.colors, data.classes.map((_, k) => COLORS[k % COLORS.length]));
  assert.equal(data.cases.length, 2);
  for (const entry of data.cases) assert.ok(study.repeats[0].test.includes(entry.id), entry.id);
  await waitForCase(page, data.cases[0].id);
  assert.ok(fs.statSync(file).size < 5e6);
  await page.close();
});
