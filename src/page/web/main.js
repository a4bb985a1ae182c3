// SPDX-License-Identifier: Apache-2.0
import {startExplorer} from "./explorer.js";
import {startSwitches} from "./switches.js";
import {startTable} from "./table.js";

// Paper cannot be pressed: what explains the answer is open there, and as it was afterwards.
/** @type {HTMLDetailsElement[]} */
let opened = [];
window.addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details")].filter((part) => !part.open && part.dataset.print !== "closed");
  for (const part of opened) part.open = true;
});
window.addEventListener("afterprint", () => {
  for (const part of opened) part.open = false;
});

startTable();
startSwitches();
startExplorer();
// Milliseconds since the page was asked for.
document.documentElement.dataset.ready = String(Math.round(performance.now()));
