// The page: its head, the views as tabs, search, theme and selection.

class App {
  constructor(documents) {
    this.models = documents.map(makeModel);
    this.selected = null;
    this.views = [new GraphView(this), new MemoryView(this), new LayersView(this), new WeightsView(this), new RooflineView(this), new SizesView(this)];
    if (this.models.length > 1) this.views.unshift(new CompareView(this, this.models));
    this.details = new Details(this);
    this.search = new Search(this);
    this.makeTabs();
    this.makeSwitch();
    this.makeTheme();
    get("main").replaceChildren(...this.views.map((view) => view.element));
    this.openView(0);
    this.showModel(0);
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("beforeprint", () => this.views.forEach((view) => this.show(view)));
  }

  get model() { return this.models[this.shown]; }

  makeTabs() {
    this.tabs = this.views.map((view, i) => {
      const id = view.title.toLowerCase();
      Object.assign(view.element, { id: `panel-${id}`, role: "tabpanel" });
      view.element.setAttribute("role", "tabpanel");
      view.element.setAttribute("aria-labelledby", `tab-${id}`);
      return html("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`,
        click: () => this.openView(i), keydown: (event) => {
          const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          const to = event.key === "Home" ? 0 : event.key === "End" ? this.tabs.length - 1
            : by && (i + by + this.tabs.length) % this.tabs.length;
          if (to === undefined) return;
          event.preventDefault();
          this.openView(to);
          this.tabs[to].focus();
        } }, view.title);
    });
    get("tabs").replaceChildren(...this.tabs);
  }

  openView(index) {
    this.views.forEach((view, i) => {
      view.element.hidden = i !== index;
      this.tabs[i].setAttribute("aria-selected", i === index);
      this.tabs[i].tabIndex = i === index ? 0 : -1;
    });
    this.open = this.views[index];
    this.show(this.open);
  }
  /** Draws a view once it is looked at, or printed. */
  show(view) {
    if (!this.model || view.shown === this.model) return;
    view.shown = this.model;
    view.show(this.model);
  }
  openTitle(title) { this.openView(this.views.findIndex((view) => view.title === title)); }

  makeSwitch() {
    if (this.models.length < 2) return;
    get("switch").replaceChildren(...this.models.map((model, i) => html("button", { type: "button",
      title: `${model.name} for ${model.machine.target}`, click: () => this.showModel(i) }, `${"AB"[i]}: ${model.name}`)));
  }

  makeTheme() {
    const button = get("theme"), root = document.documentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    let chosen = null;
    const apply = () => {
      const theme = chosen || (dark.matches ? "dark" : "light");
      root.dataset.theme = theme;
      button.textContent = theme === "dark" ? "Light" : "Dark";
      button.setAttribute("aria-label", `Change to ${theme === "dark" ? "light" : "dark"} colours`);
    };
    button.addEventListener("click", () => {
      chosen = root.dataset.theme === "dark" ? "light" : "dark";
      apply();
    });
    dark.addEventListener("change", apply);
    apply();
  }

  /** Shows a report; of a selected layer, the one with the same name there. */
  showModel(index) {
    if (this.shown === index) return;
    const before = this.model && this.model.nodes[this.selected];
    this.shown = index;
    const { model } = this;
    const same = before && model.nodes.find((node) => node.name === before.name);
    this.selected = same ? same.number : null;
    [...get("switch").children].forEach((button, i) => button.setAttribute("aria-pressed", i === index));
    const { options } = model.source;
    get("title").textContent = model.name;
    get("subtitle").textContent = [`for ${model.machine.target}`, `nnc ${model.source.nnc}`,
      model.source.model, { f16: "halves", bf16: "bfloat16", tf32: "tf32" }[options.precision], options.tuned ? "tuned" : null,
      options.threads > 1 ? `${options.threads} threads` : null,
      options.optimize !== "balance" ? `optimized for ${options.optimize}` : null].filter(Boolean).join(" · ");
    this.makeCards();
    this.show(this.open);
    this.details.show(model, this.selected);
  }

  makeCards() {
    const { model } = this, { measured, totals, arena, slowest } = model;
    const card = (label, value, more, run) => html(run ? "button" : "div", { class: "card", type: run ? "button" : null,
      click: run || null, title: run ? `${label}: ${value}` : null },
    html("span", { class: "label" }, label), html("span", { class: "value" }, run ? breakable(value) : value), html("span", { class: "more" }, more || "\u00a0"));
    const cards = [];
    if (measured)
      cards.push(card(measured.emulated && !model.isCounted ? "Time in an emulator" : "Measured", model.isCounted ? `${count(measured.median)} instr.` : seconds(measured.median),
        model.isCounted ? `estimate ${seconds(totals.seconds)}` : `${measured.runs} runs, estimate ${seconds(totals.seconds)}`));
    else
      cards.push(card("Estimated time", seconds(totals.seconds), totals.seconds > 0 ? `${digits(1 / totals.seconds)} runs a second` : ""));
    if (slowest)
      cards.push(card("Slowest layer", slowest.name, `${costText(model, slowest.cost)}, ${percent(shareOf(model, slowest))}`, () => this.select(slowest.number, true)));
    if (arena.peak && model.layers[arena.peak.layer]) {
      const layer = model.layers[arena.peak.layer];
      cards.push(card("Memory peak", layer.name, `${bytes(arena.peak.bytes)} at layer ${layer.number}`, () => {
        this.openTitle("Memory");
        this.select(layer.number);
      }));
    }
    const show = () => this.openTitle("Sizes");
    cards.push(card("RAM", bytes(totals.ram_bytes), listParts(ramParts(totals)), show));
    cards.push(totals.flash_bytes === null ? card("Weights", bytes(totals.weight_bytes), "size of the code not measured", show)
      : card("Flash", bytes(totals.flash_bytes), listParts(flashParts(totals)), show));
    cards.push(card("Work", count(totals.multiply_adds), `multiply-adds in ${model.layers.length} layers`));
    const { accuracy } = model.source;
    if (accuracy) {
      const isGood = accuracy.outputs.every((output) => output.within);
      const worst = Math.max(0, ...accuracy.outputs.map((o) => (o.largest_error === null ? Infinity : o.largest_error / (o.largest_expected || 1))));
      cards.push(card("Against the reference", isGood ? "same" : "differs", `error ${worst.toExponential(1)} of the largest`));
    }
    get("cards").replaceChildren(...cards);
  }

  /** Selects a layer or a port; null for none. */
  select(number, toGraph) {
    this.selected = number;
    if (toGraph && !["Graph", "Layers", "Roofline", "Weights"].includes(this.open.title)) this.openTitle("Graph");
    for (const view of this.views) if (view.shown === this.model) view.selected();
    this.details.show(this.model, number);
  }

  link(number) {
    const item = this.model.nodes[number];
    return item ? html("button", { type: "button", class: "link", click: () => this.select(number) },
      item.port ? item.name : `${number} ${item.name}`) : String(number);
  }

  key(event) {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !isTyping) {
      event.preventDefault();
      get("search").focus();
    } else if (event.key === "Escape" && !isTyping) {
      this.select(null);
    }
  }
}

