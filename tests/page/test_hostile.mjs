// SPDX-License-Identifier: Apache-2.0
// What can be wrong with a study, its names or its data.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import {after, before, test} from "node:test";
import {openPage, startBrowser} from "./browser.mjs";
import {makeStudy, readJson, segcal, segcalFails, simulate, temporaryFolder} from "./program.mjs";

const EVIL = "</script><img src=x onerror=\"window.hacked=1\">'\"&";
const folder = temporaryFolder();
const run = path.join(folder, "run");
let browser;
let file;
let study;

before(async () => {
  const dataset = simulate(path.join(folder, "data"), "street", "20x24", (data) => {
    data.name = `set ${EVIL}`;
    data.classes = data.classes.map((name, c) => (c < 2 ? `${name} ${EVIL}` : name));
    data.cases.forEach((entry, k) => (entry.id = `case ${k} <img src=x onerror=window.hacked=1>"'&`));
  });
  file = makeStudy(dataset, run, ["none(z)", "ts(z)", "ms(z)"]);
  study = fs.readFileSync(path.join(run, "study.json"), "utf8");
  browser = await startBrowser();
});
after(() => browser?.close());

const copy = (name, text) => {
  const other = path.join(folder, name);
  fs.cpSync(run, other, {recursive: true});
  if (text === null) fs.rmSync(path.join(other, "study.json"));
  else fs.writeFileSync(path.join(other, "study.json"), text);
  return other;
};
const page = (name) => path.join(folder, `${name}.html`);

test("shows names of data sets, classes and cases as text, whatever they are", async () => {
  const opened = await openPage(browser, file);
  await opened.page.waitForSelector("#explorer canvas");
  assert.deepEqual(opened.complaints, []);
  assert.equal(await opened.page.evaluate(() => window.hacked), undefined);
  assert.equal(await opened.page.$$eval("img", (all) => all.length), 0);
  assert.equal(await opened.page.textContent("h1"), `set ${EVIL}`);
  assert.ok((await opened.page.textContent("#explorer .classes")).includes(EVIL));
  assert.match(await opened.page.textContent('[data-explorer="case"]'), /<img src=x onerror=window\.hacked=1>/);
  await opened.page.selectOption('#reliability [data-choice="view"]', {index: 4});
  await opened.page.selectOption('#matched [data-choice="metric"]', "ece");
  await opened.page.waitForSelector('#matched [data-shown$="ece|0"]');
  assert.equal(await opened.page.evaluate(() => window.hacked), undefined);
  await opened.page.close();
});

test("refuses a study of another version by its number", () => {
  const other = copy("version", study.replace('"segcal_study": 1', '"segcal_study": 9'));
  const said = segcalFails(3, "report", other, "-o", page("version"));
  assert.match(said, /study\.json.*9/s);
  assert.equal(fs.existsSync(page("version")), false);
});

test("refuses a truncated study, and one with a field missing", () => {
  assert.match(segcalFails(3, "report", copy("cut", study.slice(0, study.length / 2)), "-o", page("cut")), /study\.json/);
  const content = JSON.parse(study);
  delete content.flips;
  assert.match(segcalFails(3, "report", copy("field", JSON.stringify(content)), "-o", page("field")), /flips/);
});

test("says of a study that is not complete how to complete it", () => {
  const other = copy("begun", null);
  fs.mkdirSync(path.join(other, "units"));
  assert.match(segcalFails(4, "report", other, "-o", page("begun")), /not complete.*--resume/s);
  assert.match(segcalFails(4, "report", path.join(folder, "nowhere"), "-o", page("nowhere")), /nowhere.*compare/s);
});

test("makes the page without cases where the data are gone, and says so", async () => {
  const other = copy("moved", study);
  const origin = readJson(path.join(other, "run.json"));
  fs.writeFileSync(path.join(other, "run.json"), JSON.stringify({...origin, dataset: path.join(folder, "gone")}));
  const {stderr, stdout} = segcal("report", other, "-o", page("moved"));
  assert.match(stderr, /no case explorer: .*gone/s);
  assert.match(stdout, /0 cases to look at/);
  const opened = await openPage(browser, page("moved"));
  assert.deepEqual(opened.complaints, []);
  assert.match(await opened.page.textContent("#cases"), /no case explorer here.*gone/s);
  await opened.page.close();
  assert.match(segcalFails(4, "report", other, "-o", page("moved"), "--dataset", path.join(folder, "gone")), /gone/);
  segcal("report", other, "-o", page("moved"), "--dataset", path.join(folder, "data"), "--cases", "1");
  assert.match(fs.readFileSync(page("moved"), "utf8"), /id="case-0"/);
});

test("gives the same bytes again, with any number of threads", () => {
  segcal("report", run, "-o", page("one"), "--threads", "1");
  segcal("report", run, "-o", page("three"), "--threads", "3");
  assert.ok(fs.readFileSync(page("one")).equals(fs.readFileSync(page("three"))));
  assert.ok(fs.readFileSync(page("one")).equals(fs.readFileSync(file)));
});

test("refuses a case that the study's data set has not", () => {
  assert.match(segcalFails(2, "report", run, "-o", page("case"), "--dataset", path.join(folder, "data"), "--case", "nobody"), /nobody/);
});
