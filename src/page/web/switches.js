// SPDX-License-Identifier: Apache-2.0
// Drawings of which some are shown at a time: lists to choose from, and places to fill.
import {unpackElement} from "./planes.js";

/** @type {Map<string, Promise<Record<string, string>>>} */
const stores = new Map();

/**
 * The drawings of a store by their key, unpacked at the first call.
 * @param {string} id
 */
function openStore(id) {
  let store = stores.get(id);
  if (!store) {
    store = unpackElement(id).then((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
    stores.set(id, store);
  }
  return store;
}

/**
 * What is chosen, by name.
 * @param {Element} group
 * @returns {Record<string, string>}
 */
function choices(group) {
  /** @type {Record<string, string>} */
  const chosen = {};
  for (const input of group.querySelectorAll("[data-choice]")) {
    const name = /** @type {HTMLElement} */ (input).dataset.choice ?? "";
    if (input instanceof HTMLInputElement) chosen[name] = input.checked ? "1" : "0";
    if (input instanceof HTMLSelectElement) chosen[name] = input.value;
  }
  return chosen;
}

/**
 * @param {HTMLElement} slot
 * @param {Record<string, string>} chosen
 */
async function fillSlot(slot, chosen) {
  const key = (slot.dataset.key ?? "").replace(/\{(\w+)\}/g, (_, name) => chosen[name] ?? "");
  slot.dataset.wanted = key;
  const store = await openStore(slot.dataset.store ?? "");
  if (slot.dataset.wanted !== key) return;  // another choice was made meanwhile
  slot.innerHTML = store[key] ?? '<p class="remark">Not computed for this choice.</p>';
  slot.dataset.shown = key;
}

/** Brings all groups of the page to life. */
export function startSwitches() {
  for (const group of document.querySelectorAll(".switch")) {
    group.addEventListener("input", () => {
      const chosen = choices(group);
      for (const slot of group.querySelectorAll("[data-store]")) fillSlot(/** @type {HTMLElement} */ (slot), chosen);
    });
  }
}
