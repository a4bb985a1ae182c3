// SPDX-License-Identifier: Apache-2.0
// The table of all pipelines: sorting, filters, and rows that are pinned for comparison.

/** @typedef {{row: HTMLTableRowElement, pipeline: string}} PinnedRow */

/** @param {HTMLTableCellElement} cell */
function cellValue(cell) {
  const text = cell.dataset.value;
  return text === undefined || text === "" ? NaN : Number(text);
}

/**
 * Sorts by a column; what is not defined comes last either way.
 * @param {HTMLTableElement} table
 * @param {number} column
 * @param {boolean} ascending
 */
function sortRows(table, column, ascending) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const sign = ascending ? 1 : -1;
  rows.sort((a, b) => {
    const x = cellValue(a.cells[column]);
    const y = cellValue(b.cells[column]);
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return sign * (x - y);
  });
  body.append(...rows);
}

/** @param {HTMLTableElement} table */
function makeSortable(table) {
  const heads = [...(table.tHead?.rows[0].cells ?? [])];
  heads.forEach((head, column) => {
    head.querySelector("button")?.addEventListener("click", () => {
      const ascending = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      sortRows(table, column, ascending);
    });
  });
}

/**
 * @param {HTMLElement} section
 * @param {HTMLTableElement} table
 */
function makeFilters(section, table) {
  /** @param {string} name */
  const input = (name) => /** @type {HTMLInputElement} */ (section.querySelector(`[data-filter="${name}"]`));
  const update = () => {
    const wanted = input("text").value.trim().toLowerCase();
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const fits = (row.dataset.pipeline ?? "").toLowerCase().includes(wanted) &&
        (!input("keeps").checked || row.dataset.keeps !== "none") &&
        (!input("invariant").checked || row.dataset.invariant === "1");
      row.hidden = !fits;
      shown += Number(fits);
    }
    table.classList.toggle("without-intervals", !input("intervals").checked);
    const all = table.tBodies[0].rows.length;
    const count = section.querySelector(".count");
    if (count) count.textContent = shown === all ? `${all} pipelines` : `${shown} of ${all} pipelines`;
  };
  for (const name of ["text", "keeps", "invariant", "intervals"]) input(name).addEventListener("input", update);
  update();
}

/**
 * A difference with its sign and as many decimals as the values are shown with.
 * @param {number} difference
 * @param {string} shown
 * @param {number} factor
 */
function formatDifference(difference, shown, factor) {
  const decimals = (shown.split(".")[1] ?? "").length;
  const text = (difference * factor).toFixed(decimals);
  return Number(text) === 0 ? (0).toFixed(decimals) : difference > 0 ? `+${text}` : text;
}

/**
 * What a cell shows over what it stands for: 100 for percentages.
 * @param {HTMLTableCellElement} cell
 */
function cellFactor(cell) {
  const shown = Number(cell.querySelector(".value")?.textContent ?? NaN);
  const value = cellValue(cell);
  return Number.isFinite(shown) && Math.abs(value) > 1e-9 && Math.abs(shown / value) > 50 ? 100 : 1;
}

/**
 * The pinned rows on top of each other: the first as it is, the others by how they differ from it.
 * @param {HTMLTableElement} table
 * @param {HTMLElement} place
 * @param {HTMLTableRowElement[]} pinned
 */
function showPinned(table, place, pinned) {
  place.hidden = pinned.length === 0;
  place.replaceChildren();
  if (pinned.length === 0) return;
  const shown = document.createElement("table");
  const caption = shown.createCaption();
  caption.textContent = pinned.length === 1
    ? "Pinned. Pin others to see how they differ from it."
    : "Pinned: the first one, and how the others differ from it.";
  const head = shown.createTHead().insertRow();
  for (const cell of table.tHead?.rows[0].cells ?? []) {
    const copy = document.createElement("th");
    copy.scope = "col";
    copy.className = cell.className;
    copy.textContent = cell.textContent;
    head.append(copy);
  }
  const body = shown.createTBody();
  pinned.forEach((row, index) => body.append(pinnedRow(row, index > 0 ? pinned[0] : null)));
  place.append(shown);
}

/**
 * @param {HTMLTableRowElement} row
 * @param {HTMLTableRowElement | null} first
 */
function pinnedRow(row, first) {
  const copy = document.createElement("tr");
  copy.dataset.pipeline = row.dataset.pipeline;
  [...row.cells].forEach((cell, column) => {
    const isName = column === 0;
    const made = document.createElement(isName ? "th" : "td");
    if (isName) made.setAttribute("scope", "row");
    made.className = cell.className.replace("best", "");
    const shown = cell.querySelector(".value")?.textContent ?? cell.textContent ?? "";
    const isMetric = cell.querySelector(".value") !== null && !isName;
    made.textContent = first && isMetric && Number.isFinite(cellValue(cell) - cellValue(first.cells[column]))
      ? formatDifference(cellValue(cell) - cellValue(first.cells[column]), shown, cellFactor(cell))
      : shown;
    copy.append(made);
  });
  return copy;
}

/**
 * @param {HTMLTableElement} table
 * @param {HTMLElement} place
 */
function makePins(table, place) {
  /** @type {HTMLTableRowElement[]} */
  let pinned = [];
  /** @param {HTMLTableRowElement} row */
  const toggle = (row) => {
    const on = !pinned.includes(row);
    pinned = on ? [...pinned, row] : pinned.filter((other) => other !== row);
    row.classList.toggle("pinned", on);
    row.querySelector(".pin")?.setAttribute("aria-pressed", String(on));
    showPinned(table, place, pinned);
  };
  for (const row of table.tBodies[0].rows) row.addEventListener("click", () => toggle(row));
}

/** Brings the table of the page to life. */
export function startTable() {
  const section = document.getElementById("results");
  const table = /** @type {HTMLTableElement | null} */ (document.getElementById("results-table"));
  const place = document.getElementById("pinned");
  if (!section || !table || !place) return;
  makeSortable(table);
  makeFilters(section, table);
  makePins(table, place);
}
