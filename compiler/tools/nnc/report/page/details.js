// All that there is to say of one layer, beside the views.

class Details {
  constructor(app) {
    this.app = app;
    this.element = get("details");
  }

  show(model, number) {
    const item = model.nodes[number];
    if (!item) {
      this.element.replaceChildren(html("h2", {}, "No layer is selected"),
        html("p", { class: "muted" }, "Click on a layer, or search for one with /. Arrow keys go through layers, Escape leaves one."));
      return;
    }
    this.element.replaceChildren(html("h2", {}, item.name),
      ...(item.port ? this.port(item) : this.layer(model, item)));
    this.element.scrollTop = 0;
  }

  list(...pairs) {
    return html("dl", {}, pairs.filter((pair) => pair && pair[1] !== "" && pair[1] !== null)
      .map(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]));
  }
  links(title, edges, end) {
    if (!edges.length) return null;
    return [html("h3", {}, title), html("ul", { style: "margin:0;padding-left:18px" }, edges.map((edge) =>
      html("li", {}, this.app.link(edge[end]), html("span", { class: "muted" },
        ` ${tensorText(edge)}, ${bytes(edge.bytes)}`))))];
  }

  port(port) {
    return [this.list(["kind", port.kind.replace("_", " ")], ["shape", shape(port.layout_shape)], ["type", port.dtype],
      ["bytes", bytes(port.bytes)], ["lies in", port.in_arena ? "the arena" : "the caller's memory"]),
    this.links("Made by", port.reads, "from"), this.links("Read by", port.readers, "to")].flat();
  }

  layer(model, layer) {
    const share = shareOf(model, layer);
    const peak = model.machine.peaks.find((one) => one.isa === layer.isa);
    const time = layer.measured !== null && !model.isCounted ? layer.measured : layer.seconds;
    const rate = layer.multiply_adds && time ? layer.multiply_adds / time : 0;
    const isPeak = model.arena.peak && model.arena.peak.layer === layer.number;
    return [
      html("p", {}, html("span", { class: "chip" }, html("span", { style: `color:${colourOf(layer)}` }, "● "),
        (KINDS[layer.kind] || KINDS.other)[1]),
      layer === model.slowest ? html("span", { class: "chip bad" }, "slowest layer") : null,
      isPeak ? html("span", { class: "chip bad" }, "memory peak") : null),
      this.list(
        ["layer", `${layer.number} of ${model.layers.length}`],
        layer.model_name !== layer.name && ["in the model", layer.model_name],
        ["computes", whatText(layer)],
        ...this.window(layer),
        ["numbers", layer.numbers],
        layer.within.length && ["inside of", layer.within.join(", ")],
        ["routine", code(params(layer))],
        ["instructions", layer.isa],
        ["result", `${shape(layer.layout_shape)} ${layer.dtype}`],
        ["layout", layer.layout === "plain" ? "row-major" : layer.layout],
        layer.measured !== null && ["measured", `${costText(model, layer.measured)}, ${percent(share)} of all`],
        ["estimate", layer.seconds === null ? "unknown" : `${seconds(layer.seconds)}${layer.measured === null ? `, ${percent(share)} of all` : ""}${layer.cost_measured ? ", measured by nnc tune" : ""}`],
        ["multiply-adds", layer.multiply_adds ? count(layer.multiply_adds) + tripsText(layer) : "none"],
        rate && ["rate", `${count(rate)} a second${peak ? `, ${percent(rate / peak.multiply_adds_per_second)} of the roof${rate > peak.multiply_adds_per_second ? ", by a method with fewer multiply-adds" : ""}` : ""}`],
        ["activations", `${bytes(layer.activation_bytes)} read and written`],
        ["weights", layer.weight_bytes ? bytes(layer.weight_bytes) : "none"],
        ["code", layer.code_of || layer.code_bytes !== null ? codeText(layer) : ""],
        ["working memory", layer.scratch_bytes ? bytes(layer.scratch_bytes) : "none"],
        ["arena in use", `${bytes(layer.inUse)}${isPeak ? ", the most of all layers" : ""}`],
        ["float because", layer.float_because || ""]),
      layer.ops.length > 1 ? [html("h3", {}, "Fused into one layer"),
        html("p", {}, layer.ops.map((op) => html("span", { class: "chip" }, op)))] : null,
      this.fusion(layer),
      this.links("Reads", layer.reads, "from"), this.links("Read by", layer.readers, "to"),
      layer.weights.length ? [html("h3", {}, "Weights"), html("table", {}, html("tbody", {}, layer.weights.map((w) =>
        html("tr", {}, html("td", {}, w.role ? html("div", {}, w.role) : null, code(w.name), html("div", { class: "muted" }, tensorText(w))),
          html("td", { class: "number" }, bytes(w.bytes))))))] : null,
      this.candidates(layer)
    ].flat().filter(Boolean);
  }

  window({ window }) {
    if (!window) return [];
    return [["kernel", window.kernel.join(" × ")], ["stride", sizesText(window.strides)], ["padding", paddingText(window.pads)],
      window.dilations.some((one) => one !== 1) && ["dilation", sizesText(window.dilations)],
      window.groups > 1 && ["groups", String(window.groups)]];
  }

  fusion(layer) {
    const { fusion } = layer;
    return fusion ? [html("h3", {}, "Fusion that was weighed"), html("p", {},
      `With the layer before it as one ${fusion.form} layer: ${seconds(fusion.one_seconds)}, apart ${seconds(fusion.apart_seconds)}; ` +
      (fusion.fused ? "they are one." : "they stay apart."))] : null;
  }

  candidates(layer) {
    if (!layer.alternatives.length) return null;
    return [html("h3", {}, `What the search weighed (${layer.alternatives.length})`),
      html("table", {}, html("thead", {}, html("tr", {}, html("th", {}, "routine, layouts"), html("th", { class: "number" }, "cost"),
        html("th", { class: "number" }, "whole plan"))),
      html("tbody", {}, layer.alternatives.map((other) => html("tr", { class: other.chosen ? "chosen" : null },
        html("td", {}, code(params(other)), html("div", { class: "muted" }, other.layouts)),
        html("td", { class: "number" }, seconds(other.seconds), other.measured ? html("div", { class: "muted" }, "measured") : null),
        html("td", { class: "number" }, other.chosen ? "chosen" : other.extra_seconds === null ? "impossible"
          : other.over_max_error ? "too inexact" : `${other.extra_seconds < 0 ? "−" : "+"}${seconds(Math.abs(other.extra_seconds))}`)))))];
  }
}
