// The graph of layers: zoom, pan, a map, and a walk by arrow keys.

const BOX = { width: 296, height: 82 }, PILL = { width: 236, height: 38 };

class GraphView {
  constructor(app) {
    this.app = app;
    this.title = "Graph";
    this.scheme = "kind";
    this.canvas = html("div", { class: "canvas" });
    this.legend = html("div", { class: "keys" });
    const choice = html("select", { id: "scheme", change: () => {
      this.scheme = choice.value;
      this.draw();
    } }, ...[["kind", "kind of layer"], ["cost", "time"], ["inUse", "arena in use"],
             ["ownBytes", "weights"]].map(([value, text]) => html("option", { value }, text)));
    const act = (text, label, run) =>
      html("button", { type: "button", class: "act", "aria-label": label, title: label, click: run }, text);
    this.element = html("div", { class: "panel graph" },
      html("h2", { class: "print" }, "Graph"),
      html("div", { class: "toolbar" },
        act("+", "Zoom in ( + )", () => this.zoom(1 / 1.3)),
        act("−", "Zoom out ( - )", () => this.zoom(1.3)),
        act("Fit", "Whole graph ( 0 )", () => this.fit()),
        act("1:1", "Legible size ( 1 )", () => this.legible()),
        html("label", { class: "act" }, "Colour by ", choice), this.legend),
      this.canvas);
    addEventListener("beforeprint", () => {
      app.show(this);
      this.setView(this.whole(), true);
    });
    new ResizeObserver(() => this.resize()).observe(this.canvas);
  }

  show(model) {
    this.model = model;
    this.nodes = model.nodes
      .filter((item) => !item.port || item.reads.length || item.readers.length)
      .map((item) => ({ item, in: [], out: [], ...(item.port ? PILL : BOX) }));
    const byNumber = new Map(this.nodes.map((node) => [node.item.number, node]));
    this.byNumber = byNumber;
    for (const edge of model.source.edges) {
      const from = byNumber.get(edge.from), to = byNumber.get(edge.to);
      if (!from || !to || orderOf(from) >= orderOf(to)) continue;
      const link = { from, to, edge };
      from.out.push(link);
      to.in.push(link);
    }
    this.size = layOut(this.nodes);
    this.view = null;
    this.draw();
  }

