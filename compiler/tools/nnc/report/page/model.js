// A document with what views ask of it.

/** Kinds of layers in documents: a colour of the style, and a name. */
const KINDS = {
  convolution: ["conv", "Convolution"],
  product: ["matmul", "Matrix product, attention, recurrent cells"],
  pooling: ["pool", "Pooling, reduction"],
  normalization: ["normalize", "Softmax, norm"],
  elementwise: ["elementwise", "Elementwise"],
  move: ["move", "Copy, layout"],
  other: ["other", "Other"]
};
const colourOf = (layer) => `var(--${(KINDS[layer.kind] || KINDS.other)[0]})`;

/** What a layer computes, as "3 × 3 convolution, stride 2". */
const whatText = (layer) => (layer.what || layer.routine).replace(/(\d) x (?=\d)/g, "$1 × ");

/** How often the loops around a layer run it: " in each of 12 trips". */
const tripsText = (layer) => (layer.open_trips ? " a trip of a loop whose trips the data decide"
  : layer.trips > 1 ? ` in each of ${layer.trips} trips` : "");

/** A tensor as it lies in memory: "1×25×5×8 i8, NHWC". */
const tensorText = (tensor) => `${shape(tensor.layout_shape)} ${tensor.dtype}` +
  (tensor.layout === "plain" ? "" : `, ${tensor.layout}`);

/** The sizes of a window: "2", or "2 × 1" where axes differ. */
const sizesText = (sizes) => (sizes.every((size) => size === sizes[0]) ? String(sizes[0]) : sizes.join(" × "));
const paddingText = (pads) => {
  if (pads.every((pad) => pad === 0)) return "none";
  if (pads.every((pad) => pad === pads[0])) return `${pads[0]} on each side`;
  const names = pads.length === 4 ? ["top", "left", "bottom", "right"] : pads.length === 2 ? ["before", "behind"]
    : pads.map((_, i) => `${i < pads.length / 2 ? "before" : "behind"} axis ${i % (pads.length / 2) + 1}`);
  return pads.map((pad, i) => `${pad} ${names[i]}`).join(", ");
};

/** A document whose layers know their number, kind, cost and neighbours. */
function makeModel(source) {
  const model = {
    source, name: source.name, layers: source.layers, ports: source.ports, arena: source.arena,
    machine: source.machine, totals: source.totals, measured: source.measured
  };
  const times = model.measured ? model.measured.layers : [];
  model.isCounted = Boolean(model.measured) && model.measured.unit === "instructions";
  model.nodes = [];
  model.layers.forEach((layer, number) => {
    Object.assign(layer, {
      number, measured: number in times ? times[number] : null,
      reads: [], readers: []
    });
    layer.cost = layer.measured === null ? layer.seconds || 0 : layer.measured;
    model.nodes.push(layer);
  });
  for (const port of model.ports) {
    Object.assign(port, { port: true, number: model.nodes.length, reads: [], readers: [] });
    model.nodes.push(port);
  }
  for (const edge of source.edges) {
    if (!model.nodes[edge.from] || !model.nodes[edge.to]) continue;
    model.nodes[edge.from].readers.push(edge);
    model.nodes[edge.to].reads.push(edge);
  }
  const sum = (key) => model.layers.reduce((all, layer) => all + (layer[key] || 0), 0);
  model.cost = sum("cost");
  model.estimate = sum("seconds");
  model.slowest = model.layers.reduce((a, b) => (!a || b.cost > a.cost ? b : a), null);
  model.largestCost = model.slowest ? model.slowest.cost : 0;
  // The first layer that uses a weight is charged with it.
  for (const layer of model.layers)
    layer.ownBytes = layer.weights.reduce((all, w) => all + (w.shared ? 0 : w.bytes), 0);
  findUse(model);
  return model;
}

/** Sets `inUse` of each layer: the bytes of the arena that hold something. */
function findUse(model) {
  for (const layer of model.layers) {
    const spans = placesAt(model, layer.number).map((p) => [p.offset, p.offset + p.bytes]);
    spans.sort((a, b) => a[0] - b[0]);
    let end = 0;
    layer.inUse = 0;
    for (const [from, to] of spans) {
      layer.inUse += Math.max(0, to - Math.max(from, end));
      end = Math.max(end, to);
    }
  }
}
function placesAt(model, number) {
  return model.arena.places.filter((place) => place.first <= number && number <= place.last);
}

/** Seconds, or instructions where an emulator counted these. */
function costText(model, value) {
  return model.isCounted ? `${count(value)} instructions` : seconds(value);
}
const shareOf = (model, layer) => (model.cost > 0 ? layer.cost / model.cost : 0);
/** The operations that a roofline counts. */
const workOf = (layer) => layer.multiply_adds || layer.operations;
const trafficOf = (layer) => layer.activation_bytes + layer.weight_bytes;
