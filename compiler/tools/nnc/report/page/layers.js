// The layers as tables: work, times and memory; and the weights.

/** A table whose columns sort, and whose rows are layers to walk and select. */
class LayerTable {
  constructor(app, columns, sort) {
    this.app = app;
    this.columns = columns;
    this.sort = sort;
    this.body = html("tbody", { keydown: (event) => this.key(event) });
    this.head = html("tr", {});
    this.element = html("table", {}, html("thead", {}, this.head), this.body);
  }

  show(model, rows) {
    this.model = model;
    this.rows = rows;
    this.shown = this.columns.filter((column) => !column.when || column.when(model));
    this.draw();
  }

  draw() {
    this.head.replaceChildren(...this.shown.map((column) => {
      const [key, direction] = this.sort;
      const isSorted = key === column.key;
      return html("th", { scope: "col", class: `${column.text ? "" : "number "}of-${column.key}`,
        "aria-sort": isSorted ? (direction > 0 ? "ascending" : "descending") : null },
      html("button", { type: "button", title: column.title, click: () => this.sortBy(column) },
        column.label, isSorted ? (direction > 0 ? " ▲" : " ▼") : ""));
    }));
    const column = this.columns.find((one) => one.key === this.sort[0]);
    const value = (row) => column.value(row, this.model);
    const sorted = [...this.rows].sort((a, b) => {
      const x = value(a), y = value(b);
      return this.sort[1] * (x < y ? -1 : x > y ? 1 : 0) || a.number - b.number;
    });
    this.body.replaceChildren(...sorted.map((row) => html("tr", {
      class: "row", tabindex: -1, "data-number": row.number,
      click: () => this.app.select(row.number)
    }, this.shown.map((one) => html("td", { class: `${one.text ? "text" : "number"} of-${one.key}` },
      one.cell ? one.cell(row, this.model) : String(one.value(row, this.model)))))));
    this.selected();
  }

  sortBy(column) {
    const [key, direction] = this.sort;
    this.sort = [column.key, key === column.key ? -direction : column.text || column.key === "number" ? 1 : -1];
    this.draw();
    this.head.querySelectorAll("button")[this.shown.indexOf(column)].focus();
  }

  selected() {
    let hasFocus = false;
    for (const row of this.body.children) {
      const isSelected = Number(row.dataset.number) === this.app.selected;
      row.setAttribute("aria-selected", isSelected);
      row.tabIndex = isSelected ? 0 : -1;
      hasFocus = hasFocus || isSelected;
    }
    if (!hasFocus && this.body.firstChild) this.body.firstChild.tabIndex = 0;
  }

  key(event) {
    const row = event.target.closest("tr");
    if (!row || event.target !== row) return;
    const to = { ArrowDown: row.nextSibling, ArrowUp: row.previousSibling, Home: this.body.firstChild,
      End: this.body.lastChild, Enter: row, " ": row };
    if (!(event.key in to)) return;
    event.preventDefault();
    if (!to[event.key]) return;
    to[event.key].focus();
    this.app.select(Number(to[event.key].dataset.number));
  }
}

const barOf = (share, second) =>
  html("i", { class: second ? "second" : null, style: `width:${(100 * Math.min(1, share)).toFixed(1)}%` });

const nameCell = (layer) => [html("div", { class: "name" }, breakable(layer.name)),
  html("div", { class: "muted" }, whatText(layer))];

/** Kernel, stride and padding, or a dash. */
const windowCell = ({ window }) => (window ? [html("div", {}, window.kernel.join(" × ")),
  html("div", { class: "muted" }, `stride ${sizesText(window.strides)}`),
  html("div", { class: "muted" }, `padding ${paddingText(window.pads)}`)] : "–");

/** The bytes of a layer's own code. */
const codeText = (layer) => (layer.code_of ? `that of ${layer.code_of}` : layer.code_bytes === null ? "unknown" : bytes(layer.code_bytes));

