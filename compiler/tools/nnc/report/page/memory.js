// The arena over time: buffers as rectangles over the layers, and who holds it.

class MemoryView {
  constructor(app) {
    this.app = app;
    this.title = "Memory";
    this.chart = html("div", { class: "scroll" });
    this.holders = html("div", { "aria-live": "polite" });
    this.intro = html("p");
    this.element = html("div", { class: "panel" }, html("h2", { class: "print" }, "Memory"),
      this.intro, html("div", { class: "split" }, this.chart, this.holders));
    redrawOnResize(this);
  }

  show(model) {
    this.model = model;
    const { arena } = model;
    const over = arena.lower_bound_bytes
      ? arena.bytes / arena.lower_bound_bytes - 1 : 0;
    this.intro.textContent = arena.places.length
      ? `The arena has ${bytes(arena.bytes)}, ` +
        (over > 0.00005 ? `${percent(over)} over what no plan could go below. ` : "which no plan could go below. ") +
        "Each box is a value or working memory, for the layers that use it; the layers run from left to right."
      : "This model needs no arena.";
    this.draw();
  }

  draw() {
    const { arena, layers } = this.model;
    this.chart.replaceChildren();
    this.holders.replaceChildren();
    if (!arena.places.length) return;
    this.width = this.chart.clientWidth || 900;
    const left = 74, right = 12, top = 26, usage = 70, gap = 18, height = 380;
    const step = (this.width - left - right) / Math.max(1, layers.length);
    const width = left + right + step * layers.length;
    const most = Math.max(arena.bytes, ...arena.places.map((p) => p.offset + p.bytes));
    const base = top + usage + gap;
    const x = (number) => left + number * step;
    const y = (offset) => base + height * (1 - offset / most);
    const parts = [];
    for (let i = 0; i <= 4; ++i) {
      const value = most * i / 4;
      parts.push(svg("path", { class: "grid", d: `M${left} ${y(value)}H${width - right}` }),
        svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, bytes(Math.round(value))));
    }
    parts.push(svg("text", { x: left - 6, y: top + 10, "text-anchor": "end" }, "in use"));
    for (const layer of layers) {
      const h = usage * layer.inUse / most;
      parts.push(svg("rect", { class: "use", x: x(layer.number) + 0.5, y: top + usage - h,
        width: Math.max(1, step - 1), height: h },
      svg("title", {}, `${layer.number} ${layer.name}: ${bytes(layer.inUse)} in use`)));
    }
    const every = Math.max(1, Math.ceil(34 / step));
    for (let i = 0; i < layers.length; i += every)
      parts.push(svg("text", { x: x(i) + step / 2, y: base + height + 16, "text-anchor": "middle" }, i));
    parts.push(svg("text", { x: left, y: base + height + 34 }, "layers, in the order in which they run"));
    this.boxes = [];
    const names = [];
    arena.places.forEach((place, number) => {
      if (place.first > place.last) return;
      const bottom = y(place.offset), boxTop = y(Math.min(most, place.offset + place.bytes));
      const w = step * (place.last - place.first + 1), h = bottom - boxTop;
      const maker = layers[place.first];
      const colour = place.scratch || !maker ? "var(--edge)" : colourOf(maker);
      const box = svg("rect", { class: "place", x: x(place.first), y: boxTop, width: w, height: Math.max(0.5, h), fill: colour,
        "fill-opacity": [1, 0.8, 0.62][number % 3],
        click: (event) => this.pick(event, place) },
      svg("title", {}, `${place.name}: ${bytes(place.bytes)} at ${place.offset}, layers ${place.first} to ${place.last}`));
      this.boxes.push([place, box]);
      parts.push(box);
      // A result that takes the place of an operand covers a part of it.
      const covered = arena.places.filter((other) => other.first > place.first && other.first <= place.last &&
        other.offset < place.offset + place.bytes && place.offset < other.offset + other.bytes);
      const room = step * (Math.min(place.last + 1, ...covered.map((other) => other.first)) - place.first);
      if (h >= 14 && room >= 60)
        names.push(svg("text", { class: "on", x: x(place.first) + 4, y: boxTop + h / 2 + 4 },
          fitText(place.name, room - 8, 11)));
    });
    parts.push(...names);
    let start = 0;
    for (const memory of arena.memories) {
      parts.push(svg("path", { class: "roof", d: `M${left} ${y(start)}H${width - right}` }),
        svg("text", { class: "strong", x: width - right - 4, y: y(start) - 4, "text-anchor": "end" },
          `${memory.name}: ${bytes(memory.bytes)} of ${bytes(memory.size)}`));
      start += memory.bytes;
    }
    this.cursor = svg("rect", { class: "cursor", y: top, width: step, height: base + height - top });
    parts.push(this.cursor);
    if (arena.peak) {
      const at = x(arena.peak.layer) + step / 2, isRight = at > width / 2;
      parts.push(svg("rect", { class: "peak", x: x(arena.peak.layer), y: top, width: step, height: base + height - top }),
        svg("text", { class: "strong", x: at + (isRight ? -6 : 6), y: 16, "text-anchor": isRight ? "end" : "start" },
          `peak: ${bytes(arena.peak.bytes)} at layer ${arena.peak.layer}`));
    }
    this.chart.append(svg("svg", { class: "chart", width, height: base + height + 44,
      viewBox: `0 0 ${width} ${base + height + 44}`, style: `width:${width}px`, tabindex: 0, role: "group",
      "aria-label": "The arena over the layers. Arrow keys go from layer to layer, p to the peak.",
      keydown: (event) => this.key(event),
      click: (event) => {
        const box = event.currentTarget.getBoundingClientRect();
        const number = Math.floor((event.clientX - box.left - left) / step);
        if (layers[number]) this.app.select(number);
      } }, parts));
    this.x = x;
    this.selected();
  }

  /** A box selects the layer under the pointer. */
  pick(event, place) {
    if (place.first !== place.last) return;
    event.stopPropagation();
    this.app.select(place.first);
  }

  key(event) {
    const { layers, arena } = this.model;
    const now = layers[this.app.selected] ? this.app.selected : arena.peak ? arena.peak.layer : 0;
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: layers.length - 1,
      p: arena.peak ? arena.peak.layer : now }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    if (layers[to]) this.app.select(to);
  }

  selected() {
    const { arena, layers } = this.model;
    if (!arena.places.length) return;
    const chosen = layers[this.app.selected];
    const at = chosen || (arena.peak ? layers[arena.peak.layer] : layers[0]);
    if (!at) return;
    if (this.cursor) {
      this.cursor.setAttribute("x", this.x(at.number));
      this.cursor.style.display = chosen ? "" : "none";
    }
    const held = placesAt(this.model, at.number).sort((a, b) => b.bytes - a.bytes);
    for (const [place, box] of this.boxes) box.classList.toggle("held", held.includes(place));
    const isPeak = arena.peak && arena.peak.layer === at.number;
    this.holders.replaceChildren(
      html("h2", {}, `${isPeak ? "At the peak" : "In the arena"} while layer ${at.number} runs: ${bytes(at.inUse)}`),
      html("p", { class: "muted" }, `${at.name}, ${whatText(at)}`),
      html("div", { class: "scroll" }, html("table", {},
        html("thead", {}, html("tr", {}, html("th", {}, "held"), html("th", { class: "number" }, "bytes"),
          html("th", {}, "of the arena"), html("th", {}, "made by layer"), html("th", {}, "last read by"))),
        html("tbody", {}, held.map((place) => html("tr", {},
          html("td", { class: "text" }, place.name, place.scratch ? html("span", { class: "muted" }, " working memory") : null),
          html("td", { class: "number" }, bytes(place.bytes)),
          html("td", {}, html("span", { class: "bars" }, percent(place.bytes / arena.bytes),
            html("i", { style: `width:${100 * Math.min(1, place.bytes / arena.bytes)}%` }))),
          html("td", {}, this.app.link(place.first)), html("td", {}, this.app.link(place.last))))))));
  }
}
