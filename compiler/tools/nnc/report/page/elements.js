// Elements of the page, and numbers as people read them.
//
// All texts of a model go through textContent or attributes, never through
// innerHTML: the name of a layer may hold tags.

/** Makes an element; attributes that are functions listen to events. */
function make(space, tag, attributes, children) {
  const element = space ? document.createElementNS(space, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(3))
    if (child !== null && child !== undefined && child !== false)
      element.append(child);
  return element;
}
const html = (tag, attributes, ...children) => make("", tag, attributes, children);
const svg = (tag, attributes, ...children) =>
  make("http://www.w3.org/2000/svg", tag, attributes, children);
const get = (id) => document.getElementById(id);

/** Three digits, as far as they say something. */
function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 || value === 0 ? 0 : size >= 10 ? 1 : 2);
}
function scaled(value, base, units) {
  let i = 0;
  while (i + 1 < units.length && Math.abs(value) >= base * 0.9995) {
    value /= base;
    ++i;
  }
  return [value, units[i]];
}
function seconds(value) {
  if (value === null) return "unknown";
  const [size, unit] = scaled(value * 1e9, 1000, ["ns", "µs", "ms", "s"]);
  return `${digits(size)} ${unit}`;
}
function bytes(value) {
  if (value === null) return "unknown";
  const [size, unit] = scaled(value, 1024, ["B", "KiB", "MiB", "GiB"]);
  return unit === "B" ? `${value} B` : `${digits(size)} ${unit}`;
}
function count(value) {
  const [size, unit] = scaled(value, 1000, ["", " K", " M", " G", " T"]);
  return unit === "" ? String(Math.round(size)) : digits(size) + unit;
}
const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
const shape = (dims) => (dims.length ? dims.join("×") : "scalar");
const params = (layer) =>
  layer.routine + (layer.params.length ? `<${layer.params.join(", ")}>` : "");

/** A name that may be broken behind its words. */
function breakable(text) {
  return text.split(/(?<=[_/.;:<,×])/).flatMap((part, i) => (i ? [html("wbr"), part] : [part]));
}
const code = (text) => html("code", {}, breakable(text));

/** Text that is at most `width` wide in an SVG: its middle gives way, or its end. */
const fitText = (() => {
  const context = document.createElement("canvas").getContext("2d");
  const cache = new Map();
  return (text, width, size, bold, atEnd) => {
    const key = `${size}${bold ? "b" : ""}${atEnd ? "e" : ""}${width}|${text}`;
    if (cache.has(key)) return cache.get(key);
    context.font = `${bold ? "600 " : ""}${size}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;
    let fitted = text;
    for (let keep = Math.min(text.length, 200); context.measureText(fitted).width > width && keep > 1;) {
      --keep;
      const head = atEnd ? keep : Math.ceil(keep * 0.4);
      fitted = text.slice(0, head) + "…" + text.slice(text.length - (keep - head));
    }
    cache.set(key, fitted);
    return fitted;
  };
})();

/** Text in at most `most` lines of `width`; the last one holds the rest, however long it is. */
function wrapText(text, width, size, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines[lines.length - 1] ? `${lines[lines.length - 1]} ${word}` : word;
    const isFull = longer !== word && fitText(longer, width, size, true, true) !== longer;
    if (isFull && lines.length < most) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** Draws the chart of a view again when the view's width changes. A chart that is a few pixels
 *  too narrow may stay, but one that is wider than its view would scroll sideways. */
const redrawOnResize = (view) => new ResizeObserver(() => {
  const width = view.chart.clientWidth;
  if (view.model && width && (width < view.width || width > view.width + 4)) view.draw();
}).observe(view.chart);
