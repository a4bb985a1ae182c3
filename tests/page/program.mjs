// SPDX-License-Identifier: Apache-2.0
// Runs the program, makes studies to look at, and reads what it wrote.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const PROGRAM = process.env.SEGCAL_PROGRAM;
const MAKE_STUDY = process.env.SEGCAL_MAKE_STUDY;

/** A folder that is gone when the tests are. */
export function temporaryFolder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "segcal-page-"));
  process.on("exit", () => fs.rmSync(folder, {recursive: true, force: true}));
  return folder;
}

/** Runs a program that must end with `code`; returns what it printed. */
function run(program, args, code = 0) {
  const done = spawnSync(program, args, {encoding: "utf8", timeout: 240000});
  assert.equal(done.status, code, `${program} ${args.join(" ")}\n${done.stdout}\n${done.stderr}`);
  return done;
}

export function segcal(...args) {
  return run(PROGRAM, [...args, "--quiet"]);
}

/** What a command that must fail says. */
export function segcalFails(code, ...args) {
  const {stdout, stderr} = run(PROGRAM, args, code);
  assert.equal(stdout, "");
  assert.doesNotMatch(stderr, /internal error/);
  return stderr;
}

/** Bytes (H, W, 3) or (D, H, W) as a .npy file. */
function writeBytes(file, shape, value) {
  const header = `{'descr': '|u1', 'fortran_order': False, 'shape': (${shape.join(", ")}), }`;
  const padded = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + "\n";
  const count = shape.reduce((a, b) => a * b);
  const start = Buffer.from([0x93, ...Buffer.from("NUMPY"), 1, 0, padded.length & 255, padded.length >> 8]);
  fs.writeFileSync(file, Buffer.concat([start, Buffer.from(padded), Buffer.from(Array.from({length: count}, (_, i) => value(i)))]));
}

/** A float32 .npy file: its shape and values. */
export function readFloats(file) {
  const bytes = fs.readFileSync(file);
  const length = bytes.readUInt16LE(8);
  const header = bytes.subarray(10, 10 + length).toString();
  assert.match(header, /'<f4'/);
  const shape = header.match(/\(([^)]*)\)/)[1].split(",").filter((x) => x.trim()).map(Number);
  const values = new Float32Array(bytes.buffer.slice(bytes.byteOffset + 10 + length, bytes.byteOffset + bytes.length));
  return {shape, values};
}

export function readJson(file) {
  return JSON.parse(fs.readFileSync(file, "utf8"));
}

/** A simulated data set whose file was changed by `edit`. */
export function simulate(folder, preset, size, edit = () => {}) {
  segcal("simulate", folder, "--preset", preset, "--size", size, "--cases", "14", "--members", "2", "--seed", "3", "--correlation", "4");
  const file = path.join(folder, "dataset.json");
  const dataset = readJson(file);
  edit(dataset, folder);
  fs.writeFileSync(file, JSON.stringify(dataset));
  return file;
}

/** Gives every case an image. */
export function addImages(dataset, folder, shape) {
  dataset.cases.forEach((entry, k) => {
    entry.image = `image${k}.npy`;
    writeBytes(path.join(folder, entry.image), shape, (i) => (i * 7 + k * 40) % 256);
  });
}

/** A study of a data set and its page; `args` go to `report`. */
export function makeStudy(dataset, folder, pipelines, ...args) {
  run(MAKE_STUDY, [dataset, folder, ...pipelines]);
  const page = path.join(folder, "report.html");
  segcal("report", folder, "-o", page, ...args);
  return page;
}
