// The sums of flash and of RAM, and the inputs and outputs of the caller.

const ramParts = (totals) => [["arena", totals.arena_bytes], ["inputs", totals.input_bytes], ["outputs", totals.output_bytes],
  ["state", totals.state_bytes], ["stack", totals.stack_bytes]].filter(([name, size]) => size || (name === "stack" && size === null));
const flashParts = (totals) => [["code and constants", totals.code_bytes], ["weights", totals.weight_bytes]];
const listParts = (parts) => parts.filter(([, size]) => size !== null).map(([name, size]) => `${name} ${bytes(size)}`).join(", ");

class SizesView {
  constructor(app) {
    this.title = "Sizes";
    this.content = html("div");
    this.element = html("div", { class: "panel" }, html("h2", { class: "print" }, "Sizes"), this.content);
  }

  /** A table of parts and their sum. */
  sums(title, parts, sum, note) {
    const row = (name, size, tag) => html("tr", {}, html(tag, { scope: tag === "th" ? "row" : null }, name),
      html("td", { class: "number" }, bytes(size)), html("td", { class: "number" }, size === null ? "" : `${size} bytes`));
    return [html("h3", {}, title), html("table", { class: "narrow" }, html("tbody", {}, parts.map(([name, size]) => row(name, size, "td")),
      row("sum", sum, "th"))), html("p", { class: "muted" }, note)];
  }

  show(model) {
    const { totals } = model;
    const ports = model.ports.filter((port) => port.kind !== "next_state");
    this.content.replaceChildren(...[
      html("h3", {}, "Inputs and outputs"),
      html("table", {}, html("thead", {}, html("tr", {}, ["", "name", "shape and type", "bytes", "lies in"].map((name) =>
        html("th", { scope: "col", class: name === "bytes" ? "number" : "" }, name)))),
      html("tbody", {}, ports.map((port) => html("tr", {}, html("td", {}, port.kind), html("td", { class: "text" }, breakable(port.name)),
        html("td", { class: "text" }, tensorText(port)), html("td", { class: "number" }, String(port.bytes)),
        html("td", {}, port.in_arena ? "the arena" : "the caller's memory"))))),
      ...this.sums("RAM", ramParts(totals), totals.ram_bytes, totals.stack_bytes === null
        ? "The stack is not in the sum: it is known where GCC builds the code for a target without an operating system."
        : "The stack is that of a run, without functions of the C library."),
      ...this.sums("Flash", flashParts(totals), totals.flash_bytes, totals.compiler
        ? `Built with: ${totals.compiler}. The layers' own functions, in a build that inlines no layer into another function, have ` +
          `${bytes(model.layers.reduce((all, layer) => all + layer.code_bytes, 0))}; the rest calls them, or is called by several of them.`
        : "The size of the code is not known: there was no compiler for the target, or --no-build was given.")]);
  }
  selected() {}
}
