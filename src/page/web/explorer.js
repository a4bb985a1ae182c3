// SPDX-License-Identifier: Apache-2.0
// Looks at cases: pictures side by side with one zoom and one cursor, and the numbers under it.
import {element} from "./element.js";
import {Panels} from "./panels.js";
import {readCase} from "./picture.js";
import {unpackElement} from "./planes.js";
import {readoutTable} from "./readout.js";

/** @typedef {import("./picture.js").ExplorerData} ExplorerData */
/** @typedef {import("./picture.js").CaseInfo} CaseInfo */
/** @typedef {import("./picture.js").CaseMaps} CaseMaps */
/** @typedef {import("./panels.js").Picture} Picture */
/** @typedef {{canvas: HTMLCanvasElement, picture: Picture}} Panel */

class Explorer {
  /**
   * @param {HTMLElement} root
   * @param {ExplorerData} data
   */
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.pictures = new Panels(data);
    /** @type {Map<number, Promise<{maps: CaseMaps, image: HTMLImageElement | null}>>} */
    this.opened = new Map();
    /** @type {CaseMaps | null} */
    this.maps = null;
    /** @type {HTMLImageElement | null} */
    this.image = null;
    /** @type {Panel[]} */
    this.panels = [];
    this.caseIndex = 0;
    this.slice = 0;
    this.cursor = {x: 0, y: 0};
    this.view = {x: 0, y: 0, zoom: 1};
    const names = data.pipelines.map((pipeline) => pipeline.name);
    const cases = data.cases.map((info) => (info.why ? `${info.id} (${info.why})` : info.id));
    this.tools = element("div", {class: "tools"});
    this.caseList = this.list("case", "case", cases, 0);
    this.beforeList = this.list("before", "before", names, data.pipelines[data.chosen].baseline);
    this.afterList = this.list("after", "after", names, data.chosen);
    this.sliceInput = /** @type {HTMLInputElement} */ (element("input", {type: "range", min: "0", step: "1", "data-explorer": "slice"}));
    this.sliceText = element("output", {});
    this.sliceLabel = element("label", {class: "choice"}, element("span", {}, "slice ", this.sliceText), this.sliceInput);
    this.reset = element("button", {type: "button", class: "plain", "data-explorer": "reset"}, "whole picture");
    this.grid = element("div", {class: "panels"});
    this.readout = element("div", {class: "read scroll", "aria-live": "polite", tabindex: "0"});
    this.legend = element("ul", {class: "classes", "aria-label": "Classes"});
    this.build();
  }

  get info() {
    return this.data.cases[this.caseIndex];
  }
  get before() {
    return Number(this.beforeList.value);
  }
  get after() {
    return Number(this.afterList.value);
  }

  /**
   * @param {string} label
   * @param {string} name
   * @param {string[]} shown
   * @param {number} chosen
   */
  list(label, name, shown, chosen) {
    const list = /** @type {HTMLSelectElement} */ (element("select", {"data-explorer": name}));
    shown.forEach((text, i) => list.append(element("option", {value: String(i)}, text)));
    list.value = String(chosen);
    this.tools.append(element("label", {class: "choice"}, element("span", {}, label), list));
    return list;
  }

  build() {
    this.tools.append(this.sliceLabel, this.reset);
    this.data.classes.forEach((name, c) => {
      const swatch = element("i", {style: `background:${this.data.colors[c]}`});
      this.legend.append(element("li", {}, swatch, name));
    });
    this.root.append(this.tools, this.grid, this.legend, this.readout);
    this.caseList.addEventListener("input", () => this.openCase(Number(this.caseList.value)));
    for (const list of [this.beforeList, this.afterList]) list.addEventListener("input", () => this.showSlice());
    this.sliceInput.addEventListener("input", () => this.moveSlice(Number(this.sliceInput.value)));
    this.reset.addEventListener("click", () => this.setView({x: 0, y: 0, zoom: 1}));
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    new ResizeObserver(() => this.draw()).observe(this.grid);
  }

  /** @param {number} index */
  load(index) {
    let opened = this.opened.get(index);
    if (!opened) {
      const info = this.data.cases[index];
      opened = Promise.all([unpackElement(`case-${index}`), loadImage(info.image)]).then(([bytes, image]) => ({
        maps: readCase(this.data, info, bytes), image,
      }));
      this.opened.set(index, opened);
    }
    return opened;
  }

  /** @param {number} index */
  async openCase(index) {
    const {maps, image} = await this.load(index);
    if (Number(this.caseList.value) !== index) return;  // another case was chosen meanwhile
    this.caseIndex = index;
    this.maps = maps;
    this.image = image;
    this.slice = Math.floor(this.info.slices.length / 2);
    this.cursor = {x: Math.floor(this.info.columns / 2), y: Math.floor(this.info.rows / 2)};
    this.view = {x: 0, y: 0, zoom: 1};
    this.sliceInput.max = String(this.info.slices.length - 1);
    this.sliceLabel.hidden = this.info.slices.length === 1;
    this.showSlice();
    this.root.dataset.case = this.info.id;
  }

  /** @param {number} slice */
  moveSlice(slice) {
    this.slice = Math.min(this.info.slices.length - 1, Math.max(0, slice));
    this.showSlice();
  }

  /** What pictures and numbers are of. */
  shown() {
    const {info, slice, before, after, image} = this;
    if (!this.maps) throw new Error("no case is open");
    return {info, maps: this.maps, image, slice, before, after};
  }

  /** The numbers under the cursor. */
  read() {
    this.readout.replaceChildren(readoutTable(this.data, this.shown(), this.cursor));
  }

  showSlice() {
    const {info} = this;
    this.sliceInput.value = String(this.slice);
    this.sliceText.textContent = `${info.slices[this.slice]} of ${info.depth}`;
    this.panels = this.pictures.make(this.shown()).map((picture) => this.makePanel(picture));
    this.grid.replaceChildren(...this.panels.map((panel) => /** @type {HTMLElement} */ (panel.canvas.closest("figure"))));
    this.draw();
    this.read();
  }

  /** @param {Picture} picture */
  makePanel(picture) {
    const where = this.info.slices.length > 1 ? `, slice ${this.info.slices[this.slice]}` : "";
    const canvas = /** @type {HTMLCanvasElement} */ (element("canvas", {
      tabindex: "0", role: "img", "data-panel": picture.name,
      "aria-label": `${picture.name} of case ${this.info.id}${where}${picture.scale ? ", " + picture.scale : ""}`,
    }));
    const caption = element("figcaption", {}, element("span", {}, picture.name), element("span", {class: "scale"}, picture.scale));
    const figure = element("figure", {class: "panel"}, caption, canvas);
    if (picture.ramp) figure.append(element("div", {class: "ramp", style: `background:${picture.ramp}`}));
    this.listen(canvas);
    return {canvas, picture};
  }

  /** @param {HTMLCanvasElement} canvas */
  listen(canvas) {
    /** @type {{x: number, y: number, view: {x: number, y: number, zoom: number}} | null} */
    let drag = null;
    canvas.addEventListener("pointermove", (event) => {
      if (drag) {
        const scale = this.info.columns / canvas.clientWidth / this.view.zoom;
        const tall = this.info.rows / canvas.clientHeight / this.view.zoom;
        this.setView({...drag.view, x: drag.view.x - (event.clientX - drag.x) * scale, y: drag.view.y - (event.clientY - drag.y) * tall});
      } else {
        this.setCursor(this.pointAt(canvas, event));
      }
    });
    canvas.addEventListener("pointerdown", (event) => {
      this.setCursor(this.pointAt(canvas, event));
      if (this.view.zoom > 1) drag = {x: event.clientX, y: event.clientY, view: {...this.view}};
      if (drag) canvas.setPointerCapture(event.pointerId);
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (drag = null));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey && document.activeElement !== canvas) return;  // the page scrolls
      event.preventDefault();
      this.zoomAt(this.pointAt(canvas, event), event.deltaY < 0 ? 1.25 : 0.8);
    }, {passive: false});
    canvas.addEventListener("click", () => canvas.focus());
    canvas.addEventListener("dblclick", (event) => this.zoomAt(this.pointAt(canvas, event), 2));
  }

  /**
   * The point of the grid under the pointer.
   * @param {HTMLCanvasElement} canvas
   * @param {MouseEvent} event
   */
  pointAt(canvas, event) {
    const box = canvas.getBoundingClientRect();
    return {
      x: this.view.x + ((event.clientX - box.left) / box.width) * (this.info.columns / this.view.zoom),
      y: this.view.y + ((event.clientY - box.top) / box.height) * (this.info.rows / this.view.zoom),
    };
  }

  /**
   * @param {{x: number, y: number}} point
   * @param {number} factor
   */
  zoomAt(point, factor) {
    const zoom = Math.min(32, Math.max(1, this.view.zoom * factor));
    const share = this.view.zoom / zoom;
    this.setView({x: point.x - (point.x - this.view.x) * share, y: point.y - (point.y - this.view.y) * share, zoom});
  }

  /** @param {{x: number, y: number, zoom: number}} view */
  setView(view) {
    const {rows, columns} = this.info;
    this.view = {
      zoom: view.zoom,
      x: Math.min(columns - columns / view.zoom, Math.max(0, view.x)),
      y: Math.min(rows - rows / view.zoom, Math.max(0, view.y)),
    };
    this.draw();
  }

  /** @param {{x: number, y: number}} point */
  setCursor(point) {
    const x = Math.min(this.info.columns - 1, Math.max(0, Math.floor(point.x)));
    const y = Math.min(this.info.rows - 1, Math.max(0, Math.floor(point.y)));
    if (x === this.cursor.x && y === this.cursor.y) return;
    this.cursor = {x, y};
    this.draw();
    this.read();
  }

  /** Moves the view so that the cursor is in it. */
  follow() {
    const {rows, columns} = this.info;
    const {x, y} = this.cursor;
    const view = {...this.view};
    if (x < view.x || x >= view.x + columns / view.zoom) view.x = x - columns / view.zoom / 2;
    if (y < view.y || y >= view.y + rows / view.zoom) view.y = y - rows / view.zoom / 2;
    this.setView(view);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (!(event.target instanceof HTMLCanvasElement) || event.ctrlKey || event.metaKey || event.altKey) return;
    const far = event.shiftKey ? 10 : 1;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.step(-far, 0), ArrowRight: () => this.step(far, 0),
      ArrowUp: () => this.step(0, -far), ArrowDown: () => this.step(0, far),
      "+": () => this.zoomAt(this.cursor, 1.5), "=": () => this.zoomAt(this.cursor, 1.5),
      "-": () => this.zoomAt(this.cursor, 1 / 1.5), 0: () => this.setView({x: 0, y: 0, zoom: 1}),
      "[": () => this.turn(-1), "]": () => this.turn(1),
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  /**
   * @param {number} dx
   * @param {number} dy
   */
  step(dx, dy) {
    this.setCursor({x: this.cursor.x + dx, y: this.cursor.y + dy});
    this.follow();
  }

  /**
   * Another slice; the picture that had the focus keeps it.
   * @param {number} by
   */
  turn(by) {
    const focused = document.activeElement instanceof HTMLCanvasElement ? document.activeElement.dataset.panel : "";
    this.moveSlice(this.slice + by);
    this.panels.find((panel) => panel.picture.name === focused)?.canvas.focus();
  }

  draw() {
    for (const panel of this.panels) this.drawPanel(panel);
  }

  /** @param {Panel} panel */
  drawPanel({canvas, picture}) {
    const {rows, columns, aspect} = this.info;
    const width = Math.round((canvas.clientWidth || 240) * Math.min(2, window.devicePixelRatio || 1));
    const height = Math.round((width * rows * aspect) / columns);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const context = canvas.getContext("2d");
    if (!context) return;
    const sx = (width / columns) * this.view.zoom;
    const sy = (height / rows) * this.view.zoom;
    context.setTransform(sx, 0, 0, sy, -this.view.x * sx, -this.view.y * sy);
    context.imageSmoothingEnabled = false;
    const source = picture.source;
    if (picture.part) {
      context.drawImage(source, ...picture.part, 0, 0, columns, rows);
    } else {
      const {width: w, height: h} = /** @type {HTMLCanvasElement} */ (source);
      context.drawImage(source, 0, 0, w * picture.step, h * picture.step);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    this.drawCursor(context, (this.cursor.x + 0.5 - this.view.x) * sx, (this.cursor.y + 0.5 - this.view.y) * sy);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} x
   * @param {number} y
   */
  drawCursor(context, x, y) {
    for (const [color, width] of /** @type {[string, number][]} */ ([["#000000", 3], ["#ffffff", 1.2]])) {
      context.strokeStyle = color;
      context.lineWidth = width;
      context.beginPath();
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        context.moveTo(x + 4 * dx, y + 4 * dy);
        context.lineTo(x + 11 * dx, y + 11 * dy);
      }
      context.stroke();
    }
  }

}

/**
 * @param {string} url
 * @returns {Promise<HTMLImageElement | null>}
 */
async function loadImage(url) {
  if (!url) return null;
  const image = new Image();
  image.src = url;
  await image.decode();
  return image;
}

/** Brings the explorer to life where the page has one. */
export function startExplorer() {
  const root = document.getElementById("explorer");
  const text = document.getElementById("explorer-data")?.textContent;
  if (!root || !text) return;
  new Explorer(root, JSON.parse(text)).openCase(0);
}