/** The field in the head, and the list below it. */
class Search {
  constructor(app) {
    this.app = app;
    this.field = get("search");
    this.list = get("found");
    this.at = 0;
    this.field.addEventListener("input", () => this.find());
    this.field.addEventListener("focus", () => this.find());
    this.field.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    this.field.addEventListener("keydown", (event) => this.key(event));
  }
  find() {
    const words = this.field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (item) => (item.port ? `${item.kind} ${item.name} ${item.dtype}`
      : `${item.number} ${item.name} ${item.model_name} ${item.what} ${whatText(item)} ${params(item)} ${item.layout} ${item.dtype} ${shape(item.shape)} ` +
        item.weights.map((w) => w.name).join(" ")).toLowerCase();
    const found = this.app.model.nodes.filter((item) => words.length && words.every((word) => text(item).includes(word)));
    // Names come before routines, shapes and weights.
    const isNamed = (item) => words.every((word) => item.name.toLowerCase().includes(word));
    this.items = [...found.filter(isNamed), ...found.filter((item) => !isNamed(item))].slice(0, 50);
    this.at = 0;
    this.list.hidden = !words.length;
    this.list.replaceChildren(...(this.items.length ? this.items.map((item, i) => html("li", { id: `found-${i}`, role: "option",
      mousedown: (event) => {
        event.preventDefault();
        this.choose(i);
      } }, item.name, html("span", { class: "muted" }, item.port ? item.kind.replace("_", " ") : `${item.number} · ${whatText(item)} · ${params(item)}`)))
      : [html("li", { class: "muted" }, "No layer has this in its name, routine, shape or weights.")]));
    this.mark();
  }
  mark() {
    this.field.setAttribute("aria-expanded", !this.list.hidden);
    this.field.setAttribute("aria-activedescendant", this.items.length ? `found-${this.at}` : "");
    [...this.list.children].forEach((child, i) => {
      child.setAttribute("aria-selected", i === this.at);
      if (i === this.at) child.scrollIntoView({ block: "nearest" });
    });
  }
  choose(index) {
    const item = this.items[index];
    if (!item) return;
    this.close();
    this.field.blur();
    this.app.select(item.number, true);
  }
  close() {
    this.list.hidden = true;
    this.field.setAttribute("aria-expanded", false);
  }
  key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && this.items.length) {
      this.at = (this.at + by + this.items.length) % this.items.length;
      this.mark();
    } else if (event.key === "Enter") {
      this.choose(this.at);
    } else if (event.key === "Escape") {
      this.field.value = "";
      this.close();
      this.field.blur();
    } else {
      return;
    }
    event.preventDefault();
  }
}

const app = new App(JSON.parse(get("documents").textContent));
