// Two reports side by side: what a change of nnc, target or model did.

/** Pairs layers by their names, then the rest by their names in the model. */
function matchLayers(before, after) {
  const pairs = [], left = new Set(after.layers);
  const find = (key) => {
    const known = new Map();
    for (const layer of left) if (layer[key] && !known.has(layer[key])) known.set(layer[key], layer);
    return known;
  };
  const partners = new Map();
  for (const key of ["name", "model_name"]) {
    const known = find(key);
    for (const layer of before.layers) {
      const other = !partners.has(layer) && layer[key] && known.get(layer[key]);
      if (!other || !left.has(other)) continue;
      partners.set(layer, other);
      left.delete(other);
    }
  }
  for (const layer of before.layers) pairs.push([layer, partners.get(layer) || null]);
  for (const layer of left) pairs.push([null, layer]);
  return pairs.map(([a, b]) => ({ a, b, name: (a || b).name }));
}

class CompareView {
  constructor(app, models) {
    this.app = app;
    this.models = models;
    this.title = "Compare";
    this.sort = ["change", -1];
    const [a, b] = models;
    this.isSame = a.isCounted === b.isCounted && Boolean(a.measured) === Boolean(b.measured);
    this.pairs = matchLayers(a, b);
    this.rows = html("tbody", { keydown: (event) => this.key(event) });
    this.head = html("tr");
    this.element = html("div", { class: "panel" }, html("h2", {}, "Two reports"),
      html("p", { class: "muted" }, "A is ", html("b", {}, a.name), ` for ${a.machine.target}, B is `, html("b", {}, b.name),
        ` for ${b.machine.target}. Layers are matched by their names.`),
      html("div", { class: "scroll" }, this.totals()), html("h3", {}, "Layers"), html("div", { class: "scroll" },
        html("table", { id: "pairs" }, html("thead", {}, this.head), this.rows)));
    this.draw();
  }

  change(a, b) {
    if (!a || !b) return "";
    const ratio = b / a;
    const text = Math.abs(ratio - 1) < 0.0005 ? "same" : `${ratio > 1 ? "+" : "−"}${percent(Math.abs(ratio - 1))}`;
    return html("span", { class: ratio > 1.005 ? "bad" : ratio < 0.995 ? "good" : "muted" }, text);
  }

  totals() {
    const [a, b] = this.models;
    const rows = [];
    const add = (name, value, text = String) => rows.push([name, value(a), value(b), text]);
    add("estimated time", (m) => m.totals.seconds, seconds);
    if (a.measured && b.measured && this.isSame)
      add(a.isCounted ? "measured instructions" : "measured time", (m) => m.measured.median, a.isCounted ? count : seconds);
    if (a.totals.flash_bytes && b.totals.flash_bytes) {
      add("flash", (m) => m.totals.flash_bytes, bytes);
      add("code", (m) => m.totals.code_bytes, bytes);
    }
    add("RAM", (m) => m.totals.ram_bytes, bytes);
    add("arena", (m) => m.totals.arena_bytes, bytes);
    add("weights", (m) => m.totals.weight_bytes, bytes);
    add("multiply-adds", (m) => m.totals.multiply_adds, count);
    add("layers", (m) => m.layers.length);
    const error = (m) => m.source.accuracy && Math.max(0, ...m.source.accuracy.outputs.map((o) => (o.largest_error === null ? Infinity : o.largest_error / (o.largest_expected || 1))));
    if (a.source.accuracy && b.source.accuracy) add("largest error of outputs", error, (v) => v.toExponential(2));
    const texts = [["model", (m) => m.source.model], ["nnc", (m) => m.source.nnc], ["target", (m) => m.machine.target],
      ...Object.keys(a.source.options).map((key) => [key.replace(/_/g, " "), (m) => String(m.source.options[key])]),
      ["measured on", (m) => (m.measured ? m.measured.machine : "not measured")]];
    return html("table", {}, html("thead", {}, html("tr", {}, html("th", {}, ""), html("th", { class: "number" }, "A"),
      html("th", { class: "number" }, "B"), html("th", { class: "number" }, "B against A"))),
    html("tbody", {}, rows.map(([name, x, y, text]) => html("tr", {}, html("th", { scope: "row" }, name),
      html("td", { class: "number" }, text(x)), html("td", { class: "number" }, text(y)), html("td", { class: "number" }, this.change(x, y)))),
    texts.filter(([, value]) => value(a) !== value(b)).map(([name, value]) => html("tr", {}, html("th", { scope: "row" }, name),
      html("td", { class: "number" }, value(a)), html("td", { class: "number" }, value(b)), html("td", { class: "number" }, "differs")))));
  }

