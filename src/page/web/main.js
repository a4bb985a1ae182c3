// SPDX-License-Identifier: Apache-2.0
import {startExplorer} from "./explorer.js";
import {startSwitches} from "./switches.js";
import {startTable} from "./table.js";

startTable();
startSwitches();
startExplorer();
// Milliseconds since the page was asked for.
document.documentElement.dataset.ready = String(Math.round(performance.now()));