  draw() {
    const links = this.nodes.flatMap((node) => node.out);
    const view = this.svg && this.svg.getAttribute("viewBox");
    this.edges = links.map((link) => {
      const { edge } = link;
      link.line = svg("path", { class: "edge", d: this.path(link), "marker-end": "url(#arrow)" },
        svg("title", {}, `${tensorText(edge)}, ${bytes(edge.bytes)}`));
      return link.line;
    });
    this.svg = svg("svg", {
      class: "main", role: "group", "aria-label":
        `Graph of ${this.model.layers.length} layers. Arrow keys go along the values, Enter shows a layer.`,
      keydown: (event) => this.key(event),
      wheel: (event) => this.wheel(event), pointerdown: (event) => this.drag(event)
    },
    svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4,
      markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { class: "arrow", d: "M0 0L8 4L0 8z" }))),
    svg("g", {}, this.edges), svg("g", {}, this.nodes.map((node) => this.drawNode(node))));
    this.map = this.drawMap();
    this.canvas.replaceChildren(this.svg, ...(this.map ? [this.map] : []));
    this.drawLegend();
    this.mark();
    if (view && this.view) this.setView(this.view);
    else this.legible();
  }

  /** A line that passes rows straight on, and bends between them. */
  path({ from, to, path }) {
    let [x, y] = [from.x, from.y + from.height / 2];
    let d = `M${[x, y].map(Math.round)}`;
    const bend = (x1, y1) => {
      const middle = (y1 - y) / 2;
      d += `C${[x, y + middle, x1, y1 - middle, x1, y1].map(Math.round)}`;
      [x, y] = [x1, y1];
    };
    for (const point of path.slice(1)) {
      bend(point.x, point.y - point.height / 2);
      y = point.y + point.height / 2;
      d += `V${Math.round(y)}`;
    }
    bend(to.x, to.y - to.height / 2 - 1);
    return d;
  }

  colour(item) {
    if (item.port) return "var(--port)";
    if (this.scheme === "kind") return colourOf(item);
    const most = Math.max(1e-30, ...this.model.layers.map((layer) => layer[this.scheme]));
    return `color-mix(in srgb, var(--warn) ${Math.round(100 * item[this.scheme] / most)}%, var(--line))`;
  }

  label(item) {
    if (item.port)
      return `${item.kind.replace("_", " ")} ${item.name}, ${tensorText(item)}`;
    return `Layer ${item.number}, ${item.name}, ${whatText(item)}, ` +
      `${costText(this.model, item.cost)}, ${percent(shareOf(this.model, item))}`;
  }

  drawNode(node) {
    const { item, x, y, width, height } = node;
    const left = Math.round(x - width / 2), top = Math.round(y - height / 2);
    const text = (value, dx, dy, room, name, size, bold) =>
      svg("text", { class: name, x: left + dx, y: top + dy }, fitText(value, room, size, bold, bold));
    const parts = [];
    if (item.port) {
      parts.push(svg("rect", { class: "box", x: left, y: top, width, height, rx: 19 }),
        svg("circle", { cx: left + 18, cy: y, r: 5, fill: this.colour(item) }),
        text(item.name, 32, 16, width - 44, "ops", 12, true),
        text(`${item.kind.replace("_", " ")} · ${tensorText(item)}`, 32, 30, width - 44, "small", 11));
    } else {
      const share = shareOf(this.model, item);
      const cost = `${this.model.isCounted ? count(item.cost) : seconds(item.cost)} · ${percent(share)}`;
      const bar = this.model.largestCost ? (width - 22) * item.cost / this.model.largestCost : 0;
      parts.push(svg("rect", { class: "box", x: left, y: top, width, height, rx: 6 }),
        svg("path", { d: `M${left + 7} ${top}h-1a6 6 0 0 0 -6 6v${height - 12}a6 6 0 0 0 6 6h1z`, fill: this.colour(item) }),
        wrapText(whatText(item), width - 24, 12, 2).map((line, i) => text(line, 15, 17 + 15 * i, width - 24, "ops", 12, true)),
        text(item.name, 15, 48, width - 24, "small", 11),
        text(tensorText(item), 15, 63, width - 34 - 5.6 * cost.length, "small", 11),
        svg("text", { class: "small", x: left + width - 9, y: top + 63, "text-anchor": "end" }, cost),
        svg("rect", { class: "share", x: left + 15, y: top + 71, width: Math.max(1, bar), height: 4, rx: 2 }));
    }
    node.group = svg("g", {
      class: "node", role: "button", tabindex: -1, "aria-label": this.label(item),
      "data-number": item.number, click: () => this.moved || this.app.select(item.number),
      focus: () => this.reveal(node)
    }, svg("title", {}, `${this.label(item)}${item.port ? "" : `, ${params(item)}`}`), parts);
    return node.group;
  }

  drawLegend() {
    const used = new Set(this.model.layers.map((layer) => layer.kind));
    const keys = this.scheme === "kind"
      ? Object.keys(KINDS).filter((kind) => used.has(kind)).map((kind) => [colourOf({ kind }), KINDS[kind][1]])
      : [["var(--line)", "least"], ["var(--warn)", "most"]];
    this.legend.replaceChildren(...keys.map(([colour, text]) =>
      html("span", { class: "key" }, html("i", { style: `background:${colour}` }), text)));
  }

  /** A small picture of the whole; a click goes there. */
  drawMap() {
    const { left, width, height } = this.size;
    const scale = Math.min(150 / width, 300 / height, 0.2);
    const size = [Math.max(24, width * scale), Math.max(24, height * scale)];
    this.window = svg("rect", { class: "view" });
    const go = (event) => {
      const box = this.map.getBoundingClientRect();
      this.centre(left + (event.clientX - box.left) / box.width * width,
        (event.clientY - box.top) / box.height * height);
    };
    return svg("svg", { class: "map", width: Math.round(size[0]), height: Math.round(size[1]), viewBox: `${left} 0 ${width} ${height}`,
      preserveAspectRatio: "none", "aria-hidden": true, pointerdown: go,
      pointermove: (event) => event.buttons && go(event) },
    this.nodes.map((n) => svg("rect", { x: n.x - n.width / 2, y: n.y - n.height / 2, width: n.width,
      height: n.height, fill: this.colour(n.item) })), this.window);
  }

  // The view is a rectangle of the graph: left, top, width, height.
  whole() {
    const { left, width, height } = this.size;
    return [left - 20, -20, width + 40, height + 40];
  }
  pixels() {
    return [this.canvas.clientWidth || 800, this.canvas.clientHeight || 600];
  }
  setView(view, exact) {
    const [width, height] = this.pixels();
    const [, , w, h] = view;
    if (!exact) {
      // The rectangle gets the form of the canvas, around the same centre.
      const scale = Math.max(w / width, h / height);
      view = [view[0] + (w - scale * width) / 2, view[1] + (h - scale * height) / 2,
        scale * width, scale * height];
    }
    this.view = view;
    this.svg.setAttribute("viewBox", view.map((n) => n.toFixed(1)).join(" "));
    this.svg.classList.toggle("far", view[2] / width > 2.6);
    ["x", "y", "width", "height"].forEach((name, i) => this.window.setAttribute(name, view[i]));
    this.window.setAttribute("stroke-width", this.size.width / 60);
    const seen = view[2] >= this.size.width && view[3] >= this.size.height;
    this.map.style.display = seen || width < 600 ? "none" : "";
  }
  resize() {
    if (!this.svg || !this.canvas.clientWidth) return;
    if (this.shownOnce) this.setView(this.view);
    else this.legible();
    this.shownOnce = true;
  }
  fit() { this.setView(this.whole()); }
  legible() {
    const [width, height] = this.pixels();
    const start = this.nodes.find((node) => node.rank === 0) || { x: 0 };
    const selected = this.byNumber.get(this.app.selected);
    const least = width > 1800 ? 0.65 : 0.85; // of a pixel, on large screens
    const scale = Math.min(1.2, Math.max(least, (this.size.width + 60) / width));
    const w = width * scale, h = height * scale;
    const x = this.size.width + 40 <= w ? this.size.left + this.size.width / 2 : start.x;
    this.setView([x - w / 2, -20, w, h]);
    if (selected) this.reveal(selected);
  }
  zoom(factor, x, y) {
    const [left, top, w, h] = this.view;
    const most = Math.max(this.size.width, this.size.height) * 4 + 1000;
    if ((factor > 1 && w > most) || (factor < 1 && w < 120)) return;
    const cx = x === undefined ? left + w / 2 : x, cy = y === undefined ? top + h / 2 : y;
    this.setView([cx - (cx - left) * factor, cy - (cy - top) * factor, w * factor, h * factor]);
  }
  centre(x, y) {
    const [, , w, h] = this.view;
    this.setView([x - w / 2, y - h / 2, w, h]);
  }
  at(event) {
    const box = this.svg.getBoundingClientRect();
    const [left, top, w, h] = this.view;
    return [left + (event.clientX - box.left) / box.width * w,
      top + (event.clientY - box.top) / box.height * h];
  }
  wheel(event) {
    event.preventDefault();
    const [width] = this.pixels(), scale = this.view[2] / width;
    // A wheel zooms; two fingers on a touchpad, which move both ways, pan.
    if (event.ctrlKey || (Math.abs(event.deltaY) >= 50 && !event.deltaX))
      this.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), ...this.at(event));
    else
      this.setView([this.view[0] + event.deltaX * scale, this.view[1] + event.deltaY * scale,
        this.view[2], this.view[3]]);
  }
  drag(event) {
    if (event.button !== 0) return;
    const start = [event.clientX, event.clientY], view = [...this.view];
    const scale = this.view[2] / this.pixels()[0]; // of the graph for a pixel
    this.moved = false;
    const move = (now) => {
      const by = [now.clientX - start[0], now.clientY - start[1]];
      if (Math.hypot(...by) > 4) this.moved = true;
      if (!this.moved) return;
      this.svg.classList.add("dragged");
      this.setView([view[0] - by[0] * scale, view[1] - by[1] * scale, view[2], view[3]]);
    };
    const end = () => {
      removeEventListener("pointermove", move);
      this.svg.classList.remove("dragged");
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end, { once: true });
  }
  /** Pans so that a node is in sight, and not at the edge. */
  reveal(node) {
    if (!this.view) return;
    const [left, top, w, h] = this.view;
    const isIn = node.x - node.width / 2 > left && node.x + node.width / 2 < left + w &&
      node.y - node.height > top && node.y + node.height < top + h;
    if (!isIn) this.centre(node.x, node.y);
  }

  /** Marks what is selected, and the values that it reads and makes. */
  mark() {
    if (!this.svg) return;
    const focused = this.app.selected === null ? this.nodes[0] && this.nodes[0].item.number : this.app.selected;
    for (const node of this.nodes) {
      const isSelected = node.item.number === this.app.selected;
      node.group.classList.toggle("selected", isSelected);
      node.group.setAttribute("aria-pressed", isSelected);
      node.group.setAttribute("tabindex", node.item.number === focused ? 0 : -1);
      for (const link of node.out)
        link.line.classList.toggle("near", isSelected || link.to.item.number === this.app.selected);
    }
  }
  selected() {
    this.mark();
    const node = this.byNumber.get(this.app.selected);
    if (node && this.canvas.clientWidth) this.reveal(node);
  }

  key(event) {
    const target = event.target.closest(".node");
    const node = target && this.byNumber.get(Number(target.dataset.number));
    const row = node ? this.size.rows[node.rank].filter((other) => !other.point) : [];
    const to = (links, end) => links.length &&
      links.map((link) => link[end]).sort((a, b) => Math.abs(a.x - node.x) - Math.abs(b.x - node.x))[0];
    const beside = (by) => row[row.indexOf(node) + by] ||
      this.byNumber.get(node.item.number + by);
    const moves = node && {
      ArrowDown: () => to(node.out, "to"), ArrowUp: () => to(node.in, "from"),
      ArrowRight: () => beside(1), ArrowLeft: () => beside(-1),
      Home: () => this.size.rows[0].find((other) => !other.point),
      End: () => this.size.rows[this.size.rows.length - 1].find((other) => !other.point)
    };
    const acts = {
      "+": () => this.zoom(1 / 1.3), "=": () => this.zoom(1 / 1.3), "-": () => this.zoom(1.3),
      0: () => this.fit(), 1: () => this.legible(),
      Enter: () => node && this.app.select(node.item.number),
      " ": () => node && this.app.select(node.item.number)
    };
    if (moves && moves[event.key]) {
      const next = moves[event.key]();
      if (next) {
        this.app.select(next.item.number);
        next.group.focus({ preventScroll: true });
      }
    } else if (acts[event.key] && !event.ctrlKey && !event.metaKey) {
      acts[event.key]();
    } else {
      return;
    }
    event.preventDefault();
  }
}
