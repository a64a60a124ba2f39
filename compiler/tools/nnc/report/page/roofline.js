// Work and bytes of each layer under the roofs of the target.

class RooflineView {
  constructor(app) {
    this.app = app;
    this.title = "Roofline";
    this.chart = html("div");
    this.intro = html("p");
    this.element = html("div", { class: "panel" }, html("h2", { class: "print" }, "Roofline"), this.intro, this.chart);
    redrawOnResize(this);
  }

  show(model) {
    this.model = model;
    const isTimed = model.measured && !model.isCounted;
    this.intro.textContent = "Each dot is a layer, as large as its share of the time: from left to right its work for each byte " +
      "of activations and weights that it reads or writes, upwards the work that it does in a second" +
      (isTimed ? ", as measured; the ring is the estimate. " : ", as estimated. ") +
      "A layer near a slope waits for bytes, one near a roof computes as fast as the target's row says. Methods that need fewer " +
      "multiply-adds than the layer has, as Winograd's, may lie over their roof.";
    this.draw();
  }

  draw() {
    const { model } = this;
    this.chart.replaceChildren();
    const isTimed = model.measured && !model.isCounted;
    const dots = model.layers.filter((l) => workOf(l) > 0 && trafficOf(l) > 0 && l.seconds).map((layer) => {
      const time = isTimed && layer.measured > 0 ? layer.measured : layer.seconds;
      return { layer, x: workOf(layer) / trafficOf(layer), y: workOf(layer) / time, estimate: workOf(layer) / layer.seconds };
    });
    if (!dots.length) {
      this.chart.append(html("p", {}, "No layer of this model has estimates."));
      return;
    }
    const used = new Set(model.layers.map((layer) => layer.isa));
    const peaks = model.machine.peaks.filter((peak) => used.has(peak.isa));
    this.width = this.chart.clientWidth || 900;
    const width = Math.max(320, this.width), height = Math.max(340, Math.min(640, width * 0.55));
    const left = 62, right = 14, top = 14, bottom = 44;
    const decade = (values, round) => round(Math.log10(values.reduce((a, b) => (round === Math.floor ? Math.min(a, b) : Math.max(a, b)))));
    const ys = [...dots.flatMap((d) => [d.y, d.estimate]), ...peaks.map((p) => p.multiply_adds_per_second)];
    const xs = dots.map((d) => d.x);
    const [x0, x1] = [decade(xs, Math.floor), decade(xs, Math.ceil)];
    const [y0, y1] = [decade(ys, Math.floor), decade(ys, Math.ceil)];
    const x = (v) => left + (width - left - right) * (Math.log10(v) - x0) / Math.max(1, x1 - x0);
    const y = (v) => top + (height - top - bottom) * (1 - (Math.log10(v) - y0) / Math.max(1, y1 - y0));
    const parts = [svg("clipPath", { id: "frame" }, svg("rect", { x: left, y: top, width: width - left - right, height: height - top - bottom }))];
    for (let i = x0; i <= Math.max(x1, x0 + 1); ++i)
      parts.push(svg("path", { class: "grid", d: `M${x(10 ** i)} ${top}V${height - bottom}` }),
        svg("text", { x: x(10 ** i), y: height - bottom + 16, "text-anchor": "middle" }, i < 0 ? String(10 ** i) : count(10 ** i)));
    for (let i = y0; i <= Math.max(y1, y0 + 1); ++i)
      parts.push(svg("path", { class: "grid", d: `M${left} ${y(10 ** i)}H${width - right}` }),
        svg("text", { x: left - 6, y: y(10 ** i) + 4, "text-anchor": "end" }, count(10 ** i)));
    parts.push(svg("text", { x: (left + width) / 2, y: height - 8, "text-anchor": "middle" }, "multiply-adds or operations for each byte"),
      svg("text", { x: 12, y: (top + height - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(top + height - bottom) / 2})` }, "work in a second"));
    const best = Math.max(...peaks.map((p) => p.multiply_adds_per_second), 0) || 10 ** y1;
    for (const level of model.machine.levels) {
      const from = 10 ** x0, ridge = best / level.bytes_per_second;
      const end = Math.max(from, Math.min(ridge, 10 ** Math.max(x1, x0 + 1)));
      if (ridge <= from) continue;
      parts.push(svg("path", { class: "slope", "clip-path": "url(#frame)",
        d: `M${x(from)} ${y(from * level.bytes_per_second)}L${x(end)} ${y(end * level.bytes_per_second)}` },
      svg("title", {}, `${level.name}: ${bytes(level.bytes_per_second)}/s`)));
      // Its name lies along it, where it enters the frame.
      const start = Math.max(from, 10 ** y0 / level.bytes_per_second) * 1.1;
      const [px, py] = [x(start), y(start * level.bytes_per_second)];
      const angle = Math.atan2(y(end * level.bytes_per_second) - py, x(end) - px) * 180 / Math.PI;
      const room = Math.hypot(y(end * level.bytes_per_second) - py, x(end) - px);
      if (room > 150)
        parts.push(svg("text", { x: px, y: py - 4, transform: `rotate(${angle.toFixed(2)} ${px} ${py})` },
          `${level.name}: ${bytes(level.bytes_per_second)}/s`));
    }
    peaks.sort((a, b) => b.multiply_adds_per_second - a.multiply_adds_per_second);
    let above = -Infinity;
    const names = [];
    for (const peak of peaks) {
      const at = y(peak.multiply_adds_per_second);
      parts.push(svg("path", { class: "roof", d: `M${left} ${at}H${width - right}` }));
      if (at - above > 13) {
        names.push(svg("text", { class: "strong halo", x: width - right - 4, y: at - 5, "text-anchor": "end" }, `${peak.isa}: ${count(peak.multiply_adds_per_second)} multiply-adds a second`));
        above = at;
      }
    }
    this.dots = [];
    dots.sort((a, b) => b.layer.cost - a.layer.cost);
    for (const dot of dots) {
      const r = 4 + 16 * Math.sqrt(shareOf(model, dot.layer));
      if (isTimed)
        parts.push(svg("path", { class: "from", d: `M${x(dot.x)} ${y(dot.estimate)}V${y(dot.y)}` }),
          svg("circle", { cx: x(dot.x), cy: y(dot.estimate), r: 3, fill: "none", stroke: colourOf(dot.layer) }));
      const circle = svg("circle", { class: "dot", cx: x(dot.x), cy: y(dot.y), r, fill: colourOf(dot.layer),
        click: () => this.app.select(dot.layer.number) },
      svg("title", {}, `${dot.layer.number} ${dot.layer.name}: ${count(dot.y)} a second, ${digits(dot.x)} for each byte, ${costText(model, dot.layer.cost)}`));
      this.dots.push([dot.layer.number, circle]);
      parts.push(circle);
    }
    parts.push(...names);
    this.chart.append(svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, height, tabindex: 0, role: "group",
      "aria-label": `Roofline with ${dots.length} layers. Arrow keys go from the layer with the most time to the next.`,
      keydown: (event) => {
        const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        const now = this.dots.findIndex(([number]) => number === this.app.selected);
        const next = this.dots[Math.max(0, Math.min(this.dots.length - 1, now + by))];
        this.app.select(next[0]);
      } }, parts));
    this.selected();
  }

  selected() {
    for (const [number, circle] of this.dots || []) circle.classList.toggle("selected", number === this.app.selected);
  }
}