class LayersView {
  constructor(app) {
    this.title = "Layers";
    this.key = html("p");
    const isTimed = (model) => model.measured && !model.isCounted;
    this.table = new LayerTable(app, [
      { key: "number", label: "#", value: (l) => l.number },
      { key: "name", label: "layer", text: true, value: (l) => l.name, cell: nameCell },
      { key: "routine", label: "routine", text: true, value: params, cell: (l) => code(params(l)) },
      { key: "window", label: "kernel", title: "Kernel, stride and padding", text: true,
        value: (l) => (l.window ? l.window.kernel.join("x") : ""), cell: windowCell },
      { key: "type", label: "result", text: true, value: (l) => l.layout,
        cell: (l) => [breakable(shape(l.layout_shape)), ` ${l.dtype}`, l.layout === "plain" ? null : html("div", { class: "muted" }, l.layout)] },
      { key: "work", label: "multiply-adds", value: (l) => l.multiply_adds, cell: (l) => (l.multiply_adds ? count(l.multiply_adds) : "–") },
      { key: "time", label: "time", title: "Estimated and, where it was, measured", value: (l) => l.cost,
        cell: (l, m) => html("span", { class: "bars" }, this.times(l, m)) },
      { key: "ratio", label: "ratio", title: "Measured to estimated time", when: isTimed,
        value: (l) => (l.seconds ? l.measured / l.seconds : 0), cell: (l) => (l.seconds ? digits(l.measured / l.seconds) : "–") },
      { key: "weights", label: "weights", value: (l) => l.weight_bytes, cell: (l) => (l.weight_bytes ? bytes(l.weight_bytes) : "–") },
      { key: "code", label: "code", title: "Bytes of machine code of the layer alone", when: (model) => model.totals.code_bytes !== null,
        value: (l) => l.code_bytes || 0, cell: (l) => (l.code_of ? html("span", { class: "muted" }, "shared") : bytes(l.code_bytes)) },
      { key: "traffic", label: "activations", title: "Bytes that are read and written, without weights", value: (l) => l.activation_bytes, cell: (l) => bytes(l.activation_bytes) },
      { key: "use", label: "arena in use", value: (l) => l.inUse, cell: (l) => bytes(l.inUse) }
    ], ["number", 1]);
    this.element = html("div", { class: "panel" }, html("h2", { class: "print" }, "Layers"), this.key, this.table.element);
  }
  times(layer, model) {
    const most = Math.max(model.largestCost, model.isCounted ? 0 : Math.max(...model.layers.map((l) => l.seconds || 0)), 1e-30);
    const lines = [], bars = [];
    if (layer.measured !== null) {
      lines.push(model.isCounted ? count(layer.measured) : seconds(layer.measured));
      bars.push(barOf(layer.measured / most, true));
    }
    if (layer.seconds !== null) {
      lines.push(model.isCounted ? `estimate ${seconds(layer.seconds)}` : seconds(layer.seconds));
      if (!model.isCounted) bars.push(barOf(layer.seconds / most));
    }
    if (!lines.length) return ["unknown"];
    return [html("span", { class: "muted" }, `${percent(shareOf(model, layer))} · `), lines[0],
      lines.length > 1 ? html("div", { class: "muted" }, lines[1]) : null, bars];
  }
  show(model) {
    const keys = [];
    if (!model.isCounted) keys.push(html("span", { class: "key" }, html("i", { style: "background:var(--bar)" }), "estimated time"));
    if (model.measured)
      keys.push(html("span", { class: "key" }, html("i", { style: "background:var(--bar-2)" }),
        model.isCounted ? "instructions, which an emulator counted" : `measured on ${model.measured.machine}${model.measured.emulated ? ", an emulator whose times say nothing of a chip" : ""}`));
    this.key.replaceChildren(...keys);
    this.table.show(model, model.layers);
  }
  selected() { this.table.selected(); }
}

class WeightsView {
  constructor(app) {
    this.title = "Weights";
    this.intro = html("p");
    this.table = new LayerTable(app, [
      { key: "number", label: "#", value: (l) => l.number },
      { key: "name", label: "layer", text: true, value: (l) => l.name, cell: nameCell },
      { key: "bytes", label: "bytes", value: (l) => l.ownBytes, cell: (l) => bytes(l.ownBytes) },
      { key: "share", label: "share", value: (l) => l.ownBytes, cell: (l, m) => html("span", { class: "bars" },
        percent(l.ownBytes / Math.max(1, m.totals.weight_bytes)), barOf(l.ownBytes / Math.max(1, this.most))) },
      { key: "tensors", label: "tensors", text: true, value: (l) => l.weights.length,
        cell: (l) => l.weights.map((w) => html("div", {}, w.role ? `${w.role} ` : null, code(w.name), html("span", { class: "muted" },
          ` ${tensorText(w)}, ${bytes(w.bytes)}${w.shared ? ", of an earlier layer" : ""}`))) }
    ], ["bytes", -1]);
    this.element = html("div", { class: "panel" }, html("h2", { class: "print" }, "Weights"), this.intro, this.table.element);
  }
  show(model) {
    const rows = model.layers.filter((layer) => layer.weights.length);
    this.most = Math.max(0, ...rows.map((layer) => layer.ownBytes));
    const stored = model.layers.reduce((all, layer) => all + layer.ownBytes, 0);
    this.intro.textContent = `${bytes(model.totals.weight_bytes)} in all, as they are stored: packed, encoded and padded ` +
      `for the routines. The layers hold ${bytes(stored)} of it; a weight that several layers read counts for the first.`;
    this.table.show(model, rows);
  }
  selected() { this.table.selected(); }
}