  /** Times of one kind: estimates, unless both reports have measured alike. */
  time(layer) {
    return !layer ? 0 : this.isSame ? layer.cost : layer.seconds || 0;
  }

  draw() {
    const [a, b] = this.models;
    const text = this.isSame && a.isCounted ? count : seconds;
    const unit = this.isSame && a.isCounted ? "instructions" : "time";
    const columns = [
      ["name", "layer", (p) => p.name], ["a", `${unit} of A`, (p) => this.time(p.a)], ["b", `${unit} of B`, (p) => this.time(p.b)],
      ["change", "B − A", (p) => Math.abs(this.time(p.b) - this.time(p.a))], ["ratio", "B against A", (p) => (p.a && p.b ? this.time(p.b) / (this.time(p.a) || 1) : 0)],
      ["routine", "routine of A, of B", (p) => (p.a && p.b && params(p.a) !== params(p.b) ? 1 : 0)],
      ["weights", "weights", (p) => ((p.b && p.b.weight_bytes) || 0) - ((p.a && p.a.weight_bytes) || 0)]];
    const [key, direction] = this.sort;
    this.head.replaceChildren(...columns.map(([name, label]) => html("th", { scope: "col", class: `pair-${name}`,
      "aria-sort": name === key ? (direction > 0 ? "ascending" : "descending") : null },
    html("button", { type: "button", click: () => {
      this.sort = [name, name === key ? -direction : name === "name" ? 1 : -1];
      this.draw();
    } }, label, name === key ? (direction > 0 ? " ▲" : " ▼") : ""))));
    const value = columns.find(([name]) => name === key)[2];
    const sorted = [...this.pairs].sort((p, q) => {
      const x = value(p), y = value(q);
      return direction * (x < y ? -1 : x > y ? 1 : 0);
    });
    this.rows.replaceChildren(...sorted.map((pair, i) => {
      const [x, y] = [this.time(pair.a), this.time(pair.b)];
      const only = !pair.a ? "only in B" : !pair.b ? "only in A" : "";
      const routines = pair.a && pair.b && params(pair.a) === params(pair.b)
        ? [html("span", { class: "muted" }, code(params(pair.a)))]
        : [pair.a, pair.b].map((layer) => html("div", {}, layer ? [code(params(layer)), html("span", { class: "muted" }, layer.layout === "plain" ? "" : ` ${layer.layout}`)] : "–"));
      const delta = y - x;
      return html("tr", { class: "row", tabindex: i ? -1 : 0, click: () => this.open(pair) },
        html("td", { class: "text" }, html("div", { class: "name" }, breakable(pair.name)), html("div", { class: "muted" }, only || whatText(pair.b))),
        html("td", { class: "number" }, pair.a ? text(x) : "–"), html("td", { class: "number" }, pair.b ? text(y) : "–"),
        html("td", { class: "number" }, html("span", { class: delta > 0 ? "bad" : delta < 0 ? "good" : "muted" }, `${delta < 0 ? "−" : "+"}${text(Math.abs(delta))}`)),
        html("td", { class: "number" }, this.change(x, y)), html("td", { class: "text pair-routine" }, routines),
        html("td", { class: "number pair-weights" }, [pair.a, pair.b].map((layer) => html("div", {}, layer && layer.weight_bytes ? bytes(layer.weight_bytes) : "–"))));
    }));
  }

  open(pair) {
    this.app.showModel(pair.b ? 1 : 0);
    this.app.select((pair.b || pair.a).number);
  }

  key(event) {
    const row = event.target.closest("tr");
    const to = { ArrowDown: row.nextSibling, ArrowUp: row.previousSibling, Home: this.rows.firstChild, End: this.rows.lastChild };
    if (event.key === "Enter") row.click();
    else if (to[event.key]) to[event.key].focus();
    else return;
    event.preventDefault();
  }
  show() {}
  selected() {}
}
